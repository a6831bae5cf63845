"""What drivers' own compilers and linkers make, made once: asked of this process, of the folder, then of the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...driver import CodeImage, CompiledSource, Driver
from .. import cache
from ..nvrtc_library import OWN_HEADERS
from .kept import KeptCode
from .keys import key_of, key_of_source, takes_other_options
from .records import read_image, read_made, write_image, write_made

_DRIVER, _LINK = "driver", "link"


def compiled(
    driver: Driver, image: CodeImage, *, path: Path | None, names: Sequence[str], debug: bool
) -> CompiledSource:
    """Source compiled by a driver's own compiler. Raises as `Driver.compile` does."""
    name = str(path) if path is not None else image.name
    kept, shown = _kept(driver), f"{name} (debug)" if debug else name
    # Compilers that live in a library bring no C headers; ours come last, so that none of the caller's is hidden.
    folders = [*([path.parent] if path is not None else []), OWN_HEADERS]
    placed = str(path.absolute()) if path is not None else name
    parts = [_device(driver), driver.compiler(), image.format, placed, repr(list(names)), str(debug)]
    # As it is written on disk: a text that is not UTF-8 was refused long before.
    key = key_of_source(_DRIVER, parts, image.data.decode(), image.options, folders).key
    made = cache.COMPILED_BY_DRIVERS.get(key)
    if made is not None:
        kept.remembered(_DRIVER, shown)
        return replace(made, image=replace(made.image, name=image.name))
    entry = kept.entry_of(_DRIVER, shown, key)
    if entry.data is not None:
        try:
            made = read_made(entry.data, image.name)
            entry.used()
        except (ValueError, KeyError, TypeError):  # sound, and of a form that is not ours
            entry.refuse()
    if made is None:
        given = str(path) if path is not None else None
        made = driver.compile(image, path=given, names=names, folders=[str(each) for each in folders], debug=debug)
        entry.keep(write_made(made))
    cache.COMPILED_BY_DRIVERS.put(key, made)
    return replace(made, image=replace(made.image, name=image.name))


def linked(driver: Driver, name: str, images: Sequence[CodeImage], options: Sequence[str]) -> CodeImage:
    """Images linked by a driver's linker. Raises as `Driver.link` does."""
    linker = driver.linker()
    key = None
    if linker is not None and not takes_other_options(_LINK):
        parts: list[str | bytes] = [_device(driver), linker, repr(list(options))]
        for each in images:
            parts += [each.name, each.format, repr(each.options), each.data]
        key = key_of(_LINK, parts)
    entry = _kept(driver).entry_of(_LINK, name, key)
    if entry.data is not None:
        try:
            image = read_image(entry.data, name)
        except (ValueError, KeyError, TypeError):  # sound, and of a form that is not ours
            entry.refuse()
        else:
            entry.used()
            return image
    image = driver.link(name, images, options)
    # What a driver adds to the image beside code is not kept, and such an image neither.
    entry.keep(write_image(image) if not image.options and image.path is None else None)
    return image


def _kept(driver: Driver) -> KeptCode:
    own = driver.code_cache
    return own if isinstance(own, KeptCode) else KeptCode()


def _device(driver: Driver) -> str:
    """The device and its driver's version, as far as they are told."""
    own = driver.capabilities
    return f"{own.backend} {own.device} {own.compute_capability} {own.driver_version}"
