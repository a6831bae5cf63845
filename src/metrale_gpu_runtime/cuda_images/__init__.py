"""CUDA's compiled code as values: what PTX, cubins and fatbins say of themselves, and what runs where."""

from .architectures import Architecture, highest_ptx_version, needed_driver_version, shown_version
from .cubin import Cubin, KernelFacts, read_cubin
from .fatbin import FatbinEntry, best_entry, read_fatbin
from .ptx_header import PtxHeader, read_ptx_header

__all__ = [
    "Architecture",
    "Cubin",
    "FatbinEntry",
    "KernelFacts",
    "PtxHeader",
    "best_entry",
    "highest_ptx_version",
    "needed_driver_version",
    "read_cubin",
    "read_fatbin",
    "read_ptx_header",
    "shown_version",
]
