"""The CPU backend: llvmlite with its LLVM, and NVRTC for CUDA C source."""

from __future__ import annotations

import importlib.util

from ..drivers.diagnosis import BROKEN, FOUND, MISSING, NOTE, Diagnosis, Observation
from ..drivers.probing import run_probe, tell

_INSTALL = 'pip install "llvmlite>=0.45"'
_LLVM = f"from {__name__} import print_llvm; print_llvm()"
_NVRTC = f"from {__name__} import print_nvrtc; print_nvrtc()"


def print_llvm() -> None:
    """In a child: llvmlite's version, its LLVM, and what that compiles for."""
    import llvmlite
    import llvmlite.binding as llvm

    tell(
        version=llvmlite.__version__,
        llvm=".".join(str(part) for part in llvm.llvm_version_info),
        triple=llvm.get_process_triple(),
        cpu=llvm.get_host_cpu_name(),
    )


def print_nvrtc() -> None:
    """In a child: the compiler for CUDA C that would be used, or why there is none."""
    from ..errors import GpuError
    from ..modules.nvrtc_library import nvrtc_library

    try:
        found = nvrtc_library()
    except GpuError as error:
        tell(problem=str(error))
        return
    tell(version=".".join(str(part) for part in found.version), path=found.path)


def look_at_nvrtc() -> Observation:
    """NVRTC, which the CPU and CUDA backends compile CUDA C with."""
    end = run_probe(_NVRTC)
    if "path" in end.told:
        detail = f"{end.told['version']}: CUDA C source is compiled with it"
        return Observation("NVRTC", FOUND, detail, (str(end.told["path"]),))
    if end.ended:
        return Observation("NVRTC", BROKEN, end.problem)
    return Observation("NVRTC", NOTE, f"not here, so PTX is taken and CUDA C source is not: {end.told.get('problem')}")


def diagnose() -> Diagnosis:
    """Look for llvmlite and NVRTC."""
    from ..modules.nvrtc_library import INSTALL_HINT

    nvrtc = look_at_nvrtc()
    if importlib.util.find_spec("llvmlite") is None:
        seen = Observation("llvmlite", MISSING, "not installed", ("this Python's import path",))
        return Diagnosis((seen, nvrtc), "llvmlite is not installed", _INSTALL)
    end = run_probe(_LLVM)
    told = end.told
    if end.ended or "llvm" not in told:
        problem = end.problem or "told nothing"
        seen = Observation("llvmlite", BROKEN, f"cannot be used: {problem}")
        return Diagnosis((seen, nvrtc), f"llvmlite cannot be used ({problem})", f"{_INSTALL} --force-reinstall")
    observations = [
        Observation("llvmlite", FOUND, f"{told['version']} with LLVM {told['llvm']}"),
        Observation("target", FOUND, f"{told['triple']}, {told['cpu']}; no compiler of the system's is needed"),
        nvrtc,
    ]
    if nvrtc.state != FOUND:
        observations.append(Observation("CUDA C source", NOTE, f"{INSTALL_HINT} brings the compiler and its headers"))
    return Diagnosis(tuple(observations))
