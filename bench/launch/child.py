"""One contender in a process of its own: `python -m bench.launch.child NAME` writes its figures as JSON to stdout.

Started by `contenders.py`, which has put the stand-in driver in front.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import platform
import sys
import time
from collections.abc import Sequence
from functools import partial

from .floor import Floor
from .rows import Figures, measure, pin, times_for
from .shapes import SHAPES
from .stub import NotHere, Stub

EMPTY_NS = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.launch.child", description=__doc__)
    parser.add_argument("name", help="ours, a switch, flatness, or a module of bench.launch.peers")
    parser.add_argument("--floor", required=True, help="the compiled floor")
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--shapes", type=int, nargs="+", default=list(SHAPES))
    options = parser.parse_args()
    # What a peer prints while it starts is no part of the answer.
    answer, sys.stdout = sys.stdout, sys.stderr
    try:
        found = run(options.name, options.floor, options.pairs, options.shapes)
    except NotHere as error:
        found = {"missing": str(error)}
    json.dump(found, answer)


def run(name: str, library: str, pairs: int, counts: Sequence[int]) -> dict[str, object]:
    """The figures of one contender. Raises NotHere."""
    processor = pin()
    if name == "opencl":
        try:
            from . import opencl
        except ImportError as error:
            raise NotHere(f"{type(error).__name__}: {error}") from error
        return opencl.run(pairs, counts, library) | {"processor": processor}
    # Its own context stays current, as it is in a program that uses the driver through another library too.
    floor = Floor(Stub(), library, keep_current=name != "context")
    if name == "flatness":
        from . import flatness

        return flatness.run(floor, pairs) | {"processor": processor}
    figures: list[Figures] = []
    started = time.process_time_ns() - time.thread_time_ns()
    with contextlib.ExitStack() as stack:
        versions, rows_of = _contender(name, stack)
        for count in counts:
            shape = SHAPES[count]
            floor.check(shape)
            rows = rows_of(shape)
            for row in rows:
                row.check(floor.stub)
            figures += measure(floor, shape, rows, pairs)
        # What other threads of this process did meanwhile is in no figure; it is told, so that nothing hides there.
        elsewhere = time.process_time_ns() - time.thread_time_ns() - started
    empty_times = times_for(floor.empty_calls, EMPTY_NS)
    return {
        "versions": versions | {"Python": platform.python_version()},
        "processor": processor,
        "empty_call_ns": floor.empty_calls(empty_times) / empty_times,
        "other_threads_ms": elsewhere / 1e6,
        "rows": [
            {"name": each.name, "arguments": each.count, "ns": each.ns, "floor_ns": each.floor_ns} for each in figures
        ],
    }


def _contender(name: str, stack: contextlib.ExitStack):  # type: ignore[no-untyped-def]
    if name == "bare":
        from . import bare

        return {}, stack.enter_context(bare.opened())
    if name == "ours" or not name.startswith("peer-"):
        from . import ours

        asked = ours.wanted_core()
        if asked is not None and asked != ours.core_in_use():
            raise NotHere(f"the {asked} launch core is not in this build: the one here is {ours.core_in_use()}")
        opened = stack.enter_context(ours.opened(ours.OFF if name == "ours" else ours.SWITCHES[name]))
        only = None if name == "ours" else (ours.SHORT, ours.PREPARED_NONE)
        return ours.versions(), partial(opened.rows, only=only)
    try:
        peer = importlib.import_module(f"bench.launch.peers.{name.removeprefix('peer-')}")
        rows_of = stack.enter_context(peer.opened())
    except (ImportError, OSError, RuntimeError) as error:
        raise NotHere(f"{type(error).__name__}: {error}") from error
    versions = {each: importlib.metadata.version(each) for each in peer.PACKAGES}
    return versions | getattr(peer, "facts", {}), rows_of


if __name__ == "__main__":
    main()
