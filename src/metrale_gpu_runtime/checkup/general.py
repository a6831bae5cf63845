"""What belongs to no backend: the launch core in use and why, and the compile cache."""

from __future__ import annotations

import importlib.util
import os

from ..drivers.diagnosis import BROKEN, FOUND, NOTE, Observation


def look_at_launch_core() -> Observation:
    """Which launch core this process uses, and what decided it."""
    from ..native import NATIVE, VARIABLE, launch_core

    asked = os.environ.get(VARIABLE, "").strip()
    extension = importlib.util.find_spec("metrale_gpu_runtime.native._core")
    where = (str(extension.origin),) if extension is not None and extension.origin else ()
    if launch_core == NATIVE:
        return Observation("launch core", FOUND, "native" + (f", by {VARIABLE}={asked}" if asked else ""), where)
    if asked:
        why = f"{VARIABLE}={asked} asks for it"
    elif extension is None:
        why = "the extension is not built: install the package with a C compiler at hand"
    else:
        why = "the extension serves the process's first interpreter alone, and this is another"
    return Observation("launch core", NOTE, f"python: {why}", where)


def look_at_cache() -> Observation:
    """The compile cache's folder, what it holds, and why it cannot be used."""
    from ..modules.cache.settings import FOLDER_VARIABLE, SWITCH_VARIABLE, read_settings
    from ..modules.cache.store import Store

    settings = read_settings()
    if settings.folder is None:
        why = settings.problem or f"turned off by the environment ({SWITCH_VARIABLE}, or a size of 0)"
        return Observation("compile cache", BROKEN if settings.problem else NOTE, f"not used: {why}")
    folder, store = str(settings.folder), Store(settings)
    refusal = store.refusal()
    if refusal is not None:
        return Observation("compile cache", BROKEN, f"{folder} is not used: {refusal}", (folder,))
    unwritable = f"this user cannot write there; {FOLDER_VARIABLE} names another folder"
    if not settings.folder.exists():
        if not store.is_writable():
            return Observation("compile cache", BROKEN, f"{folder} is not there, and {unwritable}", (folder,))
        return Observation(
            "compile cache", NOTE, f"{folder} is not there yet; the first compilation makes it", (folder,)
        )
    figures = store.figures()
    entries = "1 entry" if figures.count == 1 else f"{figures.count} entries"
    held = f"{entries}, {figures.total_nbytes} bytes of at most {settings.max_nbytes}"
    if not store.is_writable():
        return Observation("compile cache", NOTE, f"{folder}: {held}, which are read; {unwritable}", (folder,))
    return Observation("compile cache", FOUND, f"{folder}: {held}", (folder,))
