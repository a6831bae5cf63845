"""What WGSL has no words for is refused by name with its substitute; nothing is narrowed (case 36)."""

from __future__ import annotations

import numpy as np
import pytest
from webgpu_room import gpu

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import ArgumentError, NotSupported

__all__ = ["gpu"]

SOURCE = """
struct Two { low: u32, high: u32 }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> word: u32;
@group(0) @binding(1) var<uniform> two: Two;
@compute @workgroup_size(1) fn take_word() { out[0] = word; }
@compute @workgroup_size(1) fn take_two() { out[0] = two.low; out[1] = two.high; }
"""

HALF = """
enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<uniform> half: f16;
@compute @workgroup_size(1) fn take_half() { out[0] = f32(half); }
"""


@pytest.mark.parametrize(
    ("value", "name", "substitute"),
    [
        (mg.u64(1 << 40), "u64", "two u32"),
        (mg.i64(-1), "i64", "two u32"),
        (mg.f64(0.5), "f64", "f32"),
        (mg.u8(7), "u8", "u32"),
        (mg.i8(-7), "i8", "i32"),
        (mg.u16(7), "u16", "u32"),
        (mg.i16(-7), "i16", "i32"),
        (mg.bf16(0.5), "bf16", "f32"),
        (np.bool_(True), "bool", "u32"),
    ],
)
def test_what_wgsl_has_no_type_for(gpu: GpuBackend, value: object, name: str, substitute: str) -> None:
    """The kernel, the type and what to pass instead are named, and no launch is made."""
    gpu.load_module("scalars", source={".wgsl": SOURCE})
    out = gpu.array(np.full(2, 9, np.uint32))
    for kernel in ("take_word", "take_two"):
        with pytest.raises((NotSupported, ArgumentError), match=name):
            mg.KernelLaunch(gpu, gpu.kernel("scalars", kernel)).arg_ptr(out).arg(value).launch()
    assert name in gpu.capabilities.unsupported_scalars
    assert out.numpy().tolist() == [9, 9]


@pytest.mark.parametrize("name", ["u64", "i64", "f64", "bool", "u8", "i8", "u16", "i16"])
def test_the_refusal_has_the_documented_substitute(gpu: GpuBackend, name: str) -> None:
    """Each of the builder's typed methods that WebGPU has nothing for says what to pass instead."""
    gpu.load_module("scalars", source={".wgsl": SOURCE})
    launch = mg.KernelLaunch(gpu, gpu.kernel("scalars", "take_two")).arg_ptr(gpu.empty(2, mg.u32))
    with pytest.raises((NotSupported, ArgumentError), match=r"pass|give|u32|f32|bool\(value\)"):
        getattr(launch, f"arg_{name}")(1).launch()


def test_two_words_carry_a_wide_number(gpu: GpuBackend) -> None:
    """The substitute works: the halves of a 64-bit number, low half first."""
    gpu.load_module("scalars", source={".wgsl": SOURCE})
    out = gpu.empty(2, mg.u32)
    wide = 0x0123456789ABCDEF
    mg.KernelLaunch(gpu, gpu.kernel("scalars", "take_two")).arg_ptr(out).arg_bytes(
        wide.to_bytes(8, "little"), align=4
    ).launch()
    assert out.numpy().view(np.uint64)[0] == wide


def test_a_16_bit_float_goes_where_the_device_has_them(gpu: GpuBackend) -> None:
    """With shader-f16 an f16 is an argument like any other; without it it is refused by name."""
    if "f16" in gpu.capabilities.unsupported_scalars:
        gpu.load_module("scalars", source={".wgsl": SOURCE})
        with pytest.raises(NotSupported, match="f16"):
            mg.KernelLaunch(gpu, gpu.kernel("scalars", "take_word")).arg_ptr(gpu.empty(1, mg.f32)).arg_f16(1.5).launch()
        return
    out = gpu.empty(1, mg.f32)
    kernel = gpu.load_module("half", source={".wgsl": HALF})["take_half"]
    mg.KernelLaunch(gpu, kernel).arg_ptr(out).arg_f16(-1.5).launch()
    assert out.numpy()[0] == -1.5


def test_six_bytes_are_bound_as_eight(gpu: GpuBackend) -> None:
    """Memory is words: a buffer of 6 bytes is bound as 2 of them, and its own length stays what was asked for."""
    source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
    source += "@compute @workgroup_size(1) fn f() { out[0] = arrayLength(&out); }"
    buffer = gpu.buffer(6)
    gpu.load_module("six", source={".wgsl": source})["f"][1, 1](buffer)
    read = np.zeros(6, np.uint8)
    gpu.copy_d2h(buffer.ptr, read)
    assert read[:4].view(np.uint32)[0] == 2
    assert buffer.nbytes == 6
