"""Kernels of the stand-in, executed by the CPU backend in the stand-in's own memory.

A module's PTX is loaded into a CPU driver whose variables are the stand-in's; before a launch the memory that the
context's kernels may use is lent to it, so that an access outside of it is the fault that a device would report. A
cubin or fatbin runs when the PTX it was made from was registered with `register`.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from metrale_gpu_runtime.driver import CodeImage
from metrale_gpu_runtime.drivers.cpu.driver import CpuDriver
from metrale_gpu_runtime.drivers.cpu.launch import CpuLaunchTarget
from metrale_gpu_runtime.drivers.cpu.modules import CpuModule
from metrale_gpu_runtime.errors import DriverFault
from metrale_gpu_runtime.geometry import Dim3, Geometry
from metrale_gpu_runtime.handles import DEFAULT_STREAM, KernelHandle
from metrale_gpu_runtime.layout import ArgumentLayout

from .control import StandIn
from .records import LAUNCH_FUNCTION, LOAD_FUNCTION, LaunchRecord, ModuleRecord

CODES = {
    "out-of-bounds": 700,
    "null-pointer": 700,
    "use-after-free": 700,
    "local-bounds": 700,
    "shared-bounds": 700,
    "timeout": 702,
    "deadlock": 702,
    "assert": 710,
    "misaligned": 716,
    "trap": 719,
}
"""The code of a device's fault for each kind that the CPU backend finds (CUDA Driver API, CUresult)."""

COULD_NOT_RUN = 999


@contextmanager
def uncollected() -> Iterator[None]:
    """Keeps the collector, which may close a device, from running in the middle of a launch where it can be helped."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_NO_LAYOUT = ArgumentLayout((), (), (), (), 0)


class _SharedModule(CpuModule):
    """A CPU module whose variables lie where the stand-in put them."""

    def __init__(self, image: CodeImage, driver: CpuDriver, places: dict[str, tuple[int, int]]) -> None:
        self._places = places
        super().__init__(image, driver.memory, driver.check)

    def _allocate_variables(self) -> None:
        self.variables = dict(self._places)
        for name, variable in self._ptx.variables.items():
            if name in self.variables:
                self._initialize(self.variables[name][0], variable)

    def unload(self) -> None:
        """The variables' memory is the stand-in's, and goes with its module."""
        self.variables = {}


@dataclass
class _Place:
    """One context: the CPU driver that plays its device, and what is lent to it."""

    driver: CpuDriver
    version: int = -1
    lent: dict[int, tuple[int, int, bool]] = field(default_factory=dict)


class Executor:
    """Runs the kernels of one stand-in. `failures` holds what could not be run at all, and why.

    A launch that could not be run ends with code 999 as a device's fault would. `launches` counts those that ran.
    """

    def __init__(
        self, standin: StandIn, *, workers: int = 1, check: str | None = "memory", timeout_s: float = 60
    ) -> None:
        self._standin, self._workers, self._check = standin, workers, check
        self._timeout_s = timeout_s if check else None
        self._registered: dict[str, bytes] = {}
        self._places: dict[int, _Place] = {}
        self._modules: dict[int, _SharedModule] = {}
        self._targets: dict[tuple[int, str], CpuLaunchTarget] = {}
        # The collector may close a device in the middle of a launch, which unloads modules and may launch.
        self._lock = threading.RLock()
        self.failures: list[BaseException] = []
        self.findings: list[Any] = []
        self.launches = 0
        # The library keeps only their addresses.
        self._callbacks = (LOAD_FUNCTION(self._load), LOAD_FUNCTION(self._unload), LAUNCH_FUNCTION(self._launch))
        standin.set_executor(*self._callbacks)

    def register(self, image: bytes, ptx: bytes) -> None:
        """The PTX that this cubin or fatbin was made from, for modules loaded from now on."""
        self._registered[_digest(image)] = ptx

    def close(self) -> None:
        """The stand-in runs kernels no more."""
        self._standin.set_executor(None, None, None)
        for place in self._places.values():
            place.driver.close()
        self._places.clear()

    # ------------------------------------------------ called by the library

    def _load(self, record: Any) -> int:
        try:
            with uncollected():
                if self._ptx_of(record.contents) is not None:
                    self._module(record.contents)
        except BaseException as error:
            self.failures.append(error)
        return 0

    def _unload(self, record: Any) -> int:
        handle = record.contents.handle
        self._modules.pop(handle, None)
        for key in [key for key in self._targets if key[0] == handle]:
            del self._targets[key]
        return 0

    def _launch(self, record: Any) -> int:
        try:
            execution = record.contents
            launch: LaunchRecord = execution.launch.contents
            image = ctypes.string_at(execution.parameters, launch.parameter_nbytes)
            with uncollected(), self._lock:
                return self._run(execution.module.contents, launch, image)
        except DriverFault as fault:
            self.findings += fault.findings
            return CODES[fault.code_name]
        except BaseException as error:
            self.failures.append(error)
            return COULD_NOT_RUN

    # ------------------------------------------------ running

    def _ptx_of(self, module: ModuleRecord) -> bytes | None:
        if module.executable:
            return ctypes.string_at(module.executable, module.executable_nbytes)
        return self._registered.get(_digest(ctypes.string_at(module.image, module.image_nbytes)))

    def _place(self, context: int) -> _Place:
        place = self._places.get(context)
        if place is None:
            driver = CpuDriver("stand-in", check=self._check, workers=self._workers, launch_timeout_s=self._timeout_s)
            place = self._places[context] = _Place(driver)
        return place

    def _module(self, record: ModuleRecord) -> _SharedModule:
        """The module, loaded; that gives its variables their first values."""
        known = self._modules.get(record.handle)
        if known is not None:
            return known
        ptx = self._ptx_of(record)
        if ptx is None:
            raise LookupError(f"module {record.handle:#x} has no PTX: register(image, ptx) what it was made from")
        variables = [record.globals[i] for i in range(record.global_count)]
        places = {each.name.decode(): (each.address, each.nbytes) for each in variables}
        image = CodeImage(name=f"module {record.handle:#x}", format="ptx", data=ptx)
        module = self._modules[record.handle] = _SharedModule(image, self._place(record.context).driver, places)
        return module

    def _target(self, record: ModuleRecord, launch: LaunchRecord) -> CpuLaunchTarget:
        key = (record.handle, launch.kernel.decode())
        target = self._targets.get(key)
        if target is None:
            kernel = self._module(record).kernel(key[1], KernelHandle(1))
            target = self._targets[key] = CpuLaunchTarget(self._place(record.context).driver, kernel, _NO_LAYOUT)
        return target

    def _run(self, record: ModuleRecord, launch: LaunchRecord, image: bytes) -> int:
        target, place = self._target(record, launch), self._place(record.context)
        self._lend(record.context, place)
        geometry = Geometry(Dim3(*launch.grid), Dim3(*launch.block), launch.shared)
        target.submit(image, geometry, DEFAULT_STREAM, launch.ordinal)
        place.driver.streams.raise_pending(DEFAULT_STREAM)
        self.launches += 1
        return 0

    def _lend(self, context: int, place: _Place) -> None:
        version = self._standin.memory_version()
        if version == place.version:
            return
        now = {entry.id: (entry.address, entry.nbytes, entry.writable) for entry in self._standin.ranges(context)}
        for key in [key for key, entry in place.lent.items() if now.get(key) != entry]:
            address, nbytes, _ = place.lent.pop(key)
            place.driver.return_host(address, nbytes)
        for key, entry in now.items():
            if key not in place.lent:
                place.lent[key] = entry
                place.driver.lend_host(*entry)
        place.version = version


def _digest(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()
