"""Several inputs made one module: sources compiled to be linked, the rest as they are, then the driver's linker."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..capabilities import Capabilities
from ..driver import CodeImage, Driver
from ..errors import CodeNotFound, ModuleLoadError, NotSupported
from .formats import FORMATS, CodeFormat, describe_contents, format_of_contents, format_of_suffix, is_host_object
from .loading import LoadedModule, give_to_driver
from .parts import LinkRequest, Part
from .sources import CodeInput, zero_byte_in_ptx

LinkInput = str | os.PathLike[str] | tuple[str, bytes | bytearray | memoryview | str]
"""A path; (form or suffix, contents): ("ptx", text), (".cubin", data); or source text, which has a line break."""

_TAKEN = ("ptx", "cuda-c", "cubin", "fatbin", "ltoir", "object", "library")
_LTO_OPTION = "-lto"
_RELOCATABLE_OPTIONS = frozenset({"-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c"})


def find_parts(
    module: str, link: Sequence[LinkInput], link_options: Sequence[str], capabilities: Capabilities
) -> LinkRequest:
    """The inputs of a link, read and told apart. Raises NotSupported where the backend cannot link; CodeNotFound and
    ModuleLoadError for an input that is not there or is nothing that is linked; TypeError for what is no input."""
    if not capabilities.linking:
        raise NotSupported(
            f"module {module!r}: {capabilities.backend} does not link (Capabilities.linking is False); load one file "
            "that holds everything, or open a CUDA device with nvJitLink installed",
            backend=capabilities.backend,
            feature="linking",
        )
    if isinstance(link, (str, bytes, os.PathLike)) or not isinstance(link, Sequence):
        raise TypeError(f"link= takes a list of inputs, not {type(link).__name__}")
    if not link:
        raise ModuleLoadError(f"module {module!r}: there is nothing to link: link= is empty", module=module)
    found = [_part(module, index, each) for index, each in enumerate(link)]
    return LinkRequest(tuple(code for _, code in found), tuple(name for name, _ in found), tuple(link_options))


def _part(module: str, index: int, given: LinkInput) -> tuple[str, CodeInput]:
    if isinstance(given, tuple) and len(given) == 2:
        form, contents = given
        known = FORMATS.get(form) or format_of_suffix(form if form.startswith(".") else f".{form}")
        if known is None:
            raise _refused(module, f"input {index}: {form!r} is no form of code; they are {', '.join(_TAKEN)}")
        data = contents.encode() if isinstance(contents, str) else bytes(contents)
        return f"input {index} ({known.name})", _checked(module, f"input {index}", known, data, None)
    if isinstance(given, str) and "\n" in given:
        data = given.encode()
        form_found = format_of_contents(data) or FORMATS["cuda-c"]
        return f"input {index} ({form_found.name})", CodeInput(form_found.name, data)
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(
            f"link=: input {index} is {type(given).__name__}; give a path, (form, contents), or source text of more "
            "than one line"
        )
    path = Path(given)
    known = format_of_suffix(path.suffix)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CodeNotFound(
            f"module {module!r}: there is no {path} to link", module=module, looked_for=(str(path),)
        ) from None
    except OSError as error:
        raise _refused(module, f"{path} cannot be read: {error.strerror}") from error
    return path.name, _checked(module, str(path), known, data, path)


def _refused(module: str, what: str) -> ModuleLoadError:
    return ModuleLoadError(f"module {module!r}: {what}", module=module)


def _checked(module: str, what: str, known: CodeFormat | None, data: bytes, path: Path | None) -> CodeInput:
    """The input, once its contents are what its suffix or its given form says."""
    seen = FORMATS["object"] if is_host_object(data) else format_of_contents(data)
    form = known or seen
    if form is None or form.name not in _TAKEN:
        raise _refused(module, f"{what} is {describe_contents(data)}; what is linked is {', '.join(_TAKEN)}")
    if not data.strip():
        raise _refused(module, f"{what} is empty")
    # LTO-IR has had several layouts, so that its contents do not tell it; source text does not either.
    if seen is not form and (seen is not None or form.name not in ("ltoir", "cuda-c")):
        raise _refused(
            module, f"{what} should be {form.title} but is {seen.title if seen else describe_contents(data)}"
        )
    if form.name == "ptx":
        refused = zero_byte_in_ptx(data, what)
        if refused is not None:
            raise _refused(module, refused)
    if form.name == "cuda-c":
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise _refused(module, f"{what} is not UTF-8: byte {error.start} is {data[error.start]:#04x}") from None
    return CodeInput(form.name, data, path)


def load_linked(
    driver: Driver,
    name: str,
    request: LinkRequest,
    *,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    declared: Mapping[str, str] | None = None,
) -> LoadedModule:
    """Compile the sources among the inputs with -rdc=true, link everything, load what comes out.

    `options` and `names` are those of the compiler. Raises as `load` does, and CompileError with the linker's log.
    """
    if names and not any(code.is_source for code in request.parts):
        raise _refused(
            name, "names= instantiates C++ templates, which takes C++ source; there is none among the inputs"
        )
    if options and not any(code.is_source for code in request.parts):
        raise _refused(
            name,
            f"options {' '.join(options)} are the compiler's, and there is no source among the inputs; those of the "
            "linker are link_options=",
        )
    if sum(code.is_source for code in request.parts) == 1:
        names_of = {id(code): tuple(names) for code in request.parts}
    else:
        names_of = {id(code): _instantiated_in(code, names) for code in request.parts}
    from .cache import by_drivers

    compiler_options = _for_linking(options, request.options)
    parts: list[Part] = []
    images: list[CodeImage] = []
    notes: list[str] = []
    for label, code in zip(request.names, request.parts, strict=True):
        if code.is_source:
            part, more = _compiled(driver, name, label, code, compiler_options, names_of[id(code)])
            notes += more
        else:
            part = Part(label, code)
        parts.append(part)
        images.append(_image(part))
    linked = by_drivers.linked(driver, name, images, request.options)
    image, handle = give_to_driver(driver, name, linked, parts)
    return LoadedModule(driver, name, parts, handle, declared=declared, image=image, notes=list(dict.fromkeys(notes)))


def _instantiated_in(code: CodeInput, names: Sequence[str]) -> tuple[str, ...]:
    """The name expressions whose template stands in this source: another source could not instantiate them."""
    if not code.is_source:
        return ()
    words = set(re.findall(r"\w+", code.text()))
    return tuple(each for each in names if re.split(r"[<(]", each)[0].split("::")[-1].strip() in words)


def _for_linking(options: Sequence[str], link_options: Sequence[str]) -> list[str]:
    """The compiler's options for what is linked: relocatable, and LTO-IR where the linker is to optimise it all."""
    from .nvrtc import LTO_OPTIONS

    given = list(options)
    if not _RELOCATABLE_OPTIONS & set(given):
        given.append("-rdc=true")
    if _LTO_OPTION in link_options and not LTO_OPTIONS & set(given):
        # With nothing but PTX or cubins to optimise, nvJitLink ends an -lto link with NVVM_ERROR_NO_MODULE_IN_PROGRAM.
        given.append("-dlto")
    return given


def _compiled(
    driver: Driver, module: str, label: str, code: CodeInput, options: Sequence[str], names: Sequence[str]
) -> tuple[Part, tuple[str, ...]]:
    from .compiling import compile_for_device

    compiled, notes = compile_for_device(
        driver.capabilities,
        module,
        code.text(),
        path=code.path,
        options=options,
        names=names,
        cache=driver.code_cache,
    )
    return Part(label, code, compiled, tuple(options), tuple(names)), notes


def _image(part: Part) -> CodeImage:
    compiled = part.compiled
    if compiled is None:
        return CodeImage(part.name, part.code.format, part.code.data)
    if compiled.ltoir is not None:
        return CodeImage(part.name, "ltoir", compiled.ltoir)
    # nvJitLink compiles PTX itself, whatever the driver's age; a cubin leaves it less to do.
    if compiled.cubin is not None:
        return CodeImage(part.name, "cubin", compiled.cubin)
    return CodeImage(part.name, "ptx", compiled.ptx)
