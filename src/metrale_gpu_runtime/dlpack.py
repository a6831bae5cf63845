"""DLPack without an array library: read a capsule's tensor, take it over, say where it lies.

The structures are those of dlpack.h, version 0.x (`dltensor`) and 1.x (`dltensor_versioned`).
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 10, 11, 13
HOST_DEVICES = frozenset({CPU, CUDA_HOST, ROCM_HOST})

DEVICE_NAMES = {
    1: "the host",
    2: "a CUDA device",
    3: "pinned host memory (CUDA)",
    4: "an OpenCL device",
    7: "a Vulkan device",
    8: "a Metal device",
    10: "a ROCm device",
    11: "pinned host memory (ROCm)",
    13: "managed CUDA memory",
    14: "a oneAPI device",
    15: "a WebGPU device",
}

_READ_ONLY = 1


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


def read_dlpack(producer: object) -> DlpackTensor:
    """The tensor that an object with `__dlpack__` exports.

    The capsule is kept, not consumed: its own destructor gives the tensor back when the result is dropped. Raises
    BufferError or whatever the producer raises when it cannot export.
    """
    export = producer.__dlpack__  # type: ignore[attr-defined]
    try:
        capsule = export(max_version=(1, 0))
    except TypeError:
        # Producers from before DLPack 1.0 do not know the argument.
        capsule = export()
    is_read_only = False
    if _is_valid(capsule, b"dltensor_versioned"):
        head = _VersionedHead.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if head.version.major != 1:
            raise BufferError(f"DLPack {head.version.major}.{head.version.minor} is not understood; 0.x and 1.x are")
        tensor, is_read_only = head.tensor, bool(head.flags & _READ_ONLY)
    elif _is_valid(capsule, b"dltensor"):
        tensor = _Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    else:
        raise BufferError(f"{type(producer).__name__}.__dlpack__() did not return a fresh DLPack capsule")
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
        is_read_only,
        (capsule, producer),
    )
