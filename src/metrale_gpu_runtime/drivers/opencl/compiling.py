"""OpenCL C made a program by the device's own compiler, in this process.

The driver is asked itself, not through pyopencl's `Program.build`, which keeps binaries in a cache of its own that does
not see every header, and writes the source of a failed build to a file. Source: clBuildProgram,
clGetProgramBuildInfo.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

from ...driver import CodeImage
from ...errors import CompileError, ModuleLoadError, NotSupported
from .bindings import Bindings
from .faults import BUILD_PROGRAM_FAILURE, refused_by

ARGUMENT_INFO: Final = "-cl-kernel-arg-info"
_SHOWN_ERRORS: Final = 3
_WORDS: Final = r"(?:fatal error|error|warning|note)"
# As clang writes it, and as PoCL does, with the word before the place.
_DIAGNOSTICS: Final = (
    re.compile(rf"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?P<word>{_WORDS}): (?P<text>[^\n]*)$", re.MULTILINE),
    re.compile(rf"^(?P<word>{_WORDS}): (?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?P<text>[^\n]*)$", re.MULTILINE),
)


def build_source(bindings: Bindings, context: Any, device: Any, image: CodeImage, *, name: str) -> tuple[Any, str]:
    """(cl_program, the compiler's log) of OpenCL C. Raises CompileError with the log, under the caller's file name."""
    if b"\0" in image.data:
        line = image.data[: image.data.index(b"\0")].count(b"\n") + 1
        shown = image.path or f"{image.name}.cl"
        raise CompileError(
            f"{shown}: line {line} holds a zero byte, which ends the source for some compilers",
            module=image.name,
            log="",
        )
    program = bindings.cl._cl._Program(context, source_text(image))
    log = _build(bindings, device, program, build_options(image), image.name, name)
    return program, log


def build_more(bindings: Bindings, context: Any, device: Any, image: CodeImage, more: str, *, name: str) -> Any:
    """The cl_program of the same source with `more` behind it. Raises CompileError."""
    text = f"{_line(image.path or f'{image.name}.cl')}{image.data.decode()}\n{_line('probe.cl')}{more}"
    program = bindings.cl._cl._Program(context, text)
    _build(bindings, device, program, build_options(image), image.name, name)
    return program


def build_spirv(bindings: Bindings, context: Any, device: Any, image: CodeImage, *, name: str) -> tuple[Any, str]:
    """The same of SPIR-V. Raises ModuleLoadError, CompileError."""
    cl = bindings.cl
    try:
        program = cl._cl._create_program_with_il(context, image.data)
    except cl.Error as error:
        raise ModuleLoadError(
            f"module {image.name!r}: {name} takes no SPIR-V like this: {refused_by(bindings, error)}", module=image.name
        ) from error
    return program, _build(bindings, device, program, [], image.name, name)


def build_binary(bindings: Bindings, context: Any, device: Any, image: CodeImage, binary: bytes, *, name: str) -> Any:
    """The cl_program of a binary that this device's driver made of the same image. Raises CompileError, pyopencl's
    Error for a binary that it does not take."""
    program = bindings.cl._cl._Program(context, [device], [binary])
    # The option for argument info counts again: without it PoCL has none to tell.
    words = build_options(image) if image.format != "spirv" else []
    _build(bindings, device, program, words, image.name, name)
    return program


def source_text(image: CodeImage) -> str:
    """OpenCL C as the compiler gets it, under the caller's file name."""
    return _line(image.path or f"{image.name}.cl") + image.data.decode()


def build_options(image: CodeImage) -> list[str]:
    """The words for the compiler: the caller's, the folder of the source for headers, and argument info."""
    words = list(image.options)
    if image.path is not None:
        words += _own_folder(image.path, image.data)
    if ARGUMENT_INFO not in words:
        words.append(ARGUMENT_INFO)
    return words


def _own_folder(path: str, text: bytes) -> list[str]:
    """The option for the headers beside a source. Raises NotSupported where they are wanted and it can't be written."""
    folder = str(PurePath(os.path.abspath(path)).parent)
    try:
        near = os.path.relpath(folder)
    except ValueError:
        near = folder  # on another drive than this process
    for each in (folder, near):
        if not _is_unwritable(each):
            return ["-I", each]
    # The last two are other ways to write the sign.
    if re.search(rb"(?:#|%:|\?\?=)[^\n]*include", text) is None:
        return []
    raise NotSupported(
        f"the source {path} lies in {folder}, and the options of OpenCL's compiler, of which the folder of its headers "
        "is one, cannot hold blanks or quotation marks; move it to a folder without, or change the working directory "
        "to that folder",
        backend="opencl",
        feature="options with blanks",
    )


def _is_unwritable(word: str) -> bool:
    return not word or any(each.isspace() or each == '"' for each in word)


def _line(file: str) -> str:
    """What makes the compiler call the following text by this name, from line 1 on."""
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{quoted}"\n'


def _build(bindings: Bindings, device: Any, program: Any, words: Sequence[str], module: str, name: str) -> str:
    cl = bindings.cl
    failed: Any = None
    try:
        program._build(" ".join(map(_quoted, words)).encode(), [device])
    except cl.Error as error:
        failed = error
    try:
        log = str(program.get_build_info(device, cl.program_build_info.LOG)).strip("\0\n ")
    except cl.Error:
        log = ""
    if failed is not None:
        if int(failed.code) != BUILD_PROGRAM_FAILURE and not log:
            raise ModuleLoadError(
                f"module {module!r}: {name} did not build it with {' '.join(words) or 'no options'}: "
                f"{refused_by(bindings, failed)}",
                module=module,
            ) from failed
        raise _refused(module, name, log, words)
    return log


def _quoted(word: str) -> str:
    if _is_unwritable(word):
        raise NotSupported(
            f"option {word!r}: the options of OpenCL's compiler are one line, and no rule says how a blank or a "
            "quotation mark in one is written, nor an empty one; give each option as a word of its own, with a folder "
            "or a value that has none",
            backend="opencl",
            feature="options with blanks",
        )
    return word


_UNKNOWN_PROCESSOR = "unknown target CPU"
"""What PoCL's compiler says of a processor that it does not know (github.com/pocl/pocl/issues/1049)."""


def _refused(module: str, name: str, log: str, words: Sequence[str]) -> CompileError:
    found = sorted((each for pattern in _DIAGNOSTICS for each in pattern.finditer(log)), key=lambda each: each.start())
    diagnostics = tuple((each["file"], int(each["line"]), f"{each['word']}: {each['text']}") for each in found)
    shown = [
        f"  {each['file']}:{each['line']}: {each['word']}: {each['text']}" for each in found if "error" in each["word"]
    ][:_SHOWN_ERRORS]
    said = "\n".join(shown) or "\n".join(f"  {line}" for line in log.splitlines()[:8]) or "  it says nothing"
    if _UNKNOWN_PROCESSOR in log:
        said += (
            "\n  this driver's own LLVM is older than this processor, so it compiles nothing here: install a newer "
            "PoCL (Debian and Ubuntu: apt-get install pocl-opencl-icd) and choose it with "
            "open_backend('opencl:PLATFORM'), or use another device; `metrale-gpu devices` lists them"
        )
    return CompileError(
        f"module {module!r}: {name} did not compile it (options {' '.join(words)})\n{said}",
        module=module,
        log=log,
        diagnostics=diagnostics,
    )
