"""Looking at every backend at once, each by itself; whatever goes wrong on the way is a line of the report."""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from ..discovery import BUILT_IN, BackendState, available_backends
from ..drivers.diagnosis import BROKEN, NOTE, Diagnosis, Observation
from .general import look_at_cache, look_at_launch_core
from .report import BackendReport, DoctorReport
from .settings import read_settings

# Who looks at a backend, by the path of the function; imported when asked for. A plug-in has discovery's word only.
_EXAMINERS: Mapping[str, str] = {
    "cpu": "metrale_gpu_runtime.checkup.cpu:diagnose",
    "cuda": "metrale_gpu_runtime.checkup.cuda:diagnose",
    "hip": "metrale_gpu_runtime.checkup.hip:diagnose",
    "metal": "metrale_gpu_runtime.checkup.metal:diagnose",
    "mock": "metrale_gpu_runtime.checkup.mock:diagnose",
    "opencl": "metrale_gpu_runtime.drivers.opencl.diagnosis:diagnose",
    "webgpu": "metrale_gpu_runtime.drivers.webgpu.diagnosis:diagnose",
}


def doctor() -> DoctorReport:
    """Look at every backend, the launch core, the compile cache and the METRALE_ variables.

    Never raises, and opens nothing in this process: what may crash, hang or print is tried in child processes with a
    time limit, whose end is reported. Takes seconds.
    """
    with ThreadPoolExecutor(max_workers=4) as pool:
        # One job lists the devices of all: the drivers' own children, as `available_backends` starts them.
        states = pool.submit(_guarded_states)
        names = [name for name in _EXAMINERS if name in BUILT_IN]
        examined = dict(zip(names, pool.map(_examine, names), strict=True))
    found, problem = states.result()
    backends = [_report(state, examined.get(name, Diagnosis())) for name, state in found.items()]
    general = [_guarded(look_at_launch_core), _guarded(look_at_cache)]
    if problem:
        general.append(Observation("backends", BROKEN, problem))
    return DoctorReport(_versions(), tuple(backends), read_settings(), tuple(general))


def _guarded_states() -> tuple[dict[str, BackendState], str]:
    try:
        return available_backends(), ""
    except Exception as error:
        # A broken package's entry points; the built-in backends are still worth their lines.
        return {name: BackendState(name, reason=str(error)) for name in BUILT_IN}, f"{type(error).__name__}: {error}"


def _examine(name: str) -> Diagnosis:
    module, _, function = _EXAMINERS[name].partition(":")
    try:
        found: Diagnosis = getattr(importlib.import_module(module), function)()
        return found
    except Exception as error:
        # A doctor that raises is of no use to somebody whose machine is broken.
        return Diagnosis(
            (Observation("doctor", BROKEN, f"the look at {name} failed: {type(error).__name__}: {error}"),)
        )


def _guarded(look: Callable[[], Observation]) -> Observation:
    try:
        return look()
    except Exception as error:
        return Observation("doctor", BROKEN, f"{type(error).__name__}: {error}")


def _report(state: BackendState, diagnosis: Diagnosis) -> BackendReport:
    if state.is_usable and not (diagnosis.reason and diagnosis.although_listed):
        return BackendReport(state.name, state.devices, observations=diagnosis.observations)
    # The diagnosis knows the cause; where it finds none, what opening the backend would say is the reason.
    reason = diagnosis.reason or state.reason
    observations = diagnosis.observations
    if state.reason and diagnosis.reason and not state.reason.startswith(diagnosis.reason):
        observations = (*observations, Observation("open_backend", NOTE, state.reason))
    return BackendReport(state.name, (), reason, diagnosis.remedy, observations)


def _versions() -> dict[str, str]:
    return {
        "metrale-gpu-runtime": importlib.import_module("metrale_gpu_runtime").__version__,
        "Python": f"{platform.python_version()} ({sys.executable or 'its program is not known'})",
        "system": platform.platform(),
    }
