"""Module variables as symbols: code that is kept may run in another process, where they lie elsewhere.

The translator writes the addresses that variables have in this process. Here they become names again, before LLVM reads
the text. A number that is no address but happens to be one's is a name then as well, and is given the same value when
the code is loaded: nothing is guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

# Above 32 bits, so that nothing of a narrower type is taken for an address.
_NUMBER = re.compile(r"(?:(?<=\bi64 )|(?<=, )|(?<=\[ ))\d{10,20}(?![\w.])")
_LOWEST = 1 << 32
_ALIGN = 16


@dataclass(frozen=True, slots=True)
class SymbolicIr:
    """LLVM IR whose text is the same wherever the variables lie, and the addresses to load it with, by symbol."""

    ir: str
    addresses: Mapping[str, int]


def with_symbols(ir: str, variables: Mapping[str, tuple[int, int]]) -> SymbolicIr:
    """The IR with the addresses of these variables, (address, nbytes) by name, replaced by symbols."""
    starts = sorted((address, nbytes, index) for index, (address, nbytes) in enumerate(variables.values()))
    addresses = [address for address, _, _ in starts]
    used: dict[str, tuple[int, int]] = {}

    def replaced(match: re.Match[str]) -> str:
        value = int(match[0])
        at = bisect_right(addresses, value) - 1
        if at < 0 or value < _LOWEST:
            return match[0]
        address, nbytes, index = starts[at]
        # The place behind the last byte is still the variable's.
        if value > address + nbytes or address % _ALIGN:
            return match[0]
        symbol = f"module_variable_{index}"
        used[symbol] = (address, nbytes)
        return f"ptrtoint (ptr getelementptr (i8, ptr @{symbol}, i64 {value - address}) to i64)"

    text = _NUMBER.sub(replaced, ir)
    declared = [
        f"\n@{name} = external global [{nbytes} x i8], align {_ALIGN}" for name, (_, nbytes) in sorted(used.items())
    ]
    return SymbolicIr("".join((text, *declared)), {name: address for name, (address, _) in used.items()})
