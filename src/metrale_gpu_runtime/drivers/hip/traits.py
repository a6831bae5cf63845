"""What differs from CUDA: as values for the session, and in words for docs/hip.md, which shows the same table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..session.api import Traits

# Source: hip_runtime_api.h, hipError_t.
_OUT_OF_MEMORY, _NOT_INITIALIZED, _DEINITIALIZED = 2, 3, 4
_ECC, _ILLEGAL_ADDRESS, _LAUNCH_TIMEOUT, _CONTEXT_DESTROYED = 214, 700, 702, 709
_ASSERT, _LAUNCH_FAILURE, _UNKNOWN, _RUNTIME_MEMORY, _RUNTIME_OTHER = 710, 719, 999, 1052, 1053
_NOT_FOUND, _NOT_READY, _NOT_SUPPORTED = 500, 600, 801
_FIRST_CAPTURE_CODE, _LAST_CAPTURE_CODE = 900, 908

TRAITS: Final = Traits(
    name="hip",
    code_formats=("hsaco",),
    source_languages=("hip-c", "cuda-c"),
    sticky_codes=frozenset(
        {
            _ECC,
            _ILLEGAL_ADDRESS,
            _LAUNCH_TIMEOUT,
            _CONTEXT_DESTROYED,
            _ASSERT,
            _LAUNCH_FAILURE,
            _UNKNOWN,
            _RUNTIME_MEMORY,
            _RUNTIME_OTHER,
        }
    ),
    out_of_memory_codes=frozenset({_OUT_OF_MEMORY}),
    not_found_code=_NOT_FOUND,
    not_ready_code=_NOT_READY,
    not_supported_codes=frozenset({_NOT_SUPPORTED}),
    deinitialized_codes=frozenset({_DEINITIALIZED}),
    capture_codes=frozenset(range(_FIRST_CAPTURE_CODE, _LAST_CAPTURE_CODE + 1)),
    # An AQL packet holds the grid in work-items, 32 bits wide; what is over it would be cut to its low bits.
    max_threads_per_launch=2**32 - 1,
    dlpack_device_type=10,  # kDLROCM
    # The null stream is HIP's legacy stream in every release; hipStreamLegacy (1) came with ROCm 7.
    legacy_stream=0,
    has_clusters=False,
    has_launch_attributes=False,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as on CUDA: what CUDA has, what HIP has, and where it is decided."""

    what: str
    cuda: str
    hip: str


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{each}`" for each in names)


DIFFERENCES: Final = (
    Difference("code", "PTX, cubin, fatbin", f"{_listed(TRAITS.code_formats)} (code objects and offload bundles)"),
    Difference("source", "CUDA C by NVRTC", f"{_listed(TRAITS.source_languages)} by hiprtc, for the device's target"),
    Difference(
        "warp size", "32", "the device's: 64 on gfx9 (Instinct), 32 from gfx10 on (Radeon); `Capabilities.warp_size`"
    ),
    Difference(
        "threads per launch", "by axis only", f"{TRAITS.max_threads_per_launch} (32 bits) in all: refused, never cut"
    ),
    Difference("clusters", "from compute capability 9.0 on", "none: `NotSupported`"),
    Difference(
        "launch attributes",
        "programmatic, priority, memory sync domain",
        "none: `NotSupported`; a cooperative launch is there",
    ),
    Difference("tensor maps", "from compute capability 9.0 on", "none"),
    Difference(
        "dynamic shared memory over 48 KB", "opted in per kernel", "no opt-in: the device's limit (64 KB and up) holds"
    ),
    Difference(
        "signatures",
        "debug information, PTX, the driver's sizes",
        "the code object's metadata: sizes, offsets, which are pointers; mangled names; declared ones",
    ),
    Difference("kernel names of a module", "the driver lists them (12.4 on)", "read from the code object"),
    Difference("contexts", "one primary context for each device", "the device itself; `hipSetDevice` per thread"),
    Difference("the legacy stream's handle", "1", str(TRAITS.legacy_stream)),
    Difference("DLPack device type", "2 (kDLCUDA)", f"{TRAITS.dlpack_device_type} (kDLROCM)"),
    Difference("a stray access", "an error code at the next call", "the ROCm runtime usually ends the process"),
)


def differences_as_markdown() -> str:
    """The table of docs/hip.md."""
    rows = [("", "CUDA", "HIP"), ("---", "---", "---"), *((each.what, each.cuda, each.hip) for each in DIFFERENCES)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
