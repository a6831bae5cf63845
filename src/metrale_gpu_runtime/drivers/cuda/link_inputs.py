"""The inputs of a link, looked at before nvJitLink sees them.

Two things must not reach it. A damaged object ended the process inside nvJitLink 13.5. Of two definitions of one symbol
it took one, wrote a line to stderr and reported success, and after a link with LTO-IR ended the process over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ...cuda_images import Architecture, best_entry, read_cubin, read_fatbin, read_ptx_header
from ...cuda_images.elf import Elf
from ...driver import CodeImage
from ...errors import CompileError, IncompatibleCode, ModuleLoadError, PtxSyntaxError

if TYPE_CHECKING:
    from ...ptx.syntax import PtxModule

FORMATS: Final = ("ptx", "cubin", "fatbin", "ltoir", "object", "library")
"""What can be linked: CodeImage.format. "object" and "library" are the host's, with device code in them."""

_AR_MAGIC: Final = b"!<arch>\n"
_AR_HEADER_NBYTES: Final = 60
# Where nvcc puts the device code of an object: relocatable code in the second.
_FATBIN_SECTIONS: Final = (".nv_fatbin", "__nv_relfatbin")


def check_input(module: str, image: CodeImage, target: Architecture) -> None:
    """Raise IncompatibleCode for an input that the target cannot run, ModuleLoadError for one that is damaged."""
    device = (target.major, target.minor)
    misfit: str | None = None
    if image.format == "ptx":
        header = read_ptx_header(image.data)
        if header is not None and header.target is not None and not header.target.ptx_runs_on(device):
            misfit = f"PTX for {header.target}, which runs on {header.target.devices('ptx')}"
    elif image.format == "cubin":
        architecture = read_cubin(image.data, image.name).architecture
        if architecture is not None and not architecture.cubin_runs_on(device):
            misfit = f"a cubin for {architecture}, which runs on {architecture.devices('cubin')}"
    elif image.format == "fatbin":
        entries = read_fatbin(image.data, image.name)
        has_lto = any(entry.kind == "ltoir" and entry.architecture.ptx_runs_on(device) for entry in entries)
        if best_entry(entries, device) is None and not has_lto:
            misfit = f"a fatbin of {', '.join(map(str, entries)) or 'nothing'}"
    elif image.format == "object":
        Elf(image.data, image.name, "object", machine=None)
    elif image.format == "library":
        _check_library(image)
    elif image.format != "ltoir":
        raise ModuleLoadError(
            f"module {module!r}: {image.name} is {image.format}, which nvJitLink does not link; it takes "
            f"{', '.join(FORMATS)}",
            module=module,
        )
    if misfit is not None:
        raise IncompatibleCode(
            f"module {module!r}: {image.name} is {misfit}; it cannot be linked for {target}. Compile it for {target}, "
            "or give its source",
            module=module,
            needs=misfit,
            device_architecture=str(target),
        )


def _check_library(image: CodeImage) -> None:
    """Walk an archive's members: sizes within the file, objects whole."""
    data, at = image.data, len(_AR_MAGIC)
    if not data.startswith(_AR_MAGIC):
        raise ModuleLoadError(
            f"module {image.name!r}: the library is none: it begins with {data[:8]!r}, not {_AR_MAGIC!r}",
            module=image.name,
        )
    while at < len(data):
        header = data[at : at + _AR_HEADER_NBYTES]
        size = header[48:58].strip()
        start = at + _AR_HEADER_NBYTES
        if len(header) < _AR_HEADER_NBYTES or not size.isdigit() or start + int(size) > len(data):
            raise ModuleLoadError(
                f"module {image.name!r}: the library is damaged: its member at byte {at} does not lie in its "
                f"{len(data)} bytes",
                module=image.name,
            )
        member = data[start : start + int(size)]
        if member.startswith(b"\x7fELF"):
            Elf(member, image.name, f"object at byte {at} of the library", machine=None)
        at = start + int(size) + int(size) % 2


def is_lto(image: CodeImage) -> bool:
    """Whether an input is LTO-IR, or a fatbin that holds some."""
    if image.format == "fatbin":
        return any(entry.kind == "ltoir" for entry in read_fatbin(image.data, image.name))
    return image.format == "ltoir"


def refuse_second_definitions(module: str, images: Sequence[CodeImage], target: Architecture) -> None:
    """Raise CompileError when two inputs define one symbol, as far as their definitions can be read here.

    They are read in PTX, in cubins, and in fatbins and objects with code that is not compressed. Of a library the
    linker takes only what is missing.
    """
    first: dict[str, str] = {}
    twice: dict[str, tuple[str, str]] = {}
    for image in images:
        for symbol in _definitions(image, (target.major, target.minor)):
            if symbol in first:
                twice[symbol] = (first[symbol], image.name)
            first.setdefault(symbol, image.name)
    if not twice:
        return
    lines = [f"multiple definition of {symbol} in {second}, first in {one}" for symbol, (one, second) in twice.items()]
    raise CompileError(
        f"module {module!r}: cannot be linked: {'; '.join(lines)}. Make one of them static, or give the input once",
        module=module,
        log="\n".join(lines),
        diagnostics=[(second, 0, line) for line, (_, second) in zip(lines, twice.values(), strict=True)],
    )


def _definitions(image: CodeImage, device: tuple[int, int]) -> tuple[str, ...]:
    if image.format == "ptx":
        return _ptx_definitions(image)
    if image.format == "cubin":
        return read_cubin(image.data, image.name).definitions
    return tuple(symbol for code in _inner_code(image, device) for symbol in _definitions(code, device))


def _inner_code(image: CodeImage, device: tuple[int, int]) -> list[CodeImage]:
    """What of a fatbin is taken for the device, and that of each fatbin in an object; none that is compressed."""
    if image.format == "fatbin":
        entry = best_entry(read_fatbin(image.data, image.name), device)
        if entry is None or entry.payload is None:
            return []
        return [CodeImage(image.name, entry.kind, entry.payload)]
    if image.format == "object":
        elf = Elf(image.data, image.name, "object", machine=None)
        return [
            CodeImage(image.name, "fatbin", elf.contents(section))
            for section in elf.sections
            if section.name in _FATBIN_SECTIONS
        ]
    return []


def users_of(symbol: str, images: Sequence[CodeImage], target: Architecture) -> list[str]:
    """The inputs that use a symbol and do not define it, as far as their symbols can be read here."""
    device = (target.major, target.minor)
    return [image.name for image in images if symbol in _undefined(image, device)]


def _undefined(image: CodeImage, device: tuple[int, int]) -> tuple[str, ...]:
    if image.format == "ptx":
        return _ptx_undefined(image)
    if image.format == "cubin":
        return read_cubin(image.data, image.name).undefined
    return tuple(symbol for code in _inner_code(image, device) for symbol in _undefined(code, device))


def _ptx_undefined(image: CodeImage) -> tuple[str, ...]:
    ptx = _parsed(image)
    if ptx is None:
        return ()
    functions = [each.name for each in ptx.functions.values() if each.linkage == "extern"]
    return (*functions, *(each.name for each in ptx.variables.values() if each.linkage == "extern"))


def _ptx_definitions(image: CodeImage) -> tuple[str, ...]:
    ptx = _parsed(image)
    if ptx is None:
        return ()
    functions = [each.name for each in ptx.functions.values() if each.body is not None and each.linkage == "visible"]
    return (*functions, *(each.name for each in ptx.variables.values() if each.linkage == "visible"))


def _parsed(image: CodeImage) -> PtxModule | None:
    from ...ptx.parser import parse

    try:
        return parse(image.data, name=image.name)
    except PtxSyntaxError:
        # nvJitLink's own compiler says better what is wrong with it.
        return None
