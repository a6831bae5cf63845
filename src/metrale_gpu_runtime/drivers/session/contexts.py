"""Making the right context current around each driver call, on whatever thread it comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from .api import ApiError, DriverApi

P = ParamSpec("P")
R = TypeVar("R")


class NotRestored(ApiError):
    """The call itself succeeded, and `result` is what it gave, but the thread could not be left as it was found."""

    def __init__(self, cause: ApiError, result: object) -> None:
        super().__init__(cause.call, cause.code, cause.code_name, cause.text)
        self.result = result


class DeviceContext:
    """The primary context of one device, shared with every other library of the process.

    Retained once when made and released once by `release`; the driver counts. `run` costs one call where the context is
    current already, and otherwise leaves the thread as it found it.
    """

    __slots__ = ("_api", "_device", "_is_held", "handle")

    def __init__(self, api: DriverApi, device: int) -> None:
        self._api, self._device = api, device
        self.handle = api.retain_context(device)
        self._is_held = True

    def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Make one call in this context. Raises what it raises, ApiError when the context cannot be entered (the call
        is not made then), NotRestored."""
        api = self._api
        previous = api.current_context()
        if previous == self.handle:
            return call(*args, **kwargs)
        api.push_context(self.handle)
        try:
            result = call(*args, **kwargs)
        except BaseException as error:
            try:
                api.pop_context(previous)
            except ApiError as second:
                error.add_note(f"and the thread's former context could not be restored: {second}")
            raise
        try:
            api.pop_context(previous)
        except ApiError as error:
            raise NotRestored(error, result) from error
        return result

    def run_relaxed(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """As `run`, with the thread's capture mode relaxed meanwhile: the call then spoils no capture under way.

        Source: cuThreadExchangeStreamCaptureMode.
        """

        def relaxed() -> R:
            mode = self._api.exchange_capture_mode("relaxed")
            try:
                result = call(*args, **kwargs)
            except BaseException as error:
                try:
                    self._api.exchange_capture_mode(mode)
                except ApiError as second:
                    error.add_note(f"and this thread's capture mode could not be restored: {second}")
                raise
            try:
                self._api.exchange_capture_mode(mode)
            except ApiError as error:
                raise NotRestored(error, result) from error
            return result

        return self.run(relaxed)

    def release(self) -> None:
        """Give the context back, once. Raises ApiError."""
        if self._is_held:
            self._is_held = False
            self._api.release_context(self._device)
