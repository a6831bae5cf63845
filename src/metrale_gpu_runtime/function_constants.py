"""The values that a kernel is specialised by when it is looked up, encoded strictly by their types.

Source: "Metal Shading Language Specification", "Function Constants"; MTLFunctionConstantValues.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .driver import NO_INDEX, FunctionConstant
from .errors import FunctionConstantError, ScalarRefused
from .scalars import SCALARS, Scalar, ScalarType
from .signature.c_types import CType
from .signature.msl_types import find_msl_type


@dataclass(frozen=True, slots=True)
class GivenConstants:
    """What a kernel was specialised by: the bytes by name, in the kernel's order, and the same as Python values."""

    encoded: tuple[tuple[str, bytes], ...] = ()
    values: tuple[tuple[str, object], ...] = ()

    @property
    def shown(self) -> str:
        """For the kernel's title: "[N=4, USE_BIAS=True]", empty where there is none."""
        return f"[{', '.join(f'{name}={value}' for name, value in self.values)}]" if self.values else ""


NO_CONSTANTS = GivenConstants()


def read_constants(
    given: Mapping[str | int, object] | None, declared: Sequence[FunctionConstant], kernel: str
) -> GivenConstants:
    """The values given for a kernel's constants, by name or by index, checked and encoded.

    Raises FunctionConstantError, naming the constant and what there is, for one that the kernel does not have, one
    given twice, a required one left out, and a value that does not fit its type.
    """
    by_constant: dict[int, object] = {}
    for key, value in (given or {}).items():
        place = _place_of(key, declared, kernel)
        if place in by_constant:
            constant = declared[place]
            raise FunctionConstantError(
                f"{kernel}: constant {constant.name!r} is given twice, by its name and by its index {constant.index}",
                kernel=kernel,
                name=constant.name,
                given=key,
            )
        by_constant[place] = value
    missing = [each for place, each in enumerate(declared) if each.required and place not in by_constant]
    if missing:
        example = ", ".join(f'"{each.name}": …' for each in missing)
        raise FunctionConstantError(
            f"{kernel}: it is made only with {', '.join(_shown(each) for each in missing)}: "
            f"gpu.kernel(…, constants={{{example}}}). {_listed(declared)}",
            kernel=kernel,
            name=missing[0].name,
            expected=missing[0].type_name,
        )
    encoded: list[tuple[str, bytes]] = []
    values: list[tuple[str, object]] = []
    for place, constant in enumerate(declared):
        if place in by_constant:
            data, shown = _encode(constant, by_constant[place], kernel)
            encoded.append((constant.name, data))
            values.append((constant.name, shown))
    return GivenConstants(tuple(encoded), tuple(values))


def _place_of(key: object, declared: Sequence[FunctionConstant], kernel: str) -> int:
    if isinstance(key, bool) or not isinstance(key, (str, int)):
        raise FunctionConstantError(
            f"{kernel}: a constant is given by its name or its index, not by {key!r}", kernel=kernel, given=key
        )
    for place, constant in enumerate(declared):
        if key == (constant.name if isinstance(key, str) else constant.index) and key != NO_INDEX:
            return place
    close = difflib.get_close_matches(key, [each.name for each in declared], 1) if isinstance(key, str) else []
    hint = f"; did you mean {close[0]!r}?" if close else "."
    what = f"constant {key!r}" if isinstance(key, str) else f"constant of index {key}"
    raise FunctionConstantError(
        f"{kernel} has no {what}{hint} {_listed(declared)}",
        kernel=kernel,
        name=key if isinstance(key, str) else None,
        expected=tuple(each.name for each in declared),
        given=key,
    )


def _encode(constant: FunctionConstant, value: object, kernel: str) -> tuple[bytes, object]:
    type = find_msl_type(constant.type_name)
    if type is None:
        scalar = SCALARS.get(constant.type_name)
        if scalar is None:
            raise FunctionConstantError(
                f"{kernel}: the type of constant {_shown(constant)} is not known here, so it cannot be encoded; state "
                "its type in its declaration",
                kernel=kernel,
                name=constant.name,
                expected=constant.type_name,
                given=value,
            )
        type = CType(scalar.name, scalar.nbytes, scalar.align, scalar, scalar)
    if type.scalar is not None:
        data = _encode_scalar(type.scalar, constant, value, kernel)
        return data, type.scalar.decode(data)
    assert type.element is not None
    components = _components(constant, type, value, kernel)
    parts = [_encode_scalar(type.element, constant, each, kernel) for each in components]
    return b"".join(parts).ljust(type.nbytes, b"\0"), tuple(type.element.decode(part) for part in parts)


def _components(constant: FunctionConstant, type: CType, value: object, kernel: str) -> list[object]:
    components: list[object] | None = None
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray, Mapping)):
        components = list(value)
    if components is None or len(components) != type.lanes:
        given = f"{value!r}" if components is None else f"{len(components)} of them"
        raise FunctionConstantError(
            f"{kernel}: constant {_shown(constant)} takes {type.lanes} components in a sequence, given {given}",
            kernel=kernel,
            name=constant.name,
            expected=type.lanes,
            given=value,
        )
    return components


def _encode_scalar(type: ScalarType, constant: FunctionConstant, value: object, kernel: str) -> bytes:
    try:
        if isinstance(value, Scalar):
            if value.type == type:
                return value.data
            raise ScalarRefused(f"{value!r} where {type.name} is wanted", expected=type.name, given=value)
        return type.encode(value)
    except ScalarRefused as refused:
        raise FunctionConstantError(
            f"{kernel}: constant {_shown(constant)}: {refused.message}",
            kernel=kernel,
            name=constant.name,
            expected=refused.expected,
            given=value,
        ) from None


def _shown(constant: FunctionConstant) -> str:
    place = "" if constant.index == NO_INDEX else f", index {constant.index}"
    return f"{constant.name} ({constant.type_name}{place})"


def _listed(declared: Sequence[FunctionConstant]) -> str:
    if not declared:
        return "It has no function constants."
    listed = ", ".join(f"{_shown(each)}{'' if each.required else ', may be left out'}" for each in declared)
    return f"Its function constants: {listed}."
