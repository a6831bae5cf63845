"""What one process has compiled already, by content: the same text with the same headers is compiled once.

The key holds everything that goes into a compilation: the text, the options, the compiler's version, and the path
and contents of each header of the user's own that the text reaches. A changed header or option is another key; a
text whose headers cannot be told (a computed `#include`) is not remembered at all.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from ..driver import CompiledSource
from .nvrtc import CompiledPtx

R = TypeVar("R")

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|import)(?:_next)?[ \t]*(?P<rest>[^\n]*)", re.MULTILINE)
_NAMED = re.compile(r"(?P<open>[<\"])(?P<name>[^>\"]+)[>\"]")
# NVRTC takes -Ifolder, -I=folder, "-I folder", and -I or --include-path followed by the folder.
_FOLDER_OPTION = re.compile(r"\s*(?:-I|--include-path)(?:=|\s*)(?P<folder>.*?)\s*", re.DOTALL)
_OPAQUE_OPTION = re.compile(r"\S\s+-|incl", re.IGNORECASE)
_SPLICE = re.compile(r"\\\r?\n")


class _HeadersUnknown(Exception):
    """A header is named by a macro, or by an option that is not read here: only the compiler knows which it is."""


def _folders(options: Sequence[str], own: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The folders that are looked through for headers, in order."""
    folders = [Path(each) for each in own]
    given = iter(options)
    for option in given:
        match = _FOLDER_OPTION.fullmatch(option)
        if match is not None:
            folders.append(Path(match["folder"] or next(given, "")))
        elif _OPAQUE_OPTION.search(option):
            raise _HeadersUnknown
    return folders


def _headers(text: str, beside: Path | None, folders: Sequence[Path], found: dict[Path, str]) -> None:
    """Add to `found` the headers that a text reaches in these folders, with a digest of each.

    Conditions are not evaluated: a header in a branch not taken only makes the key finer. What is in no folder of
    the user's is the toolkit's, which the compiler's version stands for.
    """
    for match in _INCLUDE.finditer(_SPLICE.sub("", text)):
        named = _NAMED.match(match["rest"])
        if named is None:
            raise _HeadersUnknown
        places = [beside, *folders] if named["open"] == '"' and beside is not None else folders
        for place in places:
            assert place is not None
            path = place / named["name"]
            if not path.is_file():
                continue
            if path not in found:
                data = path.read_bytes()
                found[path] = hashlib.sha256(data).hexdigest()
                _headers(data.decode(errors="replace"), path.parent, folders, found)
            break


def compile_key(
    source: str,
    *,
    name: str,
    options: Sequence[str],
    names: Sequence[str],
    architecture: str,
    debug: bool,
    include_paths: Sequence[str | os.PathLike[str]],
    compiler: str,
    with_cubin: bool = False,
) -> str | None:
    """The key of one compilation; None when it must not be remembered."""
    headers: dict[Path, str] = {}
    try:
        _headers(source, None, _folders(options, include_paths), headers)
    except (_HeadersUnknown, OSError):  # an unreadable header: the compiler is to say so
        return None
    parts = [source, name, repr(list(options)), repr(list(names)), architecture, str(debug), str(with_cubin), compiler]
    parts += [f"{path}={digest}" for path, digest in headers.items()]
    joined = b"".join(len(each).to_bytes(8, "little") + each for each in (os.fsencode(part) for part in parts))
    return hashlib.sha256(joined).hexdigest()


class CompileMemo(Generic[R]):
    """Compilations of this process by key, the most recent ones. Safe to use from several threads at once."""

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._results: dict[str, R] = {}
        self._lock = threading.Lock()
        self.hits = 0

    def get(self, key: str | None) -> R | None:
        """The remembered result of this key, or None."""
        with self._lock:
            result = self._results.get(key) if key is not None else None
            self.hits += result is not None
            return result

    def put(self, key: str | None, result: R) -> None:
        """Remember a result; one without a key is not kept."""
        if key is None:
            return
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._most:
                del self._results[next(iter(self._results))]


COMPILED: CompileMemo[CompiledPtx] = CompileMemo()
COMPILED_BY_DRIVERS: CompileMemo[CompiledSource] = CompileMemo()
