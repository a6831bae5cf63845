"""`metrale-gpu cache`: where compiled code is kept, what is there, and clearing it."""

from __future__ import annotations

import json as json_text

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import GpuError
from ..modules.cache.settings import FOLDER_VARIABLE, SIZE_VARIABLE, SWITCH_VARIABLE
from ..modules.cache.store import FolderFigures, Store, current_store
from .plain import print_plain


class CacheRefused(GpuError):
    """The cache's folder cannot be read or cleared."""


def show_cache(as_json: bool, console: Console) -> None:
    """Print the folder, its size and its limit, and the entries of each kind; or why it is not used."""
    store = current_store()
    refusal = _refusal(store)
    figures = _figures(store) if refusal is None else FolderFigures()
    if as_json:
        print(
            json_text.dumps(
                {
                    "folder": str(store.folder) if store.folder is not None else None,
                    "is_used": refusal is None,
                    "reason": refusal,
                    "is_writable": store.is_writable(),
                    "nbytes": figures.total_nbytes,
                    "max_nbytes": store.max_nbytes,
                    "entries": figures.count,
                    "unfinished": figures.unfinished,
                    "kinds": {
                        kind: {"entries": count, "nbytes": figures.nbytes[kind]}
                        for kind, count in sorted(figures.counts.items())
                    },
                },
                indent=2,
            )
        )
        return
    if store.folder is not None:
        print_plain(console, store.folder)
    if refusal is not None:
        console.print(Text.assemble(("not used: ", "yellow"), refusal))
        return
    if not store.is_writable():
        console.print(
            Text.assemble(("read only: ", "yellow"), f"this user cannot write there; {FOLDER_VARIABLE} names another")
        )
    table = Table("kind", "entries", "size")
    for kind, count in sorted(figures.counts.items()):
        table.add_row(kind, str(count), _size(figures.nbytes[kind]))
    table.add_section()
    table.add_row("all", str(figures.count), f"{_size(figures.total_nbytes)} of {_size(store.max_nbytes)}")
    console.print(table)
    if figures.unfinished:
        print_plain(console, f"{_counted(figures.unfinished, 'file')} begun and not finished: after an hour that goes")


def clear_cache(as_json: bool, console: Console) -> None:
    """Remove every entry, and say what that was. Raises CacheRefused for a folder that is not used or not writable."""
    store = current_store()
    refusal = _refusal(store)
    if refusal is not None:
        raise CacheRefused(f"nothing was cleared: {store.folder or 'the cache'} is not used: {refusal}")
    try:
        gone = store.clear()
    except OSError as error:
        raise CacheRefused(f"{store.folder} was not cleared: {error}") from error
    if as_json:
        print(json_text.dumps({"folder": str(store.folder), "entries": gone.count, "nbytes": gone.total_nbytes}))
        return
    print_plain(console, f"{_counted(gone.count, 'entry')}, {_size(gone.total_nbytes)}, removed from {store.folder}")


def _refusal(store: Store) -> str | None:
    if store.folder is None:
        return store.settings.problem or f"it is turned off ({SWITCH_VARIABLE}=off, or {SIZE_VARIABLE}=0)"
    return store.refusal()


def _figures(store: Store) -> FolderFigures:
    try:
        return store.figures()
    except OSError as error:
        raise CacheRefused(f"{store.folder} cannot be read: {error}; {FOLDER_VARIABLE} names another") from error


def _size(nbytes: int) -> str:
    return f"{nbytes / (1 << 20):.1f} MiB" if nbytes >= 1 << 20 else f"{nbytes / (1 << 10):.1f} KiB"


def _counted(count: int, what: str) -> str:
    return (
        f"{count} {what}" if count == 1 else f"{count} {what.removesuffix('y')}{'ies' if what.endswith('y') else 's'}"
    )
