"""How two traces differ, by alignment: an operation more or less does not make everything behind it differ."""

from __future__ import annotations

import difflib
from collections.abc import Hashable
from dataclasses import dataclass, fields

from .recording import Trace, TracedOperation

IGNORED = frozenset({"ordinal", "site", "range"})
"""Fields that are no part of what was done."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `before` is None for an added operation, `after` for a removed one.

    `changed` names the fields that differ between two operations of the same kind and kernel.
    """

    before: TracedOperation | None
    after: TracedOperation | None
    before_index: int
    after_index: int
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.after_index}: {self.after}"
        if self.after is None:
            return f"- {self.before_index}: {self.before}"
        details = ", ".join(
            f"{name} {getattr(self.before, name)!r} -> {getattr(self.after, name)!r}" for name in self.changed
        )
        name = self.before.kernel or self.before.kind
        return f"~ {self.before_index} -> {self.after_index}: {name}: {details}"


def difference(before: Trace, after: Trace, *, ignore: frozenset[str] = IGNORED) -> list[Change]:
    """The operations added, removed and changed from one trace to another, in order.

    Operations are aligned by kind and kernel (the longest common run first, as in a text diff); aligned ones are then
    compared field by field, but for those in `ignore`.
    """
    old, new = before.operations, after.operations
    matcher = difflib.SequenceMatcher(None, [_key(each) for each in old], [_key(each) for each in new], autojunk=False)
    changes = []
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            for offset in range(old_end - old_start):
                one, other = old[old_start + offset], new[new_start + offset]
                changed = _changed(one, other, ignore)
                if changed:
                    changes.append(Change(one, other, old_start + offset, new_start + offset, changed))
            continue
        changes.extend(Change(old[at], None, at, new_start) for at in range(old_start, old_end))
        changes.extend(Change(None, new[at], old_end, at) for at in range(new_start, new_end))
    return changes


def _key(operation: TracedOperation) -> Hashable:
    return operation.kind, operation.kernel, operation.module


def _changed(one: TracedOperation, other: TracedOperation, ignore: frozenset[str]) -> tuple[str, ...]:
    return tuple(
        item.name
        for item in fields(TracedOperation)
        if item.name not in ignore and getattr(one, item.name) != getattr(other, item.name)
    )
