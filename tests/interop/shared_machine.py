"""A machine with several mock GPUs that other libraries use too: one memory, streams known by native handles, events
that any of them can wait for. Work waits in queues until somebody waits for it, so that a missing order shows as a
wrong value.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

from metrale_gpu_runtime.dlpack import numpy_capsule
from metrale_gpu_runtime.driver import MemoryKind
from metrale_gpu_runtime.drivers.mock import MockDriver
from metrale_gpu_runtime.drivers.mock.log import Memset
from metrale_gpu_runtime.drivers.mock.profiles import profile
from metrale_gpu_runtime.drivers.mock.queues import Operation, Recording
from metrale_gpu_runtime.testing import MockGpuBackend

CUDA, ROCM = 2, 10
LEGACY = 1


class SharedDriver(MockDriver):
    """One GPU of the machine. Its StreamHandles are native handles, but for 0, its own default stream."""

    def __init__(self, machine, index, name, dlpack_type):
        capabilities = replace(
            profile("H100"),
            backend=name,
            device=f"GPU {index}",
            device_index=index,
            dlpack_device=(dlpack_type, index),
            raw_stream_handles=True,
            peer_access=True,
        )
        super().__init__(capabilities)
        self.name, self.machine, self.index = name, machine, index
        self.default = 0xD0 + index
        self.enabled = []
        self._queues, self._memory, self._events = machine.queues, machine.memory, machine.events
        self._next_handle, self._lock = machine.numbers, machine.lock
        self._queues.streams.setdefault(self.default, type(machine.queues.streams[0])())
        self.log.keep = True

    def native_stream(self, stream):
        return self.default if stream == 0 else stream

    def device_of(self, address):
        found = self._memory.find(address)
        if found is None or found[0].base not in self.machine.owners:
            return None
        return self.capabilities.dlpack_device[0], self.machine.owners[found[0].base]

    def alloc(self, nbytes, kind=MemoryKind.DEVICE):
        address = super().alloc(nbytes, kind)
        self.machine.owners[address] = self.index
        return address

    def _stream(self, stream):
        return super()._stream(self.native_stream(stream))

    def can_access_peer(self, other):
        return self.machine.are_linked

    def enable_peer_access(self, other):
        self.enabled.append(other.index)

    def copy_peer(self, dst, src, nbytes, source, stream):
        self.machine.peer_copies.append((source.index, self.index, nbytes))
        super().copy_d2d(dst, src, nbytes, self.native_stream(stream))

    def _launch(self, kernel, layout, image, geometry, stream, ordinal):
        super()._launch(kernel, layout, image, geometry, self.native_stream(stream), ordinal)


def _translated(name, place):
    inherited = getattr(MockDriver, name)

    def call(self, *args):
        args = list(args)
        args[place] = self.native_stream(args[place])
        return inherited(self, *args)

    return call


for _name, _place in (
    ("copy_h2d", 2),
    ("copy_d2h", 2),
    ("copy_d2d", 3),
    ("copy_d2d_2d", 6),
    ("memset", 4),
    ("synchronize", 0),
    ("query_stream", 0),
    ("record_event", 1),
    ("wait_event", 0),
):
    setattr(SharedDriver, _name, _translated(_name, _place))


class Machine:
    """Several GPUs, and what another library does on them behind our back."""

    def __init__(self, dlpack_type=CUDA, name="cuda"):
        self.dlpack_type, self.name = dlpack_type, name
        first = MockDriver("generic")
        self.memory, self.queues, self.events, self.lock = first._memory, first._queues, first._events, first._lock
        self.numbers = Counter(first._next_handle)
        self.owners = {}
        self.are_linked = True
        self.peer_copies = []
        self._events = itertools.count(0x900000)
        self._first = first
        for handle in (LEGACY, 2):
            self.stream(handle)

    def open(self, index=0):
        """A backend on one of the GPUs."""
        return MockGpuBackend(driver=SharedDriver(self, index, self.name, self.dlpack_type))

    def stream(self, handle):
        """Another library's stream."""
        self.queues.open(handle)
        return handle

    def alloc(self, nbytes, device=0):
        """Another library's memory."""
        address = self.memory.allocate(nbytes, MemoryKind.DEVICE).base
        self.owners[address] = device
        return address

    def peek(self, address, nbytes):
        return bytes(self.memory.view(address, nbytes))

    def write(self, address, data, stream):
        """Queue another library's kernel that writes these bytes."""

        def action():
            self.memory.view(address, len(data))[:] = data

        self.act(stream, action)

    def act(self, stream, action):
        """Queue anything on another library's stream."""
        self.queues.push(Operation(Memset(0, 0, 1, 0, stream), stream, action))

    def wait(self, stream, other):
        """Let one of the other library's streams wait for another stream."""
        if stream == other:
            return
        recording = Recording(next(self._events), other)
        self.queues.push(Operation(Memset(0, 0, 1, 0, other), other, records=recording))
        self.queues.push(Operation(Memset(0, 0, 1, 0, stream), stream, awaits=recording))

    def drain(self, stream):
        self.queues.drain(stream)


class _Memory:
    """What NumPy needs to make a capsule over a device address."""

    def __init__(self, address, shape, typestr, owner, strides=None):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": typestr,
            "strides": strides,
            "data": (address, False),
        }


class Array:
    """Device memory of another library, whose work goes to its current stream."""

    def __init__(self, machine, address, shape, typestr="<u4", *, device=0, stream=LEGACY, strides=None):
        self.machine, self.address, self.shape, self.typestr = machine, address, shape, typestr
        self.device_index, self.current, self.strides = device, stream, strides
        self.asked = []

    def write(self, data):
        self.machine.write(self.address, data, self.current)

    def capsule(self, max_version, kind=None):
        import numpy

        array = numpy.asarray(_Memory(self.address, self.shape, self.typestr, self, self.strides))
        device = (kind if kind is not None else self.machine.dlpack_type, self.device_index)
        return numpy_capsule(array, max_version, device=device)


class CupyArray(Array):
    """As CuPy shows its arrays: the CUDA array interface of version 3 with the current stream, and DLPack."""

    @property
    def __cuda_array_interface__(self):
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (self.address, False),
            "strides": self.strides,
            "stream": self.current,
        }

    def __dlpack_device__(self):
        return self.machine.dlpack_type, self.device_index

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        raise AssertionError("version 3 of the CUDA array interface says more")


class NumbaArray(Array):
    """As Numba shows its arrays: the CUDA array interface of version 3, which does not say what device it is on."""

    @property
    def __cuda_array_interface__(self):
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (self.address, False),
            "strides": self.strides,
            "stream": self.current,
        }


class TorchTensor(Array):
    """As PyTorch shows its tensors: version 2 of the interface, which names no stream, and DLPack, which waits."""

    @property
    def __cuda_array_interface__(self):
        return {
            "version": 2,
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (self.address, False),
            "strides": self.strides,
        }

    def __dlpack_device__(self):
        return self.machine.dlpack_type, self.device_index

    def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
        self.asked.append(stream)
        if stream != -1:
            is_rocm = self.machine.dlpack_type == ROCM
            if is_rocm:
                assert stream not in (1, 2), stream
            else:
                assert stream not in (0, 2), stream
            default = stream is None or stream == (0 if is_rocm else 1)
            self.machine.wait(LEGACY if default else stream, self.current)
        return self.capsule(max_version)


class OldInterface(Array):
    """Version 2 of the CUDA array interface and nothing else."""

    @property
    def __cuda_array_interface__(self):
        return {"version": 2, "shape": self.shape, "typestr": self.typestr, "data": (self.address, False)}


class DlpackOnly(TorchTensor):
    """Only DLPack, on a device of any kind."""

    __cuda_array_interface__ = None

    def __init__(self, *args, kind=None, **options):
        super().__init__(*args, **options)
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind if self.kind is not None else self.machine.dlpack_type, self.device_index

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked.append(stream)
        if stream is not None and stream != -1:
            self.machine.wait(stream or LEGACY, self.current)
        return self.capsule(max_version, self.kind)


class CudaStream:
    """A stream object with the protocol of CUDA's Python libraries."""

    def __init__(self, handle, device=None):
        self.handle = handle
        if device is not None:
            self.device_id = device

    def __cuda_stream__(self):
        return 0, self.handle


class OldTorchStream:
    """A stream of a PyTorch from before the protocol."""

    def __init__(self, handle, device=0):
        self.cuda_stream, self.device_index = handle, device


__all__ = [name for name in dir() if not name.startswith("_") and name != "StreamHandle"]
