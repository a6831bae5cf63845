"""Searching: programs made of seeds, run one after another, and what fails reduced to the shortest that still does."""

from __future__ import annotations

import argparse
import contextlib
import gc
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import GpuError, GpuResourceWarning

from .machine import Machine, Program, Wrong


def program_of(kind: type[Machine], seed: int, length: int | None = None) -> Program:
    r = random.Random(seed)
    names = list(kind.weights)
    length = length if length is not None else r.choice((40, 100, 220))
    # Something to work with first: memory, a graph, prepared launches.
    captured = ["begin_capture", *r.choices(("launch", "memset", "d2d", "h2d", "draw_in"), k=5), "end_capture"]
    start = [*["alloc"] * 7, "prepare", "record_sequence", *captured, "alloc", "prepare"]
    return [(name, r.getrandbits(40)) for name in (*start, *r.choices(names, list(kind.weights.values()), k=length))]


@contextlib.contextmanager
def _strict(faulty: bool) -> Iterator[list[str]]:
    """Warnings are errors, and what finalisers raise is found."""
    unraisable: list[str] = []
    former = sys.unraisablehook

    def hook(args: Any) -> None:
        unraisable.append(f"{args.err_msg or ''} {args.object!r}: {args.exc_value!r}")

    sys.unraisablehook = hook
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # Under debug sync the bytes are compared when somebody waits: what was queued behind the copy may have
            # written there by then, as it may.
            warnings.filterwarnings("ignore", "copy_h2d_async_retained: the source", mg.GpuWarning)
            if faulty:
                warnings.simplefilter("ignore", GpuResourceWarning)
            yield unraisable
    finally:
        sys.unraisablehook = former


def run(kind: type[Machine], standin: Any, seed: int, program: Program | None = None, *, fault: Any = None) -> Any:
    """One program from its opening to its end. Raises Wrong, or what the engine raised that it should not."""
    program = program if program is not None else program_of(kind, seed)
    with _strict(fault is not None) as unraisable:
        machine = kind(standin, seed, fault=fault)
        try:
            machine.run(program)
            machine.finish()
        except BaseException:
            machine.stop_faults()
            for device in machine.devices:
                with contextlib.suppress(GpuError, Warning):
                    device.gpu.close()
            raise
        finally:
            machine.close()
    if unraisable:
        raise Wrong(f"raised in a finaliser: {unraisable[:3]}")
    return machine


# ------------------------------------------------ reducing


def _kind_of(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__} {''.join(c for c in text[:60] if not c.isdigit())[:24]}"


def failure(kind: type[Machine], standin: Any, seed: int, program: Program, fault: Any) -> BaseException | None:
    """What this program raises; TimeoutError when it hangs."""

    def ring(signum: int, frame: object) -> None:
        raise TimeoutError("hangs")

    former = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 20)
    try:
        run(kind, standin, seed, program, fault=fault)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    return None


def reduced(
    kind: type[Machine], standin: Any, seed: int, program: Program, fault: Any, seconds: float = 30
) -> tuple[Program, Any]:
    """A shorter program that fails in the same way: operations are dropped as long as it does."""
    first = failure(kind, standin, seed, program, fault)
    if first is None:
        return program, fault
    sort, end = _kind_of(first), time.monotonic() + seconds
    size = len(program) // 2
    while size and time.monotonic() < end:
        at, shrunk = 0, False
        while at < len(program) and time.monotonic() < end:
            shorter = program[:at] + program[at + size :]
            tries = [fault] if fault is None else kind.near_faults(fault)
            for each in tries:
                found = failure(kind, standin, seed, shorter, each)
                if found is not None and _kind_of(found) == sort:
                    program, fault, shrunk = shorter, each, True
                    break
            else:
                at += size
        size = size // 2 if not shrunk or size > 1 else size
    return program, fault


def main(kind: type[Machine], standin: Any) -> int:
    """The command of a search; 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--faults", action="store_true", help="let something fail meanwhile")
    parser.add_argument("--most", type=int, default=5, help="stop after so many failures")
    parser.add_argument("--no-reduce", action="store_true")
    parser.add_argument("--program", help="run this program, as printed, instead of the seed's")
    parser.add_argument("--fault", help="and this fault")
    arguments = parser.parse_args()
    end, failures, programs, operations = time.monotonic() + arguments.seconds, 0, 0, 0
    seed = arguments.first
    gc.collect()
    gc.freeze()
    while time.monotonic() < end and seed < arguments.first + arguments.count:
        fault = kind.fault_of(seed) if arguments.faults else None
        program = program_of(kind, seed)
        if arguments.program:
            program = eval(arguments.program)
            fault = eval(arguments.fault) if arguments.fault else None
        found = failure(kind, standin, seed, program, fault)
        programs += 1
        operations += len(program)
        if found is not None:
            failures += 1
            print(
                f"seed {seed}{f' fault {fault}' if fault else ''}: {type(found).__name__}: {found}"[:1500], flush=True
            )
            if not arguments.no_reduce:
                program, fault = reduced(kind, standin, seed, program, fault)
                found = failure(kind, standin, seed, program, fault)
                print(f"  reduced to {len(program)}: {program}\n  fault {fault}: {found}"[:2500])
            traceback.print_exception(found, limit=-9)
            if failures >= arguments.most:
                break
        seed += 1
    print(f"{programs} programs, {operations} operations, {failures} failures, seeds {arguments.first} to {seed - 1}")
    return 1 if failures else 0
