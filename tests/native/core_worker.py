"""A process with one launch core that runs programs and answers with what they did, until its input ends."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def environment(core: str) -> dict[str, str]:
    """This process's environment for a child with that core, which finds the tests' modules."""
    path = os.pathsep.join([str(HERE), str(HERE.parent), *[each for each in sys.path if each]])
    return {**os.environ, "METRALE_LAUNCH_CORE": core, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}


class Worker:
    """A child process that runs the functions it is told, one after the other."""

    def __init__(self, core: str, extra: Mapping[str, str] | None = None) -> None:
        self.core = core
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", str(HERE / "core_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment(core), **(extra or {})},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout

    def ask(self, function: str, *arguments: object, **by_name: object) -> None:
        """Begin a call of "module:function"."""
        pickle.dump((function, arguments, by_name), self._to)
        self._to.flush()

    def answer(self) -> Any:
        """What the call returned. Raises RuntimeError when the process ended in the middle of it."""
        try:
            kind, value = pickle.load(self._from)
        except EOFError:
            raise RuntimeError(f"the process with the {self.core} core ended with {self._process.wait()}") from None
        if kind == "raised":
            raise RuntimeError(f"{self.core} core: {value}")
        return value

    def close(self) -> int:
        """End it; its exit status."""
        self._to.close()
        status = self._process.wait(60)
        self._from.close()
        return status


def _serve() -> None:
    import importlib
    import traceback

    # Whatever prints must not reach the answers.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while True:
            try:
                function, arguments, by_name = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            module, _, name = function.partition(":")
            try:
                answer = ("returned", getattr(importlib.import_module(module), name)(*arguments, **by_name))
            except Exception:
                answer = ("raised", traceback.format_exc())
            pickle.dump(answer, answers)
            answers.flush()


if __name__ == "__main__":
    _serve()
