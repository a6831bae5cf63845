"""CUDA's return codes and habits, as values for the session. Source: cuda.h, CUresult."""

from __future__ import annotations

from typing import Final

from ..session.api import Traits

NO_DEVICE: Final = 100
INVALID_VALUE: Final = 1
NOT_INITIALIZED: Final = 3

_OUT_OF_MEMORY, _DEINITIALIZED, _INVALID_CONTEXT, _CONTEXT_DESTROYED = 2, 4, 201, 709
_NOT_FOUND, _NOT_READY, _NOT_SUPPORTED = 500, 600, 801
_FIRST_CAPTURE_CODE, _LAST_CAPTURE_CODE = 900, 908

# Those of which cuda.h says that the process must be ended, or that all of the context's memory is invalid; and the
# uncorrectable errors of memory and links (214, 220), after which nothing in the context can be relied on.
_STICKY: Final = frozenset({214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911})

TRAITS: Final = Traits(
    name="cuda",
    code_formats=("cubin", "fatbin", "ptx"),
    source_languages=("cuda-c",),
    sticky_codes=_STICKY,
    out_of_memory_codes=frozenset({_OUT_OF_MEMORY}),
    not_found_code=_NOT_FOUND,
    not_ready_code=_NOT_READY,
    not_supported_codes=frozenset({_NOT_SUPPORTED}),
    deinitialized_codes=frozenset({_DEINITIALIZED, _INVALID_CONTEXT, _CONTEXT_DESTROYED}),
    capture_codes=frozenset(range(_FIRST_CAPTURE_CODE, _LAST_CAPTURE_CODE + 1)),
    max_threads_per_launch=None,
    dlpack_device_type=2,  # kDLCUDA
)
