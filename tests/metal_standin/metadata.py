"""PyObjC's registry of metadata: what a selector's result and arguments are beyond their Objective-C types.

As shipped it holds what the wheel registers. `objc.registerMetaDataForSelector` replaces an entry whole: what the new one
does not state is gone. Entries are found by class, so that one registered under a protocol's name is never found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .declared import DECLARED
from .interface import DATA, lineage, owners
from .journal import journal

_WORDS = {"arguments", "retval", "required", "variadic", "suggestion", "deprecated", "free_result", "full_signature"}
_ENTRY = {
    "type",
    "type_modifier",
    "c_array_length_in_arg",
    "c_array_of_variable_length",
    "c_array_of_fixed_length",
    "c_array_delimited_by_null",
    "c_array_length_in_result",
    "already_retained",
    "already_cfretained",
    "null_accepted",
    "callable",
    "callable_retained",
    "printf_format",
    "sel_of_type",
}


def _words(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {(key.decode() if isinstance(key, bytes) else key): _words(inner) for key, inner in value.items()}
    return value


def _numbered(metadata: dict[str, Any]) -> dict[str, Any]:
    """Arguments by number, which JSON has as texts."""
    if "arguments" not in metadata:
        return metadata
    return metadata | {"arguments": {int(position): entry for position, entry in metadata["arguments"].items()}}


class Registry:
    """Metadata by class and selector; `changed` is called with each selector that gets a new entry."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], dict[str, Any]] = {}
        self.changed: Callable[[str], None] = lambda selector: None
        self.updating = False
        self.restore()

    def restore(self, entries: dict[tuple[str, str], dict[str, Any]] | None = None) -> None:
        """As shipped, or as `entries()` once said."""
        before = set(self._entries)
        if entries is None:
            self._entries = {
                (owner, selector): _numbered(metadata)
                for owner, table in DATA["selectors"].items()
                for selector, metadata in table.items()
            }
        else:
            self._entries = dict(entries)
        for _, selector in before | set(self._entries):
            self.changed(selector)

    def entries(self) -> dict[tuple[str, str], dict[str, Any]]:
        return dict(self._entries)

    def register(self, owner: bytes, selector: bytes, metadata: dict[str, Any]) -> None:
        """objc.registerMetaDataForSelector. Raises TypeError as PyObjC does for texts in the place of bytes."""
        if not isinstance(owner, bytes) or not isinstance(selector, bytes):
            journal.note(f"registerMetaDataForSelector({owner!r}, {selector!r}): class and selector are bytes")
            raise TypeError(f"a bytes-like object is required, not '{type(owner).__name__}'")
        if not isinstance(metadata, dict):
            raise TypeError(f"metadata of type {type(metadata).__name__}: {metadata!r}")
        name, message = owner.decode(), selector.decode()
        where = f"metadata of {name} {message}"
        if name in owners() and name != "NSObject" and not (name in DECLARED and DECLARED[name].is_class):
            journal.note(f"{where}: registered under a protocol, where PyObjC never looks; NSObject is meant")
        plain = _words(metadata)
        for word in set(plain) - _WORDS:
            journal.note(f"{where}: PyObjC knows no word {word!r}")
        entries = [plain.get("retval", {}), *plain.get("arguments", {}).values()]
        for word in {word for entry in entries for word in entry} - _ENTRY:
            journal.note(f"{where}: PyObjC knows no word {word!r}")
        count = message.count(":")
        for position in plain.get("arguments", {}):
            if not isinstance(position, int) or not 2 <= position < 2 + count:
                journal.note(f"{where}: argument {position!r}; its {count} argument(s) are numbered from 2")
        self._entries[name, message] = plain
        self.changed(message)

    def find(self, owner: str, selector: str) -> dict[str, Any]:
        """The entry for objects of this class or protocol; empty where there is none."""
        for name in lineage(owner):
            found = self._entries.get((name, selector))
            if found is not None:
                return found
        return {}


registry = Registry()
