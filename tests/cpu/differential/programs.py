"""Kernels as trees: what the generator makes, the reference runs, and both text forms (PTX, CUDA C) are written from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

BITS = {"u8": 8, "u16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64, "f16": 16, "f32": 32, "f64": 64, "pred": 1}
INTEGERS = ("s32", "u32", "s64", "u64")
FLOATS = ("f32", "f64", "f16")


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, eq=False)
class Const:
    """A literal; of floats the bit pattern."""

    type: str
    value: int


@dataclass(frozen=True, eq=False)
class Var:
    type: str
    name: str


@dataclass(frozen=True, eq=False)
class Special:
    """A thread's number and its like: "tid.x", "ntid.y", "ctaid.z", "nctaid.x", "linear" (within the block),
    "thread" (within the grid), "block" (likewise), "laneid", "lanemask_lt"."""

    name: str
    type: str = "u32"


@dataclass(frozen=True, eq=False)
class Param:
    type: str
    name: str


@dataclass(frozen=True, eq=False)
class Op:
    """An operation of operations.py; `type` is that of its result, `over` the one in its name."""

    type: str
    name: str
    over: str
    args: tuple[Expr, ...]
    literal: int = 0


@dataclass(frozen=True, eq=False)
class Load:
    """An element of an array, u8 and u16 extended with zeros to u32."""

    type: str
    array: str
    index: Expr


Expr = Const | Var | Special | Param | Op | Load


# ---------------------------------------------------------------- statements


@dataclass(eq=False)
class Assign:
    var: Var
    value: Expr


@dataclass(eq=False)
class LoadVector:
    """Two or four neighbours at once; `index` counts vectors."""

    targets: tuple[Var, ...]
    array: str
    index: Expr


@dataclass(eq=False)
class Store:
    array: str
    index: Expr
    value: Expr


@dataclass(eq=False)
class If:
    condition: Expr
    then: list[Statement]
    other: list[Statement]


@dataclass(eq=False)
class Switch:
    """Cases 0 … n - 1 and, for every other selector, the last."""

    selector: Expr
    cases: list[list[Statement]]


@dataclass(eq=False)
class Loop:
    """`for (counter = start; counter < limit; counter += step)`, tested at its end where `tests_last` (it then runs
    once at least). The limit is evaluated once, in front; `step` is a literal or the same for all threads."""

    counter: Var
    limit_var: Var
    limit: Expr
    body: list[Statement]
    tests_last: bool = False
    start: Expr | None = None
    step: Expr | None = None


@dataclass(eq=False)
class Break:
    condition: Expr


@dataclass(eq=False)
class Continue:
    condition: Expr


@dataclass(eq=False)
class Exit:
    condition: Expr


@dataclass(eq=False)
class Return:
    """Leave a device function early with its `result` variable as it is."""

    condition: Expr


@dataclass(eq=False)
class Barrier:
    pass


@dataclass(eq=False)
class Exchange:
    """Store into one's own slot, wait for the block, read any slot, wait again."""

    array: str
    slot: Expr
    value: Expr
    target: Var
    source: Expr
    stored: list[Statement] = field(default_factory=list)
    met: list[Statement] = field(default_factory=list)
    read: list[Statement] = field(default_factory=list)


@dataclass(eq=False)
class SplitExchange:
    """As Exchange, the two sides of a divergent branch waiting at barriers of their own."""

    condition: Expr
    array: str
    slot: Expr
    values: tuple[Expr, Expr]
    target: Var
    sources: tuple[Expr, Expr]


@dataclass(eq=False)
class SharedTotal:
    """Initialise an element (everybody, with the same value), wait, combine, wait, read, wait."""

    array: str
    element: int
    initial: int
    combine: list[Statement]
    target: Var


@dataclass(eq=False)
class Tree:
    """The sum of a block's values by halves: `for (s = half; s > 0; s /= 2)` the first s threads add what lies s
    further; a barrier each time. Slots of threads that have ended count as they are."""

    array: str
    value: Expr
    target: Var
    counter: Var
    half: int


@dataclass(eq=False)
class BarrierReduce:
    """bar.red: `operation` is "and", "or" or "popc"."""

    target: Var
    operation: str
    predicate: Expr


@dataclass(eq=False)
class Shuffle:
    """shfl.sync; `control` is the operand of clamp and segment mask."""

    target: Var
    inside: Var | None
    mode: str
    value: Expr
    lane: Expr
    control: Expr
    mask: Expr


@dataclass(eq=False)
class Vote:
    """`mode` is "all", "any", "uni" (to a predicate) or "ballot"."""

    target: Var
    mode: str
    predicate: Expr
    mask: Expr


@dataclass(eq=False)
class Match:
    target: Var
    same: Var | None
    mode: str
    value: Expr
    mask: Expr


@dataclass(eq=False)
class Redux:
    target: Var
    operation: str
    over: str
    value: Expr
    mask: Expr


@dataclass(eq=False)
class WarpExchange:
    """As Exchange, among the lanes of a warp by bar.warp.sync. `offset` is xored to the lane."""

    array: str
    value: Expr
    target: Var
    offset: int
    mask: Expr


@dataclass(eq=False)
class BallotIf:
    """An if whose sides know the lanes that are with them: warp operations may stand inside."""

    lanes: Var
    condition: Expr
    mask: Expr
    then: list[Statement]
    other: list[Statement]


@dataclass(eq=False)
class BallotLoop:
    """A loop that lanes leave one by one and in which those that are left exchange values."""

    lanes: Var
    counter: Var
    limit_var: Var
    limit: Expr
    mask: Expr
    body: list[Statement]


@dataclass(eq=False)
class Atomic:
    """The old value goes to `target` only where nobody else updates the element. `values` are two for "cas"."""

    array: str
    index: Expr
    operation: str
    values: tuple[Expr, ...]
    target: Var | None = None


@dataclass(eq=False)
class Call:
    target: Var | None
    function: str
    arguments: tuple[Expr, ...]


@dataclass(eq=False)
class Trap:
    """Never reached: the condition is always false, which nobody but the reader knows."""

    condition: Expr


@dataclass(eq=False)
class Walk:
    """Adds up `count` elements from `start` on, `step` elements apart, by a pointer that moves; with a barrier each
    time where `meets` (start and count are then the same for all threads of the block, or start alone differs)."""

    array: str
    target: Var
    counter: Var
    start: Expr
    count: Expr
    step: int
    meets: bool


@dataclass(eq=False)
class LoadEither:
    """An element of one of two arrays, by a pointer that was chosen."""

    target: Var
    condition: Expr
    arrays: tuple[str, str]
    index: Expr


@dataclass(eq=False)
class Fault:
    """One thread does what it may not, where it comes by for the first time: `kind` is that of a finding."""

    kind: str
    thread: int
    array: str = ""


Statement = (
    Assign | LoadVector | Store | If | Switch | Loop | Break | Continue | Exit | Return | Barrier | Exchange
    | SplitExchange | SharedTotal | BarrierReduce | Shuffle | Vote | Match | Redux | WarpExchange | BallotIf
    | BallotLoop | Atomic | Call | Trap | Tree | Fault | Walk | LoadEither
)  # fmt: skip


@dataclass(frozen=True)
class Array:
    """`space` is "global" (every thread sees all), "const", "shared" or "local". `initial` are elements as integers
    (bit patterns). Of global arrays `role` is "in" or "out"; `count` may be "threads" times a factor."""

    name: str
    space: str
    type: str
    count: int
    initial: tuple[int, ...] = ()
    role: str = ""
    dynamic: bool = False


@dataclass
class Function:
    """A device function; `result` is a variable of its own. `locals` start at 0."""

    name: str
    parameters: tuple[Var, ...]
    locals: tuple[Var, ...]
    result: Var | None
    body: list[Statement]
    arrays: tuple[Array, ...] = ()


@dataclass
class Program:
    """A kernel with all that it is launched with. `variables` get their value from `prologue` or start at 0;
    `outputs` are stored at the end, element `thread + n * threads` of array "out" for the n-th."""

    seed: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arrays: dict[str, Array]
    parameters: dict[str, tuple[str, int]]
    variables: dict[str, Var]
    functions: dict[str, Function]
    body: list[Statement]
    outputs: list[Var]
    # Written so that a translator can see what is the same for all threads, and may run blocks as a whole.
    is_tame: bool = False

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def block_count(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def thread_count(self) -> int:
        return self.threads_per_block * self.block_count


def bodies(statement: object) -> Iterator[list[Statement]]:
    """The statement lists inside of a statement."""
    for name in ("then", "other", "body", "stored", "met", "read", "combine"):
        inner = getattr(statement, name, None)
        if isinstance(inner, list):
            yield inner
    if isinstance(statement, Switch):
        yield from statement.cases


COLLECTIVE = (
    Barrier, Exchange, SplitExchange, SharedTotal, Tree, BarrierReduce, Shuffle, Vote, Match, Redux, WarpExchange, BallotIf,
    BallotLoop,
)  # fmt: skip
