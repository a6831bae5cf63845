"""The kernels of machine code as its file tells them, without a device: of a cubin, and of each image of a fatbin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from ..cuda_images import read_cubin, read_fatbin
from ..driver import CodeImage
from ..signature import KernelSignature
from .described import debug_signatures, describe, merged_signature
from .parts import Part
from .sources import CodeInput

_COMPRESSED = "is compressed; its kernels are not read"


@dataclass(frozen=True, slots=True)
class ImageKernel:
    """One kernel of one image. `image` is "cubin for sm_90"; a block of None is one that the image does not bound."""

    name: str
    image: str
    signature: KernelSignature
    max_block: tuple[int, int, int] | None
    required_block: tuple[int, int, int] | None


def kernels_in(code: CodeInput, name: str) -> tuple[list[ImageKernel], list[str]]:
    """The kernels of a cubin or a fatbin, image by image, and notes on what could not be read.

    Raises ModuleLoadError, in the name of `name`, for bytes that are damaged.
    """
    kernels: list[ImageKernel] = []
    notes: list[str] = []
    for title, part in _images(code, name, notes):
        image = CodeImage(part.name, part.code.format, part.code.data)
        described = describe(name, [part], image, None, [])
        debug = debug_signatures(described, image, _compiles_nothing)
        for symbol in described.symbols or ():
            sources = [*([debug[symbol]] if symbol in debug else []), *described.signatures(symbol)]
            signature = merged_signature(symbol, sources, described.notes)
            required, largest = described.block_bounds(symbol)
            kernels.append(ImageKernel(symbol, title, signature, largest, required))
        notes += [f"{title}: {note}" for note in described.notes]
    return kernels, list(dict.fromkeys(notes))


def _images(code: CodeInput, name: str, notes: list[str]) -> Iterator[tuple[str, Part]]:
    """(what it is, the image) of all that can be read."""
    if code.format == "cubin":
        architecture = read_cubin(code.data, name).architecture
        yield f"cubin for {architecture or 'an architecture later than is known here'}", Part(name, code)
        return
    for entry in read_fatbin(code.data, name):
        if entry.payload is None:
            notes.append(f"{entry}: {_COMPRESSED}")
        elif entry.kind in ("cubin", "ptx"):
            yield str(entry), Part(name, CodeInput(entry.kind, entry.payload))
        else:
            notes.append(f"{entry}: it lists no kernels")


def _compiles_nothing(part: Part, debug: bool) -> NoReturn:
    raise AssertionError(f"{part.code.format} is not compiled")
