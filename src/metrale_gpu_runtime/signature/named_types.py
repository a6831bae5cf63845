"""Types by the names that a signature's source gives them: each kernel language has its own."""

from __future__ import annotations

from .c_types import CType, find_c_type
from .parameter import METAL_REFLECTION, MSL, OPENCL_INFO, SPIRV, WGSL


def find_named_type(name: str, source: str) -> CType | None:
    """The type that this source calls so; C's where the source has no language of its own."""
    # A language's types are made when the first signature in it is checked, not when the package is imported.
    if source in (MSL, METAL_REFLECTION):
        from .msl_types import find_msl_type

        return find_msl_type(name)
    if source in (OPENCL_INFO, SPIRV):
        from .opencl_types import find_opencl_type

        return find_opencl_type(name)
    if source == WGSL:
        from .wgsl_types import find_wgsl_type

        return find_wgsl_type(name)
    return find_c_type(name)
