"""Starting the driver, with a reason for people when it cannot be."""

from __future__ import annotations

import ctypes
import os

from ...errors import BackendUnavailable
from ..forks import generation
from ..session.api import ApiError, MissingEntryPoint
from .api import CudaApi
from .traits import NO_DEVICE, NOT_INITIALIZED

# In which generations of forked processes the driver was started; a child inherits its parent's.
_started_in: set[int] = set()

# Of the bindings in the extras, [cuda12] are the oldest.
_OLDEST_MAJOR = 12
_NEWER_DRIVER = f"install a driver for CUDA {_OLDEST_MAJOR} or later; no bindings that work here take an older one"

LIBRARIES = ("libcuda.so.1",) if os.name == "posix" else ("nvcuda.dll",)


def start() -> tuple[CudaApi, int]:
    """The driver of this machine, initialised, and how many devices it has, at least one.

    Raises BackendUnavailable with what is missing and what would help.
    """
    api = CudaApi()
    if _started_in and generation.number not in _started_in:
        raise _after_fork(None)
    try:
        version = api.driver_version()
        # Before it is asked for anything else: newer bindings name calls that an older driver has not.
        _require_same_major(version, api.bindings_version())
        _started_in.add(generation.number)
        api.initialize()
        count = api.device_count()
        if count == 0:
            raise _no_device(None)
    except MissingEntryPoint as error:
        # What the bindings look everything else up with (cuGetProcAddress_v2) came with CUDA 12.
        raise BackendUnavailable(
            f"cuda: the driver on this machine is too old for these bindings ({error.__cause__ or error}); "
            f"{_NEWER_DRIVER}",
            backend="cuda",
        ) from error
    except ApiError as error:
        if error.code == NO_DEVICE:
            raise _no_device(error) from error
        if error.code == NOT_INITIALIZED:
            raise _after_fork(error) from error
        raise BackendUnavailable(f"cuda: the driver cannot be started: {error}", backend="cuda") from error
    except RuntimeError as error:
        # The bindings' loader: its words are about packages, and people look for a library.
        broken = _why_not_loadable()
        if broken is not None:
            raise BackendUnavailable(
                f"cuda: libcuda was found but cannot be loaded ({broken}){_library_path('; ')}. Install NVIDIA's "
                "display driver anew, or take what lies in its place out of the library path",
                backend="cuda",
            ) from error
        raise BackendUnavailable(
            f"cuda: libcuda not found (tried {', '.join(LIBRARIES)} in the system's library path"
            f"{_library_path()}); it comes with NVIDIA's display driver. The bindings said: {error}",
            backend="cuda",
        ) from error
    return api, count


def _after_fork(cause: ApiError | None) -> BackendUnavailable:
    if cause is None:
        what = "this process was forked off one that had started the CUDA driver"
    else:
        what = f"the driver cannot be started ({cause}), as in a process that was forked off one that had started it"
    return BackendUnavailable(
        f"cuda: {what}; it cannot be started again there. Fork before anything opens CUDA, or start processes with the "
        '"spawn" method',
        backend="cuda",
    )


def _why_not_loadable() -> str | None:
    """What the system's loader says of a library that is there; None where it finds none, or has no complaint."""
    if os.name != "posix":
        return None
    for library in LIBRARIES:
        try:
            ctypes.CDLL(library)
        except OSError as error:
            # Of a file that is not there it names what it was asked for; of one that is, its path or what that lacks.
            if not str(error).startswith(f"{library}: cannot open shared object file: No such file"):
                return str(error)
    return None


def _library_path(before: str = " and ") -> str:
    path = os.environ.get("LD_LIBRARY_PATH")
    return f"{before}LD_LIBRARY_PATH={path}" if path else ""


def _require_same_major(driver: int, bindings: int) -> None:
    if driver // 1000 < bindings // 1000:
        major = driver // 1000
        if major < _OLDEST_MAJOR:
            remedy = _NEWER_DRIVER
        else:
            remedy = (
                f'install a newer driver, or the bindings for this one: pip install "metrale-gpu-runtime[cuda{major}]"'
            )
        raise BackendUnavailable(
            f"cuda: the driver on this machine is for CUDA {_shown(driver)}, too old for these bindings, which are for "
            f"CUDA {_shown(bindings)}; {remedy}",
            backend="cuda",
        )


def _shown(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _no_device(cause: ApiError | None) -> BackendUnavailable:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        why = (
            f"CUDA_VISIBLE_DEVICES is {visible!r}, which hides every device"
            if not visible.strip() or visible.strip().startswith("-1")
            else f"no device is visible; CUDA_VISIBLE_DEVICES is {visible!r}"
        )
    else:
        why = "there is no device"
    said = f" ({cause.code_name}, {cause.code})" if cause is not None else ""
    return BackendUnavailable(f"cuda: the driver is here, but {why}{said}", backend="cuda")
