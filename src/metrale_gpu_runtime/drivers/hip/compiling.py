"""HIP C and CUDA C made code objects by hiprtc, for the device's own target."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

from ...driver import CodeImage, CompiledSource
from ...errors import BackendUnavailable, CompileError
from .api import import_bindings

_SHOWN_ERRORS: Final = 3
_DIAGNOSTIC: Final = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):\d+: (?P<text>(?:fatal )?(?:error|warning|note): [^\n]*)$", re.MULTILINE
)
_ARCHITECTURE_OPTION: Final = re.compile(r"\s*-{1,2}(?:gpu-architecture|offload-arch|mcpu)(?:=|$)")
_SUFFIXES: Final = {"hip-c": ".hip", "cuda-c": ".cu"}


def compile_source(
    source: CodeImage, *, target: str, path: str | None, names: Sequence[str], folders: Sequence[str]
) -> CompiledSource:
    """A code object for one target ("gfx90a:sramecc+:xnack-"). `source.options` go to hiprtc and win over the target.

    Raises CompileError with hiprtc's whole log, BackendUnavailable when there is no hiprtc. Source: hiprtc.h.
    """
    shown = path or f"{source.name}{_SUFFIXES[source.format]}"
    if b"\0" in source.data:
        line = source.data[: source.data.index(b"\0")].count(b"\n") + 1
        raise CompileError(f"{shown}: line {line} holds a zero byte, which ends the source", module=source.name, log="")
    options = list(source.options)
    if not any(_ARCHITECTURE_OPTION.match(option) for option in options):
        options.append(f"--offload-arch={target}")
    options += [f"-I{folder}" for folder in folders]
    # hiprtc writes the text to a folder of its own under this name: one with folders in it has no place there.
    with _Program(source, PurePath(shown).name) as program:
        for expression in names:
            program.call("hiprtcAddNameExpression", expression.encode())
        code = program.compile(options)
        log = program.log()
        if code != program.success:
            raise _refused(source.name, shown, program, code, log)
        data = program.code()
        lowered = {each: program.lowered_name(each) for each in names}
    return CompiledSource(CodeImage(source.name, "hsaco", data), lowered, compiler_version(source.name), log)


def compiler_version(module: str) -> str:
    """hiprtc with its version, for `module`'s messages. Raises BackendUnavailable when there is no hiprtc."""
    hiprtc = import_bindings()[1]
    code, major, minor = _invoke(hiprtc, module, "hiprtcVersion")
    if code != hiprtc.hiprtcResult.HIPRTC_SUCCESS:
        raise CompileError(f"module {module!r}: hiprtcVersion failed: {_words(hiprtc, code)}", module=module, log="")
    return f"hiprtc {major}.{minor}"


def _invoke(hiprtc: Any, module: str, name: str, *arguments: object) -> tuple[Any, ...]:
    try:
        return tuple(getattr(hiprtc, name)(*arguments))
    except RuntimeError as error:
        raise BackendUnavailable(
            f"hip: module {module!r}: hiprtc, which compiles source for AMD's GPUs, cannot be loaded "
            f"({error}); install ROCm's hiprtc, or load a code object (.hsaco)",
            backend="hip",
        ) from error


def _words(hiprtc: Any, code: Any) -> str:
    text = hiprtc.hiprtcGetErrorString(code)[1]
    return str(text.decode() if text is not None else code.name)


class _Program:
    """One hiprtcProgram, destroyed at the end of the `with`."""

    def __init__(self, source: CodeImage, name: str) -> None:
        _, self._hiprtc = import_bindings()
        self._module = source.name
        self.success = self._hiprtc.hiprtcResult.HIPRTC_SUCCESS
        # Buffers of our own: the bindings keep every `bytes` that they are given until the process ends.
        self._text = ctypes.create_string_buffer(source.data)
        self._name = ctypes.create_string_buffer(os.fsencode(name))
        self._handle: Any = None
        self._handle = self._make("hiprtcCreateProgram", self._text, self._name, 0, None, None)[0]

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._hiprtc.hiprtcDestroyProgram(self._handle.createRef())

    def _invoke(self, name: str, *arguments: object) -> tuple[Any, ...]:
        return _invoke(self._hiprtc, self._module, name, *arguments)

    def _make(self, name: str, *arguments: object) -> tuple[Any, ...]:
        code, *results = self._invoke(name, *arguments)
        if code != self.success:
            raise CompileError(
                f"module {self._module!r}: {name} failed: {self.words(code)}", module=self._module, log=""
            )
        return tuple(results)

    def call(self, name: str, *arguments: object) -> tuple[Any, ...]:
        """One call about this program. Raises CompileError for a code other than success."""
        return self._make(name, self._handle, *arguments)

    def words(self, code: Any) -> str:
        """hiprtc's name for a code."""
        return _words(self._hiprtc, code)

    def compile(self, options: Sequence[str]) -> Any:
        """hiprtcCompileProgram; returns its code, so that the log can be read first."""
        given = [os.fsencode(option) for option in options]
        return self._invoke("hiprtcCompileProgram", self._handle, len(given), given)[0]

    def log(self) -> str:
        """The compiler's whole output."""
        return (
            self._bytes("hiprtcGetProgramLogSize", "hiprtcGetProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        )

    def code(self) -> bytes:
        """The code object."""
        return self._bytes("hiprtcGetCodeSize", "hiprtcGetCode")

    def _bytes(self, size_call: str, call: str) -> bytes:
        (nbytes,) = self.call(size_call)
        if not nbytes:
            return b""
        buffer = bytearray(nbytes)
        self.call(call, buffer)
        return bytes(buffer)

    def lowered_name(self, expression: str) -> str:
        """The symbol of a name expression."""
        return str(self.call("hiprtcGetLoweredName", expression.encode())[0].decode())


def _refused(module: str, shown: str, program: _Program, code: Any, log: str) -> CompileError:
    own = PurePath(shown).name
    found = list(_DIAGNOSTIC.finditer(log))
    # The compiler's path leads to a folder that is gone by now.
    files = [shown if PurePath(each["file"]).name == own else each["file"] for each in found]
    diagnostics = tuple((file, int(each["line"]), each["text"]) for file, each in zip(files, found, strict=True))
    # Up to the next diagnostic: the source line and the mark under it.
    ends = [*(each.start() for each in found), len(log)][1:]
    blocks = [
        f"{file}:{each['line']}: {each['text']}{log[each.end() : end].rstrip()}"
        for file, each, end in zip(files, found, ends, strict=True)
        if "error" in each["text"].split(":")[0]
    ]
    said = "\n".join(f"  {line}" for block in blocks[:_SHOWN_ERRORS] for line in block.splitlines())
    more = f"\n  … and {len(blocks) - _SHOWN_ERRORS} more" if len(blocks) > _SHOWN_ERRORS else ""
    said = said or f"  {log or 'it says nothing'}"
    return CompileError(
        f"{shown}: {compiler_version(module)} refused it ({program.words(code)})\n{said}{more}",
        module=module,
        log=log,
        diagnostics=diagnostics,
    )
