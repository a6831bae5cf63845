"""What a SPIR-V module declares: its kernels with their parameters, required work-group sizes, source language.

Source: "SPIR-V Specification", sections "Entry Point and Execution Model", "Function Parameter Attribute"; "OpenCL
SPIR-V Environment Specification", section "Kernel Parameters".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from ..scalars import ScalarType
from .instructions import (
    ADDRESSING_MODELS,
    ALIGNMENT,
    BY_VALUE,
    CONSTANT,
    EXECUTION_MODELS,
    FUNCTION_PARAMETER_ATTRIBUTE,
    KERNEL,
    LANGUAGES,
    LOCAL_SIZE,
    LOCAL_SIZE_HINT,
    LOCAL_SIZE_HINT_ID,
    LOCAL_SIZE_ID,
    NO_WRITE,
    PHYSICAL32,
)
from .layouts import Decorations, Layouts, Shape
from .words import Binary, Instruction, read_words

# A translator's own way of keeping the types as the source has them.
# Source: SPIRV-LLVM-Translator, option --preserve-ocl-kernel-arg-type-metadata-through-string.
_TYPE_NAMES: Final = "kernel_arg_type."


@dataclass(frozen=True, slots=True)
class SpirvParameter:
    """One parameter. `kind` is "pointer", "value", "local", or "object" for images, samplers and the like.

    For a value `nbytes`, `align`, `scalar` and `lanes` are its own, for memory those of one element of it, as far as
    they are known: SPIR-V for OpenCL has no signs, so an integer's `scalar` is None and `width` its bits. `element` is
    the float that it is made of. `space` is a pointer's, `constant` says that it is only read. `type_name` is its type
    in OpenCL C, where a translator left it; `text` its type in words.
    """

    index: int
    name: str | None
    kind: str
    nbytes: int | None = None
    align: int | None = None
    scalar: ScalarType | None = None
    element: ScalarType | None = None
    width: int | None = None
    lanes: int = 1
    space: str | None = None
    constant: bool | None = None
    type_name: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class SpirvKernel:
    """One kernel. `required_block` is the work-group size it was compiled for, `hinted_block` the one it was made for;
    None where none is stated, or where it is a constant to be specialised."""

    name: str
    parameters: tuple[SpirvParameter, ...]
    required_block: tuple[int, int, int] | None = None
    hinted_block: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class SpirvModule:
    """A module as it was read. `others` are entry points that are no kernels, as (execution model, name)."""

    version: tuple[int, int]
    language: str
    language_version: int
    addressing: str
    kernels: Mapping[str, SpirvKernel]
    others: tuple[tuple[str, str], ...]
    capabilities: tuple[int, ...]


def read_spirv(data: bytes, module: str = "SPIR-V") -> SpirvModule:
    """What a binary declares. Raises ModuleLoadError, in the name of `module` and with the word, for damage."""
    binary = read_words(data, module)
    return _Reader(binary).module()


@dataclass(slots=True)
class _Function:
    type: int
    offset: int
    parameters: list[tuple[int, int, int]] = field(default_factory=list)  # type, id, offset


class _Reader:
    def __init__(self, binary: Binary) -> None:
        self.binary = binary
        self.defined: set[int] = set()
        self.names: dict[int, str] = {}
        self.strings: list[str] = []
        self.types: dict[int, Instruction] = {}
        self.constants: dict[int, int] = {}
        self.entries: list[Instruction] = []
        self.modes: list[Instruction] = []
        self.groups: list[Instruction] = []
        self.functions: dict[int, _Function] = {}
        self.decorations = Decorations()
        self.capabilities: list[int] = []
        self.language, self.language_version, self.addressing = 0, 0, -1
        self.current: _Function | None = None

    def module(self) -> SpirvModule:
        for each in self.binary.instructions():
            self.take(each)
        if self.current is not None:
            raise self.binary.refused("a function does not end", self.current.offset)
        if self.addressing not in ADDRESSING_MODELS:
            raise self.binary.refused(f"addressing model {self.addressing}", len(self.binary.words))
        self.spread_groups()
        nbytes = 4 if self.addressing == PHYSICAL32 else 8
        self.layouts = Layouts(self.binary, self.types, self.constants, self.decorations, nbytes)
        kernels: dict[str, SpirvKernel] = {}
        others = []
        for entry in self.entries:
            model, name = entry.number(0), entry.text(2)
            if model != KERNEL:
                others.append((EXECUTION_MODELS.get(model, f"model {model}"), name))
            elif name in kernels:
                raise self.binary.refused(f"kernel {name!r} is there twice", entry.offset)
            else:
                kernels[name] = self.kernel(entry)
        return SpirvModule(
            self.binary.version,
            LANGUAGES.get(self.language, f"language {self.language}"),
            self.language_version,
            ADDRESSING_MODELS[self.addressing],
            MappingProxyType(kernels),
            tuple(others),
            tuple(self.capabilities),
        )

    # ------------------------------------------------ one pass over the instructions

    def take(self, each: Instruction) -> None:
        name = each.name
        if name.startswith("OpType") and name != "OpTypeForwardPointer":
            self.define(each, each.number(0))
            self.types[each.number(0)] = each
        elif name == "OpName":
            self.names[each.number(0)] = each.text(1)
        elif name == "OpString":
            self.strings.append(each.text(1))
        elif name == "OpSource":
            self.language, self.language_version = each.number(0), each.number(1)
        elif name == "OpCapability":
            self.capabilities.append(each.number(0))
        elif name == "OpMemoryModel":
            self.addressing = each.number(0)
        elif name == "OpEntryPoint":
            self.entries.append(each)
        elif name in ("OpExecutionMode", "OpExecutionModeId"):
            self.modes.append(each)
        elif name == "OpConstant":
            self.define(each, each.number(1))
            self.constants[each.number(1)] = sum(word << 32 * place for place, word in enumerate(each.rest(2)))
        elif name == "OpDecorate":
            self.decorations.of_id.setdefault(each.number(0), []).append((each.number(1), each.rest(2)))
        elif name == "OpMemberDecorate":
            place = each.number(0), each.number(1)
            self.decorations.of_member.setdefault(place, []).append((each.number(2), each.rest(3)))
        elif name == "OpGroupDecorate":
            self.groups.append(each)
        elif name.startswith("OpFunction"):
            self.take_function(each)

    def define(self, each: Instruction, id: int) -> None:
        if id in self.defined:
            raise self.binary.refused(f"{each.name} defines id {id} again", each.offset)
        self.defined.add(id)

    def take_function(self, each: Instruction) -> None:
        if each.name == "OpFunction":
            if self.current is not None:
                raise self.binary.refused("a function begins within another", each.offset)
            self.define(each, each.number(1))
            self.current = self.functions[each.number(1)] = _Function(each.number(3), each.offset)
        elif self.current is None:
            raise self.binary.refused(f"{each.name} outside of a function", each.offset)
        elif each.name == "OpFunctionEnd":
            self.current = None
        else:
            self.define(each, each.number(1))
            self.current.parameters.append((each.number(0), each.number(1), each.offset))

    def spread_groups(self) -> None:
        """What is said of a group of decorations is said of all its targets."""
        for each in self.groups:
            said = self.decorations.of_id.get(each.number(0), [])
            for target in each.rest(1):
                if target != each.number(0):
                    self.decorations.of_id.setdefault(target, []).extend(said)

    # ------------------------------------------------ kernels

    def kernel(self, entry: Instruction) -> SpirvKernel:
        id, name = entry.number(1), entry.text(2)
        function = self.functions.get(id)
        if function is None:
            raise self.binary.refused(f"kernel {name!r} is id {id}, which is no function", entry.offset)
        declared = self.types.get(function.type)
        if declared is None or declared.name != "OpTypeFunction":
            raise self.binary.refused(f"id {function.type} is no function's type", function.offset)
        if declared.rest(2) != tuple(type for type, _, _ in function.parameters):
            raise self.binary.refused(f"the parameters of kernel {name!r} are not those of its type", function.offset)
        named = self.named_twin(id, name, function)
        types = self.type_names(name, len(function.parameters))
        parameters = tuple(
            self.parameter(index, function.parameters[index], named.parameters[index][1], types[index])
            for index in range(len(function.parameters))
        )
        return SpirvKernel(
            name,
            parameters,
            self.extents(id, LOCAL_SIZE, LOCAL_SIZE_ID),
            self.extents(id, LOCAL_SIZE_HINT, LOCAL_SIZE_HINT_ID),
        )

    def named_twin(self, id: int, name: str, function: _Function) -> _Function:
        """The function whose parameters have the names: translators put a nameless one in front of the kernel's own."""
        if any(self.names.get(each) for _, each, _ in function.parameters):
            return function
        for other, each in self.functions.items():
            if other != id and self.names.get(other) == name and each.type == function.type:
                return each
        return function

    def type_names(self, name: str, count: int) -> list[str | None]:
        """The parameters' types as the source has them, where a translator has kept them."""
        prefix = f"{_TYPE_NAMES}{name}."
        for text in self.strings:
            if text.startswith(prefix):
                types = text.removeprefix(prefix).split(",")
                if types and not types[-1]:
                    types.pop()
                if len(types) == count:
                    return [each.strip() or None for each in types]
        return [None] * count

    def parameter(
        self, index: int, declared: tuple[int, int, int], named: int, type_name: str | None
    ) -> SpirvParameter:
        type, id, at = declared
        name = self.names.get(named) or None
        shape = self.layouts.shape(type, at)
        if shape.space is None:
            kind = "object" if shape.is_object else "value"
            return self._made(index, name, kind, shape, None, type_name)
        attributes = [
            words[0]
            for number, words in self.decorations.of_id.get(id, ())
            if number == FUNCTION_PARAMETER_ATTRIBUTE and words
        ]
        pointee = self.layouts.shape(shape.pointee, at) if shape.pointee is not None else Shape("")
        if shape.space == "private" or BY_VALUE in attributes:
            if BY_VALUE not in attributes:
                raise self.binary.refused(f"parameter {index} points to a function's own memory, not by value", at)
            aligned = self.decorations.words(id, ALIGNMENT)
            return self._made(index, name, "value", pointee, None, type_name, aligned[0] if aligned else None)
        if pointee.is_object:
            return self._made(index, name, "object", pointee, None, type_name)
        constant = True if NO_WRITE in attributes or shape.space == "constant" else None
        if self.decorations.words(id, CONSTANT) is not None:
            constant = True
        kind = "local" if shape.space == "local" else "pointer"
        return self._made(index, name, kind, pointee, shape.space, type_name, constant=constant)

    @staticmethod
    def _made(
        index: int,
        name: str | None,
        kind: str,
        shape: Shape,
        space: str | None,
        type_name: str | None,
        align: int | None = None,
        constant: bool | None = None,
    ) -> SpirvParameter:
        return SpirvParameter(
            index,
            name,
            kind,
            shape.nbytes,
            align if align is not None else shape.align,
            shape.scalar,
            shape.element,
            shape.width,
            shape.lanes,
            space,
            constant,
            type_name,
            shape.text,
        )

    def extents(self, function: int, mode: int, mode_of_ids: int) -> tuple[int, int, int] | None:
        """What an execution mode says of a work-group's size, in numbers or in constants."""
        for each in self.modes:
            if each.number(0) != function or each.number(1) not in (mode, mode_of_ids):
                continue
            words = each.rest(2)
            if len(words) != 3:
                raise self.binary.refused(f"a work-group's size of {len(words)} extents", each.offset)
            if each.number(1) == mode:
                return words[0], words[1], words[2]
            values = [self.constants.get(word) for word in words]
            # One that is specialised later is not known here.
            x, y, z = values
            return (x, y, z) if x is not None and y is not None and z is not None else None
        return None
