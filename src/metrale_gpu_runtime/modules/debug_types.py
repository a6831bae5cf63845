"""The C types in a PTX module's debug information, as values.

nvcc and NVRTC write DWARF 2 into `.section` blocks of the text when they compile with `-G`; pyelftools reads it once
the bytes are put together.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..ptx.syntax import PtxModule

_POINTER_NBYTES = 8


@dataclass(frozen=True, slots=True)
class CType:
    """One C type.

    `kind` is "integer", "unsigned", "float", "bool", "struct", "union", "enum", "pointer", "reference", "array",
    "function", "void" or "unknown". `name` is the type's own name without qualifiers ("float", "__half", "P"), empty
    for what has none; `spelling` is how the source writes it, typedefs kept, without top-level const. `nbytes` is 0
    for an incomplete type. `target` is what a pointer, reference or array is of; `fields` are (name, offset, type).
    """

    kind: str
    name: str
    spelling: str
    nbytes: int
    is_const: bool = False
    target: CType | None = None
    count: int | None = None
    fields: tuple[tuple[str, int, CType], ...] = ()


@dataclass(frozen=True, slots=True)
class DebugParameter:
    """One parameter of a kernel as its source declares it; `name` is None for one without a name."""

    name: str | None
    type: CType


def section_bytes(module: PtxModule) -> dict[str, bytes]:
    """The DWARF sections of a module as bytes.

    A label of a section becomes its offset there, as DWARF wants it; labels of code and of local memory, which only
    a loaded program has, become 0.
    """
    labels: dict[str, int] = {}
    for section in module.sections.values():
        labels[section.name] = 0
        labels.update(section.labels)
    result = {}
    for section in module.sections.values():
        data = bytearray()
        for nbytes, value in section.items:
            number = value if isinstance(value, int) else labels.get(value[0], 0) + value[1]
            data += (number % (1 << 8 * nbytes)).to_bytes(nbytes, "little")
        result[section.name] = bytes(data)
    return result


def kernel_parameters(module: PtxModule) -> dict[str, tuple[DebugParameter, ...]]:
    """For each kernel of a module compiled for debugging: its parameters, by its symbol.

    Kernels that the debug information does not describe are left out. Raises ImportError without pyelftools, and
    what pyelftools raises for sections that are no DWARF.
    """
    return parameters_in_sections(section_bytes(module), {kernel.name for kernel in module.kernels()})


def parameters_in_sections(
    sections: Mapping[str, bytes], wanted: Collection[str]
) -> dict[str, tuple[DebugParameter, ...]]:
    """As `kernel_parameters`, from DWARF sections by name (".debug_info") and the kernels' symbols."""
    found: dict[str, tuple[DebugParameter, ...]] = {}
    dwarf = _dwarf(sections)
    for unit in dwarf.iter_CUs():
        types = _TypeReader()
        for die in unit.get_top_DIE().iter_children():
            if die.tag != "DW_TAG_subprogram":
                continue
            symbol = (
                _text(die, "DW_AT_MIPS_linkage_name") or _text(die, "DW_AT_linkage_name") or _text(die, "DW_AT_name")
            )
            if symbol in wanted:
                found[symbol] = tuple(
                    DebugParameter(_text(child, "DW_AT_name") or None, types.of(child))
                    for child in die.iter_children()
                    if child.tag == "DW_TAG_formal_parameter"
                )
    return found


def _dwarf(sections: Mapping[str, bytes]) -> Any:
    """pyelftools' reader over sections that come from no ELF file."""
    import inspect

    from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo

    # Its constructor wants every section by name, and which there are differs by version.
    wanted = list(inspect.signature(DWARFInfo.__init__).parameters)[2:]
    given: dict[str, Any] = dict.fromkeys(wanted)
    for name, data in sections.items():
        key = name.removeprefix(".") + "_sec"
        if key in given:
            given[key] = DebugSectionDescriptor(io.BytesIO(data), name, 0, len(data), 0)
    config = DwarfConfig(little_endian=True, machine_arch="x64", default_address_size=_POINTER_NBYTES)
    return DWARFInfo(config=config, **given)


def _text(die: Any, attribute: str) -> str:
    value = die.attributes.get(attribute)
    return str(value.value.decode(errors="replace")) if value is not None else ""


def _number(die: Any, attribute: str) -> int | None:
    value = die.attributes.get(attribute)
    if value is None:
        return None
    if isinstance(value.value, int):
        return int(value.value)
    # DW_OP_plus_uconst and a LEB128 number: how DWARF 2 writes a member's place.
    if isinstance(value.value, list) and value.value[:1] == [0x23]:
        return int(sum((byte & 0x7F) << 7 * place for place, byte in enumerate(value.value[1:])))
    return None


_DW_ATE_BOOLEAN, _DW_ATE_FLOAT, _DW_ATE_SIGNED, _DW_ATE_SIGNED_CHAR = 2, 4, 5, 6
_ENCODINGS = {
    _DW_ATE_BOOLEAN: "bool",
    _DW_ATE_FLOAT: "float",
    _DW_ATE_SIGNED: "integer",
    _DW_ATE_SIGNED_CHAR: "integer",
}
_VOID = CType("void", "void", "void", 0)


class _TypeReader:
    """Types of one compilation unit, each read once."""

    def __init__(self) -> None:
        self._known: dict[int, CType] = {}
        self._open: set[int] = set()

    def of(self, die: Any) -> CType:
        """The type that a parameter, member, typedef or pointer names."""
        if "DW_AT_type" not in die.attributes:
            return _VOID
        target = die.get_DIE_from_attribute("DW_AT_type")
        known = self._known.get(target.offset)
        if known is not None:
            return known
        if target.offset in self._open:  # a struct that points to itself
            name = _text(target, "DW_AT_name")
            return CType("struct", name, name, _number(target, "DW_AT_byte_size") or 0)
        self._open.add(target.offset)
        try:
            result = self._read(target)
        finally:
            self._open.discard(target.offset)
        self._known[target.offset] = result
        return result

    def _read(self, die: Any) -> CType:
        name = _text(die, "DW_AT_name")
        nbytes = _number(die, "DW_AT_byte_size") or 0
        match die.tag:
            case "DW_TAG_base_type":
                kind = _ENCODINGS.get(_number(die, "DW_AT_encoding") or 0, "unsigned")
                return CType(kind, name, name, nbytes)
            case "DW_TAG_typedef":
                return replace(self.of(die), spelling=name)
            case "DW_TAG_const_type" | "DW_TAG_volatile_type" | "DW_TAG_restrict_type":
                inner = self.of(die)
                return replace(inner, is_const=inner.is_const or die.tag == "DW_TAG_const_type")
            case "DW_TAG_pointer_type" | "DW_TAG_reference_type" | "DW_TAG_rvalue_reference_type":
                inner = self.of(die)
                kind = "pointer" if die.tag == "DW_TAG_pointer_type" else "reference"
                return CType(kind, "", _pointer_spelling(inner, "*" if kind == "pointer" else "&"), 8, target=inner)
            case "DW_TAG_structure_type" | "DW_TAG_class_type" | "DW_TAG_union_type":
                kind = "union" if die.tag == "DW_TAG_union_type" else "struct"
                return CType(kind, name, name or f"unnamed {kind}", nbytes, fields=tuple(self._fields(die)))
            case "DW_TAG_enumeration_type":
                return CType("enum", name, name or "unnamed enum", nbytes)
            case "DW_TAG_array_type":
                return self._array(die)
            case "DW_TAG_subroutine_type":
                arguments = ", ".join(
                    self.of(each).spelling for each in die.iter_children() if each.tag == "DW_TAG_formal_parameter"
                )
                return CType("function", "", f"{self.of(die).spelling} ({arguments})", 0)
            case _:
                return _VOID if name == "void" else CType("unknown", name, name, nbytes)

    def _fields(self, die: Any) -> Iterator[tuple[str, int, CType]]:
        for child in die.iter_children():
            if child.tag in {"DW_TAG_member", "DW_TAG_inheritance"}:
                yield _text(child, "DW_AT_name"), _number(child, "DW_AT_data_member_location") or 0, self.of(child)

    def _array(self, die: Any) -> CType:
        element = self.of(die)
        counts = [_count(each) for each in die.iter_children() if each.tag == "DW_TAG_subrange_type"]
        total = 1
        for count in counts:
            total *= count
        extents = "".join(f"[{count}]" for count in counts)
        return CType("array", "", element.spelling + extents, element.nbytes * total, False, element, total)


def _count(subrange: Any) -> int:
    count = _number(subrange, "DW_AT_count")
    if count is not None:
        return count
    upper = _number(subrange, "DW_AT_upper_bound")
    return 0 if upper is None else upper + 1


def _pointer_spelling(target: CType, mark: str) -> str:
    """How C writes a pointer to this type: `const float*`, `char const* const*`, `float (*)[4]`."""
    if target.kind == "array" and "[" in target.spelling:
        element, extents = target.spelling.split("[", 1)
        return f"{element} ({mark})[{extents}"
    if target.kind == "function":
        result, arguments = target.spelling.split(" (", 1)
        return f"{result} ({mark})({arguments}"
    if not target.is_const:
        return target.spelling + mark
    if target.spelling.endswith(("*", "&")):
        return f"{target.spelling} const{mark}"
    return f"const {target.spelling}{mark}"
