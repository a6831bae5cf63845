"""Starting the driver, with a reason for people when it cannot be."""

from __future__ import annotations

import os

from ...errors import BackendUnavailable
from ..session.api import ApiError, MissingEntryPoint
from ..session.forks import generation
from .api import INSTALL_BINDINGS, CudaApi
from .traits import NO_DEVICE, NOT_INITIALIZED

# In which generations of forked processes the driver was started; a child inherits its parent's.
_started_in: set[int] = set()

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
        raise BackendUnavailable(
            f"cuda: the driver on this machine is too old for these bindings ({error.__cause__ or error}); "
            f"install a newer driver, or bindings for it: {INSTALL_BINDINGS}",
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


def _library_path() -> str:
    path = os.environ.get("LD_LIBRARY_PATH")
    return f" and LD_LIBRARY_PATH={path}" if path else ""


def _require_same_major(driver: int, bindings: int) -> None:
    if driver // 1000 < bindings // 1000:
        major = driver // 1000
        raise BackendUnavailable(
            f"cuda: the driver on this machine is for CUDA {_shown(driver)}, too old for these bindings, which are for "
            f"CUDA {_shown(bindings)}; install a newer driver, or the bindings for this one: "
            f'pip install "metrale-gpu-runtime[cuda{max(major, 12)}]"',
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
