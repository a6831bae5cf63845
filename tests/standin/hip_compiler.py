"""What compiles behind the stand-in's hiprtc: clang, whose code objects and diagnostics are AMD's own compiler's kind."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from metrale_gpu_runtime.code_objects import read_code_object
from metrale_gpu_runtime.modules.kernel_names import resolve_symbol

from .hip_library import HIPRTC, library_folder

CLANG, LINKER = "clang-19", "ld.lld-19"
PRELUDE = Path(__file__).with_name("hip_prelude.h")
_SUCCESS, _COMPILATION, _NAME_NOT_VALID, _INTERNAL_ERROR = 0, 6, 10, 11
_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_char_p),
)
PTX_OF_CODE: dict[bytes, bytes] = {}
"""The PTX of the same text, by code object, for executors: the package compiles a text once in a process, so that what
one test compiled another one loads."""

Compiled = Callable[[str, list[str], bytes], None]


def is_available() -> bool:
    return shutil.which(CLANG) is not None and shutil.which(LINKER) is not None


@cache
def _linker_folder() -> str:
    """clang looks for the linker under the one name `lld`."""
    folder = tempfile.mkdtemp(prefix="metrale-lld-")
    linker = shutil.which(LINKER)
    assert linker is not None
    Path(folder, "lld").symlink_to(linker)
    return folder


def compile_hip(source: bytes, name: str, options: list[str], folder: str) -> tuple[int, bytes, str]:
    """(code, code object, log): what clang makes of a source, written to a folder as hiprtc does."""
    path, out = Path(folder, "input", name), Path(folder, "out.hsaco")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(source)
    command = [CLANG, "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-O2"]
    command += ["-std=c++17", "-include", str(PRELUDE), f"-B{_linker_folder()}", "-o", str(out), *options, str(path)]
    environment = {"PATH": f"{_linker_folder()}:/usr/bin:/bin", "TMPDIR": folder}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return _COMPILATION, b"", done.stderr
    return _SUCCESS, out.read_bytes(), done.stderr


class HipCompiler:
    """Registers clang with the stand-in's hiprtc. `compiled` is told of each code object: (source, name expressions, code)."""

    def __init__(self, compiled: Compiled | None = None) -> None:
        self._library: Any = ctypes.CDLL(str(library_folder() / HIPRTC), ctypes.RTLD_GLOBAL)
        self._library.standin_hiprtc_name.restype = ctypes.c_char_p
        self._library.standin_hiprtc_count.restype = ctypes.c_uint64
        self._library.standin_hiprtc_answer.argtypes = (
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.c_char_p,
        )
        self._compiled = compiled
        self._function = _FUNCTION(self._compile)
        self.options: list[list[str]] = []

    def register(self) -> None:
        self._library.standin_hiprtc_register(self._function)

    def forget(self) -> None:
        self._library.standin_hiprtc_register(_FUNCTION(0))

    def programs(self, what: str) -> int:
        """How many programs were "created" or "destroyed"."""
        return int(self._library.standin_hiprtc_count(what.encode()))

    def _compile(self, program: int, source: bytes, name: bytes, count: int, options: Any) -> int:
        given = [options[index].decode() for index in range(count)]
        self.options.append(given)
        handle = ctypes.c_void_p(program)
        expressions = [
            self._library.standin_hiprtc_name(handle, index).decode()
            for index in range(self._library.standin_hiprtc_name_count(handle))
        ]
        # A kernel whose address is taken is instantiated; hiprtc does the same behind the source's end.
        whole = source + b"".join(
            b"\nstatic __device__ __attribute__((used)) auto prelude_name_%d = &%s;" % (index, each.encode())
            for index, each in enumerate(expressions)
        )
        with tempfile.TemporaryDirectory() as folder:
            code, data, log = compile_hip(whole, name.decode(), given, folder)
        if code == _SUCCESS:
            symbols = list(read_code_object(data, "hiprtc").kernels)
            for index, each in enumerate(expressions):
                symbol = resolve_symbol("hiprtc", each, symbols, {})
                if symbol is None:
                    return _NAME_NOT_VALID
                self._library.standin_hiprtc_lower(handle, index, symbol.encode())
            if self._compiled is not None:
                self._compiled(source.decode(), expressions, data)
        self._library.standin_hiprtc_answer(handle, data, len(data), log.encode())
        return code
