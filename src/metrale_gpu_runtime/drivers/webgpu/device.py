"""One open WGPUDevice and its queue, and how its errors come back to the call that caused them.

wgpu-native calls the error callback on the thread that made the bad call, before that call returns; so an error is kept
under its thread, and whoever made the calls looks there behind them. What comes on another thread, one of the
library's, belongs to nobody: the next look of anybody finds it. Nothing is written to a log.

Source: WGPUDeviceDescriptor, WGPUUncapturedErrorCallback, WGPUDeviceLostCallback (webgpu.h); wgpuDevicePoll (wgpu.h).
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import Any, NoReturn

from ...errors import BackendUnavailable, DriverError, DriverFault, OutOfDeviceMemory
from .adapters import Adapter
from .bindings import Bindings, make_callback, raise_interrupt, truth

_KINDS = ("Validation", "OutOfMemory", "Internal", "Unknown")

LATEST = (1 << 64) - 1
"""Stands for the index of a submission that is not known: the latest one, or one before it."""

FEATURES = {
    "shader-f16": "WGPUFeatureName_ShaderF16",
    "timestamp-query": "WGPUFeatureName_TimestampQuery",
    "timestamp-query-inside-encoders": "WGPUNativeFeature_TimestampQueryInsideEncoders",
    "immediates": "WGPUNativeFeature_Immediates",
    "subgroups": "WGPUNativeFeature_Subgroup",
    "subgroup-barrier": "WGPUNativeFeature_SubgroupBarrier",
    "shader-int64": "WGPUNativeFeature_ShaderInt64",
    "shader-f64": "WGPUNativeFeature_ShaderF64",
    "shader-i16": "WGPUNativeFeature_ShaderI16",
    "shader-float32-atomic": "WGPUNativeFeature_ShaderFloat32Atomic",
    "shader-int64-atomic-min-max": "WGPUNativeFeature_ShaderInt64AtomicMinMax",
    "shader-int64-atomic-all-ops": "WGPUNativeFeature_ShaderInt64AtomicAllOps",
}
"""What a device is opened with where its adapter has it: all that a kernel's text can make use of, and timestamps."""


@dataclass(frozen=True, slots=True)
class WgpuError:
    """One error as the callback got it: `kind` is "Validation", "OutOfMemory", "Internal" or "Unknown"."""

    thread: int
    kind: str
    message: str

    @property
    def text(self) -> str:
        """What it says, on one line, without the words that every message begins with."""
        lines = [line.strip() for line in self.message.splitlines()]
        words = [line for line in lines if line and line not in ("Validation Error", "Caused by:", "Out of Memory")]
        return "; ".join(line for line in words if not line.startswith("In wgpu"))


class _Sink:
    """What a device's callbacks write to. The callbacks live as long as the process: wgpu may call them late."""

    __slots__ = ("errors", "lost")

    def __init__(self) -> None:
        self.errors: list[WgpuError] = []
        self.lost: str | None = None


_sinks: dict[int, _Sink] = {}
_numbers = itertools.count(1)


class _Callbacks:
    """The C functions that wgpu calls, made once. `userdata1` is the number of a sink, which may be gone."""

    def __init__(self, bindings: Bindings) -> None:
        ffi, lib = bindings.ffi, bindings.lib
        kinds = {getattr(lib, f"WGPUErrorType_{kind}"): kind for kind in _KINDS}

        def on_error(_device: Any, type: int, message: Any, number: Any, _other: Any) -> None:
            sink = _sinks.get(int(ffi.cast("uintptr_t", number)))
            if sink is not None:
                sink.errors.append(WgpuError(threading.get_ident(), kinds.get(type, "Unknown"), bindings.read(message)))

        def on_lost(_device: Any, _reason: int, message: Any, number: Any, _other: Any) -> None:
            sink = _sinks.get(int(ffi.cast("uintptr_t", number)))
            if sink is not None and sink.lost is None:
                sink.lost = bindings.read(message) or "wgpu gives no reason"

        self.error = make_callback(ffi, "WGPUUncapturedErrorCallback", on_error)
        self.lost = make_callback(ffi, "WGPUDeviceLostCallback", on_lost)


_callbacks: list[_Callbacks] = []


class Device:
    """A device with its queue. `features` are the names of FEATURES that it has, `limits` its WGPULimits.

    Raises BackendUnavailable where the adapter gives no device.
    """

    def __init__(self, bindings: Bindings, adapter: Adapter) -> None:
        self.bindings, self.adapter, self.name = bindings, adapter, adapter.name
        self._number = next(_numbers)
        self._sink = _sinks[self._number] = _Sink()
        self.errors = self._sink.errors
        wanted = {name: int(getattr(bindings.lib, constant)) for name, constant in FEATURES.items()}
        there = {name: number for name, number in wanted.items() if adapter.has(bindings, number)}
        self.features = frozenset(there)
        try:
            self.native = self._request(list(there.values()))
        except BaseException:
            del _sinks[self._number]
            raise
        self.queue = bindings.lib.wgpuDeviceGetQueue(self.native)
        self.limits = bindings.ffi.new("WGPULimits *")
        bindings.lib.wgpuDeviceGetLimits(self.native, self.limits)
        probe = bindings.ffi.new("WGPUBufferDescriptor *")
        probe.size, probe.usage = 4, bindings.lib.WGPUBufferUsage_CopyDst
        self._probe = bindings.lib.wgpuDeviceCreateBuffer(self.native, probe)
        # wgpu-core before 30 asserts wrongly when two threads poll at once (gfx-rs/wgpu#9958), which ends the process.
        self._polling = threading.Lock()

    def _request(self, features: list[int]) -> Any:
        bindings, ffi, lib = self.bindings, self.bindings.ffi, self.bindings.lib
        if not _callbacks:
            _callbacks.append(_Callbacks(bindings))
        answers: list[tuple[int, Any, str]] = []

        def on_device(status: int, device: Any, message: Any, _number: Any, _other: Any) -> None:
            answers.append((status, device, bindings.read(message)))

        answered = ffi.callback("WGPURequestDeviceCallback", on_device)
        # The limits of the adapter: those that wgpu gives by itself are smaller (256 MiB for a buffer, 128 MiB bound).
        limits = ffi.new("WGPULimits *", self.adapter.limits[0])
        limits.nextInChain = ffi.NULL
        descriptor = ffi.new("WGPUDeviceDescriptor *")
        list_of_features = ffi.new("WGPUFeatureName[]", features) if features else ffi.NULL
        descriptor.requiredFeatureCount, descriptor.requiredFeatures = len(features), list_of_features
        descriptor.requiredLimits = limits
        number = ffi.cast("void *", self._number)
        for info, callback in (
            (descriptor.deviceLostCallbackInfo, _callbacks[0].lost),
            (descriptor.uncapturedErrorCallbackInfo, _callbacks[0].error),
        ):
            info.callback, info.userdata1 = callback, number
        descriptor.deviceLostCallbackInfo.mode = lib.WGPUCallbackMode_AllowSpontaneous
        request = ffi.new("WGPURequestDeviceCallbackInfo *")
        request.mode, request.callback = lib.WGPUCallbackMode_AllowProcessEvents, answered
        lib.wgpuAdapterRequestDevice(self.adapter.native, descriptor, request[0])
        lib.wgpuInstanceProcessEvents(bindings.instance)
        status, device, message = answers[0] if answers else (0, ffi.NULL, "it does not answer")
        if status != lib.WGPURequestDeviceStatus_Success or device == ffi.NULL:
            raise BackendUnavailable(f"webgpu: {self.name} gives no device: {message}", backend="webgpu")
        return device

    # ------------------------------------------------ errors

    @property
    def lost(self) -> str | None:
        """Why the device is lost, None while it is not."""
        return self._sink.lost

    def check_alive(self) -> None:
        """Raise DriverFault when the device is lost."""
        if self._sink.lost is not None:
            raise DriverFault("DeviceLost", f"{self.name} was lost: {self._sink.lost}", context_lost=True)

    def probe(self) -> None:
        """Raise DriverFault when the device is lost, also where wgpu has not told so yet: a write of no bytes is
        refused then, without harm."""
        self.bindings.lib.wgpuQueueWriteBuffer(self.queue, self._probe, 0, self.bindings.ffi.NULL, 0)
        self.check("wgpuQueueWriteBuffer")
        self.check_alive()

    def take_error(self) -> WgpuError | None:
        """The first error of this thread, or of none of Python's; its errors are forgotten with it. Costs one look at a
        list where there is none."""
        errors = self.errors
        if not errors:
            return None
        mine, running = threading.get_ident(), {each.ident for each in threading.enumerate()}
        taken = [each for each in list(errors) if each.thread == mine or each.thread not in running]
        for each in taken:
            errors.remove(each)
            if self._sink.lost is None and "device is lost" in each.message:
                # wgpu says so in the errors of all calls, and calls back only at the next poll.
                self._sink.lost = each.text
        return taken[0] if taken else None

    def check(self, call: str) -> None:
        """Raise what the calls before this one were refused with: DriverFault for a lost device, OutOfDeviceMemory,
        DriverError. `call` is the entry point to name."""
        if self.errors:
            error = self.take_error()
            if error is not None:
                self.refuse(error, call)

    def refuse(self, error: WgpuError, call: str) -> NoReturn:
        """Raise an error as what it is."""
        self.check_alive()
        if error.kind == "OutOfMemory":
            raise OutOfDeviceMemory(f"webgpu: {self.name}: {call}: {error.text}", nbytes=0)
        raise DriverError(
            f"webgpu: {self.name}: {call}: {error.text}", call=call, code=_KINDS.index(error.kind), code_name=error.kind
        )

    # ------------------------------------------------ waiting

    def poll(self) -> bool | None:
        """Let callbacks come, and tell whether the queue is empty; None where another thread waits just now."""
        if not self._polling.acquire(blocking=False):
            return None
        try:
            is_empty = truth(self.bindings.lib.wgpuDevicePoll(self.native, 0, self.bindings.ffi.NULL))
        finally:
            self._polling.release()
        raise_interrupt()
        return is_empty

    def wait(self, index: int) -> None:
        """Wait for a submission by its index, or for all with LATEST.

        While a thread waits, wgpu lets no other submit (gfx-rs/wgpu#9470).
        """
        ffi = self.bindings.ffi
        place = ffi.NULL if index == LATEST else ffi.new("WGPUSubmissionIndex *", index)
        with self._polling:
            self.bindings.lib.wgpuDevicePoll(self.native, 1, place)
        raise_interrupt()

    # ------------------------------------------------ the end

    def close(self) -> None:
        """Give the device back; what was made of it may be given back later."""
        _sinks.pop(self._number, None)
        lib = self.bindings.lib
        lib.wgpuBufferRelease(self._probe)
        lib.wgpuQueueRelease(self.queue)
        lib.wgpuDeviceRelease(self.native)
