"""Where NVRTC and the CUDA headers are on this machine, found without importing a vendor's package."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..code_cache import library_identity
from ..errors import BackendUnavailable

INSTALL_HINT = "pip install 'metrale-gpu-runtime[nvrtc]'"

# What NVRTC itself lacks of the C and C++ libraries; see the files' own words.
OWN_HEADERS = Path(__file__).parent / "include"


@dataclass(frozen=True, slots=True)
class NvrtcLibrary:
    """NVRTC, loaded: its entry points, its version, the file, and the header folders that belong to it."""

    functions: ctypes.CDLL
    version: tuple[int, int]
    path: str
    header_paths: tuple[Path, ...]
    # The compiler opens its builtins by their bare name; a wheel's folder is not on the loader's path, so they are
    # loaded beforehand and must stay so.
    builtins: ctypes.CDLL | None = None


def _wheel_roots() -> list[Path]:
    """The folders of the `nvidia` namespace package, looked up without importing anything."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):  # a broken or half-removed package of that name
        return []
    if spec is None or spec.submodule_search_locations is None:
        return []
    return [Path(location) for location in spec.submodule_search_locations]


def _toolkit_roots() -> list[Path]:
    named = [os.environ[variable] for variable in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(variable)]
    return [Path(root) for root in dict.fromkeys([*named, "/usr/local/cuda"])]


def _candidate_folders() -> list[Path]:
    """Folders that may hold the library, best first: wheels (newest CUDA first), then toolkits."""
    folders: list[Path] = []
    for root in _wheel_roots():
        folders += sorted(root.glob("cu[0-9]*/lib"), key=lambda p: int(p.parent.name[2:] or 0), reverse=True)
        folders.append(root / "cuda_nvrtc" / "lib")
    for root in _toolkit_roots():
        folders += [root / "lib64", root / "lib"]
    return folders


def _libraries_in(folder: Path) -> list[Path]:
    """`libnvrtc.so*` of a folder, the highest version first; the `.alt` builds are not the default compiler."""
    found = [p for p in folder.glob("libnvrtc.so*") if re.fullmatch(r"libnvrtc\.so[.\d]*", p.name)]
    return sorted(found, key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)], reverse=True)


def _header_candidates(library: Path) -> Iterator[Path]:
    """Header folders that come with a library file, then those of any toolkit."""
    base = library.parent.parent
    yield from (base / "include" / "cccl", base / "include")
    if base.name == "cuda_nvrtc":  # the wheels of CUDA 12 have a folder each
        for package in ("cuda_cccl", "cuda_runtime", "cuda_crt", "cuda_nvcc", "curand"):
            yield base.parent / package / "include"


def _headers_of(library: Path) -> tuple[Path, ...]:
    own = [path for path in _header_candidates(library) if path.is_dir()]
    if any((path / "cuda_fp16.h").is_file() for path in own):
        return tuple(own)
    # A bare compiler wheel beside an installed toolkit: its headers are better than none.
    for root in _toolkit_roots():
        if (root / "include" / "cuda_fp16.h").is_file():
            return (*own, *(p for p in (root / "include" / "cccl", root / "include") if p.is_dir()))
    return tuple(own)


def _open(path: Path | str) -> NvrtcLibrary:
    builtins = None
    if isinstance(path, Path):
        for candidate in sorted(path.parent.glob("libnvrtc-builtins.so*")):
            builtins = ctypes.CDLL(str(candidate))
    functions = ctypes.CDLL(str(path))
    major, minor = ctypes.c_int(), ctypes.c_int()
    if functions.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) != 0:
        raise OSError(f"{path}: nvrtcVersion failed")
    headers = _headers_of(path if isinstance(path, Path) else Path("/usr/lib/nvrtc/none"))
    return NvrtcLibrary(functions, (major.value, minor.value), str(path), headers, builtins)


@functools.cache
def _search() -> NvrtcLibrary | tuple[str, ...]:
    """The library, or what was tried, each with its reason. Looked for once in a process."""
    tried: list[str] = []
    for folder in _candidate_folders():
        libraries = _libraries_in(folder)
        if not libraries:
            tried.append(f"{folder}/libnvrtc.so* (not there)")
        for library in libraries:
            try:
                return _open(library)
            except OSError as error:
                tried.append(f"{library} ({error})")
    name = ctypes.util.find_library("nvrtc")
    if name is None:
        tried.append("the system's loader (knows no nvrtc)")
    else:
        try:
            return _open(name)
        except OSError as error:
            tried.append(f"{name} ({error})")
    return tuple(tried)


def nvrtc_library() -> NvrtcLibrary:
    """NVRTC of the wheels, of CUDA_HOME or CUDA_PATH, or of the system, in this order.

    Raises BackendUnavailable that lists every place looked at when there is none.
    """
    found = _search()
    if isinstance(found, NvrtcLibrary):
        return found
    places = "".join(f"\n  {place}" for place in found)
    raise BackendUnavailable(
        f"CUDA C needs NVRTC to be compiled, and none is here. {INSTALL_HINT}, or set CUDA_HOME to a toolkit, or load "
        f"PTX instead. Looked at:{places}",
        backend="nvrtc",
    )


@functools.cache
def nvrtc_identity() -> str:
    """NVRTC's version and build, and its builtins': equal ones give equal code. Raises BackendUnavailable."""
    library = nvrtc_library()
    builtins = [library_identity(str(each)) for each in sorted(Path(library.path).parent.glob("libnvrtc-builtins.so*"))]
    return " ".join((f"NVRTC {library.version}", library_identity(library.path), *builtins))


@functools.cache
def supported_architectures() -> tuple[int, ...]:
    """What NVRTC here compiles for, ascending: 90 for sm_90. Empty where it cannot tell (before CUDA 11.2)."""
    functions = nvrtc_library().functions
    count = ctypes.c_int()
    try:
        count_them, list_them = functions.nvrtcGetNumSupportedArchs, functions.nvrtcGetSupportedArchs
    except AttributeError:
        return ()
    if count_them(ctypes.byref(count)) != 0:
        return ()
    numbers = (ctypes.c_int * count.value)()
    return tuple(sorted(numbers)) if list_them(numbers) == 0 else ()


def is_available() -> bool:
    """True when CUDA C can be compiled on this machine."""
    return isinstance(_search(), NvrtcLibrary)
