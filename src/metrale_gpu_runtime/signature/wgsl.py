"""What a WGSL text declares: entry points for compute, what they bind, and the constants that can be overridden.

WebGPU tells nothing of a shader's bindings, so the declarations are read here. What functions do is left to the
compiler; of their bodies only the names they use are read, so that each entry point has the bindings that it reaches
itself or through functions it calls ("WebGPU Shading Language", "Resource Interface of a Shader", "Static Access").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from ..errors import SignatureError
from .wgsl_declarations import Declaration, read_declarations
from .wgsl_resolving import Resolver
from .wgsl_tokens import WgslText
from .wgsl_types import WgslType

NO_PLACE: Final = -1
_ACCESS: Final = {"read": "read", "write": "write", "read_write": "read-write"}
_IMMEDIATE: Final = ("immediate", "push_constant")
_SPACES: Final = ("storage", "uniform", *_IMMEDIATE)


@dataclass(frozen=True, slots=True)
class WgslBinding:
    """One variable that is bound. `space` is "storage", "uniform" or "immediate", "handle" for textures and samplers;
    `access` is "read", "write" or "read-write". `group` and `binding` are -1 for immediates, which have no place."""

    name: str
    group: int
    binding: int
    space: str
    access: str
    type: WgslType
    line: int


@dataclass(frozen=True, slots=True)
class WgslOverride:
    """A constant that is set when a pipeline is made: by its name, or by `id` where it has one (then only by that).

    `type_name` is None where the text leaves it to an expression that is not worked out here.
    """

    name: str
    id: int | None
    type_name: str | None
    has_default: bool
    line: int

    @property
    def key(self) -> str:
        """What a pipeline's constants call it."""
        return self.name if self.id is None else str(self.id)


@dataclass(frozen=True, slots=True)
class WgslEntryPoint:
    """A compute shader. An extent of `workgroup_size` is a string where an override has a part in it: that override's
    name, or the expression as it is spelled.

    `bindings` are those of group 0 that buffers fill, by rising number; `unfillable` are textures, samplers and those
    of other groups. `overrides` are the names of the overrides that it uses. `workgroup_nbytes` is what its variables
    in workgroup memory take, None where an override says how long they are.
    """

    name: str
    workgroup_size: tuple[int | str, int | str, int | str]
    bindings: tuple[WgslBinding, ...]
    immediates: WgslBinding | None
    unfillable: tuple[WgslBinding, ...]
    overrides: tuple[str, ...]
    workgroup_nbytes: int | None
    line: int

    @property
    def fixed_workgroup_size(self) -> tuple[int, int, int] | None:
        """The workgroup's size where nothing can override it."""
        x, y, z = self.workgroup_size
        if isinstance(x, int) and isinstance(y, int) and isinstance(z, int):
            return x, y, z
        return None


@dataclass(frozen=True, slots=True)
class WgslModule:
    """A text as it was read."""

    entry_points: Mapping[str, WgslEntryPoint]
    overrides: tuple[WgslOverride, ...]
    source: WgslText
    declarations: Mapping[str, Declaration]

    def override(self, name: str) -> WgslOverride | None:
        """The override of this name."""
        return next((each for each in self.overrides if each.name == name), None)

    def workgroup_sizes(self, entry_point: str, overrides: Mapping[str, int]) -> tuple[int, ...] | None:
        """The bytes of each variable in workgroup memory that an entry point uses, with these whole numbers for
        overrides, by name, and their defaults for the others; None where a length is none, or not worked out here."""
        reader = _Reader(self.source, self.declarations, overrides)
        try:
            return reader.workgroup_sizes(reader.reached(self.declarations[entry_point]))
        except SignatureError:
            # A length of 0, say: the compiler refuses it where the pipeline is made.
            return None


def parse_wgsl(text: str, name: str = "WGSL") -> WgslModule:
    """The compute entry points of a text, their bindings and the overrides. `name` is what messages call the text.

    Raises SignatureError, with the line, for declarations that cannot be read. Function bodies are the compiler's.
    """
    source = WgslText(text, name)
    declarations = read_declarations(source)
    reader = _Reader(source, declarations)
    overrides = tuple(reader.override(each) for each in declarations.values() if each.kind == "override")
    entries = {
        each.name: reader.entry_point(each)
        for each in declarations.values()
        if each.kind == "fn" and each.attribute("compute") is not None
    }
    return WgslModule(MappingProxyType(entries), overrides, source, declarations)


class _Reader:
    def __init__(
        self,
        source: WgslText,
        declarations: Mapping[str, Declaration],
        overrides: Mapping[str, int] | None = None,
    ) -> None:
        self.source, self.declarations = source, declarations
        self.resolver = Resolver(source, declarations, overrides)
        self.read: dict[str, WgslBinding] = {}

    def override(self, declared: Declaration) -> WgslOverride:
        number = declared.attribute("id")
        id = self.number(declared, "id") if number is not None else None
        return WgslOverride(
            declared.name,
            id,
            self.resolver.type_name_of_constant(declared),
            bool(declared.value),
            self.source.line(declared.token),
        )

    def number(self, declared: Declaration, attribute: str) -> int:
        """The whole number, not negative, that an attribute states."""
        found = declared.attribute(attribute)
        tokens = found.arguments[0] if found is not None and len(found.arguments) == 1 else ()
        value = self.resolver.number(tokens)
        if value is None or value < 0:
            raise self.source.error(
                f"@{attribute} of {declared.name} is {self.source.spelled(tokens)!r}; a whole number is wanted, 0 or "
                "more, known before the shader runs",
                found.token if found is not None else declared.token,
            )
        return value

    def reached(self, entry: Declaration) -> list[Declaration]:
        """Everything that a function names, directly or through what it names, in the text's order."""
        seen = {entry.name}
        waiting = [entry]
        while waiting:
            for name in waiting.pop().uses:
                if name in self.declarations and name not in seen:
                    seen.add(name)
                    waiting.append(self.declarations[name])
        return [each for name, each in self.declarations.items() if name in seen]

    def entry_point(self, entry: Declaration) -> WgslEntryPoint:
        reached = self.reached(entry)
        variables = [each for each in reached if each.kind == "var"]
        bound = [self.binding(each) for each in variables if each.space in _SPACES or each.space == ""]
        immediates = [each for each in bound if each.space == "immediate"]
        if len(immediates) > 1:
            raise self.source.error(
                f"{entry.name} reaches two variables of immediates, {immediates[0].name} and {immediates[1].name}; "
                "one is allowed: make them members of one structure",
                self.declarations[immediates[1].name].token,
            )
        fillable = [each for each in bound if each.space in ("storage", "uniform") and each.group == 0]
        fillable.sort(key=lambda each: each.binding)
        for first, second in pairwise(fillable):
            if first.binding == second.binding:
                raise self.source.error(
                    f"{entry.name} reaches {first.name} and {second.name}, both @group(0) @binding({first.binding}); "
                    "give them numbers of their own",
                    self.declarations[second.name].token,
                )
        sizes = self.workgroup_sizes(variables)
        unfillable = [each for each in bound if each not in fillable and each.space != "immediate"]
        return WgslEntryPoint(
            entry.name,
            self.workgroup_size(entry),
            tuple(fillable),
            immediates[0] if immediates else None,
            tuple(unfillable),
            tuple(each.name for each in reached if each.kind == "override"),
            sum(sizes) if sizes is not None else None,
            self.source.line(entry.token),
        )

    def binding(self, variable: Declaration) -> WgslBinding:
        if variable.name not in self.read:
            self.read[variable.name] = self._binding(variable)
        return self.read[variable.name]

    def _binding(self, variable: Declaration) -> WgslBinding:
        is_immediate = variable.space in _IMMEDIATE
        line = self.source.line(variable.token)
        group = binding = NO_PLACE
        if not is_immediate:
            for attribute in ("group", "binding"):
                if variable.attribute(attribute) is None:
                    raise self.source.error(
                        f"{variable.name} has no @{attribute}; whatever a shader is given has one", variable.token
                    )
            group, binding = self.number(variable, "group"), self.number(variable, "binding")
        if not variable.type:
            raise self.source.error(f"{variable.name} has no type", variable.token)
        type = self.resolver.type(variable.type)
        space = "immediate" if is_immediate else variable.space or "handle"
        if space != "handle" and type.align is None:
            raise self.source.error(
                f"{variable.name} is {type.spelling}, which does not lie in {variable.space} memory", variable.token
            )
        if space in ("uniform", "immediate") and type.is_runtime_sized:
            raise self.source.error(
                f"{variable.name} is {type.spelling}, whose length is not known; only storage may be", variable.token
            )
        access = _ACCESS.get(variable.access or "read")
        if access is None:
            raise self.source.error(
                f"{variable.name}: {variable.access!r} is no access; read and read_write are", variable.token
            )
        return WgslBinding(variable.name, group, binding, space, access, type, line)

    def workgroup_size(self, entry: Declaration) -> tuple[int | str, int | str, int | str]:
        found = entry.attribute("workgroup_size")
        if found is None or not 1 <= len(found.arguments) <= 3:
            raise self.source.error(
                f"{entry.name} is @compute and needs @workgroup_size(x), (x, y) or (x, y, z)",
                found.token if found is not None else entry.token,
            )
        extents: list[int | str] = []
        for tokens in found.arguments:
            value = self.resolver.number(tokens)
            if value is not None and value < 1:
                raise self.source.error(f"@workgroup_size of {entry.name} is {value}; it is at least 1", found.token)
            extents.append(value if value is not None else self.source.spelled(tokens))
        extents += [1] * (3 - len(extents))
        return extents[0], extents[1], extents[2]

    def workgroup_sizes(self, reached: list[Declaration]) -> tuple[int, ...] | None:
        sizes = [self.resolver.nbytes_if_known(each.type) for each in reached if each.space == "workgroup"]
        known = tuple(each for each in sizes if each is not None)
        return known if len(known) == len(sizes) else None
