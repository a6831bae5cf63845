"""How discovery knows the CPU: one device, there wherever llvmlite is installed. Imports nothing heavy."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...driver import DeviceListing, DriverFactory, DriverOptions
from ...errors import BackendUnavailable

if TYPE_CHECKING:
    from .driver import CpuDriver

WORKERS_VARIABLE = "METRALE_CPU_WORKERS"
TIMEOUT_VARIABLE = "METRALE_CPU_LAUNCH_TIMEOUT_S"


class CpuFactory(DriverFactory):
    """Opens `CpuDriver`. `DriverOptions.extra` takes `workers` (default: METRALE_CPU_WORKERS, else all cores that
    this process may use) and `launch_timeout_s` (default: METRALE_CPU_LAUNCH_TIMEOUT_S, else no limit)."""

    name = "cpu"

    def devices(self) -> Sequence[DeviceListing]:
        _require_llvmlite()
        cores = usable_cores()
        return (DeviceListing("cpu", 0, device_name(cores), {"cores": cores, "architecture": platform.machine()}),)

    def open(self, index: int, options: DriverOptions) -> CpuDriver:
        """Raises BackendUnavailable without llvmlite and for another index, TypeError and ValueError for options."""
        _require_llvmlite()
        if index != 0:
            raise BackendUnavailable(f"cpu: there is no device {index}; the CPU is one device, 0", backend="cpu")
        if options.check not in ("memory", None):
            raise ValueError(f'cpu: check is {options.check!r}; it is "memory" or None')
        options.require_known(self.name, "workers", "launch_timeout_s")
        workers = _worker_count(options.extra.get("workers"))
        timeout_s = _launch_timeout(options.extra.get("launch_timeout_s"), options.check)
        from .driver import CpuDriver

        device = device_name(usable_cores())
        return CpuDriver(device, check=options.check, workers=workers, launch_timeout_s=timeout_s)


def usable_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def device_name(cores: int) -> str:
    """The CPU's model and the number of usable cores, for people."""
    model = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except FileNotFoundError:
        pass  # not Linux: the platform module's word is all there is
    if not model:
        model = platform.processor() or platform.machine()
    return f"{model}, {cores} core{'s' if cores != 1 else ''}"


def _worker_count(given: object) -> int:
    source, value = "workers", given
    if value is None:
        source, value = WORKERS_VARIABLE, os.environ.get(WORKERS_VARIABLE) or None
    if value is None:
        return usable_cores()
    try:
        count = int(str(value)) if not isinstance(value, bool) else 0
    except ValueError:
        count = 0
    if count < 1:
        raise ValueError(f"cpu: {source} is {value!r}; it is how many threads run a launch, at least 1")
    return count


def _launch_timeout(given: object, check: str | None) -> float | None:
    if given is not None and check is None:
        raise ValueError(
            'cpu: launch_timeout_s needs check="memory": only checked kernels ask in their loops whether to stop'
        )
    source, value = "launch_timeout_s", given
    if value is None:
        source, value = TIMEOUT_VARIABLE, os.environ.get(TIMEOUT_VARIABLE) or None
    # The variable is a default for every backend of the process, those without checks among them: they have no limit.
    if value is None or check is None:
        return None
    try:
        seconds = float(str(value)) if not isinstance(value, bool) else 0.0
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"cpu: {source} is {value!r}; it is a number of seconds above 0, or nothing for no limit")
    return seconds


def _require_llvmlite() -> None:
    if importlib.util.find_spec("llvmlite") is None:
        raise BackendUnavailable(
            "cpu: llvmlite is not installed, which compiles PTX for this CPU; pip install llvmlite", backend="cpu"
        )
