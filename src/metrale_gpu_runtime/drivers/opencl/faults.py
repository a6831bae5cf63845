"""What a status of OpenCL means: an error of the call, or a fault of earlier work.

Source: the OpenCL 3.0 API specification, appendix "Error Codes".
"""

from __future__ import annotations

from typing import Any

from ...errors import DriverError, DriverFault
from .bindings import Bindings

DEVICE_NOT_AVAILABLE = -2
MEM_OBJECT_ALLOCATION_FAILURE = -4
OUT_OF_RESOURCES = -5
OUT_OF_HOST_MEMORY = -6
BUILD_PROGRAM_FAILURE = -11
KERNEL_ARG_INFO_NOT_AVAILABLE = -19
INVALID_VALUE = -30
INVALID_CONTEXT = -34
INVALID_COMMAND_QUEUE = -36
INVALID_KERNEL_NAME = -46
INVALID_BUFFER_SIZE = -61
NVIDIA_ILLEGAL_ACCESS = -9999

NO_MEMORY = frozenset({MEM_OBJECT_ALLOCATION_FAILURE, OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY, INVALID_BUFFER_SIZE})

# The queue or the device is gone: nothing that was queued behind will ever run.
_LOST = frozenset({DEVICE_NOT_AVAILABLE, INVALID_CONTEXT, INVALID_COMMAND_QUEUE, NVIDIA_ILLEGAL_ACCESS})


def is_lost(code: int) -> bool:
    """Whether the device, or the way to it, is gone."""
    return code in _LOST


def refused(bindings: Bindings, call: str, code: int, what: str = "") -> DriverError:
    """The error of a call that the driver refused with this status."""
    name = bindings.code_name(code)
    status = f"{name} ({code})" if name != f"{code}" else name
    return DriverError(
        f"opencl: {call} failed with {status}{f': {what}' if what else ''}",
        call=call,
        code=code,
        code_name=name,
    )


def refused_by(bindings: Bindings, error: Any, what: str = "") -> DriverError:
    """The same for an error of pyopencl's."""
    return refused(bindings, str(error.routine or "pyopencl"), int(error.code), what)


def fault(bindings: Bindings, code: int, message: str) -> DriverFault:
    """The fault of work that ended with this status, or behind which the driver answers with it."""
    return DriverFault(bindings.code_name(code), message, context_lost=code in _LOST)
