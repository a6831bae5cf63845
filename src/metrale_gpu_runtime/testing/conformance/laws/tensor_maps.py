"""Tensor maps: encoded for the device, passed by value, holding the memory that they describe."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

import numpy as np

from ....errors import AllocationInUse, InvalidPointer, TensorMapError
from ....handles import DevicePtr
from ....launch import KernelLaunch
from ....scalars import f32, u8
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(1,), field=(14,), needs=("tensor_map_encoding",))
def an_encoded_tensor_map_arrives_unchanged(target: ConformanceTarget) -> None:
    """The 128 bytes of an encoded map reach the kernel as they are, from the builder and from the short form."""
    with target.opened() as gpu:
        memory = gpu.empty((7, 96), f32)
        one = gpu.tensor_map(memory, box=(16, 3))
        other = gpu.tensor_map(memory.ptr + 512, shape=(50, 5), strides=(384,), box=(32, 2), dtype="TFLOAT32")
        assert len(bytes(one)) == len(other.data) == 128
        assert one.data != other.data
        kernel = target.kernel(gpu, "tensor_map")
        out = gpu.array(np.zeros(133, dtype=np.uint8))
        builder = KernelLaunch(gpu, kernel).grid(3).block(50)
        builder.arg_ptr(out.ptr).arg_u8(0xC1).arg_tensormap(one).arg_u8(0xC2).launch()
        assert out.numpy().tobytes() == b"\xc1" + one.data + b"\xc2" + bytes(3)
        kernel[3, 50](out.ptr, u8(0xC3), other, u8(0xC4))
        assert out.numpy().tobytes() == b"\xc3" + other.data + b"\xc4" + bytes(3)


@case(invariants=(2,), needs=("tensor_map_encoding",))
def a_tensor_map_is_checked_before_the_driver(target: ConformanceTarget) -> None:
    """A map that breaks a rule of the device names the dimension, the value and the limit, and no driver is asked."""
    with target.opened() as gpu:
        memory = gpu.empty((7, 100), f32)
        gpu.tensor_map(memory, box=(4, 1))
        broken: tuple[tuple[int, dict[str, Any]], ...] = (
            (0, {"box": (257, 1)}),
            (1, {"box": (4, 0)}),
            (0, {"box": (6, 1)}),
            (0, {"box": (16, 1), "swizzle": "32B"}),
            (0, {"box": (4, 1), "strides": (408,)}),
            (0, {"box": (4, 1), "strides": (384,)}),
            (1, {"box": (4, 1), "element_strides": (1, 9)}),
        )
        for dimension, changes in broken:
            error = refused(target, gpu, partial(gpu.tensor_map, memory, **changes), TensorMapError)
            assert error.dimension == dimension, str(error)
            assert error.asked is not None
            assert error.limit is not None
        refused(target, gpu, lambda: gpu.tensor_map(memory, shape=(100, 8), box=(4, 1)), InvalidPointer)
        refused(
            target, gpu, lambda: gpu.tensor_map(memory.ptr + 4, shape=(9, 1), box=(4, 1), dtype=f32), TensorMapError
        )


@case(invariants=(6,), field=(4,), needs=("tensor_map_encoding",))
def a_tensor_map_holds_its_memory(target: ConformanceTarget) -> None:
    """What a map describes lives as long as the map and the launches that carry it; an explicit free is refused."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "tensor_map")
        out = gpu.array(np.zeros(130, dtype=np.uint8))
        before = gpu.live_alloc_count()
        made = gpu.tensor_map(gpu.empty((7, 96), f32), box=(16, 3))
        gc.collect()
        assert gpu.live_alloc_count() == before + 1
        kernel[3, 50, 0, stream](out, u8(1), made, u8(2))
        if gpu.capabilities.asynchronous:
            refused(target, gpu, partial(gpu.free, DevicePtr(made.description.address)), AllocationInUse)
        data = made.data
        del made
        gc.collect()
        stream.synchronize()
        assert out.numpy().tobytes() == b"\x01" + data + b"\x02"
        gpu.synchronize()
        assert gpu.live_alloc_count() == before
