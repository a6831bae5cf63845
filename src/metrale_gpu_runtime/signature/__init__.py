"""What a kernel declares, from whichever source knows it, and the check of arguments against it."""

from __future__ import annotations

from ..errors import SignatureError
from .bindings import from_bindings
from .c_types import CType, find_c_type, parameter_of_pointer, parameter_of_value
from .code_object import from_code_object
from .compiled import from_cubin, from_driver, from_ptx
from .declaration import parse_declaration
from .kernel_signature import KernelSignature
from .mangled import from_mangled, readable_name
from .merging import merge
from .msl import from_msl, kernels_of_msl
from .parameter import (
    CODE_OBJECT,
    CUBIN,
    DEBUG_INFORMATION,
    DECLARED,
    DRIVER,
    MANGLED_NAME,
    METAL_REFLECTION,
    MSL,
    ONE,
    OPENCL_INFO,
    PTX,
    SPIRV,
    WGSL,
    ArgumentDescription,
    Parameter,
)

__all__ = [
    "CODE_OBJECT",
    "CUBIN",
    "DEBUG_INFORMATION",
    "DECLARED",
    "DRIVER",
    "MANGLED_NAME",
    "METAL_REFLECTION",
    "MSL",
    "ONE",
    "OPENCL_INFO",
    "PTX",
    "SPIRV",
    "WGSL",
    "ArgumentDescription",
    "CType",
    "KernelSignature",
    "Parameter",
    "SignatureError",
    "find_c_type",
    "from_bindings",
    "from_code_object",
    "from_cubin",
    "from_driver",
    "from_mangled",
    "from_msl",
    "from_ptx",
    "kernels_of_msl",
    "merge",
    "parameter_of_pointer",
    "parameter_of_value",
    "parse_declaration",
    "readable_name",
]
