"""Whether a kernel that can run by block had better: an estimate of what a thread costs either way.

By block, arithmetic is as wide as LLVM's vectors, but what a thread carries from step to step goes through arrays,
and memory that neighbours do not access side by side is gathered element by element. By thread, values stay in
registers and vectors of PTX (`ld.v4`) become vectors of the CPU, but each barrier and warp operation is a return and
a call. The figures are cycles as measured on one AVX-512 machine; only large differences should matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ptx.control_flow import reads, writes
from ....ptx.syntax import Address, Instruction, Register
from .steps import Collective, Split, Stay, Step, StepKey
from .strides import Strides
from .yields import back_edges, natural_loop, waits

if TYPE_CHECKING:
    from .block_code import BlockTranslator

_USUAL_BLOCK = 256
_LANES = 8
_ITERATIONS = 8
_DEEPEST = 4
_STEP_CYCLES = 40
_MASK_CYCLES = 60
_WAIT_CYCLES = 14
_SHUFFLE_CYCLES = 1.5
# What takes several instructions of the CPU.
_COSTS = {"div": 6, "rem": 12, "sqrt": 6, "rcp": 5, "rsqrt": 8, "ex2": 22, "lg2": 30, "sin": 50, "cos": 50, "tanh": 45}
# Vectorised code takes long to compile: from so many statements on it must win clearly.
_LARGE = 500
_HUGE = 1500
_CLEARLY = 3.0


class Choice:
    """The two estimates, in cycles of a thread."""

    def __init__(self, translator: BlockTranslator, check: str | None) -> None:
        self.t = translator
        self.strides = Strides(translator.function, translator.divergent.registers)
        bounds = translator.function.bounds
        extents = bounds.reqntid or bounds.maxntid
        self.threads = extents[0] * extents[1] * extents[2] if extents else _USUAL_BLOCK
        self.is_checked = check is not None
        self.depth = self._depths()

    def by_block(self) -> bool:
        """Whether to run the kernel by block."""
        size = sum(isinstance(statement, Instruction) for statement in self.t.body)
        if len(self.t.steps) == 1:
            # Nothing is carried anywhere; the loop over the threads is the same either way.
            return True
        if size > _HUGE:
            return False
        wanted = self.thread_cycles() / self.block_cycles()
        return wanted > (_CLEARLY if size > _LARGE else 1.0)

    def _depths(self) -> list[int]:
        depth = [0] * len(self.t.blocks)
        loops: dict[int, set[int]] = {}
        for tail, head in back_edges(self.t.blocks):
            loops.setdefault(head, set()).update(natural_loop(self.t.blocks, tail, head))
        for members in loops.values():
            for index in members:
                depth[index] += 1
        return depth

    def _weight(self, index: int) -> float:
        return float(_ITERATIONS ** min(self.depth[index], _DEEPEST))

    def _cost(self, statement: Instruction) -> float:
        words = statement.modifiers
        if any(word in words for word in ("rz", "rm", "rp")) and "f32" in words:
            return 14.0
        cost = _COSTS.get(statement.opcode, 1)
        return float(cost + 3 * ("ftz" in words) + 2 * ("sat" in words) + 6 * ("f16" in words or "f16x2" in words))

    def _elements(self, statement: Instruction) -> int:
        return next((int(word[1]) for word in statement.modifiers if word in ("v2", "v4", "v8")), 1)

    @staticmethod
    def _address(statement: Instruction) -> Address | None:
        if statement.opcode not in ("ld", "st", "atom", "red") or "param" in statement.modifiers:
            return None
        return next((o for o in statement.operands if isinstance(o, Address)), None)

    # ------------------------------------------------------------ by block

    def block_cycles(self) -> float:
        """Cycles of a thread when all of the block run step by step."""
        return sum(self._step_cycles(key, step) for key, step in self.t.steps.items() if step.scalar is None)

    def _step_cycles(self, key: StepKey, step: Step) -> float:
        t = self.t
        if step.parts and all(isinstance(part, tuple) and part[1] == part[2] for part in step.parts):
            return 0.0
        statements = t.statements(step)
        lanes = 1 if self.is_checked and any(map(self._address, statements)) else self._lanes(step, statements)
        cycles = 0.0
        for statement in statements:
            if all(name in t.e.uniform or name in t.computed for name in writes(statement)) and writes(statement):
                continue
            address = self._address(statement)
            if address is None:
                cycles += self._cost(statement) / (lanes if lanes > 1 else 2)
            else:
                cycles += self._access(statement, address, lanes)
        touched = {n for s in statements for n in (*reads(s), *writes(s)) if n not in t.elsewhere}
        carried = len(touched.intersection(t.live_at(step.leader))) + len(touched.intersection(t.behind(step)))
        cycles += carried / (lanes if lanes > 1 else 1.5)
        fixed = float(_STEP_CYCLES)
        if isinstance(step.end, (Split, Stay)):
            fixed += _MASK_CYCLES
        if isinstance(step.end, Collective) and step.end.statement.opcode not in ("bar", "barrier"):
            cycles += _SHUFFLE_CYCLES
        return self._weight(key[0][0]) * (cycles + fixed / self.threads)

    def _lanes(self, step: Step, statements: list[Instruction]) -> int:
        """How many threads run side by side: one where LLVM does not vectorise."""
        if any(s.opcode in ("atom", "red", "trap", "membar", "fence") or "volatile" in s.modifiers for s in statements):
            return 1
        for part in step.parts:
            if isinstance(part, frozenset) and any(index in self.t.finder.analysis.worth for index in part):
                return 1
        return max(1, min(_LANES, self.threads // 4))

    def _access(self, statement: Instruction, address: Address, lanes: int) -> float:
        count = self._elements(statement)
        if lanes == 1:
            return (2.5 if self.is_checked else 0.8) * count
        stride = self.strides.of(address.base.name) if isinstance(address.base, Register) else 0
        bits = next((int(word[1:]) for word in statement.modifiers if word[1:].isdigit() and word[0] in "usbf"), 32)
        nbytes = bits // 8 * count
        if stride == 0:
            return count / lanes
        if stride == nbytes:
            return count * (1.0 if count == 1 else 1.6) / lanes
        return count * (1.3 if statement.opcode == "ld" else 2.0)

    # ------------------------------------------------------------ by thread

    def thread_cycles(self) -> float:
        """Cycles of a thread that runs by itself."""
        t, cycles = self.t, 0.0
        wide = [s for s in t.body if isinstance(s, Instruction) and self._address(s) and self._elements(s) == 4]
        narrow = [s for s in t.body if isinstance(s, Instruction) and self._address(s) and self._elements(s) == 1]
        # Vectors of PTX become vectors of the CPU, and with them the arithmetic between.
        width = 4.0 if len(wide) > len(narrow) else 2.0
        for block in t.blocks:
            weight = self._weight(block.index)
            for statement in t.body[block.start : block.stop]:
                if not isinstance(statement, Instruction):
                    continue
                if waits(statement):
                    cycles += weight * _WAIT_CYCLES
                elif self._address(statement) is not None:
                    cycles += weight * (3.0 if self.is_checked else 0.8)
                elif all(name in t.e.uniform for name in writes(statement)) and writes(statement):
                    cycles += weight * 0.3
                else:
                    cycles += weight * self._cost(statement) / width
        return cycles
