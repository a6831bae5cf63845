"""cl_khr_command_buffer on one device: which version it is of, whether that is known here, and where its calls lie.

Source: the OpenCL API specification, "Command Buffers", with the extension's history from version 0.9.0 on, and
cl_ext.h. Six of its calls are made here, and those are the same in all versions up to 1.0.0: 0.9.5 renamed the type of
clCommandNDRangeKernelKHR's properties (cl_properties before and after), and gave properties to the recording of copies,
fills and barriers, which is not done here. When a command buffer may be queued has changed: before 0.9.8 while it is
pending only with CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR; since then always, where it runs after its former runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .bindings import Bindings

EXTENSION = "cl_khr_command_buffer"

Version = tuple[int, int, int]

OLDEST: Version = (0, 9, 0)
LAST_PROVISIONAL: Version = (0, 9, 8)
FINAL: Version = (1, 0, 0)

TAKES_ONE_AFTER_THE_OTHER: Version = (0, 9, 8)
"""From this version on a command buffer may be queued while it is pending, behind its former runs."""

TELLS_SUPPORTED_QUEUES: Version = (0, 9, 6)
"""From this version on a device tells which properties of queues it takes, not only which it needs."""

QUEUE_PROPERTIES = 1 << 1
"""CL_QUEUE_PROFILING_ENABLE: what our queues are made with."""

_EXTENSIONS_WITH_VERSION = 0x1060  # of OpenCL 3.0, and the same of cl_khr_extended_versioning
_CAPABILITIES, _REQUIRED_QUEUE, _SUPPORTED_QUEUE = 0x12A9, 0x12AA, 0x129A
_CAPABILITY_SIMULTANEOUS_USE = 1 << 2


class _NameVersion(ctypes.Structure):
    """cl_name_version (cl.h)."""

    _fields_ = (("version", ctypes.c_uint32), ("name", ctypes.c_char * 64))


# ---------------------------------------------------------------- versions


def is_known(version: Version) -> bool:
    """Whether the calls of this version are those that are made here."""
    return OLDEST <= version <= LAST_PROVISIONAL or version == FINAL


def read_version(bindings: Bindings, device: Any) -> Version | None:
    """The version that a device has; None where it has none, or does not tell versions."""
    told, nbytes = _ask(bindings, device, _EXTENSIONS_WITH_VERSION), ctypes.sizeof(_NameVersion)
    for at in range(0, len(told) - nbytes + 1, nbytes):
        each = _NameVersion.from_buffer_copy(told, at)
        if each.name == EXTENSION.encode():
            # 10, 10 and 12 bits (CL_VERSION_MAJOR and its kin).
            return each.version >> 22, each.version >> 12 & 0x3FF, each.version & 0xFFF
    return None


def is_simultaneous(bindings: Bindings, device: Any) -> bool:
    """Whether a command buffer can be pending more than once (CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR)."""
    return bool(_bits(bindings, device, _CAPABILITIES) & _CAPABILITY_SIMULTANEOUS_USE)


def why_unused(bindings: Bindings, device: Any) -> str:
    """Why this package records nothing on a device, as a sentence without its end; empty where it does."""
    version = read_version(bindings, device)
    if version is None:
        return f"it tells no version of {EXTENSION}"
    if not is_known(version):
        known = f"{dotted(OLDEST)} to {dotted(LAST_PROVISIONAL)} and {dotted(FINAL)}"
        return f"its {EXTENSION} is version {dotted(version)}; known here are {known}"
    missing = [name for name in _NAMES if not function_address(bindings, device.platform, name)]
    if missing:
        return f"its platform has no {', '.join(missing)}"
    needed = _bits(bindings, device, _REQUIRED_QUEUE)
    if needed & ~QUEUE_PROPERTIES:
        return f"its command buffers need queues with properties {needed:#x}; queues here have {QUEUE_PROPERTIES:#x}"
    if version >= TELLS_SUPPORTED_QUEUES:
        taken = _bits(bindings, device, _SUPPORTED_QUEUE)
        if QUEUE_PROPERTIES & ~taken:
            return f"its command buffers take queues with properties {taken:#x}; queues here have {QUEUE_PROPERTIES:#x}"
    return ""


def command_buffer_words(bindings: Bindings, device: Any) -> str:
    """The version that a device has and how far it is used, for people."""
    version = read_version(bindings, device)
    if version is None:
        return "none"
    if why_unused(bindings, device):
        return f"{dotted(version)}, not used"
    if version >= TAKES_ONE_AFTER_THE_OTHER:
        return f"{dotted(version)}, on one stream for each sequence"
    return dotted(version) + ("" if is_simultaneous(bindings, device) else ", not while pending")


def dotted(version: Version) -> str:
    return ".".join(map(str, version))


# ---------------------------------------------------------------- calls

_NAMES = (
    "clCreateCommandBufferKHR",
    "clCommandNDRangeKernelKHR",
    "clFinalizeCommandBufferKHR",
    "clReleaseCommandBufferKHR",
    "clEnqueueCommandBufferKHR",
    "clGetCommandBufferInfoKHR",
)

_Handle, _Address, _Uint, _Status = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int32
_Create = ctypes.CFUNCTYPE(_Handle, _Uint, _Address, _Address, _Address)
_Record = ctypes.CFUNCTYPE(
    _Status, _Handle, _Handle, _Address, _Handle, _Uint, *(_Address,) * 3, _Uint, *(_Address,) * 3
)
_OfOne = ctypes.CFUNCTYPE(_Status, _Handle)


@dataclass(frozen=True, slots=True)
class ExtensionCalls:
    """The extension's functions: `create` returns a command buffer, the others their status. `enqueue` and `ask` are
    the addresses of those that Python does not call."""

    create: Callable[..., int | None]
    record: Callable[..., int]
    finalize: Callable[..., int]
    release: Callable[..., int]
    enqueue: int
    ask: int

    @classmethod
    def of_platform(cls, bindings: Bindings, platform: Any) -> ExtensionCalls:
        """Those of a platform that has them all."""
        create, record, finalize, release, enqueue, ask = (
            function_address(bindings, platform, name) for name in _NAMES
        )
        return cls(_Create(create), _Record(record), _OfOne(finalize), _OfOne(release), enqueue, ask)


def function_address(bindings: Bindings, platform: Any, name: str) -> int:
    """Where a function of a platform's extensions lies; 0 where it has none of that name."""
    return bindings.calls.get_extension_function_address(int(platform.int_ptr), name.encode()) or 0


# ---------------------------------------------------------------- what a device tells


def _bits(bindings: Bindings, device: Any, what: int) -> int:
    """A bit field of 64 bits; 0 where the device knows no such question."""
    return int.from_bytes(_ask(bindings, device, what), "little")


def _ask(bindings: Bindings, device: Any, what: int) -> bytes:
    call, handle, nbytes = bindings.calls.get_device_info, int(device.int_ptr), ctypes.c_size_t()
    if call(handle, what, 0, None, ctypes.byref(nbytes)) or not nbytes.value:
        return b""
    place = ctypes.create_string_buffer(nbytes.value)
    return b"" if call(handle, what, nbytes.value, place, None) else place.raw
