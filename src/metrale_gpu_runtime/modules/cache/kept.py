"""What compilers ask: an entry of the folder between processes, with what came of it told to the backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ...code_cache import Build, CodeCache, CodeEntry


def _told_nobody(build: Build) -> None:
    """For compilations that belong to no backend."""


class KeptEntry(CodeEntry):
    """An entry under one key; without a key nothing is kept, and what was built is told all the same."""

    def __init__(self, kind: str, name: str, key: str | None, told: Callable[[Build], None]) -> None:
        self._kind, self._name, self._key, self._told = kind, name, key, told
        self._began = time.perf_counter()
        self.data = None
        self.is_kept = False
        if key is not None:
            from .store import current_store

            store = current_store()
            self.data = store.read(kind, key)
            self.is_kept = self.data is None and store.would_write()

    def used(self) -> None:
        self._tell("hit")

    def refuse(self) -> None:
        if self._key is not None and self.data is not None:
            from .store import current_store

            current_store().remove(self._kind, self._key)
        self.data = None
        self.is_kept = self._key is not None

    def keep(self, data: bytes | None) -> None:
        self._tell("built")
        if self._key is not None and data is not None:
            from .store import current_store

            current_store().write(self._kind, self._key, data)

    def _tell(self, outcome: str) -> None:
        self._told(Build(self._kind, self._name, outcome, (time.perf_counter() - self._began) * 1e3))


class KeptCode(CodeCache):
    """The compile cache as one backend sees it: `told` hears of every hit and of everything built."""

    def __init__(self, told: Callable[[Build], None] = _told_nobody) -> None:
        self._told = told

    def entry(
        self,
        kind: str,
        name: str,
        parts: Sequence[str | bytes] | None,
        *,
        source: str | None = None,
        options: Sequence[str] = (),
        folders: Sequence[str] = (),
    ) -> KeptEntry:
        from .keys import key_of, key_of_source, takes_other_options

        if parts is None or takes_other_options(kind):
            return self.entry_of(kind, name, None)
        if source is None:
            return self.entry_of(kind, name, key_of(kind, parts))
        return self.entry_of(kind, name, key_of_source(kind, parts, source, options, folders).key)

    def entry_of(self, kind: str, name: str, key: str | None) -> KeptEntry:
        """The entry under a key that is known already."""
        return KeptEntry(kind, name, key, self._told)

    def remembered(self, kind: str, name: str) -> None:
        """Say that this process had it: a hit as well."""
        self._told(Build(kind, name, "hit", 0.0))
