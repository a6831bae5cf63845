"""CUDA C to PTX by the toolkit's nvcc, for files that hold host code as well."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import CompileError
from .nvrtc import CompiledPtx, first_errors, gives_architecture, parse_diagnostics


def nvcc_on_path() -> str | None:
    """The nvcc that PATH finds, or None."""
    return shutil.which("nvcc")


def _version_of(ptx: bytes) -> tuple[int, int]:
    """The compiler's version as it writes it at the head of its PTX; (0, 0) where it does not."""
    match = re.search(rb"Cuda compilation tools, release (\d+)\.(\d+)", ptx)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def compile_ptx_by_nvcc(
    nvcc: str,
    source: str,
    *,
    name: str,
    options: Sequence[str] = (),
    architecture: str = "compute_80",
    debug: bool = False,
    include_paths: Iterable[str | os.PathLike[str]] = (),
    timeout_s: float = 600,
    with_cubin: bool = False,
) -> CompiledPtx:
    """Compile the device code of a CUDA C file to PTX with line information.

    The options are nvcc's. `with_cubin` gives machine code as well, by a second run, for which the architecture has to
    be a real one ("sm_90"). `name` stands in messages and line information; the text is compiled from a temporary
    file that is gone afterwards. Raises CompileError with nvcc's output.
    """
    given = list(options)
    if not any(gives_architecture(option) for option in given):
        given.append(f"-arch={architecture}")
    given.append("-G" if debug else "-lineinfo")
    with tempfile.TemporaryDirectory(prefix="metrale-nvcc-") as folder:
        # #line gives messages and .loc the caller's name; the temporary file's own must not show.
        file = Path(folder) / (Path(name).stem + ".cu")
        file.write_text('#line 1 "{}"\n{}'.format(name.replace("\\", "\\\\").replace('"', '\\"'), source), "utf-8")
        include = [f"-I{os.fspath(path)}" for path in include_paths]

        def run(form: str) -> tuple[bytes, str]:
            result = Path(folder) / f"result.{form}"
            return _run([nvcc, f"-{form}", "-o", str(result), *include, *given, str(file)], result, name, timeout_s)

        ptx, log = run("ptx")
        cubin = run("cubin")[0] if with_cubin else None
    return CompiledPtx(ptx, log, _version_of(ptx), compiler="nvcc", cubin=cubin)


def _run(command: Sequence[str], result: Path, name: str, timeout_s: float) -> tuple[bytes, str]:
    """What one run of nvcc wrote, and its log."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompileError(f"{name}: nvcc could not be run: {error}", module=name, log="") from error
    log = (run.stdout + run.stderr).strip()
    if run.returncode != 0:
        raise CompileError(
            f"{name}: nvcc refused it (exit status {run.returncode})\n{first_errors(log) or '  ' + log[:2000]}",
            module=name,
            log=log,
            diagnostics=parse_diagnostics(log),
        )
    return result.read_bytes(), log
