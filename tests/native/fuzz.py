"""Random objects, hostile ones too, at everything of the launch core: programs against the plain core, and its types.

By hand: `python tests/native/fuzz.py SECONDS [SEED]`, the native core under the sanitizers. It ends with 1 at the first
difference or crash, and names the seed.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
import time
import weakref
from collections import deque
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from core_worker import Worker
from pocl import pocl_spec
from random_launches import program_of

LENGTH = 14

# In turn: drivers with C calls, those whose targets the core calls, and those whose kernel objects hold the arguments.
WORLDS = (
    "World",
    "MockWorld",
    "OpenclLikeWorld",
    "World",
    "AlignedWorld",
    "OpenclLikeBuffersWorld",
    "World",
    "MetalLikeWorld",
    "OpenclLikeRecordedWorld",
    "World",
    "CpuWorld",
    "OpenclLikeRecordedBuffersWorld",
    "MockWorld",
    "OpenclLikeSimultaneousWorld",
)

# What takes addresses to call, or changes which classes the whole process knows.
_NOT_POKED = {"call", "know_typed", "call_directly"}
_DUNDERS = (
    "__len__",
    "__iter__",
    "__next__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__str__",
    "__repr__",
    "__call__",
)


class _Hostile:
    """Raises, lies, or collects garbage, whatever it is asked."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def _act(self) -> int:
        choice = self._rng.randrange(5)
        if choice == 0:
            raise ZeroDivisionError
        if choice == 1:
            gc.collect()
        return self._rng.choice((0, 1, -1, 3, 1 << 40))

    def __index__(self) -> int:
        return self._act()

    def __len__(self) -> int:
        return self._act()

    def __hash__(self) -> int:
        return self._act()

    def __eq__(self, other: object) -> bool:
        return bool(self._act() & 1)

    def __bool__(self) -> bool:
        return bool(self._act() & 1)


class _Dict(dict[Any, Any]):
    def __getitem__(self, key: object) -> object:
        raise KeyError(key)


class _Text(str):
    __slots__ = ()


def poke(seed: int, count: int) -> int:
    """Call methods of all types of the native core with random objects. How many calls returned; none may crash."""
    from metrale_gpu_runtime.native import _core

    rng = random.Random(seed)
    types = [each for each in vars(_core).values() if isinstance(each, type)]
    made: list[Any] = []
    returned = 0

    def anything(depth: int = 0) -> Any:
        kind = rng.randrange(16 if depth < 2 else 11)
        if kind == 0 and made:
            return rng.choice(made)
        if kind == 1:
            return rng.choice(
                (0, 1, -1, 255, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, -(1 << 63), 1 << 64, 1 << 900)
            )
        if kind == 2:
            return rng.choice((b"", b"\1", bytes(8), bytes(200), bytes(range(40)), bytes(3000)))
        if kind == 3:
            return rng.choice(("", "sequence", "ordinal", "stream", "a\0b", "é" * 40, _Text("stream"), "_kernel"))
        if kind == 4:
            return rng.choice((None, True, False, 0.5, float("nan"), 1j, ..., int, rng.choice(types)))
        if kind == 5:
            return _Hostile(rng)
        if kind == 6:
            return rng.choice((_Dict, dict, deque, list, set))()
        if kind < 9:
            try:
                new = rng.choice(types)()
            except TypeError:
                return None
            made.append(new)
            if len(made) > 40:
                del made[rng.randrange(40)]
            return new
        if kind < 11:
            return rng.randrange(200)
        return tuple(anything(depth + 1) for _ in range(rng.choice((0, 1, 2, 3, 3, 7, 7, 4))))

    for _ in range(count):
        target = rng.choice(made) if made and rng.randrange(3) else anything()
        if type(target) not in types:
            continue
        names = [each for each in dir(target) if each in _DUNDERS or not each.startswith("__")]
        name = rng.choice(names)
        how = rng.randrange(5)
        try:
            if how == 0:
                setattr(target, name, anything())
            elif how == 1:
                weakref.ref(target)
            else:
                member = getattr(target, name)
                if callable(member) and name not in _NOT_POKED:
                    arguments = [anything() for _ in range(rng.choice((0, 1, 1, 2, 3, 4, 6, 6, 7)))]
                    names_given = {"stream": anything()} if rng.randrange(8) == 0 else {}
                    member(*arguments, **names_given)
            returned += 1
        except (Exception, SystemError):
            pass
        if rng.randrange(50) == 0:
            gc.collect()
    made.clear()
    gc.collect()
    return returned


class Fuzz:
    """A plain process and one with the native core, in an environment of its own."""

    def __init__(self, environment: dict[str, str] | None = None, worlds: tuple[str, ...] = WORLDS) -> None:
        self._plain, self._native, self._worlds = Worker("python"), Worker("native", environment), worlds

    def compare(self, seed: int) -> str:
        """Run a seed's program in both; what differs, "" where nothing does."""
        world = self._worlds[seed % len(self._worlds)]
        steps = program_of(seed, LENGTH, world=world, hostile=True, most_wild=0.3)
        for each in (self._plain, self._native):
            each.ask("worlds:run_program", steps, world=world)
        (plain, _), (native, _) = self._plain.answer(), self._native.answer()
        for step, one, other in zip([*steps, "violations"], plain, native, strict=True):
            if one != other:
                return f"seed {seed}: {step}\nplain  {one}\nnative {other}"
        return ""

    def poke(self, seed: int, count: int = 400) -> int:
        self._native.ask("fuzz:poke", seed, count)
        return int(self._native.answer())

    def close(self) -> list[int]:
        return [self._plain.close(), self._native.close()]


def main(seconds: float, seed: int) -> int:
    import sanitizers

    # PoCL is slow here.
    pocl = ("OpenclWorld", "OpenclBuffersWorld") if pocl_spec() is not None else ()
    with tempfile.TemporaryDirectory(prefix="sanitized-") as folder:
        fuzz = Fuzz(sanitizers.build(Path(folder)), (*WORLDS, *pocl))
        ends, first = time.monotonic() + seconds, seed
        while time.monotonic() < ends:
            difference = fuzz.compare(seed)
            if difference:
                print(difference)
                return 1
            fuzz.poke(seed)
            seed += 1
        print(f"{seed - first} programs of up to {LENGTH} steps from seed {first} on: no difference, nothing found")
        return max(fuzz.close())


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
