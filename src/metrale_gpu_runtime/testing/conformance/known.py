"""What a backend's code tells of a parameter: what is not known is not checked, so a law must ask first."""

from __future__ import annotations

from ...kernel import Kernel


def knows(kernel: Kernel, index: int, fact: str) -> bool:
    """Whether the signature tells this field of a Parameter ("floating", "align") for one of a kernel's parameters.

    PTX tells floats and alignments; the metadata of AMD's code objects does not.
    """
    parameter = kernel.signature.parameter(index)
    return parameter is not None and getattr(parameter, fact) is not None
