"""The types of a SPIR-V module as they lie in memory, by OpenCL's rules.

Source: "OpenCL SPIR-V Environment Specification", section "Validation Rules"; "The OpenCL C Specification", section
"Alignment of Types"; "SPIR-V Specification", decorations CPacked and Offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ..scalars import ScalarType, bf16, f16, f32, f64
from .instructions import BFLOAT16, CPACKED, OBJECT_TYPES, OFFSET, SPACES
from .words import Binary, Instruction

_FLOATS: Final = {16: f16, 32: f32, 64: f64}
_DEEPEST: Final = 50


@dataclass(frozen=True, slots=True)
class Shape:
    """A type in memory: `nbytes` and `align` are None for one without a place there.

    `scalar` is the float that it is, `element` the one that it is made of; integers have no sign in a kernel's SPIR-V,
    `width` and `lanes` are all that is known of them. `text` is the type in words.
    """

    text: str
    nbytes: int | None = None
    align: int | None = None
    scalar: ScalarType | None = None
    element: ScalarType | None = None
    width: int | None = None
    lanes: int = 1
    is_object: bool = False
    pointee: int | None = None
    space: str | None = None


@dataclass(slots=True)
class Decorations:
    """What is said of an id, or of a member of one: (decoration, words) pairs."""

    of_id: dict[int, list[tuple[int, tuple[int, ...]]]] = field(default_factory=dict)
    of_member: dict[tuple[int, int], list[tuple[int, tuple[int, ...]]]] = field(default_factory=dict)

    def words(self, id: int, decoration: int) -> tuple[int, ...] | None:
        """The words behind a decoration of an id; None where it has not got it."""
        return next((words for number, words in self.of_id.get(id, ()) if number == decoration), None)

    def offset(self, id: int, member: int) -> int | None:
        """Where a member lies, where that is said."""
        found = next((words for number, words in self.of_member.get((id, member), ()) if number == OFFSET), None)
        return found[0] if found else None


class Layouts:
    """The types of one module, each worked out once."""

    def __init__(
        self,
        binary: Binary,
        types: Mapping[int, Instruction],
        constants: Mapping[int, int],
        decorations: Decorations,
        pointer_nbytes: int,
    ) -> None:
        self.binary, self.types, self.constants, self.decorations = binary, types, constants, decorations
        self.pointer_nbytes = pointer_nbytes
        self._known: dict[int, Shape] = {}
        self._depth = 0

    def shape(self, id: int, at: int) -> Shape:
        """The type of this id, which the word at `at` names. Raises ModuleLoadError for an id that is no type."""
        if id not in self._known:
            declared = self.types.get(id)
            if declared is None:
                raise self.binary.refused(f"id {id} is no type", at)
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self.binary.refused(f"types lie in each other more than {_DEEPEST} deep", declared.offset)
            try:
                self._known[id] = self._shape(id, declared)
            finally:
                self._depth -= 1
        return self._known[id]

    def _shape(self, id: int, declared: Instruction) -> Shape:
        name, at = declared.name, declared.offset
        if name in OBJECT_TYPES:
            return Shape(OBJECT_TYPES[name], is_object=True)
        if name == "OpTypeInt":
            width = declared.number(1)
            nbytes = width // 8 if width in (8, 16, 32, 64) else None
            return Shape(f"{_article(width)} {width}-bit integer", nbytes, nbytes, width=width)
        if name == "OpTypeFloat":
            return self._float(declared)
        if name == "OpTypeVector":
            return self._vector(self.shape(declared.number(1), at), declared.number(2), at)
        if name == "OpTypeArray":
            return self._array(declared)
        if name == "OpTypeStruct":
            return self._struct(id, declared)
        if name in ("OpTypePointer", "OpTypeUntypedPointerKHR"):
            # What it points to may be declared later, or contain it: it is looked at when somebody asks.
            pointee = declared.number(2) if name == "OpTypePointer" else None
            nbytes = self.pointer_nbytes
            return Shape("a pointer", nbytes, nbytes, pointee=pointee, space=SPACES.get(declared.number(1), ""))
        return Shape({"OpTypeBool": "a bool", "OpTypeVoid": "void"}.get(name, "a type without a size"))

    def _float(self, declared: Instruction) -> Shape:
        width = declared.number(1)
        scalar = _FLOATS.get(width)
        if len(declared.operands) > 2:
            scalar = bf16 if (width, declared.number(2)) == (16, BFLOAT16) else None
        nbytes = width // 8 if width % 8 == 0 and width else None
        return Shape(f"{_article(width)} {width}-bit float", nbytes, nbytes, scalar, scalar, width)

    def _vector(self, item: Shape, lanes: int, at: int) -> Shape:
        if not 2 <= lanes <= 16:
            raise self.binary.refused(f"a vector of {lanes} components", at)
        # Three components take the room of four.
        nbytes = item.nbytes * (4 if lanes == 3 else lanes) if item.nbytes is not None else None
        return Shape(f"{lanes} of {item.text}", nbytes, nbytes, None, item.element, item.width, lanes)

    def _array(self, declared: Instruction) -> Shape:
        item = self.shape(declared.number(1), declared.offset)
        length = self.constants.get(declared.number(2))
        if item.nbytes is None or item.align is None or length is None:
            return Shape("an array whose size is not known")
        return Shape(f"{length} of {item.text}", item.nbytes * length, item.align, None, item.element)

    def _struct(self, id: int, declared: Instruction) -> Shape:
        is_packed = self.decorations.words(id, CPACKED) is not None
        end, widest = 0, 1
        for place, member in enumerate(declared.rest(1)):
            shape = self.shape(member, declared.offset)
            if shape.nbytes is None or shape.align is None:
                return Shape("a structure whose size is not known")
            align = 1 if is_packed else shape.align
            stated = self.decorations.offset(id, place)
            start = stated if stated is not None else -(-end // align) * align
            end, widest = max(end, start + shape.nbytes), max(widest, align)
        nbytes = -(-end // widest) * widest
        return Shape(f"a structure of {nbytes} bytes", nbytes, widest)


def _article(width: int) -> str:
    return "an" if str(width).startswith("8") else "a"
