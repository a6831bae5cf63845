"""The METRALE_ variables: what each means, its value here, and whether that is one."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .report import SettingReport


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a variable means, and who reads it: a call that raises for what is no value."""

    meaning: str
    read: Callable[[str], object]


def _backend(value: str) -> None:
    from ..discovery import BackendSpec

    BackendSpec.read(value)


def _one_of(*words: str) -> Callable[[str], None]:
    def read(value: str) -> None:
        if value not in words:
            raise ValueError(f"it is {' or '.join(words)}")

    return read


def _workers(value: str) -> None:
    from ..drivers.cpu.factory import _worker_count

    _worker_count(value)


def _timeout(value: str) -> None:
    from ..drivers.cpu.factory import _launch_timeout

    _launch_timeout(value, "memory")


def _redzone(value: str) -> None:
    from ..memory.redzones import read_settings

    read_settings(None)


def _floor(value: str) -> None:
    from ..memory.lazy import read_floor

    read_floor(None)


def _cache(value: str) -> None:
    from ..modules.cache.settings import read_settings as read_cache_settings

    problem = read_cache_settings().problem
    if problem:
        raise ValueError(problem)


SETTINGS: Mapping[str, _Setting] = {
    "METRALE_BACKEND": _Setting("what open_backend() opens in place of the best device here", _backend),
    "METRALE_LAUNCH_CORE": _Setting("native or python: the launch core to use", _one_of("native", "python")),
    "METRALE_DEBUG_SYNC_KERNELS": _Setting(
        "1: every launch is waited for, so that a fault names it", _one_of("0", "1")
    ),
    "METRALE_REDZONE": _Setting("bytes of guard band on both sides of every allocation", _redzone),
    "METRALE_REDZONE_FILL": _Setting("the byte that guard bands are filled with, 0 to 255", _redzone),
    "METRALE_LAZY_MAP_FREE_FLOOR_MB": _Setting(
        "megabytes that the device must keep free when a lazy buffer grows", _floor
    ),
    "METRALE_CPU_WORKERS": _Setting("how many threads run a launch on the CPU backend", _workers),
    "METRALE_CPU_LAUNCH_TIMEOUT_S": _Setting("seconds after which a launch on the CPU backend is ended", _timeout),
    "METRALE_NVTX": _Setting("1: ranges are told to a profiler, 0: they are not", _one_of("0", "1")),
    "METRALE_CACHE": _Setting("on or off: whether compiled code is kept between processes", _one_of("on", "off")),
    "METRALE_CACHE_DIR": _Setting("the folder that compiled code is kept in", _cache),
    "METRALE_CACHE_MAX_MIB": _Setting("how many mebibytes the compile cache may hold", _cache),
}


def read_settings() -> tuple[SettingReport, ...]:
    """Every variable of this package's, and every other that begins with METRALE_. Raises nothing."""
    found = dict(os.environ)
    known = tuple(_report(name, found.get(name)) for name in SETTINGS)
    others = sorted(name for name in found if name.startswith("METRALE_") and name not in SETTINGS)
    return (*known, *(_unknown(name, found[name]) for name in others))


def _report(name: str, value: str | None) -> SettingReport:
    setting = SETTINGS[name]
    if value is None or not value.strip():
        return SettingReport(name, setting.meaning, None)
    try:
        setting.read(value.strip())
    except Exception as error:
        # Whoever reads it says what is wrong; the kind of error is the reader's own.
        return SettingReport(name, setting.meaning, value, str(error))
    return SettingReport(name, setting.meaning, value)


def _unknown(name: str, value: str) -> SettingReport:
    close = difflib.get_close_matches(name, SETTINGS, 1)
    meant = f"; {close[0]} may be meant" if close else ""
    return SettingReport(name, "nothing", value, f"no setting of this package{meant}")
