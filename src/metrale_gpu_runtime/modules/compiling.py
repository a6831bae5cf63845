"""CUDA C to PTX, or to a cubin, by whatever compiler here can.

NVRTC compiles device code; a file that holds host code as well takes nvcc.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..capabilities import Capabilities
from ..code_cache import CodeCache
from ..errors import BackendUnavailable, CompileError, NotSupported
from . import cache as compile_cache
from .cache.kept import KeptCode, KeptEntry
from .cache.keys import CompilationKey, key_of_source
from .cache.records import read_compiled, write_compiled
from .cache.toolkit import toolkit_headers
from .compile_target import compile_target, needs_cubin
from .host_code import HostCode, host_code_in
from .nvcc import compile_ptx_by_nvcc, nvcc_on_path
from .nvrtc import CompiledPtx, all_options, compile_ptx, given_architecture
from .nvrtc_library import INSTALL_HINT, OWN_HEADERS, nvrtc_identity, nvrtc_library

DEFAULT_ARCHITECTURE = "compute_80"
_NAMED_PIECES = 4
_NVRTC = "nvrtc"


def compile_cuda(
    module: str,
    source: str,
    *,
    path: Path | None = None,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    architecture: str | None = None,
    debug: bool = False,
    with_cubin: bool = False,
    cache: CodeCache | None = None,
) -> CompiledPtx:
    """Compile CUDA C to PTX for `module`. `path` is where the text came from: its folder is looked through for headers.

    `with_cubin` gives machine code too, for a real architecture ("sm_90").

    What this process has compiled before is not compiled again, nor what an earlier one has kept; `cache` is told which
    it was. Raises BackendUnavailable when there is no compiler,
    CompileError when the text is refused; for a file with host code and no nvcc that names the host code.
    """
    name = str(path) if path is not None else f"{module}.cu"
    folders = [path.parent] if path is not None else []
    architecture = architecture or DEFAULT_ARCHITECTURE
    try:
        library = nvrtc_library()
    except BackendUnavailable:
        nvcc = nvcc_on_path()
        if nvcc is None:
            raise
        return _by_nvcc(nvcc, module, source, name, options, names, architecture, debug, folders, with_cubin)
    kept = cache if isinstance(cache, KeptCode) else KeptCode()
    shown = f"{name} (debug)" if debug else name
    # Line information has the whole path of a file.
    placed = str(path.absolute()) if path is not None else name
    given = all_options(library, options, architecture, debug, [str(folder) for folder in folders])
    parts = [nvrtc_identity(), placed, repr(list(names)), repr(given), str(with_cubin)]
    compilation = key_of_source(_NVRTC, parts, source, options, folders)
    key = compilation.key
    result = compile_cache.COMPILED.get(key)
    if result is not None:
        kept.remembered(_NVRTC, shown)
        return result
    entry = kept.entry_of(_NVRTC, shown, key)
    result = _read(entry)
    if result is None:
        try:
            result = compile_ptx(
                source,
                name=name,
                options=options,
                architecture=architecture,
                debug=debug,
                include_paths=folders,
                names=names,
                with_cubin=with_cubin,
            )
        except CompileError as error:
            error.module = module
            host_code = host_code_in(source, name, error.diagnostics)
            if not host_code:
                raise
            nvcc = nvcc_on_path()
            if nvcc is None:
                raise _host_code_error(module, name, host_code, error) from None
            result = _by_nvcc(nvcc, module, source, name, options, names, architecture, debug, folders, with_cubin)
        if path is None:
            result = _without_folder(result, name)
        folders_of_its_own = [str(OWN_HEADERS), *map(str, library.header_paths)]
        entry.keep(_written(result, compilation, folders_of_its_own) if entry.is_kept else None)
    compile_cache.COMPILED.put(key, result)
    return result


def _read(entry: KeptEntry) -> CompiledPtx | None:
    """What an earlier process has kept; None for nothing, and where the compiler's own headers have changed."""
    if entry.data is None:
        return None
    try:
        result = read_compiled(entry.data)
    except (ValueError, KeyError, TypeError):  # sound, and of a form that is not ours
        result = None
    if result is None:
        entry.refuse()
    else:
        entry.used()
    return result


def _written(compiled: CompiledPtx, compilation: CompilationKey, toolkit: Sequence[str]) -> bytes | None:
    """What is kept of a compilation; None where it must not be. What nvcc reads beside the headers is not known."""
    if compilation.key is None or compiled.compiler != "NVRTC":
        return None
    headers = toolkit_headers(compilation.elsewhere, toolkit)
    return write_compiled(compiled, headers) if headers is not None else None


def compile_for_device(
    capabilities: Capabilities,
    module: str,
    source: str,
    *,
    path: Path | None = None,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    debug: bool = False,
    cache: CodeCache | None = None,
) -> tuple[CompiledPtx, tuple[str, ...]]:
    """Compile CUDA C to what a device's driver takes, and notes for people.

    Where the result has a cubin, that is to be loaded, because the driver would refuse the PTX: see `compile_target`.
    `debug` compiles are for reading only and give PTX. Raises as `compile_cuda` does, and IncompatibleCode.
    """
    target = compile_target(capabilities, options, module=module)

    def compiled(architecture: str | None, with_cubin: bool) -> CompiledPtx:
        return compile_cuda(
            module,
            source,
            path=path,
            options=options,
            names=names,
            architecture=architecture,
            debug=debug,
            with_cubin=with_cubin,
            cache=cache,
        )

    result = compiled(target.architecture, target.with_cubin and not debug)
    given = given_architecture(options)
    if not debug and needs_cubin(result, capabilities) and (given is None or given.startswith("sm_")):
        architecture = target.architecture.replace("compute_", "sm_") if target.architecture is not None else None
        result = compiled(architecture, True)
    return result, target.notes


def _without_folder(compiled: CompiledPtx, name: str) -> CompiledPtx:
    """The line information of a text that lies in no file: NVRTC puts the working folder before its name."""
    claimed = rb'^(\s*\.file\s+\d+\s+")' + re.escape(os.fsencode(os.path.join(os.getcwd(), name))) + rb'(?=")'
    ptx = re.sub(claimed, lambda match: match[1] + os.fsencode(name), compiled.ptx, flags=re.MULTILINE)
    return replace(compiled, ptx=ptx)


def _by_nvcc(
    nvcc: str,
    module: str,
    source: str,
    name: str,
    options: Sequence[str],
    names: Sequence[str],
    architecture: str,
    debug: bool,
    folders: Sequence[Path],
    with_cubin: bool,
) -> CompiledPtx:
    if names:
        raise NotSupported(
            f"{name}: nvcc has no name expressions ({', '.join(names)}); they need NVRTC and a file without host code. "
            f"Instantiate the templates in the source, or {INSTALL_HINT}",
            backend="nvcc",
            feature="name expressions",
        )
    try:
        return compile_ptx_by_nvcc(
            nvcc,
            source,
            name=name,
            options=options,
            architecture=architecture,
            debug=debug,
            include_paths=folders,
            with_cubin=with_cubin,
        )
    except CompileError as error:
        error.module = module
        raise


def _host_code_error(module: str, name: str, pieces: Sequence[HostCode], cause: CompileError) -> CompileError:
    shown = "; ".join(str(piece) for piece in pieces[:_NAMED_PIECES])
    more = f"; and {len(pieces) - _NAMED_PIECES} more" if len(pieces) > _NAMED_PIECES else ""
    helpers_only = all(piece.kind == "function" and piece.name != "main" for piece in pieces)
    remedy = (
        "Move the kernels to a file of their own, or put the host code between #ifndef __CUDACC_RTC__ and #endif, or "
        "install the CUDA toolkit so that nvcc is on PATH"
    )
    helper = "a function that kernels call needs __device__ before it (static or inline alone makes it a host function)"
    advice = f"{helper[0].upper()}{helper[1:]}. {remedy}" if helpers_only else f"{remedy}; {helper}"
    return CompileError(
        f"{name}: NVRTC compiles device code only, and this file holds host code: {shown}{more}. {advice}.",
        module=module,
        log=cause.log,
        diagnostics=cause.diagnostics,
    )
