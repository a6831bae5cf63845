"""What a backend's code tells of a parameter: what is not known is not checked, so a law must ask first."""

from __future__ import annotations

from ...capabilities import Capabilities
from ...kernel import Kernel
from ...scalars import ScalarType, i32, i64


def knows(kernel: Kernel, index: int, fact: str) -> bool:
    """Whether the signature tells this field of a Parameter ("floating", "align") for one of a kernel's parameters.

    PTX tells floats and alignments; the metadata of AMD's code objects does not.
    """
    parameter = kernel.signature.parameter(index)
    return parameter is not None and getattr(parameter, fact) is not None


def takes(kernel: Kernel, index: int, scalar: ScalarType) -> bool:
    """Whether a value of this type may be given by what is known: debug information tells the exact type."""
    parameter = kernel.signature.parameter(index)
    readings = parameter.readings() if parameter is not None else None
    return readings is None or scalar in readings


def index_of_write_at(capabilities: Capabilities) -> ScalarType:
    """The type in which `write_at` takes its index: i64, or i32 on a device that has not that."""
    return i32 if "i64" in capabilities.unsupported_scalars else i64
