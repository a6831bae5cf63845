"""Which function translates which instruction: by mnemonic and, where that decides, by the kind of its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....ptx.syntax import Instruction
from .refusal import refuse
from .scalar import SCALARS

if TYPE_CHECKING:
    from .emitter import Emitter

Handler = Callable[["Emitter", Instruction], None]

_HANDLERS: dict[tuple[str, str], Handler] = {}
_KINDS = {"u": "integer", "s": "integer", "b": "integer", "f": "float", "h": "half", "p": "pred"}


def translates(*opcodes: str, kind: str = "") -> Callable[[Handler], Handler]:
    """Register a handler for mnemonics: for all types, or for "integer", "float", "half" or "pred" ones."""

    def register(handler: Handler) -> Handler:
        for opcode in opcodes:
            key = (opcode, kind)
            if key in _HANDLERS:
                raise AssertionError(f"{key} has two handlers")
            _HANDLERS[key] = handler
        return handler

    return register


def handler_of(instruction: Instruction) -> Handler:
    """The handler of an instruction; refuses a mnemonic or type that nobody translates."""
    opcode = instruction.opcode
    handler = _HANDLERS.get((opcode, ""))
    if handler is not None:
        return handler
    for word in instruction.modifiers:
        scalar = SCALARS.get(word)
        if scalar is not None:
            handler = _HANDLERS.get((opcode, _KINDS[scalar.kind]))
            if handler is not None:
                return handler
            break
    refuse("the CPU backend does not translate it")
