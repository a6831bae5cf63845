"""Names that a text used before, or without, declaring them."""

from __future__ import annotations

from collections.abc import Mapping

from .lexer import Tokens


class UnresolvedSymbols:
    """Names that no scope of a function knows: the module must declare them, before or after."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def add(self, name: str, token: int) -> None:
        """Note the first use of `name`."""
        self._first.setdefault(name, token)

    def check(self, tokens: Tokens, *known: Mapping[str, object]) -> None:
        """Raise at the first use of a name that none of `known` has."""
        for name, token in self._first.items():
            if not any(name in names for names in known):
                tokens.fail(f"{name} is not declared", token)
