"""The stand-in CUDA driver that lies beside the repository: found, built once, and asked what was launched.

Nothing here is imported by a measured process but `Stub`: the environment is set before that process starts.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "shared" / "stub_driver"
FLOOR_SOURCES = {name: Path(__file__).with_name(f"{name}.c") for name in ("floor", "opencl_floor")}


class NotHere(Exception):
    """Something that the benchmark needs is missing; the text says what, and the command that brings it."""


def _cuda_home() -> Path:
    """The folder whose `include` holds cuda.h: CUDA_HOME's, the wheels', or the toolkit's. Raises NotHere."""
    folders = [Path(os.environ["CUDA_HOME"])] if os.environ.get("CUDA_HOME") else []
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found is not None else ():
        folders += sorted(Path(place).glob("cu*"), reverse=True)
    folders.append(Path("/usr/local/cuda"))
    for folder in folders:
        if (folder / "include" / "cuda.h").is_file():
            return folder
    raise NotHere('cuda.h is not here: pip install "metrale-gpu-runtime[nvrtc]", or set CUDA_HOME')


def _compiler() -> str:
    """Raises NotHere."""
    found = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    if found is None:
        raise NotHere("no C compiler is on PATH: apt-get install gcc make")
    return found


def _built(name: str, sources: list[Path], build: list[str]) -> Path:
    """The folder that `build` (run in the sources' folder, OUT replaced) fills, once for each state of `sources`."""
    digest = hashlib.sha256(repr(build).encode())
    for path in sources:
        digest.update(path.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"metrale-bench-{name}-{os.getuid()}-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        own = Path(tempfile.mkdtemp(dir=folder.parent))
        command = [word.replace("OUT", str(own)) for word in build]
        done = subprocess.run(command, cwd=sources[0].parent, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(own)
            raise NotHere(f"{name} cannot be built: {' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        try:
            own.rename(folder)
        except OSError:
            shutil.rmtree(own)
    return folder


def is_here() -> bool:
    """True where the stand-in and what builds it are there."""
    try:
        _compiler(), _cuda_home()
    except NotHere:
        return False
    return shutil.which("make") is not None and (SOURCES / "stub_cuda.c").is_file()


@cache
def stub_folder() -> Path:
    """The folder with the stand-in's libcuda.so.1, for LD_LIBRARY_PATH. Raises NotHere."""
    if not (SOURCES / "stub_cuda.c").is_file():
        raise NotHere(
            f"the stand-in driver is not here: the floor is measured over it; put its folder at {SOURCES}, "
            "beside the repository"
        )
    if shutil.which("make") is None:
        raise NotHere("make is not on PATH: apt-get install gcc make")
    sources = sorted(path for path in SOURCES.iterdir() if path.is_file())
    return _built("stub", sources, ["make", "-s", "B=OUT", f"CC={_compiler()}", f"CUDA={_cuda_home()}"])


@cache
def floor_library(name: str = "floor") -> Path:
    """The compiled floor, CUDA's or OpenCL's. Raises NotHere."""
    source = FLOOR_SOURCES[name]
    command = [_compiler(), "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", f"OUT/{name}.so"]
    return _built(name, [source], [*command, source.name]) / f"{name}.so"


def built_extension(source: Path, suffix: str) -> Path:
    """An extension module of this interpreter, compiled from one C file. Raises NotHere."""
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").is_file():
        raise NotHere(f"this interpreter's headers are not in {include}: apt-get install python3-dev")
    name = source.stem + suffix
    command = [
        _compiler(),
        "-O2",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{include}",
        "-o",
        f"OUT/{name}",
    ]
    return _built(source.stem, [source], [*command, source.name]) / name


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


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch as the stand-in took it."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    parameters: bytes


class Stub:
    """The stand-in as this process has loaded it."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        if not hasattr(self.library, "stub_launch_count"):
            raise NotHere("libcuda.so.1 is a real driver here, not the stand-in that the floor is measured over")
        self.library.stub_launch_count.restype = ctypes.c_ulonglong

    @property
    def launch_count(self) -> int:
        return int(self.library.stub_launch_count())

    def last_launch(self) -> Launched:
        launch = _StubLaunch()
        if self.library.stub_last_launch(ctypes.byref(launch)) != 0:
            raise RuntimeError("this thread has launched nothing")
        return Launched(
            launch.name.decode(), tuple(launch.grid), tuple(launch.block), bytes(launch.params[: launch.param_bytes])
        )
