"""How translation says that it cannot: raised where it is noticed, told to the caller with kernel and line."""

from __future__ import annotations

from typing import NoReturn

from ....ptx.syntax import Instruction


class Refused(Exception):
    """An instruction or declaration is not translated; the text says what of it is not supported.

    `instruction` is set by whoever knows it.
    """

    def __init__(self, reason: str, instruction: Instruction | None = None) -> None:
        self.instruction = instruction
        super().__init__(reason)


def refuse(reason: str, instruction: Instruction | None = None) -> NoReturn:
    """Raise `Refused`."""
    raise Refused(reason, instruction)
