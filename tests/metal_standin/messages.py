"""A message sent through the bridge: looked up and checked as PyObjC does, then given to the native object."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import proxies
from .checking import check_for
from .encodings import Type, are_compatible, one_type
from .interface import DATA, Message, python_names
from .journal import journal
from .metadata import registry
from .ownership import Fresh, Native, autorelease, expect_pool
from .proxies import ObjCObject, forget_messages, proxy, proxy_class
from .values import NULL, Struct, VarList, struct_type

STRUCTS: dict[str, type[Struct]] = {
    encoding: struct_type(name, encoding, tuple(fields)) for name, (encoding, fields) in DATA["structs"].items()
}
# By Cocoa's naming rule: the first word of the selector, not followed by a lower-case letter.
_OWNED = re.compile(r"_*(new|alloc|init|copy|mutableCopy)(?![a-z])")
_HANDLED = re.compile(r"_*(alloc|init|copy|mutableCopy)(?![a-z])")


def _with_metadata(kind: Type, entry: dict[str, Any], where: str) -> Type:
    """The type as metadata overrides it; an object's class stays, which metadata does not know."""
    if "type" not in entry:
        return kind
    stated = one_type(entry["type"])[0]
    if not are_compatible(kind, stated):
        journal.note(f"{where}: metadata says {stated.code}, the method has {kind.code}; PyObjC ignores that")
        return kind
    return replace(stated, of=kind.of) if stated.is_object else stated


def _result(message: Message, where: str, metadata: dict[str, Any]) -> Callable[[Any], Any]:
    entry = metadata.get("retval", {})
    kind = _with_metadata(message.result, entry, where)
    if kind.is_object:
        owned = _OWNED.match(message.selector) is not None
        # PyObjC knows the rule for `new` with classes only: what instances return from it keeps one count too many,
        # unless metadata says that the result is retained already.
        released = (
            message.of_class or _HANDLED.match(message.selector) is not None or entry.get("already_retained", False)
        )
        if not owned and entry.get("already_retained"):
            journal.note(f"{where}: metadata calls the result already retained, which {message.selector} does not")

        def give(value: Any) -> Any:
            fresh = isinstance(value, Fresh)
            native = value.native if fresh else value
            if native is None:
                return None
            if not isinstance(native, Native):
                expect_pool(where)
                return native
            if not owned:
                if not fresh:
                    native.retain()
                found = proxy(native)
                autorelease(native, where)
                return found
            if not fresh:
                native.retain()
            found = proxy(native)
            if released:
                native.release()
            return found

        return give
    if kind.code == "v":
        return lambda value: None
    if kind.is_pointer and kind.code == "^v":
        if entry.get("c_array_of_variable_length"):
            return lambda value: None if value is None else VarList(value, None)
        return lambda value: value
    if kind.code.startswith("{"):
        struct = STRUCTS[kind.code]
        return lambda value: struct(*value)
    if kind.code in "ZB":
        return bool
    if kind.code in "fd":
        return float
    return int


def _outgoing(value: Any, where: str) -> Any:
    """An object that comes back through an out parameter: always autoreleased."""
    if isinstance(value, Fresh):
        found = proxy(value.native)
        autorelease(value.native, where)
        return found
    return proxy(value)


def _counted(metadata: dict[str, Any]) -> list[tuple[int, int]]:
    """Pairs of an array's position and that of its length, from 0 for the first argument."""
    return [
        (position - 2, entry["c_array_length_in_arg"] - 2)
        for position, entry in metadata.get("arguments", {}).items()
        if "c_array_length_in_arg" in entry and entry.get("type_modifier") == "n"
    ]


def _compile(message: Message, name: str) -> Any:
    owner, selector = message.owner, message.selector
    where = f"{owner} {selector}"
    metadata = {} if message.of_class else registry.find(owner, selector)
    entries = metadata.get("arguments", {})
    kinds = [_with_metadata(kind, entries.get(i + 2, {}), where) for i, kind in enumerate(message.arguments)]
    checks = [check_for(kind, entries.get(i + 2, {}), f"{where}, argument {i}") for i, kind in enumerate(kinds)]
    outs = [
        i for i, kind in enumerate(kinds) if kind.code == "^@" and entries.get(i + 2, {}).get("type_modifier") != "n"
    ]
    returned = [i for i in outs if entries.get(i + 2, {}).get("type_modifier") == "o"]
    counted = _counted(metadata)
    give = _result(message, where, metadata)
    count = len(checks)
    sent, log = journal.sent, journal.messages
    behaviour = f"do_{name}"

    def refuse(arguments: tuple[Any, ...]) -> TypeError:
        text = f"Need {count} arguments, got {len(arguments)}"
        journal.note(f"{where}: {text}")
        return TypeError(text)

    def act(native: Any) -> Any:
        found = getattr(native, behaviour, None)
        if found is None:
            raise journal.abort(f"{where}: declared, but not modelled by the stand-in")
        return found

    def send(self: Any, *arguments: Any) -> Any:
        key = (self.owner, selector)
        sent[key] += 1
        log.append(key)
        if len(arguments) != count:
            raise refuse(arguments)
        values = [check(argument) for check, argument in zip(checks, arguments, strict=True)]
        for array, length in counted:
            need = values[length][1] if isinstance(values[length], tuple) else values[length]
            if values[array] is not None and len(values[array]) < need:
                text = f"argument {array} has {len(values[array])} items, argument {length} says {need}"
                journal.note(f"{where}: {text}")
                raise ValueError(text)
        result = act(self._native)(*values)
        if not outs:
            return give(result)
        main, *others = result
        back = [
            NULL if arguments[i] is NULL else _outgoing(other, where)
            for i, other in zip(outs, others, strict=True)
            if i in returned
        ]
        first = give(main)
        return (first, *back) if returned else first

    def send_class(cls: Any, *arguments: Any) -> Any:
        sent[owner, selector] += 1
        log.append((owner, selector))
        if len(arguments) != count:
            raise refuse(arguments)
        values = [check(argument) for check, argument in zip(checks, arguments, strict=True)]
        return give(NATIVES[owner].for_class(name, *values))

    made = send_class if message.of_class else send
    made.__name__ = name
    made.is_message = True  # type: ignore[attr-defined]
    return made


# Native classes by the protocol or class that they stand for; filled by `models`.
NATIVES: dict[str, Any] = {}


def models(native: type[Native]) -> type[Native]:
    """Class decorator: this native class is behind the objects of `protocol`."""
    NATIVES[native.protocol] = native
    return native


def _make_message(owner: str, name: str) -> Any:
    message = python_names(owner).get(name)
    if message is None:
        return None
    # Looked up for the receiver's own class, where metadata may be registered nearer than at NSObject.
    return _compile(replace(message, owner=owner), name)


def _bind_class(owner: str, name: str) -> Any:
    message = python_names(owner, of_class=True).get(name)
    if message is None:
        journal.note(f"+{owner} {name}: no such class method")
        raise AttributeError(f"type object '{owner}' has no attribute '{name}'")
    return _compile(message, name).__get__(proxy_class(owner))


proxies._make_message = _make_message
proxies._bind_class = _bind_class
registry.changed = lambda selector: forget_messages(selector.replace(":", "_"))

__all__ = ["NATIVES", "STRUCTS", "ObjCObject", "models"]
