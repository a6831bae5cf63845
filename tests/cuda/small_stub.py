"""The small stub driver that lies beside the repository: built once for each state of its sources, used in children.

It takes launches and keeps the last one, and runs nothing (but `vector_add` and `k3` under STUB_CUDA_EXEC=1).
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "shared" / "stub_driver"


def cuda_home() -> Path | None:
    """The folder whose `include` holds cuda.h: CUDA_HOME's, the wheels', or the toolkit's."""
    folders = [Path(os.environ["CUDA_HOME"])] if os.environ.get("CUDA_HOME") else []
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found is not None else ():
        folders += sorted(Path(place).glob("cu*"), reverse=True)
    folders.append(Path("/usr/local/cuda"))
    return next((folder for folder in folders if (folder / "include" / "cuda.h").is_file()), None)


def can_be_built() -> bool:
    tools = shutil.which("make") and shutil.which("gcc")
    return bool(tools) and (SOURCES / "stub_cuda.c").is_file() and cuda_home() is not None


@cache
def library_folder() -> Path:
    """The folder with libcuda.so.1, for LD_LIBRARY_PATH."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        if path.is_file():
            digest.update(path.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"metrale-small-stub-{os.getuid()}-{digest.hexdigest()[:16]}"
    if not (folder / "libcuda.so.1").is_file():
        # Several workers may build at once; the first to finish gives the folder its name.
        own = Path(tempfile.mkdtemp(dir=folder.parent))
        subprocess.run(
            ["make", "-s", f"B={own}", f"CUDA={cuda_home()}"], cwd=SOURCES, check=True, capture_output=True, text=True
        )
        try:
            own.rename(folder)
        except OSError:
            shutil.rmtree(own)
    return folder


class _StubLaunch(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("param_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("params", ctypes.POINTER(ctypes.c_ubyte)),
    )


class Stub:
    """The stub as this process has loaded it: what was launched."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._library.stub_launch_count.restype = ctypes.c_ulonglong

    @property
    def launch_count(self) -> int:
        return int(self._library.stub_launch_count())

    def last_launch(self) -> dict[str, object]:
        """This thread's latest launch: kernel, grid, block, shared, stream, and the parameters as the device sees them."""
        launch = _StubLaunch()
        assert self._library.stub_last_launch(ctypes.byref(launch)) == 0, "this thread has launched nothing"
        return {
            "kernel": launch.name.decode(),
            "grid": tuple(launch.grid),
            "block": tuple(launch.block),
            "shared": launch.shared_bytes,
            "stream": launch.stream or 0,
            "parameters": bytes(launch.params[: launch.param_bytes]),
        }
