"""Trying what may crash, hang or print, in a child process: a broken driver is a line of a report, not our end.

The child runs Python text that calls `tell` with what it knows so far; the last that it told counts, so that a crash
on the way leaves everything before it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT_S = 30.0
"""A driver that wakes a GPU takes seconds; one that hangs is told from it by this."""

_MARK = "metrale-probe: "
_LAST_LINES = 3
# What every child does first: a crash that is meant to be found writes no core file.
_PRELUDE = f"from {__name__} import leave_no_core; leave_no_core(); "


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """What a child told, and how it ended.

    `ended` is empty for a good end; else "crashed with SIGSEGV", "ended with exit code 3", "did not end within 30 s".
    `said` are the last lines that it printed on standard error.
    """

    told: Mapping[str, Any] = field(default_factory=dict)
    ended: str = ""
    said: tuple[str, ...] = ()

    @property
    def problem(self) -> str:
        """Why it did not end well, with its last words; empty where it did."""
        return self.ended and self.ended + self._last_words

    def problem_when(self, doing: str) -> str:
        """The same with what it was doing: "crashed with SIGSEGV when it was loaded"."""
        return self.ended and f"{self.ended} when {doing}{self._last_words}"

    @property
    def _last_words(self) -> str:
        return f", and said: {' | '.join(self.said)}" if self.said else ""


def run_probe(
    program: str, *arguments: str, environment: Mapping[str, str | None] | None = None, timeout_s: float | None = None
) -> ChildEnd:
    """Run Python text in a child process. `environment` is laid over ours; None takes a variable out. Never raises."""
    limit = TIMEOUT_S if timeout_s is None else timeout_s
    if not sys.executable:
        return ChildEnd(ended="cannot be tried: this Python does not know its own program (sys.executable is empty)")
    try:
        child = subprocess.Popen(
            [sys.executable, "-c", _PRELUDE + program, *arguments],
            env=child_environment(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # A group of its own: what a driver started ends with the child, and cannot keep our pipes open.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return ChildEnd(ended=f"cannot be tried: no child process can be started ({error})")
    with child:
        try:
            output, errors = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _end(child)
            output, errors = child.communicate()
            return ChildEnd(_last_told(output), f"did not end within {limit:g} s", _last_lines(errors))
    return ChildEnd(_last_told(output), _how(child.returncode), _last_lines(errors) if child.returncode else ())


def child_environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Our environment with these changes; the child finds this package, and bindings from wherever we find them."""
    environment = dict(os.environ)
    ours = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([ours, *(path for path in sys.path if path)]))
    # The probe may not depend on what it is to report on.
    environment.pop("METRALE_LAUNCH_CORE", None)
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def _end(child: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it ended in this moment
    else:
        child.kill()


def _how(status: int) -> str:
    if status == 0:
        return ""
    if status < 0:
        try:
            return f"crashed with {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    return f"ended with exit code {status}"


def _last_told(output: str) -> Mapping[str, Any]:
    for line in reversed(output.splitlines()):
        # What a library prints without an end of line stands before the mark.
        _, mark, text = line.rpartition(_MARK)
        if mark:
            try:
                told = json.loads(text)
            except ValueError:
                continue
            if isinstance(told, dict):
                return told
    return {}


def _last_lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())[-_LAST_LINES:]


# ---------------------------------------------------------------- in the child


def leave_no_core() -> None:
    """What `run_probe` puts before every program."""
    try:
        import resource
    except ImportError:
        return  # no core files on this system
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def tell(**facts: Any) -> None:
    """In the child: these are the facts so far, in place of those told before."""
    print(f"\n{_MARK}{json.dumps(facts)}", flush=True)


def load_library(name: str) -> tuple[ctypes.CDLL | None, str]:
    """In the child: the library, or None with the loader's words."""
    try:
        return ctypes.CDLL(name), ""
    except OSError as error:
        return None, str(error)


def mapped_file(part: str) -> str:
    """In the child: the path of a library in memory whose file name begins so; empty where there is none to be told."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                path = line.split(maxsplit=5)[-1].strip()
                if os.path.basename(path).startswith(part):
                    return path
    except FileNotFoundError:
        pass  # not Linux: nothing tells it
    return ""
