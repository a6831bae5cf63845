"""Run a function in a child process, so that what kills the process does not end the test session."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The answer goes through a file: standard output and error belong to the case.
_CHILD = """
import importlib, pickle, sys
sys.path[:0] = {path!r}
module, _, name = {target!r}.partition(":")
function = importlib.import_module(module)
for part in name.split("."):
    function = getattr(function, part)
value = function(*pickle.loads({arguments!r}))
with open({answer!r}, "wb") as answer:
    pickle.dump(value, answer)
"""


@dataclass(frozen=True, slots=True)
class IsolatedResult:
    """How the child ended. `value` is what the function returned, None when it did not return.

    `exit_code` is 0 for a clean end, 1 after an exception, negative for the signal that killed it; `signal_name`
    names that signal ("SIGSEGV").
    """

    exit_code: int
    stdout: str
    stderr: str
    value: Any = None

    @property
    def signal_name(self) -> str | None:
        return signal.Signals(-self.exit_code).name if self.exit_code < 0 else None

    @property
    def is_clean(self) -> bool:
        """True for exit code 0 and nothing on standard error."""
        return self.exit_code == 0 and not self.stderr

    def check(self) -> Any:
        """The function's value. Raises AssertionError with the child's output unless it ended cleanly."""
        if not self.is_clean:
            how = f"was killed by {self.signal_name}" if self.signal_name else f"ended with {self.exit_code}"
            raise AssertionError(f"the child process {how}\nstdout:\n{self.stdout}\nstderr:\n{self.stderr}")
        return self.value


def run_isolated(
    function: Callable[..., object] | str,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
) -> IsolatedResult:
    """Call `function(*arguments)` in a fresh interpreter and tell how that ended; blocks until then.

    `function` is one that can be imported by name, or that name as "package.module:function"; arguments and value
    are pickled. `environment` adds to this process's. Raises TimeoutError (the child is killed), ValueError for a
    function that has no importable name.
    """
    target = function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"
    if "<" in target or target.startswith("__main__:"):
        raise ValueError(f"{target} cannot be imported by a child process; move it to the top level of a module")
    with tempfile.TemporaryDirectory(prefix="isolated-") as folder:
        answer = Path(folder, "answer")
        path = [entry for entry in sys.path if entry] or [os.getcwd()]
        text = _CHILD.format(path=path, target=target, arguments=pickle.dumps(arguments), answer=str(answer))
        try:
            child = subprocess.run(
                [sys.executable, "-c", text],
                capture_output=True,
                text=True,
                timeout=timeout_s,
                env={**os.environ, **environment} if environment is not None else None,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{target} did not end within {timeout_s} s") from error
        value = pickle.loads(answer.read_bytes()) if answer.exists() and child.returncode == 0 else None
        return IsolatedResult(child.returncode, child.stdout, child.stderr, value)
