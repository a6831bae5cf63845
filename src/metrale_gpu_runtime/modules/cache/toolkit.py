"""The headers of the compiler's own that a text reaches, by what the file system says of them.

They are hundreds, and nobody edits them: a kept result carries their list, and one look at each file's size and time
tells whether they are still what was read; the contents decide where only the time is another.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .headers import Name

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One header as it was when it was read."""

    path: str
    nbytes: int
    mtime_ns: int
    digest: str

    def is_unchanged(self) -> bool:
        """Whether the file is still the same."""
        try:
            state = os.stat(self.path)
            if state.st_size != self.nbytes:
                return False
            return state.st_mtime_ns == self.mtime_ns or _digest(_contents(self.path)) == self.digest
        except OSError:
            return False


def toolkit_headers(names: Iterable[Name], folders: Sequence[str]) -> tuple[ReadFile, ...] | None:
    """Every header that these names reach in the compiler's folders, in the folders' order; None for one that cannot be
    read.

    A computed include there means another file of the same compiler, which its version stands for.
    """
    found: dict[str, ReadFile] = {}
    known: dict[str, str | None] = {}
    waiting = [("", opened, name) for opened, name in names]
    while waiting:
        beside, opened, name = waiting.pop()
        path = os.path.join(beside, name) if opened == '"' and beside else None
        if path is None or not os.path.isfile(path):
            if name not in known:
                places = (os.path.join(folder, name) for folder in folders)
                known[name] = next((place for place in places if os.path.isfile(place)), None)
            path = known[name]
        if path is None or path in found:
            continue
        try:
            state, data = os.stat(path), _contents(path)
        except OSError:
            return None
        found[path] = ReadFile(path, state.st_size, state.st_mtime_ns, _digest(data))
        waiting += [
            (os.path.dirname(path), match[1].decode(), os.fsdecode(match[2])) for match in _INCLUDE.finditer(data)
        ]
    return tuple(found.values())


def _contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
