"""The parts of a module as they were given, and what came of them: one for most, several for a linked module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..driver import CodeImage
from .sources import CodeInput

if TYPE_CHECKING:
    from .nvrtc import CompiledPtx


@dataclass(frozen=True, slots=True)
class Part:
    """One input: `name` is for messages, `compiled` what a compiler here made of it, where one did.

    `options` and `names` are what it was compiled with.
    """

    name: str
    code: CodeInput
    compiled: CompiledPtx | None = None
    options: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def ptx(self) -> bytes | None:
        """Its PTX, given or compiled; None where it has none."""
        if self.compiled is not None:
            return self.compiled.ptx or None
        return self.code.data if self.code.format == "ptx" else None


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """What `load_module(…, link=[…])` was given: the inputs, and the linker's options."""

    parts: tuple[CodeInput, ...]
    names: tuple[str, ...]
    options: tuple[str, ...] = ()


def origin(parts: Sequence[Part], image: CodeImage | None = None) -> str:
    """Where code came from, for people: its file, or that it was given directly, or what was linked."""
    if len(parts) != 1:
        return f"linked from {', '.join(part.name for part in parts)}"
    code = parts[0].code
    return str(code.path) if code.path is not None else f"{code.format} given directly"
