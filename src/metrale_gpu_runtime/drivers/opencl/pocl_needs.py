"""What PoCL needs of the system: a folder for compiled kernels, which it is given, and a linker.

PoCL reports no device at all where it cannot make its folder: POCL_CACHE_DIR, else pocl/kcache in XDG_CACHE_HOME or in
.cache of HOME (PoCL's manual, "Environment variables"). It reads the variable when its devices are first asked for.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings

from ...errors import GpuWarning

VARIABLE = "POCL_CACHE_DIR"

_temporary: str | None = None


def provide_folder() -> None:
    """Set POCL_CACHE_DIR to a temporary folder where PoCL would find none that it can write to; gone at the end."""
    global _temporary
    if os.environ.get(VARIABLE) or _is_usable(_default()):
        return
    _temporary = tempfile.mkdtemp(prefix="metrale-pocl-")
    atexit.register(shutil.rmtree, _temporary, ignore_errors=True)
    os.environ[VARIABLE] = _temporary


def folder() -> str:
    """The folder that PoCL uses under this environment."""
    return os.environ.get(VARIABLE) or _default()


def warn_of_needs() -> None:
    """Say that compiled kernels do not outlive this process, or that there is no linker, where that is so."""
    if shutil.which("ld") is None:
        warnings.warn(
            "PoCL links each kernel with `ld`, and may end this process without one; PATH has none "
            f"({os.environ.get('PATH')}). On Debian and Ubuntu: apt-get install binutils",
            GpuWarning,
            stacklevel=4,
        )
    if _temporary is not None and os.environ.get(VARIABLE) == _temporary:
        warnings.warn(
            f"PoCL cannot write to {_default()}, so what it compiles is kept in {_temporary} until this process ends, "
            f"and every start compiles anew; {VARIABLE} can name a folder",
            GpuWarning,
            stacklevel=4,
        )


def _default() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")
    return os.path.join(cache, "pocl", "kcache")


def _is_usable(folder: str) -> bool:
    """Whether it can be written to, or be made. Nothing stays of the attempt."""
    while not os.path.exists(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent
    try:
        # Asking for permission is not enough: root has it for /proc, where nothing can be made.
        os.rmdir(tempfile.mkdtemp(dir=folder))
    except OSError:
        return False
    return True
