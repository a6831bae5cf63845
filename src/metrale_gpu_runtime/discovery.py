"""Finding and opening backends: open_backend, available_backends, and where plug-ins come in.

A backend is known by a factory. Those of this package are named by their import path and imported when asked for;
others come through the entry point group "metrale_gpu_runtime.drivers" and are named by the entry point; none takes the
place of a backend of this package.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .backend import GpuBackend
from .capabilities import Capabilities
from .driver import DeviceListing, DriverFactory, DriverOptions
from .errors import BackendUnavailable, GpuError, GpuWarning, NotSupported
from .modules.formats import accepted_formats, format_of_suffix

ENTRY_POINTS = "metrale_gpu_runtime.drivers"

BUILT_IN: Mapping[str, str] = {
    "cpu": "metrale_gpu_runtime.drivers.cpu:CpuFactory",
    "cuda": "metrale_gpu_runtime.drivers.cuda:CudaFactory",
    "hip": "metrale_gpu_runtime.drivers.hip:HipFactory",
    "metal": "metrale_gpu_runtime.drivers.metal:MetalFactory",
    "mock": "metrale_gpu_runtime.drivers.mock:MockFactory",
    "opencl": "metrale_gpu_runtime.drivers.opencl:OpenclFactory",
    "webgpu": "metrale_gpu_runtime.drivers.webgpu:WebgpuFactory",
}

# What stands over a driver where it is more than GpuBackend: the mock's has the log and the switches.
ENGINES: Mapping[str, str] = {"mock": "metrale_gpu_runtime.testing.mock_backend:MockGpuBackend"}

AUTOMATIC = ("cuda", "hip", "metal")
"""What "auto" tries, best first; OpenCL and WebGPU may be software devices and are taken only by name."""

GPUS = (*AUTOMATIC, "opencl", "webgpu")
"""What "gpu" tries."""


@dataclass(frozen=True, slots=True)
class BackendState:
    """One backend as it is here: its devices, or the reason why it cannot be used."""

    name: str
    devices: tuple[DeviceListing, ...] = ()
    reason: str = ""

    @property
    def is_usable(self) -> bool:
        return bool(self.devices)

    def __str__(self) -> str:
        if self.devices:
            return f"{self.name}: " + ", ".join(f"{self.name}:{each.index} {each.name}" for each in self.devices)
        return f"{self.name}: not usable: {self.reason}"


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """A backend's name and the words that choose the device: "cuda:1" is ("cuda", ("1",)). Its factory reads them."""

    name: str
    words: tuple[str, ...] = ()

    @classmethod
    def read(cls, spec: str) -> BackendSpec:
        """Raises BackendUnavailable for an unknown name, ValueError for what is no spec."""
        if not isinstance(spec, str):
            raise TypeError(f"a backend is named by a string such as 'cpu', not by {type(spec).__name__}")
        name, *words = spec.strip().lower().split(":")
        # Plug-ins are looked for only when the name is none of ours: reading every installed package's entry points
        # takes longer than opening the mock.
        if name not in ("auto", "gpu", *BUILT_IN) and name not in _plug_ins():
            raise BackendUnavailable(
                f"no backend is called {name!r}; there are auto, gpu, {', '.join(known_names())}. "
                f"Others come as plug-ins (entry point group {ENTRY_POINTS!r})",
                backend=name,
            )
        if name in ("auto", "gpu") and words:
            raise ValueError(f"{spec!r}: {name} chooses the device itself; name a backend, such as 'cuda:1'")
        return cls(name, tuple(words))


def _plug_ins() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def known_names() -> list[str]:
    """The names of all backends: this package's, and those of plug-ins."""
    return list(dict.fromkeys((*GPUS, *BUILT_IN, *_plug_ins())))


def factory(name: str) -> DriverFactory:
    """The factory of a backend. Raises BackendUnavailable when it is not in this release or cannot be imported."""
    point = None if name in BUILT_IN else _plug_ins().get(name)
    try:
        if name in BUILT_IN:
            module, _, attribute = BUILT_IN[name].partition(":")
            made = getattr(importlib.import_module(module), attribute)()
        elif point is not None:
            made = point.load()()
        else:
            raise BackendUnavailable(
                f"{name}: not in this release, and no plug-in supplies it",
                backend=name,
            )
    except (ImportError, AttributeError) as error:
        raise BackendUnavailable(f"{name}: its driver cannot be imported: {error}", backend=name) from error
    if not isinstance(made, DriverFactory):
        raise BackendUnavailable(
            f"{name}: plug-in {point!r} is no DriverFactory but {type(made).__name__}", backend=name
        )
    return made


def available_backends() -> dict[str, BackendState]:
    """Each known backend with its devices, or the reason why it cannot be used here. Never raises; opens nothing."""
    return {name: state_of(name) for name in known_names()}


def _engine(name: str) -> Callable[..., GpuBackend]:
    if name not in ENGINES:
        return GpuBackend
    module, _, attribute = ENGINES[name].partition(":")
    engine: Callable[..., GpuBackend] = getattr(importlib.import_module(module), attribute)
    return engine


def state_of(name: str) -> BackendState:
    """One backend with its devices, or the reason why it cannot be used here. Never raises."""
    try:
        return BackendState(name, tuple(factory(name).devices()))
    except BackendUnavailable as error:
        return BackendState(name, reason=str(error).removeprefix(f"{name}: "))
    except Exception as error:
        # A broken plug-in or library must not hide the others; what it said is the reason.
        return BackendState(name, reason=f"{type(error).__name__}: {error}")


def open_backend(
    spec: str = "auto",
    *,
    loads: str | Iterable[str] | None = None,
    check: str | None = "auto",
    profile: Any = None,
    debug_sync: bool | None = None,
    redzone: int | None = None,
    **extra: Any,
) -> GpuBackend:
    """Open a device: "cpu", "mock", "cuda:1", "opencl:0:1", "opencl:pocl", …; "gpu" (any GPU, or raise); "auto".

    auto takes METRALE_BACKEND if that is set, else the best of cuda, hip, metal that can load `loads` (suffixes such as
    ".cu"), else the CPU, with one GpuWarning that says why no GPU was taken. `check` is "memory" (every access of a
    kernel is checked), None (for speed) or "auto": memory on the CPU. `profile` is a device for the mock to play.
    `debug_sync` and `redzone` are GpuBackend's; anything else goes to the driver: Metal's takes `storage`, "shared" or
    "private", for where device memory lies (unless told, shared where GPU and host have one memory, else private);
    OpenCL's takes `memory`, "svm" or "buffers" (unless told, shared virtual memory where the device has it).

    Raises BackendUnavailable with what was looked for and what would help, NotSupported for a check or a profile that
    the backend has not, ValueError for what is no spec.
    """
    if spec is None or spec == "auto":
        spec = os.environ.get("METRALE_BACKEND", "").strip() or "auto"
    wanted = BackendSpec.read(spec)
    suffixes = [loads] if isinstance(loads, str) else list(loads) if loads is not None else []
    opening = _Opening(suffixes, check, profile, debug_sync, redzone, extra)
    if wanted.name == "auto":
        return opening.first_of(AUTOMATIC, otherwise="cpu")
    if wanted.name == "gpu":
        return opening.first_of(GPUS, otherwise=None)
    return opening.open(wanted)


@dataclass(slots=True)
class _Opening:
    """One call of open_backend: what is wanted besides the name."""

    suffixes: Sequence[str]
    check: str | None
    profile: Any
    debug_sync: bool | None
    redzone: int | None
    extra: Mapping[str, Any]

    def open(self, spec: BackendSpec) -> GpuBackend:
        check = self.check
        if check not in ("auto", "memory", None):
            raise ValueError(f"check={check!r}; it is 'auto', 'memory' or None")
        if check == "auto":
            check = "memory" if spec.name == "cpu" else None
        extra = dict(self.extra)
        if self.profile is not None:
            if spec.name != "mock":
                raise NotSupported(
                    f"{spec.name} is a real device; only the mock plays a profile: open_backend('mock', profile=…)",
                    backend=spec.name,
                    feature="profile",
                )
            extra["profile"] = self.profile
        maker = factory(spec.name)
        driver = maker.open(maker.index_of(spec.words), DriverOptions(check, extra))
        try:
            if check == "memory" and not driver.capabilities.memory_check:
                raise NotSupported(
                    f"{spec.name} cannot check memory accesses; open it with check=None, or use the CPU backend",
                    backend=spec.name,
                    feature="check='memory'",
                )
            self._require_loads(driver.capabilities)
            return _engine(spec.name)(driver=driver, debug_sync=self.debug_sync, redzone=self.redzone)
        except BaseException:
            driver.close()
            raise

    def _require_loads(self, capabilities: Capabilities) -> None:
        accepted = accepted_formats(capabilities)
        for suffix in self.suffixes:
            form = format_of_suffix(suffix if suffix.startswith(".") else f".{suffix}")
            if "any" in capabilities.code_formats or form in accepted:
                return
        if self.suffixes:
            raise BackendUnavailable(
                f"{capabilities.backend}: {capabilities.device} loads {', '.join(each.name for each in accepted)}, "
                f"none of {', '.join(self.suffixes)}",
                backend=capabilities.backend,
            )

    def _open_hardware(self, name: str) -> GpuBackend:
        gpu = self.open(BackendSpec(name))
        if gpu.capabilities.software:
            device = gpu.capabilities.device
            gpu.close()
            raise BackendUnavailable(
                f"{name}: here is only {device}, which is software; open_backend({name!r}) takes it", backend=name
            )
        return gpu

    def first_of(self, names: Sequence[str], otherwise: str | None) -> GpuBackend:
        reasons: dict[str, list[str]] = {}
        for name in names:
            try:
                return self._open_hardware(name)
            except (BackendUnavailable, NotSupported) as error:
                # The advice behind a semicolon belongs to whoever asked for that one backend.
                reasons.setdefault(str(error).removeprefix(f"{name}: ").split(";")[0], []).append(name)
        told = "; ".join(f"{', '.join(who)}: {reason}" for reason, who in reasons.items())
        if otherwise is None:
            raise BackendUnavailable(f"no GPU can be used here: {told}", backend="gpu")
        try:
            gpu = self.open(BackendSpec(otherwise))
        except GpuError as error:
            error.add_note(f"no GPU was taken either: {told}")
            raise
        warnings.warn(
            f"no GPU was taken ({told}); this is {gpu.capabilities.device}. open_backend({otherwise!r}) or "
            f"METRALE_BACKEND={otherwise} says that it is meant",
            GpuWarning,
            stacklevel=3,
        )
        return gpu
