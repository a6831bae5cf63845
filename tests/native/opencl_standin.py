"""The real OpenCL driver over a stand-in for OpenCL: opencl_standin.c behind it, and what of pyopencl is asked for.

No kernel runs. A journal has every launch with the bytes of its arguments; a caller that does what OpenCL forbids is
told by `violation`.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from standin.building import compiler

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.opencl.bindings import Bindings
from metrale_gpu_runtime.drivers.opencl.devices import Found
from metrale_gpu_runtime.drivers.opencl.driver import OpenclDriver
from metrale_gpu_runtime.drivers.opencl.entry_points import EntryPoints

SOURCE = Path(__file__).with_name("opencl_standin.c")
FLAGS = (
    "-std=gnu11",
    "-O1",
    "-g",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fvisibility=hidden",
    "-shared",
    "-fPIC",
    "-pthread",
)

SIMULTANEOUS = 4
"""CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR."""

_VALUE, _POINTER, _LOCAL = range(3)
_SPACES = {"global": 0x119B, "local": 0x119C, "constant": 0x119D, "private": 0x119E}
_SIZES = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4,
    "long": 8, "ulong": 8, "double": 8, "float2": 8, "double2": 16,
}  # fmt: skip
_KERNEL = re.compile(r"kernel void (\w+)\(([^)]*)\)")
_PARAMETER = re.compile(r"(?:(global|local|constant) )?(?:const )?(\w+)( \*)? ?(\w+)")


def can_build() -> bool:
    """True where there is a C compiler."""
    return compiler() is not None


@cache
def build() -> Path:
    """The library, built when it is not there yet."""
    cc = compiler() or "gcc"
    digest = hashlib.sha256(SOURCE.read_bytes() + " ".join((cc, *FLAGS)).encode()).hexdigest()[:20]
    base = os.environ.get("METRALE_STANDIN_CACHE") or Path(tempfile.gettempdir()) / f"metrale-standin-{os.getuid()}"
    folder = Path(base) / f"opencl-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libopencl_standin.so"
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.is_file():
            part = folder / "part.so"
            subprocess.run([cc, *FLAGS, str(SOURCE), "-o", str(part)], check=True)
            part.rename(library)
    return library


class Error(Exception):
    """pyopencl's, as far as it is read."""

    def __init__(self, routine: str, code: int) -> None:
        super().__init__(f"{routine} failed with {code}")
        self.routine, self.code = routine, code


class Standin:
    """The library: what it is told to do, and what it tells."""

    def __init__(self) -> None:
        self.library = library = ctypes.CDLL(str(build()))
        self.calls = EntryPoints.of_library(str(build()))
        self.address = {}
        for name, types in {
            "mem": (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t),
            "svm": (ctypes.c_size_t,),
            "queue": (),
            "program": (),
            "kernel": (ctypes.c_void_p, ctypes.c_char_p),
        }.items():
            function = getattr(library, f"standin_{name}")
            function.argtypes, function.restype = types, ctypes.c_void_p
            self.address[name] = function
        library.standin_parameter.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint32, *(ctypes.c_char_p,) * 2)  # fmt: skip
        for name in ("mem", "svm", "queue"):
            getattr(library, f"standin_release_{name}").argtypes = (ctypes.c_void_p,)
        library.standin_command_buffers.argtypes = (ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint32)
        library.standin_refuse.argtypes = (ctypes.c_int, ctypes.c_int64)
        library.standin_refuse_value.argtypes = (ctypes.c_int, ctypes.c_uint64, ctypes.c_int)
        library.standin_journal_nbytes.restype = ctypes.c_size_t
        library.standin_violation.restype = ctypes.c_char_p
        library.standin_kernels_alive.restype = library.standin_buffers_alive.restype = ctypes.c_uint64

    def reset(self) -> None:
        """As if newly loaded, but for what somebody still has."""
        self.library.standin_reset()

    def refuse(self, code: int, nth: int) -> None:
        """Refuse the nth launch from now on; 0: none."""
        self.library.standin_refuse(code, nth)

    def journal(self) -> list[list[str]]:
        """What was launched and flushed since it was last asked for, in words."""
        place = ctypes.create_string_buffer(self.library.standin_journal_nbytes() + 1)
        self.library.standin_take_journal(place)
        return [line.split(" ") for line in place.value.decode().splitlines()]

    @property
    def violation(self) -> str:
        """What a caller did first that OpenCL forbids; "" where nobody did."""
        return str(self.library.standin_violation().decode())

    @property
    def alive(self) -> tuple[int, int]:
        """Kernel objects and command buffers that were made and not given back."""
        return int(self.library.standin_kernels_alive()), int(self.library.standin_buffers_alive())


@cache
def standin() -> Standin:
    """The one of this process."""
    return Standin()


# ---------------------------------------------------------------- of pyopencl


class _Context:
    def __init__(self, devices: object) -> None: ...


class _Event:
    """Of a queue on which all is done at once."""

    command_execution_status = 0

    def wait(self) -> None: ...

    def get_profiling_info(self, what: object) -> int:
        return 1


class _Queue:
    def __init__(self, context: object, device: object, properties: object) -> None:
        self.int_ptr = standin().address["queue"]()

    def __del__(self) -> None:
        standin().library.standin_release_queue(self.int_ptr)

    def flush(self) -> None: ...

    finish = flush


class _Buffer:
    def __init__(
        self, context: object, flags: int, nbytes: int, *, parent: _Buffer | None = None, offset: int = 0
    ) -> None:
        self._parent = parent
        self.int_ptr = standin().address["mem"](parent.int_ptr if parent is not None else None, offset, nbytes)

    def __del__(self) -> None:
        standin().library.standin_release_mem(self.int_ptr)

    def get_sub_region(self, offset: int, nbytes: int) -> _Buffer:
        return _Buffer(None, 0, nbytes, parent=self, offset=offset)


class _SharedMemory:
    def __init__(self, context: object, nbytes: int, align: int, flags: int) -> None:
        self.svm_ptr = standin().address["svm"](nbytes)

    def release(self) -> None:
        standin().library.standin_release_svm(self.svm_ptr)


class _Program:
    """OpenCL C of which the kernels' parameters are read, and no more."""

    def __init__(self, context: object, text: str) -> None:
        library, self.int_ptr, self._names = standin().library, standin().address["program"](), []
        for name, parameters in _KERNEL.findall(text):
            self._names.append(name)
            kernel = standin().address["kernel"](self.int_ptr, name.encode())
            for space, type_name, star, parameter in _PARAMETER.findall(parameters):
                kind = _LOCAL if space == "local" else _POINTER if star else _VALUE
                nbytes = 8 if star else _SIZES[type_name]
                shown = f"{type_name}*" if star else type_name
                library.standin_parameter(
                    kernel, kind, nbytes, _SPACES[space or "private"], shown.encode(), parameter.encode()
                )

    def _build(self, options: bytes, devices: object) -> None: ...

    def get_build_info(self, device: object, what: object) -> str:
        return ""

    def get_info(self, what: str) -> Any:
        return ";".join(self._names) if what == "names" else []


def _mark(queue: object, events: object) -> _Event:
    return _Event()


_CODES = {-5: "OUT_OF_RESOURCES", -4: "MEM_OBJECT_ALLOCATION_FAILURE", -36: "INVALID_COMMAND_QUEUE", -50: "INVALID_ARG_VALUE"}  # fmt: skip

_PYOPENCL = SimpleNamespace(
    Error=Error,
    Context=_Context,
    CommandQueue=_Queue,
    Buffer=_Buffer,
    SVMAllocation=_SharedMemory,
    command_queue_properties=SimpleNamespace(PROFILING_ENABLE=2),
    program_info=SimpleNamespace(KERNEL_NAMES="names", BINARIES="binaries"),
    program_build_info=SimpleNamespace(LOG="log"),
    profiling_info=SimpleNamespace(END="end"),
    status_code=SimpleNamespace(to_string=lambda code, otherwise: _CODES.get(code, otherwise)),
    _cl=SimpleNamespace(
        _Program=_Program, _enqueue_marker_with_wait_list=_mark, _enqueue_barrier_with_wait_list=_mark
    ),
)  # fmt: skip

_PLATFORM = SimpleNamespace(name="Stand-in", vendor="tests", version="OpenCL 3.0", int_ptr=1)
_DEVICE = SimpleNamespace(
    name="stand-in", vendor="tests", version="OpenCL 3.0", driver_version="1", platform=_PLATFORM, type=4, int_ptr=1,
    extensions="cl_khr_fp16 cl_khr_fp64", address_bits=64, max_work_item_sizes=[1024, 1024, 64],
    max_work_group_size=1024, local_mem_size=65536, max_parameter_size=1024, max_mem_alloc_size=1 << 32,
    mem_base_addr_align=64, preferred_work_group_size_multiple=8, max_compute_units=4, svm_capabilities=1,
    il_version="", double_fp_config=63, host_unified_memory=True, global_mem_size=1 << 34,
)  # fmt: skip


def open_standin(memory: str, *, command_buffers: bool = False) -> GpuBackend:
    """A backend over the stand-in; `memory` is "svm" or "buffers"."""
    bindings = Bindings(_PYOPENCL, standin().calls)
    driver = OpenclDriver(bindings, Found(0, 0, 0, _PLATFORM, _DEVICE), memory=memory, command_buffers=command_buffers)
    return GpuBackend(driver)
