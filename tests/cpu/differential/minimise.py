"""Makes a failing program small: takes statements and operands away as long as it still fails.

    python tests/cpu/differential/minimise.py 20132 --way 0
    python tests/cpu/differential/minimise.py 40062 --way 2 --cuda

A composite statement goes as a whole, so what is left has no races. Prints the text of the smallest program that fails;
each attempt runs in a child process, since it may take the process down or never end.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

from generate import generate
from programs import Assign, Const, Exit, Load, Op, Program, Statement, Var, bodies

PATIENCE_S = 40.0
_ZERO = {"f32": 0, "f64": 0, "f16": 0, "pred": 0}


def fails(program: Program, test: Callable[[Program], bool]) -> bool:
    """What `test` says, asked in a forked child; a crash and a hang count as failures."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            code = int(test(program))
        finally:
            os._exit(code)
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 1
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _lists(statements: list[Statement]) -> Iterator[list[Statement]]:
    yield statements
    for statement in statements:
        for body in bodies(statement):
            yield from _lists(body)


def _all_lists(program: Program) -> list[list[Statement]]:
    found = list(_lists(program.body))
    for function in program.functions.values():
        found += _lists(function.body)
    return found


def _without_statements(program: Program, test: Callable[[Program], bool]) -> Program:
    """Take away runs of statements, the longest first; or put what stands inside of one in its place."""
    number = 0
    while number < len(_all_lists(program)):
        size = len(_all_lists(program)[number])
        while size:
            at = 0
            while at < len(_all_lists(program)[number]):
                smaller = copy.deepcopy(program)
                del _all_lists(smaller)[number][at : at + size]
                if fails(smaller, test):
                    program = smaller
                else:
                    at += size
            size //= 2
        number += 1
    number = 0
    while number < len(_all_lists(program)):
        for at in range(len(_all_lists(program)[number])):
            for inner in range(len(list(bodies(_all_lists(program)[number][at])))):
                smaller = copy.deepcopy(program)
                statements = _all_lists(smaller)[number]
                statements[at : at + 1] = list(bodies(statements[at]))[inner]
                if fails(smaller, test):
                    program = smaller
                    break
        number += 1
    return program


def _places(program: Program) -> list[tuple[object, str, int | None]]:
    """Every expression: the statement that holds it, the field, its index in a tuple."""
    found: list[tuple[object, str, int | None]] = []
    for statements in _all_lists(program):
        for statement in statements:
            for each in dataclasses.fields(statement):
                value = getattr(statement, each.name)
                if isinstance(value, (Op, Load)) and each.name not in ("mask", "source", "slot"):
                    found.append((statement, each.name, None))
    return found


def _smaller_expressions(e: Op | Load) -> Iterator[object]:
    yield Const(e.type, 1)
    if isinstance(e, Op):
        for argument in e.args:
            if argument.type == e.type:
                yield argument
        for n, argument in enumerate(e.args):
            if isinstance(argument, (Op, Load)) and argument_may_change(e, n):
                for smaller in _smaller_expressions(argument):
                    yield dataclasses.replace(e, args=(*e.args[:n], smaller, *e.args[n + 1 :]))
    elif not isinstance(e.index, Const):
        yield Load(e.type, e.array, Const("u32", 0))


def argument_may_change(e: Op, n: int) -> bool:
    """Not the divisor, which must not become zero, nor what keeps an index within its array."""
    return e.name not in ("div", "rem", "mad") or n == 0


def _without_operands(program: Program, test: Callable[[Program], bool]) -> Program:
    number = 0
    while number < len(_places(program)):
        changed = True
        while changed:
            changed = False
            if number >= len(_places(program)):
                break
            statement, name, _ = _places(program)[number]
            value = getattr(statement, name)
            index_like = name == "index" or (type(statement) is Exit)
            for n, _expression in enumerate(_smaller_expressions(value)):
                if index_like:
                    break
                smaller = copy.deepcopy(program)
                inside, _, _ = _places(smaller)[number]
                setattr(inside, name, list(_smaller_expressions(getattr(inside, name)))[n])
                if fails(smaller, test):
                    program, changed = smaller, True
                    break
        number += 1
    return program


def _without_outputs(program: Program, test: Callable[[Program], bool]) -> Program:
    for at in reversed(range(len(program.outputs))):
        smaller = copy.deepcopy(program)
        del smaller.outputs[at]
        if fails(smaller, test):
            program = smaller
    return program


def minimise(program: Program, test: Callable[[Program], bool]) -> Program:
    """The smallest program found for which `test` still holds."""
    program = _without_outputs(program, test)
    size = -1
    while size != (size := sum(map(len, _all_lists(program)))):
        program = _without_statements(program, test)
        program = _without_operands(program, test)
    used = {v.name for s in _all_lists(program) for x in s for v in [getattr(x, "var", None)] if isinstance(v, Var)}
    assert used is not None
    assert Assign is not None
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--way", type=int, default=0, help="number of launching.WAYS")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--small-grid", action="store_true", help="try a single block first")
    asked = parser.parse_args()
    from launching import WAYS, check
    from ptx_text import write_ptx

    def text(program: Program) -> str:
        if asked.cuda:
            from cuda_text import compile_cuda

            return compile_cuda(program)
        return write_ptx(program, asked.seed)

    def test(program: Program) -> bool:
        return bool(check(program, [("text", text(program))], [WAYS[asked.way]]))

    program = generate(asked.seed)
    if not fails(program, test):
        raise SystemExit("it does not fail")
    program = minimise(program, test)
    if asked.cuda:
        from cuda_text import write_cuda

        print(write_cuda(program), file=sys.stderr)
    print(text(program))
    print("//", program.grid, program.block, program.parameters)


if __name__ == "__main__":
    main()
