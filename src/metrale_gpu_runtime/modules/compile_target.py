"""What CUDA C is compiled to for a device: PTX, or machine code where the compiler is newer than the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..capabilities import Capabilities
from ..cuda_images import Architecture, highest_ptx_version, read_ptx_header, shown_version
from ..errors import BackendUnavailable, IncompatibleCode
from .nvrtc import CompiledPtx, given_architecture
from .nvrtc_library import nvrtc_library, supported_architectures


@dataclass(frozen=True, slots=True)
class CompileTarget:
    """`architecture` is the compiler's ("compute_90", "sm_90"), None for its caller's default; `notes` for people."""

    architecture: str | None
    with_cubin: bool = False
    notes: tuple[str, ...] = ()


def compile_target(capabilities: Capabilities, options: Sequence[str] = (), *, module: str) -> CompileTarget:
    """What to compile CUDA C to for this device by NVRTC, which need not be here.

    PTX for the device's architecture. A cubin for it when NVRTC is newer than the driver, whose compiler would refuse
    its PTX. PTX for the highest architecture that NVRTC knows when it does not know the device's. What `options` name
    is left as it is. Raises IncompatibleCode when nothing that NVRTC writes could run here.
    """
    try:
        version = nvrtc_library().version
    except BackendUnavailable:
        return CompileTarget(capabilities.cuda_architecture)
    return _target(capabilities, given_architecture(options), version, supported_architectures(), module)


def _target(
    capabilities: Capabilities,
    given: str | None,
    version: tuple[int, int],
    supported: Sequence[int],
    module: str,
) -> CompileTarget:
    capability, driver_version = capabilities.compute_capability, capabilities.driver_version
    if capability is None or "cubin" not in capabilities.code_formats:
        return CompileTarget(capabilities.cuda_architecture)
    is_newer = driver_version is not None and 1000 * version[0] + 10 * version[1] > driver_version
    if given is not None:
        return CompileTarget(None, with_cubin=is_newer and given.startswith("sm_"))
    device = Architecture(*capability)
    if not supported or device.number in supported:
        return CompileTarget(f"{'sm' if is_newer else 'compute'}_{device.number}", with_cubin=is_newer)
    known = [Architecture.of_number(number) for number in supported]
    fitting = [each for each in known if (each.cubin_runs_on if is_newer else each.ptx_runs_on)(capability)]
    if not fitting:
        raise IncompatibleCode(
            f"module {module!r}: NVRTC {shown_version(version)} compiles for {', '.join(map(str, known))}, and nothing "
            f"of that runs on {capabilities.device} ({device}) with the driver of CUDA "
            f"{shown_version(driver_version or 0)}. Install an NVRTC that knows {device} and is not newer than the "
            "driver, or load a cubin for it",
            module=module,
            needs=f"CUDA C for NVRTC {shown_version(version)}",
            device_architecture=str(device),
            driver_version=driver_version,
        )
    highest = max(fitting, key=lambda each: each.number)
    note = (
        f"NVRTC {shown_version(version)} does not know {device}: compiled for {highest}, the highest it knows that "
        "runs there"
    )
    return CompileTarget(f"{'sm' if is_newer else 'compute'}_{highest.number}", with_cubin=is_newer, notes=(note,))


def needs_cubin(compiled: CompiledPtx, capabilities: Capabilities) -> bool:
    """Whether a compilation gave only PTX, newer than the driver takes: nvcc's, whose version shows in its output."""
    if compiled.cubin is not None or capabilities.driver_version is None or "cubin" not in capabilities.code_formats:
        return False
    header = read_ptx_header(compiled.ptx)
    highest = highest_ptx_version(capabilities.driver_version)
    return header is not None and highest is not None and header.version > highest
