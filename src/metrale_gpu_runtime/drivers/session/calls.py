"""The one way from the session to the driver: in the right context, every code read, captures of others left alone."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from ...errors import HandleClosed
from ..forks import generation
from .api import NOT_CAPTURING, ApiError, DriverApi
from .contexts import DeviceContext, NotRestored
from .faults import Faults

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")


LONGEST_CALL_S = 10.0
"""How long closing waits for another thread's call. A wait for a kernel that never ends may take for ever."""


class CapturesUnderWay:
    """How many captures the sessions of this process have begun and not ended."""

    __slots__ = ("_lock", "count")

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            self.count += 1

    def leave(self) -> None:
        with self._lock:
            self.count -= 1


captures_under_way = CapturesUnderWay()


class Calls:
    """Makes one session's driver calls. Safe to use from several threads.

    `queue` is for calls that add work to a stream. `ask` and `make` are for all others: the driver holds those to be
    unsafe while any stream of the process is captured, unless the calling thread's mode is relaxed. All raise what
    `Faults.error` makes of a code; in a child of the process that opened the session, and after the end, HandleClosed.
    When one raises, what was asked for has not happened, or was undone.
    """

    def __init__(self, api: DriverApi, context: DeviceContext, faults: Faults, device: str) -> None:
        self.api, self.context, self.faults = api, context, faults
        self._device, self._process, self._generation = device, os.getpid(), generation.number
        self._is_closed = False
        # One entry for each call that is being made; adding and taking are single steps, whatever threads do them.
        self._under_way: deque[None] = deque()

    @property
    def is_forked(self) -> bool:
        """True in a child of the process that opened the session."""
        return self._generation != generation.number

    @property
    def is_lost(self) -> bool:
        """True once a code has told that the context is gone."""
        return self.faults.lost is not None

    def close(self) -> bool:
        """Refuse every call from now on, and let those that other threads are making come to their end.

        False when one did not end in LONGEST_CALL_S: then the driver must be left alone.
        """
        self._is_closed = True
        end = time.monotonic() + LONGEST_CALL_S
        while self._under_way and time.monotonic() < end:
            time.sleep(0.0005)
        return not self._under_way

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What is made inside is on the books before the end looks at them for what is left."""
        self._under_way.append(None)
        try:
            yield
        finally:
            self._under_way.pop()

    def queue(self, stream: int, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Make a call that adds work to a stream (a raw handle)."""
        self._under_way.append(None)
        try:
            if self._is_closed or self._generation != generation.number:
                raise self._unusable()
            return self.context.run(call, *args, **kwargs)
        except NotRestored as error:
            # What was queued would be taken for not queued, and its memory given back: it must be over.
            self._undo(error, self._finish, stream)
            raise self.error(error) from error
        except ApiError as error:
            raise self.error(error) from error
        finally:
            self._under_way.pop()

    def ask(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Make a call that names no stream, or adds nothing to the one it names."""
        self._under_way.append(None)
        try:
            return self._run(call, *args, **kwargs)
        except ApiError as error:
            raise self.error(error) from error
        finally:
            self._under_way.pop()

    def make(
        self, undo: Callable[[R], object], nbytes: int, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """As `ask`, for a call that makes something; `nbytes` is how much memory it takes, where that is known."""
        self._under_way.append(None)
        try:
            return self._run(call, *args, **kwargs)
        except NotRestored as error:
            self._undo(error, undo, error.result)
            raise self.error(error, nbytes) from error
        except ApiError as error:
            raise self.error(error, nbytes) from error
        finally:
            self._under_way.pop()

    def give_back(
        self, books: dict[int, V], key: int, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """As `ask`, for a call that gives back what `books` hold under `key`: off the books unless it was refused."""
        self._under_way.append(None)
        # First, and back again when refused: the driver may give the same number out anew before we are back.
        value = books.pop(key, None)
        try:
            self._run(call, *args, **kwargs)
        except NotRestored as error:
            raise self.error(error) from error
        except BaseException as error:
            # Also when the session was closed meanwhile: its end gives back what is on the books.
            if value is not None:
                books.setdefault(key, value)
            if isinstance(error, ApiError):
                raise self.error(error) from error
            raise
        finally:
            self._under_way.pop()

    def quietly(self, call: Callable[[], object]) -> None:
        """Make a call after the end, when there is nobody to tell; a code that costs the context is remembered."""
        try:
            self._run_open(call)
        except ApiError as error:
            self.faults.error(error)

    def error(self, error: ApiError, nbytes: int = 0) -> Exception:
        """What to raise for a code; asks for the figures when memory ran out."""
        figures = None
        if error.code in self.api.traits.out_of_memory_codes:
            try:
                figures = self.context.run(self.api.memory_info)
            except ApiError as second:
                error.add_note(f"the memory figures could not be had either: {second}")
        return self.faults.error(error, nbytes, figures)

    def _run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if self._is_closed or self._generation != generation.number:
            raise self._unusable()
        return self._run_open(call, *args, **kwargs)

    def _run_open(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if captures_under_way.count:
            return self.context.run_relaxed(call, *args, **kwargs)
        return self.context.run(call, *args, **kwargs)

    def _finish(self, stream: int) -> None:
        """Wait for a stream. What became part of a capture does not run: whoever captures sees that it is there."""
        if not captures_under_way.count or self.api.stream_capture_info(stream)[0] == NOT_CAPTURING:
            self.api.stream_synchronize(stream)

    def _undo(self, error: NotRestored, undo: Callable[..., object], *args: object) -> None:
        run = self.context.run_relaxed if captures_under_way.count else self.context.run
        try:
            run(undo, *args)
        except NotRestored:
            pass  # undone all the same; that the thread is not as it was is what is being raised
        except ApiError as second:
            error.add_note(f"and what the call had done could not be undone: {second}")

    def _unusable(self) -> Exception:
        name = self.api.traits.name
        if self.is_forked:
            return HandleClosed(
                f"{name}: {self._device} was opened by process {self._process}, and this one was forked off it: a "
                "driver that was started before a fork does not work in the child, not even when it is opened again "
                'there. Open it after the fork, in processes whose parent has not, or "spawn" them'
            )
        return HandleClosed(f"{name}: {self._device} is closed; open it again with open_backend()")
