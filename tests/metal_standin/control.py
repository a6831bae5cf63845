"""The stand-in as tests steer and question it."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .journal import journal
from .metadata import registry
from .world import Committed, Facts, Failure, World, begin, world

SITE = Path(__file__).parent / "site"
FACTS_VARIABLE = "METRALE_METAL_STANDIN"
_MODULES = ("Metal", "objc", "Foundation")
_KINDS = ("command buffer", "buffer", "library", "pipeline", "queue", "event")


def environment(**facts: Any) -> dict[str, str]:
    """os.environ for a child process in which `import Metal` is the stand-in, with these facts."""
    tests = Path(__file__).parent.parent
    path = os.pathsep.join([str(SITE), str(tests), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, FACTS_VARIABLE: json.dumps(asdict(_facts(facts)))}


def _facts(named: dict[str, Any]) -> Facts:
    known = {field.name for field in fields(Facts)}
    for name in named:
        if name not in known:
            raise KeyError(f"{name}: the stand-in's facts are {', '.join(sorted(known))}")
    return Facts(**named)


class MetalStandIn:
    """The one stand-in of this process. None of its methods is a message of Metal."""

    def __init__(self) -> None:
        self._is_on_path = False

    # ------------------------------------------------ settings

    def reset(self, devices: int = 1, **facts: Any) -> None:
        """Another machine: nothing is alive, the record is empty, so many devices, these facts. Raises KeyError."""
        given = _facts({"devices": devices, **facts})
        begin(given)
        journal.clear()
        if self._is_on_path:  # for children that are started from now on
            os.environ[FACTS_VARIABLE] = json.dumps(asdict(given))

    @property
    def world(self) -> World:
        return world()

    @contextmanager
    def on_path(self) -> Iterator[None]:
        """`import Metal, objc, Foundation` gives the stand-in inside, and what it gave before outside."""
        held = {name: sys.modules.pop(name) for name in _MODULES if name in sys.modules}
        sys.path.insert(0, str(SITE))
        before = os.environ.get("PYTHONPATH"), os.environ.get(FACTS_VARIABLE)
        os.environ.update(
            {
                name: value
                for name, value in environment(**asdict(world().facts)).items()
                if name in ("PYTHONPATH", FACTS_VARIABLE)
            }
        )
        self._is_on_path = True
        try:
            yield
        finally:
            self._is_on_path = False
            sys.path.remove(str(SITE))
            for name in _MODULES:
                sys.modules.pop(name, None)
            sys.modules.update(held)
            for name, value in zip(("PYTHONPATH", FACTS_VARIABLE), before, strict=True):
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    @contextmanager
    def shipped_metadata(self) -> Iterator[None]:
        """PyObjC's metadata as the wheel has it inside; what was registered since is back outside."""
        before = registry.entries()
        registry.restore()
        try:
            yield
        finally:
            registry.restore(before)

    # ------------------------------------------------ faults

    def fail_next(
        self,
        kind: str = "command buffer",
        code: int = 1,
        *,
        encoder: str | int | None = None,
        nth: int = 1,
        text: str = "",
    ) -> None:
        """The nth next operation of this kind fails, once.

        "command buffer": it ends with this MTLCommandBufferError; nothing of it runs, or with `encoder` (a label or an
        ordinal) all before that one does. "buffer", "queue", "event": the device returns nil. "library" and "pipeline":
        nil and an error. Raises KeyError for another kind.
        """
        if kind not in _KINDS:
            raise KeyError(f"{kind}: one of {', '.join(_KINDS)}")
        world().failures.append(Failure(kind, nth, code, text or f"scripted failure ({code})", encoder))

    def hold(self, *, until_awaited: bool = False) -> None:
        """From now on the GPU runs no further command buffer; those committed stay scheduled.

        `until_awaited`: while this thread waits for one (waitUntilCompleted) the GPU runs, as late as it can.
        """
        with world().change:
            world().is_held = True
            world().awaited_by = threading.get_ident() if until_awaited else None
            world().allowed.clear()

    def release(self, count: int | None = None, *, queue: Any = None) -> None:
        """The GPU runs again: for ever, or so many command buffers more, of any queue or of this MTLCommandQueue."""
        here = world()
        with here.change:
            if count is None:
                here.is_held = False
            else:
                key = None if queue is None else queue._native.ordinal
                here.allowed[key] = here.allowed.get(key, 0) + count
            here.change.notify_all()

    def wait_idle(self) -> None:
        """Until every committed command buffer of every queue is done; returns at once under `hold`."""
        here = world()
        with here.change:
            while not here.is_held and any(
                buffer.is_committed and not buffer.is_done for queue in here.queues for buffer in queue.outstanding
            ):
                here.change.wait()

    # ------------------------------------------------ the record

    def violations(self) -> list[str]:
        """Each rule of Metal, PyObjC or Objective-C that a caller broke, oldest first."""
        return list(journal.violations)

    def take_violations(self) -> list[str]:
        """The same, and the list is empty afterwards: for tests that break rules on purpose."""
        found = list(journal.violations)
        journal.violations.clear()
        return found

    def calls(self) -> list[tuple[str, str]]:
        """The last messages sent, oldest first: the receiver's protocol or class, the selector."""
        return list(journal.messages)

    def sent(self) -> Counter[tuple[str, str]]:
        """How often each message was sent since the last reset."""
        return Counter(journal.sent)

    def clear_calls(self) -> None:
        journal.messages.clear()
        journal.sent.clear()

    def live(self) -> dict[str, list[int]]:
        """The retain counts of every native object that is alive, by protocol or class; devices are not the caller's."""
        found: dict[str, list[int]] = {}
        here = world()
        with here.change:
            # A command buffer is done a moment before the thread that ran it lets go of it.
            here.change.wait_for(lambda: not any(buffer.has_ended for buffer in here.running), timeout=10)
        for native in list(here.natives):
            if native.protocol != "MTLDevice":
                found.setdefault(native.protocol, []).append(native.count)
        return {name: sorted(counts) for name, counts in sorted(found.items())}

    def live_at_rest(self) -> dict[str, list[int]]:
        """`live`, once nobody holds a command buffer: a thread that waited for one lets go of it a moment later.

        After 10 s it is what it is.
        """
        end = time.monotonic() + 10
        while "MTLCommandBuffer" in self.live() and time.monotonic() < end:
            time.sleep(0.001)
        return self.live()

    def committed(self) -> list[Committed]:
        """The command buffers committed since the last reset, in order."""
        with world().change:
            return list(world().committed)


def _begin_from_environment() -> None:
    text = os.environ.get(FACTS_VARIABLE)
    if text:
        given = json.loads(text)
        begin(Facts(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}))


_begin_from_environment()
standin = MetalStandIn()
