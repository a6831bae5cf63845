"""What a PTX module says, as values: declarations, instructions, operands and where each stood in the text.

The parser makes these, the signature and the CPU translator read them. Names are resolved by scope before
anything leaves the parser: every register, label and call-local variable of a function has a name that is
unique in that function (an inner `%r1` that shadows an outer one becomes `%r1.2`), so a reader needs no scopes.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the PTX text; both numbers start at 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A place in the source the PTX was compiled from, as its `.loc` and `.file` directives tell it."""

    file: str
    line: int
    column: int


# ---------------------------------------------------------------- operands


@dataclass(frozen=True, slots=True)
class Register:
    """A declared register of the function, by its unique name; `%p1`, `%rd4.2`."""

    name: str


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A predefined register with its component: `%tid.x`, `%laneid`, `%clock64`; WARP_SZ comes as an Immediate."""

    name: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal integer (any sign, up to 64 bits), or the bit pattern of a floating-point literal.

    `float_bits` is None for an integer, 32 for `0f3F800000`, 64 for `0d…` and for decimal literals such as
    `1.5`; `value` is then the pattern as an unsigned integer.
    """

    value: int
    float_bits: int | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, parameter, function or call-local variable, used as an operand (its address)."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`; the base is a register, a symbol's name, or an immediate address.

    `subscripts` are what follows the base inside the brackets of a texture, surface or tensor operand:
    `[tex, sampler, {x, y}]` has (Symbol("sampler"), Vector(…)). The Symbol of an Address always has offset 0.
    """

    base: Register | Symbol | Immediate
    offset: int = 0
    subscripts: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, …}`; `_` stands as a Sink."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result nobody wants."""


@dataclass(frozen=True, slots=True)
class Negated:
    """`!%p`: the negated value of a predicate register (or `-x` of an operand where the ISA allows it)."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Part:
    """`%r1.b0`, `%r2.h10`: bytes or half-words of a register, as the video instructions select them."""

    register: Register
    selector: str


@dataclass(frozen=True, slots=True)
class Pair:
    """`%r1|%p1`: a destination and its predicate (`shfl`, `setp`, `match.all`)."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class ArgumentList:
    """`(a, b)`: the return or argument list of a `call`."""

    elements: tuple[Operand, ...]


Operand = (
    Register | SpecialRegister | Immediate | Symbol | Address | Vector | Sink | Negated | Part | Pair | ArgumentList
)


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Guard:
    """`@%p` or `@!%p` before an instruction."""

    register: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `modifiers` keeps the written order; readers treat it as a set where order is free.

    `opcode` is the mnemonic alone (`ld`); modifiers are the dotted words without the dot (`global`, `v2`,
    `f32`, `L2::128B`, `shared::cta`); `text` is the whole opcode as written, for error messages.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None
    position: Position
    source: SourceLine | None = None

    @property
    def text(self) -> str:
        return ".".join((self.opcode, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target, by its unique name."""

    name: str
    position: Position


Statement = Instruction | Label


# ---------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class RegisterDeclaration:
    """One register of a function: its unique name and its type without the dot (`pred`, `b32`, `f64`)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Initializer:
    """A symbol's address inside an initialiser, at `offset` bytes: `generic(sym)+4`, `fn`, `mask(sym)`."""

    offset: int
    nbytes: int
    symbol: str
    addend: int
    generic: bool
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a state space, or a kernel parameter.

    `nbytes` is the whole size (0 for `.extern .shared x[]`), `align` in bytes (natural where none is written);
    `type` is the element type as written, without the dot; `count` the number of elements or None when it is no
    array. `data` are the initial bytes (little-endian, zero-filled to nbytes) or None when there is no
    initialiser; `relocations` are the addresses to be stored over it. `pointer_space` and `pointer_align` hold
    what a parameter's `.ptr` says ("generic" where `.ptr` names no space). `attributes` are those of
    `.attribute` ("managed", "unified(19, 95)"), `properties` what the initialiser of a sampler, texture or
    surface sets.
    """

    name: str
    space: str
    type: str
    align: int
    nbytes: int
    count: int | None = None
    vector: int = 1
    linkage: str | None = None
    is_pointer: bool = False
    pointer_space: str | None = None
    pointer_align: int | None = None
    data: bytes | None = None
    relocations: tuple[Initializer, ...] = ()
    position: Position = Position(1, 1)
    attributes: tuple[str, ...] = ()
    properties: tuple[tuple[str, str | int], ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchBounds:
    """What `.reqntid`, `.maxntid`, `.minnctapersm`, `.maxnreg`, `.reqnctapercluster` and their like say.

    None where unsaid; an extent that is left out is 1.
    """

    reqntid: tuple[int, int, int] | None = None
    maxntid: tuple[int, int, int] | None = None
    minnctapersm: int | None = None
    maxnreg: int | None = None
    reqnctapercluster: tuple[int, int, int] | None = None
    explicit_cluster: bool = False
    maxnctapersm: int | None = None
    maxclusterrank: int | None = None
    blocks_are_clusters: bool = False


@dataclass(frozen=True, slots=True)
class CallPrototype:
    """A `.callprototype`: return and parameter variables of an indirect call."""

    name: str
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    noreturn: bool = False


@dataclass(slots=True)
class Function:
    """A `.entry` (is_kernel) or `.func`. `body` is None for a declaration without one.

    Offsets of parameters follow C's rules from their sizes and alignments (`parameter_offsets`). `registers` are
    those declared singly and, of `%r<1000>`, those that the body names; of a vector register `v` the components
    `v.x` … `v.w` are registers, and `v` itself reads as the Vector of them. `variables` are the body's own
    (`.local`, `.shared`, `.param`); a name that the module's variables have too gets a suffix. Labels of
    `bra`, of `branch_tables` and prototypes and tables named by a `call` or `brx.idx` stand as Symbols.
    """

    name: str
    is_kernel: bool
    linkage: str | None
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    position: Position
    bounds: LaunchBounds = field(default_factory=LaunchBounds)
    registers: dict[str, RegisterDeclaration] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    prototypes: dict[str, CallPrototype] = field(default_factory=dict)
    branch_tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    call_tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    body: tuple[Statement, ...] | None = None
    noreturn: bool = False

    def parameter_offsets(self) -> tuple[int, ...]:
        """The byte offset of each parameter in the parameter block: natural alignment, in order (PTX ISA, .param)."""
        offsets: list[int] = []
        end = 0
        for parameter in self.parameters:
            end = -(-end // parameter.align) * parameter.align
            offsets.append(end)
            end += parameter.nbytes
        return tuple(offsets)


@dataclass(frozen=True, slots=True)
class Section:
    """A `.section` (DWARF): its name and its items, in order.

    An item is (nbytes, value): value is an integer, or a (label, addend) pair to be resolved, `labels` tells the
    offset at which each label of this section stands. A difference of two labels of this section comes as the
    integer it is, one of labels elsewhere (code) as the pair ("a-b", addend).
    """

    name: str
    items: tuple[tuple[int, int | tuple[str, int]], ...]
    labels: dict[str, int]


@dataclass(slots=True)
class PtxModule:
    """One PTX module.

    `version` is (8, 7) for `.version 8.7`; `target` the first word of `.target` ("sm_90a"), `target_options` the
    rest ("debug", "texmode_independent"). `functions` holds kernels and device functions by name (a definition
    wins over its forward declarations), `variables` those of module scope by name. `aliases` are the pairs of
    `.alias`; `functions` has the alias too, as its target under the other name.
    """

    version: tuple[int, int]
    target: str
    target_options: tuple[str, ...]
    address_size: int
    functions: dict[str, Function]
    variables: dict[str, Variable]
    sections: dict[str, Section]
    files: dict[int, str]
    aliases: dict[str, str] = field(default_factory=dict)

    def kernels(self) -> tuple[Function, ...]:
        """The module's `.entry` functions that have a body, in the order of the text."""
        return tuple(f for f in self.functions.values() if f.is_kernel and f.body is not None)
