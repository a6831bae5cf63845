"""pyopencl, imported when first needed, and the C functions behind it that it has no form for."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from dataclasses import dataclass
from typing import Any

from ...errors import BackendUnavailable
from ..forks import generation
from .entry_points import EntryPoints
from .pocl_needs import provide_folder

INSTALL = "pip install 'metrale-gpu-runtime[opencl]', or 'pyopencl[pocl]' for one that comes with a driver for the CPU"


@dataclass(frozen=True, slots=True)
class Bindings:
    """`cl` is the module pyopencl, `calls` are functions of the loader that it has loaded."""

    cl: Any
    calls: EntryPoints

    def code_name(self, code: int) -> str:
        """The name of a status, such as CL_OUT_OF_RESOURCES; the number where it has none."""
        # Vendors have codes of their own, as NVIDIA's -9999, and so has each extension: pyopencl formats what it gets.
        named = str(self.cl.status_code.to_string(code, "%d"))
        return named if named == f"{code}" else f"CL_{named}"


_lock = threading.Lock()
_loaded: Bindings | None = None
# In which generation of processes OpenCL was first loaded; in a child that was forked off since, nothing of it works.
_loaded_in: int | None = None


def load_bindings() -> Bindings:
    """pyopencl, ready for use. Raises BackendUnavailable with what is missing and what would help.

    So in a process that was forked off one with OpenCL in use: its drivers wait for threads that are not there.
    """
    global _loaded, _loaded_in
    require_bindings()
    if _loaded_in not in (None, generation.number):
        raise BackendUnavailable(
            "opencl: this process was forked off one that had opened OpenCL, whose drivers do not work there. Fork "
            'before anything opens OpenCL, or start processes with the "spawn" method',
            backend="opencl",
        )
    with _lock:
        _loaded_in = generation.number
        if _loaded is None:
            provide_folder()
            try:
                module = importlib.import_module("pyopencl")
                _loaded = Bindings(module, EntryPoints.of_library(str(module._cl.__file__)))
            except (ImportError, AttributeError, OSError) as error:
                raise BackendUnavailable(
                    f"opencl: pyopencl is installed but cannot be used: {error}; {INSTALL}", backend="opencl"
                ) from error
        return _loaded


def require_bindings() -> None:
    """Raise BackendUnavailable where pyopencl is not installed. Imports nothing."""
    if importlib.util.find_spec("pyopencl") is None:
        raise BackendUnavailable(f"opencl: pyopencl is not installed; {INSTALL}", backend="opencl")
