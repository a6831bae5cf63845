"""Finding a kernel by the name its author wrote: the symbol, a C++ name, or a template's instance."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import KernelNotFound
from ..signature import from_mangled, readable_name

_MOST_LISTED = 30
_CLOSE_CUTOFF = 0.6


def is_mangled(symbol: str) -> bool:
    """True for a C++ symbol."""
    return symbol.startswith("_Z")


def _without_spaces(name: str) -> str:
    return re.sub(r"\s+(?![A-Za-z_])|(?<![A-Za-z_0-9])\s+", "", name)


@functools.lru_cache(maxsize=4096)
def _written_names(symbol: str) -> frozenset[str]:
    """All ways to write a symbol's name in C++: with and without parameters, template arguments, namespaces."""
    if not is_mangled(symbol):
        return frozenset({symbol})
    name = _without_spaces(readable_name(symbol))
    parameters = _without_spaces(_parameter_list(symbol))
    # Template arguments end the name, so its base is what stands before their opening bracket.
    base = name[: _opening(name)] if name.endswith(">") else name
    scoped = {each for whole in (name, base) for each in (whole, *_without_scopes(whole))}
    return frozenset({*scoped, *(each + parameters for each in scoped)})


def _parameter_list(symbol: str) -> str:
    """The parameter types of a C++ symbol in parentheses; empty where they cannot be read."""
    signature = from_mangled(symbol)
    if signature is None or signature.parameters is None:
        return ""
    return f"({', '.join(each.c_type or '?' for each in signature.parameters)})"


def _opening(name: str) -> int:
    """Where the angle bracket opens that the last character closes."""
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(name[at], 0)
        if depth == 0:
            return at
    return len(name)


def _without_scopes(name: str) -> Iterable[str]:
    """The name with fewer and fewer of its namespaces: of a::b::k<x::y> b::k<x::y> and k<x::y>."""
    depth = 0
    for at, character in enumerate(name):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        if depth == 0 and name.startswith("::", at):
            yield name[at + 2 :]


def resolve_symbol(
    module: str, function: str, symbols: Sequence[str], lowered_names: Mapping[str, str] | None = None
) -> str | None:
    """The symbol among `symbols` that `function` means, or None when there is none.

    A symbol means itself. A C++ name means the one kernel that can be written so: `add` the one `add(float*, int)`,
    `scale` the one `scale<float>`, `norm::add` what is in that namespace. `lowered_names` are the name expressions
    that were compiled. Raises KernelNotFound, listing them, when the name could mean several.
    """
    if function in symbols:
        return function
    wanted = _without_spaces(function)
    for expression, symbol in (lowered_names or {}).items():
        if _without_spaces(expression) == wanted:
            return symbol
    candidates = [symbol for symbol in symbols if wanted in _written_names(symbol)]
    if len(candidates) > 1:
        listed = "".join(f"\n  {shown_name(each)}" for each in candidates)
        raise KernelNotFound(
            f"module {module!r}: {function!r} may mean {len(candidates)} kernels; ask for one by its symbol, or with "
            f"its parameters or template arguments:{listed}",
            module=module,
            function=function,
            available=tuple(symbols),
            close=tuple(candidates),
        )
    return candidates[0] if candidates else None


def shown_name(symbol: str) -> str:
    """The name as people read it, and the symbol behind it where that differs."""
    return f"{readable_name(symbol)}{_parameter_list(symbol)} [{symbol}]" if is_mangled(symbol) else symbol


def kernel_not_found(
    module: str, function: str, available: Sequence[str] | None, *, device_functions: Sequence[str] = (), hint: str = ""
) -> KernelNotFound:
    """The error for a name that no kernel has: what there is, what comes near, and what is often the reason."""
    close = close_names(function, available or ())
    parts = [f"module {module!r} has no kernel {function!r}"]
    if close:
        parts[0] += f"; did you mean {' or '.join(shown_name(each) for each in close)}?"
    if available is None:
        parts.append("Its kernels cannot be listed on this backend.")
    elif not available:
        parts.append("It has no kernels at all.")
    else:
        listed = ", ".join(shown_name(each) for each in available[:_MOST_LISTED])
        more = f", and {len(available) - _MOST_LISTED} more" if len(available) > _MOST_LISTED else ""
        parts.append(f"It has {listed}{more}.")
    if function in device_functions:
        parts.append(f"{function!r} is a device function there; only a __global__ function is a kernel.")
    if hint:
        parts.append(hint)
    elif any(is_mangled(each) for each in available or ()):
        parts.append('C++ mangles names: declare a kernel extern "C" to keep its name as it is.')
    text = parts[0] if parts[0].endswith("?") else parts[0] + "."
    return KernelNotFound(
        " ".join([text, *parts[1:]]),
        module=module,
        function=function,
        available=tuple(available or ()),
        close=tuple(close),
    )


def close_names(function: str, available: Sequence[str]) -> list[str]:
    """Up to three symbols whose written name comes near."""
    written: dict[str, str] = {}
    for symbol in available:
        # Who asks for a symbol has mistyped one.
        for name in {symbol} if is_mangled(function) else _written_names(symbol):
            written.setdefault(name, symbol)
    near = difflib.get_close_matches(_without_spaces(function), list(written), n=6, cutoff=_CLOSE_CUTOFF)
    lowered = {name.lower(): symbol for name, symbol in written.items()}
    same = [lowered[function.lower()]] if function.lower() in lowered else []
    return list(dict.fromkeys([*same, *(written[name] for name in near)]))[:3]
