"""The Python side of native objects, as PyObjC makes it: one proxy at a time per object, which keeps it alive."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from .journal import journal
from .ownership import lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from .ownership import Native


def _unset(owner: str, name: str) -> Any:
    raise RuntimeError("metal_standin.messages has not been imported")


# Set by messages.py, which needs this module for its checks.
_make_message: Callable[[str, str], Any] = _unset
_bind_class: Callable[[str, str], Any] = _unset


class _ObjCClass(type):
    """The classes themselves take messages too: `MTLCompileOptions.alloc()`."""

    owner: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _bind_class(cls.owner, name)


class ObjCObject(metaclass=_ObjCClass):
    """One proxy. Attributes are the messages that its object's protocol declares, in PyObjC's spelling."""

    __slots__ = ("__weakref__", "_native")
    owner: ClassVar[str] = "NSObject"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_native":
            raise AttributeError(name)
        send = _make_message(self.owner, name)
        if send is None:
            text = f"'{self.owner}' object has no attribute '{name}'"
            journal.note(f"{self.owner} {name}: no such selector")
            raise AttributeError(text)
        setattr(type(self), name, send)
        return send.__get__(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_native":
            object.__setattr__(self, name, value)
            return
        journal.note(f"{self.owner}: the attribute {name!r} was set; Objective-C's properties are set by a message")
        raise AttributeError(f"'{self.owner}' object has no attribute '{name}'")

    def __del__(self) -> None:
        native = getattr(self, "_native", None)
        # When the interpreter ends, a queue's thread may have been stopped for ever with the lock in its hands.
        if native is not None and not sys.is_finalizing():
            native.release()

    def __repr__(self) -> str:
        return f"<{self.owner} object at {id(self._native):#x}>"


class NSArrayProxy(ObjCObject):
    """NSArray with the ways of a Python sequence that PyObjC adds."""

    __slots__ = ()
    owner = "NSArray"

    def __len__(self) -> int:
        return len(self._native.items)

    def __getitem__(self, position: Any) -> Any:
        items = self._native.items
        if isinstance(position, slice):
            return [proxy(item) for item in items[position]]
        return proxy(items[position])

    def __iter__(self) -> Any:
        return (proxy(item) for item in list(self._native.items))

    def __contains__(self, value: Any) -> bool:
        return any(item == value for item in self)


class NSDictionaryProxy(ObjCObject):
    """NSDictionary with the ways of a Python mapping that PyObjC adds."""

    __slots__ = ()
    owner = "NSDictionary"

    def __len__(self) -> int:
        return len(self._native.items)

    def __getitem__(self, key: Any) -> Any:
        return proxy(self._native.items[key])

    def __contains__(self, key: Any) -> bool:
        return key in self._native.items

    def __iter__(self) -> Any:
        return iter(list(self._native.items))

    def get(self, key: Any, default: Any = None) -> Any:
        return proxy(self._native.items.get(key, default))

    def keys(self) -> list[Any]:
        return list(self)

    def values(self) -> list[Any]:
        return [self[key] for key in self]

    def items(self) -> list[tuple[Any, Any]]:
        return [(key, self[key]) for key in self]


_classes: dict[str, type[ObjCObject]] = {"NSArray": NSArrayProxy, "NSDictionary": NSDictionaryProxy}


def proxy_class(owner: str) -> type[ObjCObject]:
    """The Python class of objects of this protocol or class."""
    found = _classes.get(owner)
    if found is None:
        found = _classes[owner] = _ObjCClass(owner, (ObjCObject,), {"__slots__": (), "owner": owner})
    return found


def forget_messages(name: str) -> None:
    """Make the messages of this Python name anew when they are next sent."""
    for kind in _classes.values():
        if name in kind.__dict__ and hasattr(kind.__dict__[name], "is_message"):
            type.__delattr__(kind, name)


def proxy(value: Any) -> Any:
    """The Python form of a native object, of a list of them, or of a plain value."""
    if value is None or not hasattr(value, "protocol"):
        return value
    native: Native = value
    with lock:
        found = native.proxy() if native.proxy is not None else None
        if found is None:
            native.retain()
            found = object.__new__(proxy_class(native.protocol))
            found._native = native
            native.proxy = weakref.ref(found)
        return found
