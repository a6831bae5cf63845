"""Loaded code: modules, their kernels and variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ...driver import CodeImage
from ...errors import DriverError, KernelNotFound, ModuleLoadError
from ...handles import KernelHandle, ModuleHandle
from .api import ApiError
from .calls import Calls
from .kernels import SessionKernel

R = TypeVar("R")


class Modules:
    """One session's loaded code. Handles are the driver's own. Safe to use from several threads."""

    def __init__(self, calls: Calls, device: str) -> None:
        self._calls, self._api, self._device = calls, calls.api, device
        self._live: dict[int, str] = {}
        self._kernels: dict[int, SessionKernel] = {}

    def load(self, image: CodeImage, refused: Callable[[CodeImage, ApiError, str], ModuleLoadError]) -> ModuleHandle:
        """Raises what `refused` makes of the image, the driver's answer and its compiler's log ("" for none)."""
        with self._calls.whole():
            try:
                module = self._calls.make(self._api.module_unload, 0, self._api.module_load, image.data, image.options)
            except DriverError as error:
                answer = error.__cause__
                assert isinstance(answer, ApiError)
                raise refused(image, answer, answer.text.partition("\n")[2].strip()) from error
            self._live[module] = image.name
        return ModuleHandle(module)

    def unload(self, module: ModuleHandle) -> None:
        self._calls.give_back(self._live, module, self._api.module_unload, module)
        for handle, kernel in list(self._kernels.items()):
            if kernel.module == module:
                self._kernels.pop(handle, None)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...] | None:
        return self._calls.ask(self._api.module_function_names, module)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        """The driver gives the same handle for the same name every time."""
        handle = self._look_up(self._api.module_function, module, name)
        if handle not in self._kernels:
            # Loaded lazily it would be at its first launch: in a capture, or in the middle of a program's timing, and
            # what is wrong with it would be that launch's fault.
            self._calls.ask(self._api.load_function, handle)
            self._kernels.setdefault(handle, SessionKernel(self._calls, handle, name, module))
        return KernelHandle(handle)

    def kernel(self, kernel: KernelHandle) -> SessionKernel:
        return self._kernels[kernel]

    def symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        return self._look_up(self._api.module_global, module, name)

    def _look_up(self, call: Callable[[int, str], R], module: ModuleHandle, name: str) -> R:
        try:
            return self._calls.ask(call, module, name)
        except DriverError as error:
            if error.code != self._api.traits.not_found_code:
                raise
            where = self._live.get(module, "?")
            raise KernelNotFound(f"module {where!r} has no {name!r}", module=where, function=name) from error

    def leftovers(self) -> list[Callable[[], object]]:
        """What unloads the modules that are left; off the books then."""
        left = list(self._live)
        self._live.clear()
        self._kernels.clear()
        return [partial(self._api.module_unload, module) for module in left]
