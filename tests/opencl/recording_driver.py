"""PoCL with its calls counted, refused and lied about: C functions of ours stand at the addresses that the core is given."""

from __future__ import annotations

import ctypes
import dataclasses
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from pocl import pocl_spec
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.opencl import command_buffer_extension
from metrale_gpu_runtime.drivers.opencl.driver import OpenclDriver

P, U, S, N = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int32

EXTENSION = {
    "clCreateCommandBufferKHR": (P, U, P, P, P),
    "clCommandNDRangeKernelKHR": (N, P, P, P, P, U, P, P, P, U, P, P, P),
    "clFinalizeCommandBufferKHR": (N, P),
    "clReleaseCommandBufferKHR": (N, P),
    "clEnqueueCommandBufferKHR": (N, U, P, P, U, P, P),
    "clGetCommandBufferInfoKHR": (N, P, U, S, P, P),
}
CORE = {
    "set_argument": (N, P, U, S, P),
    "set_pointer": (N, P, U, P),
    "enqueue": (N, P, P, U, P, P, P, U, P, P),
    "flush": (N, P),
}

SIMULTANEOUS, PRINTF = 4, 1
EXTENSIONS_WITH_VERSION, CAPABILITIES, REQUIRED, SUPPORTED = 0x1060, 0x12A9, 0x12AA, 0x129A

Answer = Callable[..., Any]


class Watched:
    """What was called how often, and what is answered instead of the driver's answer.

    `instead[name](real, *arguments)` returns what the caller gets; `real` is the driver's function.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.log: list[tuple[str, tuple[Any, ...]]] = []
        self.instead: dict[str, Answer] = {}
        self.told: dict[int, bytes] = {}
        self._kept: list[object] = []

    def address(self, name: str, types: tuple[Any, ...], real: int) -> int:
        """A C function in the place of the one at `real`."""
        prototype = ctypes.CFUNCTYPE(*types)
        function = prototype(real)

        def called(*arguments: Any) -> Any:
            self.calls[name] += 1
            self.log.append((name, arguments))
            instead = self.instead.get(name)
            return instead(function, *arguments) if instead is not None else function(*arguments)

        ours = prototype(called)
        self._kept += [function, ours]
        return ctypes.cast(ours, P).value or 0

    def refuse(self, name: str, code: int = -5, *, first: int = 1) -> None:
        """Let the driver refuse this call from the `first` one on."""
        begun = self.calls[name]

        def answer(real: Answer, *arguments: Any) -> Any:
            if self.calls[name] - begun < first:
                return real(*arguments)
            if name != "clCreateCommandBufferKHR":
                return code
            ctypes.cast(arguments[3], ctypes.POINTER(N))[0] = code
            return None

        self.instead[name] = answer

    def say(self, what: int, value: int) -> None:
        """Let the device answer a question of 64 bits so."""
        self.told[what] = struct.pack("=Q", value)

    def say_version(self, *version: int) -> None:
        """Let the device have this version of the extension."""
        major, minor, patch = version
        number = major << 22 | minor << 12 | patch
        self.told[EXTENSIONS_WITH_VERSION] = struct.pack("=I64s", 4194304, b"cl_khr_fp64") + struct.pack(
            "=I64s", number, b"cl_khr_command_buffer"
        )

    @property
    def alive(self) -> int:
        """Command buffers that were made and not given back."""
        return self.calls["clCreateCommandBufferKHR"] - self.calls["clReleaseCommandBufferKHR"]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Backends that are opened after this call what is watched."""
    watch = Watched()
    real_address, real_ask = command_buffer_extension.function_address, command_buffer_extension._ask
    real_calls = OpenclDriver.native_calls

    def address(bindings: Any, platform: Any, name: str) -> int:
        return watch.address(name, EXTENSION[name], real_address(bindings, platform, name))

    def ask(bindings: Any, device: Any, what: int) -> bytes:
        return watch.told.get(what, real_ask(bindings, device, what))

    def native_calls(driver: OpenclDriver) -> Any:
        calls = real_calls(driver)
        found = {
            name: watch.address(name, types, getattr(calls, name))
            for name, types in CORE.items()
            if getattr(calls, name)
        }
        return dataclasses.replace(calls, **found)

    monkeypatch.setattr(command_buffer_extension, "function_address", address)
    monkeypatch.setattr(command_buffer_extension, "_ask", ask)
    monkeypatch.setattr(OpenclDriver, "native_calls", native_calls)
    return watch


@cache
def _version() -> str:
    """The extension's version on the PoCL that is tested, as a child process tells it."""
    listed = mg.available_backends()["opencl"].devices
    return next(str(each.details["command_buffers"]) for each in listed if each.details["spec"] == pocl_spec())


def require_command_buffers() -> None:
    """Skip the test where there is no PoCL, or none with command buffers."""
    require_rung("pocl")
    if _version() == "none":
        pytest.skip(f"{pocl_spec()} has no cl_khr_command_buffer")


@contextmanager
def opened(memory: str, command_buffers: bool | None = True) -> Iterator[GpuBackend]:
    """PoCL, its sequences recorded; skips the test where there is no PoCL, or none with command buffers."""
    require_command_buffers()
    with mg.open_backend(str(pocl_spec()), memory=memory, command_buffers=command_buffers) as gpu:
        yield gpu
