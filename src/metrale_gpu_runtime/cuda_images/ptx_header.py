"""The three directives at the head of PTX: version, target, address size. The rest of the text is not read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .architectures import Architecture

# `.file` may stand before `.version`; comments anywhere.
_SKIPPED: Final = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/|\.file[^\n]*)+", re.DOTALL)
_VERSION: Final = re.compile(rb"\.version\s+(\d{1,3})\.(\d{1,3})")
_TARGET: Final = re.compile(rb"\.target\s+(\w+(?:\s*,\s*\w+)*)")


@dataclass(frozen=True, slots=True)
class PtxHeader:
    """`version` is (8, 7); `target` None where it names no architecture; `options` what stands behind it ("debug")."""

    version: tuple[int, int]
    target: Architecture | None
    options: tuple[str, ...] = ()


def read_ptx_header(data: bytes) -> PtxHeader | None:
    """The head of a PTX text; None where it does not begin as PTX does: who compiles it says what is wrong there."""
    at = _after_blanks(data, 0)
    version = _VERSION.match(data, at)
    if version is None:
        return None
    at = _after_blanks(data, version.end())
    found = _TARGET.match(data, at)
    words = [word.strip().decode() for word in found[1].split(b",")] if found is not None else []
    targets = [target for target in map(Architecture.parse, words) if target is not None]
    options = tuple(word for word in words if Architecture.parse(word) is None)
    return PtxHeader((int(version[1]), int(version[2])), targets[0] if targets else None, options)


def _after_blanks(data: bytes, at: int) -> int:
    blank = _SKIPPED.match(data, at)
    return blank.end() if blank is not None else at
