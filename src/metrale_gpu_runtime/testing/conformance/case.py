"""One law of the design as a case that any backend can be put through, and the registry of all cases."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ...capabilities import Capabilities
from ...errors import NotSupported
from .target import ConformanceTarget

CaseBody = Callable[[ConformanceTarget], None]


@dataclass(frozen=True, slots=True)
class ConformanceCase:
    """A named law. `invariants` are those of the design it shows, `field_cases` the entries of the case collection.

    `needs` names capabilities without which the case must end in NotSupported; `where` those without which the law
    says nothing. A name is an attribute of Capabilities, "not " before it turns it round, "scalar f64" asks for a
    scalar type.
    """

    name: str
    law: str
    invariants: tuple[int, ...]
    field_cases: tuple[int, ...]
    needs: tuple[str, ...]
    where: tuple[str, ...]
    body: CaseBody

    def run(self, target: ConformanceTarget) -> str | None:
        """Put the target through it. None when the law held; else the declared reason why it does not apply.

        Raises AssertionError where the law is broken, or where a gap that the target declares turns out to work;
        and whatever the backend raises that it should not.
        """
        capabilities = target.capabilities
        for name in self.where:
            if not _has(capabilities, name):
                return f"says nothing about a backend that is {_turned(name)}"
        reason = target.known_gaps.get(self.name)
        if reason is not None:
            try:
                self.body(target)
            except Exception:
                return f"known gap: {reason}"
            raise AssertionError(f"{self.name} is a known gap of {target.name} ({reason}) but holds: strike it off")
        missing = [name for name in self.needs if not _has(capabilities, name)]
        if not missing:
            self.body(target)
            return None
        try:
            self.body(target)
        except NotSupported:
            return f"declared: no {', '.join(missing)}"
        raise AssertionError(
            f"{target.name} declares that it has no {', '.join(missing)}, but {self.name} went through: "
            "what a backend cannot do raises NotSupported, what it can do is declared"
        )

    def __str__(self) -> str:
        return self.name


def _has(capabilities: Capabilities, name: str) -> bool:
    if name.startswith("not "):
        return not _has(capabilities, name[4:])
    if name.startswith("scalar "):
        return name[7:] not in capabilities.unsupported_scalars
    return bool(getattr(capabilities, name))


def _turned(name: str) -> str:
    return name[4:] if name.startswith("not ") else f"not {name}"


_CASES: dict[str, ConformanceCase] = {}


def case(
    *,
    invariants: tuple[int, ...] = (),
    field: tuple[int, ...] = (),
    needs: tuple[str, ...] = (),
    where: tuple[str, ...] = (),
) -> Callable[[CaseBody], CaseBody]:
    """Enter a function into the registry; its name is the case's, the first line of its docstring the law."""

    def enter(body: CaseBody) -> CaseBody:
        name = body.__name__
        if name in _CASES:
            raise ValueError(f"two conformance cases are called {name}")
        law = (body.__doc__ or "").strip().partition("\n")[0]
        if not law:
            raise ValueError(f"conformance case {name} states no law in its docstring")
        _CASES[name] = ConformanceCase(name, law, invariants, field, needs, where, body)
        return body

    return enter


def cases() -> tuple[ConformanceCase, ...]:
    """Every case of the suite, by name."""
    from . import laws

    for module in pkgutil.iter_modules(laws.__path__):
        import_module(f"{laws.__name__}.{module.name}")
    return tuple(_CASES[name] for name in sorted(_CASES))
