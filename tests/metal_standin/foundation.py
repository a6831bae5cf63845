"""Foundation's objects, as far as compute meets them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from .interface import messages
from .journal import journal
from .messages import models
from .ownership import Fresh, Native
from .world import World, world


class Base(Native):
    """What every object answers."""

    __slots__ = ()

    def do_retainCount(self) -> int:
        return self.count

    def do_hash(self) -> int:
        return id(self)

    def do_self(self) -> Any:
        return self

    def do_respondsToSelector_(self, selector: str) -> bool:
        return selector in messages(self.protocol) and hasattr(self, "do_" + selector.replace(":", "_"))

    def do_isEqual_(self, other: Any) -> bool:
        return self is other

    def do_description(self) -> str:
        return f"<{self.protocol}: {id(self):#x}>"

    def do_debugDescription(self) -> str:
        return self.do_description()

    @classmethod
    def for_class(cls, name: str, *arguments: Any) -> Any:
        """Answer a message to the class."""
        if name in ("alloc", "new"):
            made = cls(world())
            return Fresh(made)
        raise journal.abort(f"+{cls.protocol} {name}: declared, but not modelled by the stand-in")


def _keep(value: Any) -> Any:
    if isinstance(value, Native):
        value.retain()
    return value


def _drop(value: Any) -> None:
    if isinstance(value, Native):
        value.release()


@models
class NSArray(Base):
    """An immutable array, which holds its items."""

    protocol = "NSArray"
    __slots__ = ("items",)

    def __init__(self, world: World, items: list[Any]) -> None:
        super().__init__(world)
        self.items = [_keep(item) for item in items]

    def dealloc(self) -> None:
        for item in self.items:
            _drop(item)

    def do_count(self) -> int:
        return len(self.items)

    def do_objectAtIndex_(self, index: int) -> Any:
        if index >= len(self.items):
            raise IndexError(f"NSRangeException - index {index} beyond bounds [0 .. {len(self.items) - 1}]")
        return self.items[index]


@models
class NSDictionary(Base):
    """An immutable dictionary with texts for keys."""

    protocol = "NSDictionary"
    __slots__ = ("items",)

    def __init__(self, world: World, items: dict[str, Any]) -> None:
        super().__init__(world)
        self.items = {key: _keep(item) for key, item in items.items()}

    def dealloc(self) -> None:
        for item in self.items.values():
            _drop(item)

    def do_count(self) -> int:
        return len(self.items)

    def do_objectForKey_(self, key: Any) -> Any:
        return self.items.get(key)

    def do_allKeys(self) -> Fresh:
        return Fresh(NSArray(self.world, list(self.items)))

    def do_allValues(self) -> Fresh:
        return Fresh(NSArray(self.world, list(self.items.values())))


@models
class NSError(Base):
    """Domain, code, and a dictionary with the description."""

    protocol = "NSError"
    __slots__ = ("code", "domain", "text", "user_info")

    def __init__(self, world: World, domain: str, code: int, text: str, more: dict[str, Any] | None = None) -> None:
        super().__init__(world)
        self.domain, self.code, self.text = domain, code, text
        self.user_info = NSDictionary(world, {"NSLocalizedDescription": text, **(more or {})})

    def dealloc(self) -> None:
        self.user_info.release()

    def do_domain(self) -> str:
        return self.domain

    def do_code(self) -> int:
        return self.code

    def do_userInfo(self) -> NSDictionary:
        return self.user_info

    def do_localizedDescription(self) -> str:
        return self.text

    def do_description(self) -> str:
        return f'Error Domain={self.domain} Code={self.code} "{self.text}"'


@models
class NSURL(Base):
    """A file's URL."""

    protocol = "NSURL"
    __slots__ = ("path",)

    def __init__(self, world: World, path: str) -> None:
        super().__init__(world)
        self.path = path

    @classmethod
    def for_class(cls, name: str, *arguments: Any) -> Any:
        if name in ("fileURLWithPath_", "fileURLWithPath_isDirectory_"):
            if not arguments[0]:
                raise journal.abort(f"+NSURL {name}: the path is nil or empty")
            return Fresh(cls(world(), arguments[0]))
        return super().for_class(name, *arguments)

    def do_path(self) -> str:
        return self.path

    def do_isFileURL(self) -> bool:
        return True

    def do_absoluteString(self) -> str:
        return "file://" + quote(self.path)
