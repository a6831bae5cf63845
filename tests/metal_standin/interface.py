"""The real bindings' interface, looked up: which messages an object takes, and with which types."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .declared import DECLARED
from .encodings import Type, declared_types, method_types

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "interface.json").read_text())


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a protocol or class, as declared: metadata of PyObjC not yet applied."""

    owner: str
    selector: str
    result: Type
    arguments: tuple[Type, ...]
    of_class: bool = False
    optional: bool = False


def _split(table: dict[str, str], owner: str, optional: bool) -> dict[str, Message]:
    found = {}
    for selector, encoding in table.items():
        result, arguments = method_types(encoding)
        found[selector] = Message(owner, selector, result, arguments, optional=optional)
    return found


def _own(owner: str) -> tuple[tuple[str, ...], dict[str, Message], dict[str, Message]]:
    if owner in DECLARED:
        declared = DECLARED[owner]
        methods = {s: Message(owner, s, *declared_types(t)) for s, t in declared.methods.items()}
        of_class = {s: Message(owner, s, *declared_types(t), of_class=True) for s, t in declared.class_methods.items()}
        return declared.inherits, methods, of_class
    protocol = DATA["protocols"][owner]
    methods = _split(protocol["methods"], owner, False) | _split(protocol["optional"], owner, True)
    return tuple(protocol["inherits"]), methods, {}


@cache
def messages(owner: str) -> dict[str, Message]:
    """Every message that an instance takes, inherited ones included. KeyError for an owner that is not known."""
    inherits, methods, _ = _own(owner)
    found: dict[str, Message] = dict(messages("NSObject")) if owner != "NSObject" else {}
    for parent in inherits:
        found.update(messages(parent))
    found.update(methods)
    return found


@cache
def class_messages(owner: str) -> dict[str, Message]:
    """Every message that the class itself takes."""
    return _own(owner)[2]


@cache
def conforms(owner: str, to: str) -> bool:
    """Whether an object of this protocol or class is one of `to` as well."""
    if owner == to or to == "NSObject":
        return True
    return any(conforms(parent, to) for parent in _own(owner)[0])


@cache
def python_names(owner: str, of_class: bool = False) -> dict[str, Message]:
    """The messages by PyObjC's spelling: `setBuffer_offset_atIndex_`."""
    table = class_messages(owner) if of_class else messages(owner)
    return {selector.replace(":", "_"): message for selector, message in table.items()}


def owners() -> tuple[str, ...]:
    """Every protocol and class whose messages are known."""
    return (*DATA["protocols"], *DECLARED)


def lineage(owner: str) -> tuple[str, ...]:
    """The owner, then what it inherits, nearest first, NSObject last: where PyObjC looks for a selector's metadata."""
    found = [owner]
    for name in found:
        found += [parent for parent in _own(name)[0] if parent not in found and parent != "NSObject"]
    return (*(name for name in found if name != "NSObject"), "NSObject")
