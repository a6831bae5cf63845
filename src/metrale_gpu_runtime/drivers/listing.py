"""What devices there are, found out by a process of its own: a driver that was never started survives a fork.

The child runs a function of the room that prints one JSON object: {"devices": [...]} or {"reason": "..."}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..driver import DeviceListing
from ..errors import BackendUnavailable

TIMEOUT_S = 60.0
"""A driver that has to load its kernel module or wake several GPUs takes seconds; a hanging one must not hang us."""

Details = Mapping[str, Any]


def ask_child(
    backend: str, program: str, look_at: str, explain: Callable[[], str] | None = None
) -> tuple[DeviceListing, ...]:
    """Run `program`, Python text that prints the answer, in a child; `look_at` is whom to ask when it hangs.

    `explain` gives the reason where the child crashed, as one driver among several may make it.

    Raises BackendUnavailable with the reason when there are no devices, or the child crashed or hung.
    """

    def unavailable(reason: str) -> BackendUnavailable:
        return BackendUnavailable(f"{backend}: {reason}", backend=backend)

    if not sys.executable:
        raise unavailable(
            "devices are listed by a child process, and this Python does not know its own program (sys.executable is "
            f"empty); open_backend({backend!r}) may still work"
        )
    environment = dict(os.environ)
    # The child finds what we found: this package, and bindings from wherever they were imported.
    ours = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([ours, *(path for path in sys.path if path)]))
    try:
        child = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise unavailable(f"listing the devices took longer than {TIMEOUT_S:g} s; does {look_at} answer?") from error
    lines = child.stdout.strip().splitlines()
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError):
        if explain is not None:
            raise unavailable(explain()) from None
        said = (child.stderr.strip().splitlines() or ["nothing"])[-1]
        raise unavailable(
            f"the process that lists the devices ended with status {child.returncode} and said: {said}"
        ) from None
    if not isinstance(found, dict):
        raise unavailable(f"the process that lists the devices answered {found!r}")
    if "reason" in found:
        raise unavailable(str(found["reason"]).removeprefix(f"{backend}: "))
    return tuple(
        DeviceListing(backend, index, str(device.pop("name")), device) for index, device in enumerate(found["devices"])
    )


def print_answer(describe: Callable[[], Sequence[Details]], *reasons: type[Exception]) -> None:
    """What the child does: one line of JSON, the devices or the reason why there are none.

    BackendUnavailable is a reason, and so are the errors of these types; anything else ends the child.
    """
    expected: tuple[type[Exception], ...] = (BackendUnavailable, *reasons)
    try:
        answer: dict[str, Any] = {"devices": list(describe())}
    except expected as error:
        answer = {"reason": str(error)}
    print(json.dumps(answer))
