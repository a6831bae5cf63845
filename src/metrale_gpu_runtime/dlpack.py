"""DLPack without an array library: read a capsule's tensor, and say of a capsule of NumPy's where its memory lies.

The structures are those of dlpack.h, version 0.x (`dltensor`) and 1.x (`dltensor_versioned`); what `stream` means is
in the Python array API standard, `__dlpack__`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 10, 11, 13
HOST_DEVICES = frozenset({CPU, CUDA_HOST, ROCM_HOST})
STREAM_DEVICES = frozenset({CUDA, ROCM, CUDA_MANAGED})
"""Devices for which `__dlpack__` takes a stream."""

REACHABLE = {CUDA: frozenset({CUDA_HOST, CUDA_MANAGED}), ROCM: frozenset({ROCM_HOST})}
"""Memory besides its own that a device of this type reads by the same address: pinned and managed memory."""

NO_WAIT, LEGACY_STREAM, PER_THREAD_STREAM = -1, 1, 2
BFLOAT16 = (4, 16, 1)

DEVICE_NAMES = {
    1: "the host",
    2: "CUDA device",
    3: "pinned host memory (CUDA)",
    4: "OpenCL device",
    7: "Vulkan device",
    8: "Metal device",
    10: "ROCm device",
    11: "pinned host memory (ROCm)",
    13: "managed CUDA memory",
    14: "oneAPI device",
    15: "WebGPU device",
}


def device_name(device: tuple[int, int]) -> str:
    """What a message calls a DLPack device: "CUDA device 1"."""
    kind, index = device
    name = DEVICE_NAMES.get(kind, f"DLPack device of type {kind},")
    return name if kind in HOST_DEVICES or kind == CUDA_MANAGED else f"{name} {index}"


_READ_ONLY, _IS_COPIED = 1, 2


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Version(ctypes.Structure):
    _fields_ = (("major", ctypes.c_uint32), ("minor", ctypes.c_uint32))


class _VersionedHead(ctypes.Structure):
    _fields_ = (
        ("version", _Version),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_api = ctypes.pythonapi
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


@dataclass(frozen=True, slots=True)
class DlpackTensor:
    """What a capsule says. `strides` are in bytes, None for a contiguous tensor; `owner` keeps the memory alive."""

    address: int
    device_type: int
    device_id: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: tuple[int, int, int]
    is_read_only: bool
    owner: object

    @property
    def item_nbytes(self) -> int:
        _, bits, lanes = self.dtype
        return -(-bits * lanes // 8)


def dlpack_device(producer: object) -> tuple[int, int] | None:
    """The DLPack device (type, index) of an object, None where it does not tell."""
    ask = getattr(producer, "__dlpack_device__", None)
    if ask is None:
        return None
    kind, index = ask()
    return int(kind), int(index)


def _export(producer: object, stream: int | None) -> object:
    """A capsule of the producer's. `stream` is left out where it is None."""
    export = producer.__dlpack__  # type: ignore[attr-defined]
    on = {} if stream is None else {"stream": stream}
    try:
        return export(max_version=(1, 0), **on)
    except TypeError:
        # Producers from before DLPack 1.0 do not know the argument.
        return export(**on)


def _tensor_of(capsule: object, producer: object) -> tuple[_Tensor, int, _VersionedHead | None]:
    if _is_valid(capsule, b"dltensor_versioned"):
        head = _VersionedHead.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if head.version.major != 1:
            raise BufferError(f"DLPack {head.version.major}.{head.version.minor} is not understood; 0.x and 1.x are")
        return head.tensor, head.flags, head
    if _is_valid(capsule, b"dltensor"):
        return _Tensor.from_address(_get_pointer(capsule, b"dltensor")), 0, None
    raise BufferError(f"{type(producer).__name__}.__dlpack__() did not return a fresh DLPack capsule")


def read_dlpack(producer: object, stream: int | None = None) -> DlpackTensor:
    """The tensor that an object with `__dlpack__` exports.

    `stream` is the standard's: the producer makes it wait for its own work on the memory (-1: it does nothing; None:
    not said, for memory of the host). The capsule is kept, not consumed: its own destructor gives the tensor back when
    the result is dropped. Raises BufferError or whatever the producer raises when it cannot export.
    """
    capsule = _export(producer, stream)
    tensor, flags, _ = _tensor_of(capsule, producer)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    code, bits, lanes = tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes
    item_nbytes = -(-bits * lanes // 8)
    strides = tuple(tensor.strides[axis] * item_nbytes for axis in range(tensor.ndim)) if tensor.strides else None
    return DlpackTensor(
        (tensor.data or 0) + tensor.byte_offset,
        tensor.device.type,
        tensor.device.id,
        shape,
        strides,
        (code, bits, lanes),
        bool(flags & _READ_ONLY),
        (capsule, producer),
    )


def numpy_capsule(
    array: object,
    max_version: tuple[int, int] | None,
    *,
    device: tuple[int, int] = (CPU, 0),
    dtype: tuple[int, int, int] | None = None,
    is_copied: bool = False,
    has_data: bool = True,
) -> object:
    """A capsule that NumPy makes of an array, with what NumPy cannot say written into it: another device, another type
    of the same size, no data.

    NumPy's because of its deleter, which is native code: it may be called from any thread, takes the interpreter lock
    where it must, and does nothing once the interpreter has ended. A deleter in Python could do none of the last. The
    memory itself is never looked at, so the array may lie over device addresses.
    """
    export = array.__dlpack__  # type: ignore[attr-defined]
    try:
        capsule = export(max_version=max_version)
    except TypeError:
        # NumPy before 2.1 does not know the argument; it exports the old form, which everybody reads.
        capsule = export()
    tensor, _, head = _tensor_of(capsule, array)
    tensor.device.type, tensor.device.id = device
    if dtype is not None:
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = dtype
    if not has_data:
        tensor.data = None
    if is_copied and head is not None:
        head.flags |= _IS_COPIED
    return capsule
