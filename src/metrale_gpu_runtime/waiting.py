"""The engine's own thread: waits for events and then calls back, so that no user code waits and no driver thread
runs user code."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from .stream import Event

T = TypeVar("T")


class Waiter:
    """One thread that is there while something is waited for, and ends when nothing is.

    It is no daemon: a daemon would be frozen inside a driver call at the interpreter's exit. Because it ends by itself,
    it holds up the exit only for callbacks that were asked for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: deque[tuple[Event, Callable[[], Any], Future[Any]]] = deque()
        self._is_running = False

    def after(self, event: Event, function: Callable[[], T]) -> Future[T]:
        """Call `function` once the event is reached; a future of its result, or of the fault found while waiting."""
        future: Future[T] = Future()
        with self._lock:
            self._jobs.append((event, function, future))
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="metrale-gpu-waiter").start()
        return future

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._is_running = False
                    return
                event, function, future = self._jobs.popleft()
            if future.set_running_or_notify_cancel():
                self._finish(event, function, future)
            event.close()

    @staticmethod
    def _finish(event: Event, function: Callable[[], Any], future: Future[Any]) -> None:
        try:
            event.synchronize()
            result = function()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
