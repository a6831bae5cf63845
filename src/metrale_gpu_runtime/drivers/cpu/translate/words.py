"""The modifiers of an instruction as a set that is used up: what nobody took is not supported."""

from __future__ import annotations

from ....ptx.syntax import Instruction
from .refusal import refuse
from .scalar import SCALARS, Scalar

_SCOPES = ("cta", "cluster", "gpu", "sys")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


class Words:
    """Modifiers may come in any order (inline assembly writes them as it likes); only types keep theirs."""

    __slots__ = ("left",)

    def __init__(self, instruction: Instruction) -> None:
        self.left = list(instruction.modifiers)

    def flag(self, word: str) -> bool:
        """Take `word`; whether it was there."""
        if word in self.left:
            self.left.remove(word)
            return True
        return False

    def choice(self, *words: str) -> str | None:
        """Take the first of `words` that is there."""
        for word in self.left:
            if word in words:
                self.left.remove(word)
                return word
        return None

    def type(self) -> Scalar:
        """Take the next scalar type, in written order."""
        for word in self.left:
            scalar = SCALARS.get(word)
            if scalar is not None:
                self.left.remove(word)
                return scalar
        refuse("no type that is supported stands in it")

    def vector(self) -> int:
        """Take `.v2`, `.v4` or `.v8`; 1 if there is none."""
        word = self.choice(*_VECTORS)
        return 1 if word is None else _VECTORS[word]

    def scope(self) -> str | None:
        """Take the scope of a memory operation; all of them are one on a CPU."""
        return self.choice(*_SCOPES)

    def end(self) -> None:
        """Refuse if a modifier is left that nobody took."""
        if self.left:
            refuse(f".{self.left[0]} is not supported here")
