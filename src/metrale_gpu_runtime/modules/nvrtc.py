"""CUDA C to PTX, and to a cubin where that is wanted, by NVRTC."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import CompileError
from .nvrtc_library import INSTALL_HINT, OWN_HEADERS, NvrtcLibrary, is_available, nvrtc_library

__all__ = ["CompiledPtx", "compile_ptx", "first_errors", "gives_architecture", "is_available", "parse_diagnostics"]

_SHOWN_ERRORS = 3
_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n]+?)\((?P<line>\d+)\): (?P<text>(?:catastrophic )?(?:error|warning)\b.*)$")
_ARCHITECTURE_OPTION = re.compile(r"\s*-{1,2}(?:gpu-architecture|arch)(?:=(?P<value>.*)|$)", re.DOTALL)
LTO_OPTIONS = frozenset({"-dlto", "--dlink-time-opt"})


@dataclass(frozen=True, slots=True)
class CompiledPtx:
    """What one compilation gave: PTX text, the compiler's log (warnings), lowered names of name expressions.

    `compiler` is "NVRTC" or "nvcc", `version` its CUDA version. `cubin` is machine code of the same compilation where
    it was asked for, `ltoir` what it gave instead of PTX under -dlto.
    """

    ptx: bytes
    log: str
    version: tuple[int, int]
    lowered_names: Mapping[str, str] = field(default_factory=dict)
    compiler: str = "NVRTC"
    cubin: bytes | None = None
    ltoir: bytes | None = None


def parse_diagnostics(log: str) -> tuple[tuple[str, int, str], ...]:
    """The errors and warnings of a log of NVRTC or nvcc as (file, line, text), in its order."""
    found = []
    for line in log.splitlines():
        match = _DIAGNOSTIC.match(line)
        if match:
            found.append((match["file"], int(match["line"]), match["text"]))
    return tuple(found)


def first_errors(log: str) -> str:
    """The first error blocks of a log: the message and the source lines under it, up to the blank line."""
    blocks: list[list[str]] = []
    inside = False
    for line in log.splitlines():
        match = _DIAGNOSTIC.match(line)
        if match or line.startswith("nvrtc: error"):
            inside = match is None or "error" in match["text"].split(":")[0]
            if inside:
                if len(blocks) == _SHOWN_ERRORS:
                    break
                blocks.append([])
        elif not line.strip():
            inside = False
        if inside:
            blocks[-1].append("  " + line)
    return "\n".join(line for block in blocks for line in block)


def gives_architecture(option: str) -> bool:
    """True for the option, of NVRTC or nvcc, that chooses the architecture."""
    return _ARCHITECTURE_OPTION.match(option) is not None


def given_architecture(options: Sequence[str]) -> str | None:
    """The architecture that the options name ("sm_90a", "compute_80"), the last one; None where they name none."""
    found: str | None = None
    for index, option in enumerate(options):
        match = _ARCHITECTURE_OPTION.match(option)
        if match is not None:
            value = match["value"] if match["value"] is not None else "".join(options[index + 1 : index + 2])
            found = value.strip()
    return found


def _advice(log: str) -> str:
    """The next step, for the refusals that people meet most."""
    missing = re.search(r'cannot open source file "([^"]+)"', log)
    if missing:
        return (
            f'\nThe header "{missing[1]}" was not found: name its folder with options=("-I/its/folder",), or, when it '
            f"is one of CUDA's, {INSTALL_HINT}."
        )
    if "is considered a host function" in log:
        return (
            "\nNVRTC takes device code only, and a function that says neither __device__ nor __global__ is a host "
            'function for it: write __device__ before it, or pass options=("--device-as-default-execution-space",).'
        )
    return ""


def all_options(
    library: NvrtcLibrary, options: Sequence[str], architecture: str, debug: bool, include_paths: Iterable[str]
) -> list[str]:
    """The options that NVRTC gets for a caller's own: with an architecture, line information and header folders."""
    given = list(options)
    if not any(gives_architecture(option) for option in given):
        given.append(f"--gpu-architecture={architecture}")
    if debug:
        given.append("--device-debug")
    elif not any(re.fullmatch(r"-G|--device-debug|-lineinfo|--generate-line-info", option) for option in given):
        given.append("--generate-line-info")
    # The caller's folders come first, so that a header of theirs is never hidden by ours.
    folders = [*include_paths]
    ours = [OWN_HEADERS, *library.header_paths]
    return [*(f"-I{folder}" for folder in folders), *given, *(f"-I{folder}" for folder in ours)]


class _Program:
    """One nvrtcProgram, destroyed at the end of the `with`."""

    def __init__(self, library: NvrtcLibrary, source: str, name: str) -> None:
        self._functions = library.functions
        self._handle = ctypes.c_void_p()
        self._check(
            "nvrtcCreateProgram",
            self._functions.nvrtcCreateProgram(
                ctypes.byref(self._handle), source.encode(), os.fsencode(name), ctypes.c_int(0), None, None
            ),
        )

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._functions.nvrtcDestroyProgram(ctypes.byref(self._handle))

    def error_name(self, code: int) -> str:
        describe = self._functions.nvrtcGetErrorString
        describe.restype = ctypes.c_char_p
        return str(describe(ctypes.c_int(code)).decode())

    def _check(self, call: str, code: int) -> None:
        if code != 0:
            raise CompileError(f"{call} failed with {self.error_name(code)}", module="", log="")

    def add_name(self, expression: str) -> None:
        self._check("nvrtcAddNameExpression", self._functions.nvrtcAddNameExpression(self._handle, expression.encode()))

    def compile(self, options: Sequence[str]) -> int:
        array = (ctypes.c_char_p * len(options))(*(os.fsencode(option) for option in options))
        return int(self._functions.nvrtcCompileProgram(self._handle, ctypes.c_int(len(options)), array))

    def text(self, what: str) -> bytes:
        """The program's `ProgramLog` or `PTX`, without the terminating zero."""
        return self.binary(what).rstrip(b"\0")

    def binary(self, what: str) -> bytes:
        """The program's `CUBIN` or `LTOIR`, or a text with its terminating zero; empty where it has none."""
        size = ctypes.c_size_t()
        self._check(
            f"nvrtcGet{what}Size", getattr(self._functions, f"nvrtcGet{what}Size")(self._handle, ctypes.byref(size))
        )
        buffer = ctypes.create_string_buffer(max(1, size.value))
        self._check(f"nvrtcGet{what}", getattr(self._functions, f"nvrtcGet{what}")(self._handle, buffer))
        return buffer.raw[: size.value]

    def lowered_name(self, expression: str) -> str:
        name = ctypes.c_char_p()
        self._check(
            "nvrtcGetLoweredName",
            self._functions.nvrtcGetLoweredName(self._handle, expression.encode(), ctypes.byref(name)),
        )
        return (name.value or b"").decode()


def compile_ptx(
    source: str,
    *,
    name: str,
    options: Sequence[str] = (),
    architecture: str = "compute_80",
    debug: bool = False,
    include_paths: Iterable[str | os.PathLike[str]] = (),
    names: Sequence[str] = (),
    with_cubin: bool = False,
) -> CompiledPtx:
    """Compile CUDA C to PTX that carries `.loc` lines.

    `name` is what messages and line information call the source, best its path. `options` go to NVRTC as they are and
    win over `architecture`; `include_paths` are looked through before all others. `debug` compiles without
    optimisation and with DWARF. `names` are C++ name expressions ("scale<float>") to be instantiated; their symbols
    come back as `lowered_names`. `with_cubin` gives machine code as well (nvrtcGetCUBIN), for which the architecture
    has to be a real one ("sm_90").

    Raises BackendUnavailable without NVRTC, CompileError with the log when it refuses the source.
    """
    library = nvrtc_library()
    version = ".".join(map(str, library.version))
    given = all_options(library, options, architecture, debug, [os.fspath(path) for path in include_paths])
    if "\0" in source:
        line = source[: source.index("\0")].count("\n") + 1
        raise CompileError(f"{name}: line {line} holds a zero byte, which ends CUDA C source", module=name, log="")
    with _Program(library, source, name) as program:
        for expression in names:
            program.add_name(expression)
        code = program.compile(given)
        log = program.text("ProgramLog").decode(errors="replace").strip()
        if code != 0:
            errors = first_errors(log) or "  " + (log or program.error_name(code))
            total = sum("error" in text.split(":")[0] for _, _, text in parse_diagnostics(log))
            more = f"\n  … and {total - _SHOWN_ERRORS} more" if total > _SHOWN_ERRORS else ""
            raise CompileError(
                f"{name}: NVRTC {version} refused it ({program.error_name(code)})\n{errors}{more}{_advice(log)}",
                module=name,
                log=log,
                diagnostics=parse_diagnostics(log),
            )
        is_lto = any(option in LTO_OPTIONS for option in options)
        return CompiledPtx(
            program.text("PTX"),
            log,
            library.version,
            {each: program.lowered_name(each) for each in names},
            cubin=program.binary("CUBIN") or None if with_cubin else None,
            ltoir=program.binary("LTOIR") or None if is_lto else None,
        )
