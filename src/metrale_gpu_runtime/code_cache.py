"""Where a driver keeps what its compiler made, from one process to the next: the contract's side of the compile cache.

A driver asks for an entry with everything that goes into its compilation, uses what the entry has, or compiles and lets
the entry keep the result. The engine gives each driver a cache before code is loaded; one that was given none keeps
nothing. Where entries are kept, how large that grows and what is wrong with a damaged one is not the driver's to know.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

_EDGE_NBYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Build:
    """One time that compiled code was needed: `outcome` is "built" or "hit", `elapsed_ms` what getting it took.

    `kind` is the compiler ("nvrtc", "nvcc", "driver", "link", "cpu", "opencl"), `name` what was compiled.
    """

    kind: str
    name: str
    outcome: str
    elapsed_ms: float

    def __str__(self) -> str:
        return f"{self.outcome} {self.name} ({self.kind}) in {self.elapsed_ms:.1f} ms"


class CodeEntry:
    """One look-up. `data` is what was kept, None where there is nothing: then compile, and call `keep`.

    `is_kept`: what `keep` gets will be there for others. Where it is False, making it can be saved.
    """

    data: bytes | None = None
    is_kept: bool = False

    def used(self) -> None:
        """Say that `data` was taken: a hit."""

    def refuse(self) -> None:
        """Say that `data` could not be taken after all; it is forgotten. Compile, and call `keep`."""

    def keep(self, data: bytes | None) -> None:
        """Say that it was compiled, and keep the result; None where there is nothing to keep. Never fails."""


class CodeCache:
    """A cache that keeps nothing; the engine's does."""

    def entry(
        self,
        kind: str,
        name: str,
        parts: Sequence[str | bytes] | None,
        *,
        source: str | None = None,
        options: Sequence[str] = (),
        folders: Sequence[str] = (),
    ) -> CodeEntry:
        """The entry of one compilation. `kind` is one of Build's, `name` is for people.

        `parts` is everything that the result depends on: the text or code, options in order, the versions of compiler,
        driver and device; None where that is not known, and nothing is kept then. `source` is C-like text whose
        `#include`s are followed through `options` (-I) and `folders`: the headers become part of the key, and nothing
        is kept where they cannot be told.
        """
        return CodeEntry()


NOTHING_KEPT = CodeCache()


def library_identity(path: str) -> str:
    """What tells one build of a compiler's library from another at the same path: its size, its head, where linkers put
    the build's id, and its end. The path alone where no such file can be read."""
    import hashlib

    try:
        with open(path, "rb") as file:
            nbytes = os.fstat(file.fileno()).st_size
            edges = file.read(_EDGE_NBYTES)
            file.seek(max(0, nbytes - _EDGE_NBYTES))
            edges += file.read(_EDGE_NBYTES)
    except OSError:
        return path
    return f"{path} {nbytes} {hashlib.sha256(edges).hexdigest()}"
