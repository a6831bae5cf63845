"""How arguments, blocks and shared memory reach WGSL kernels, and what is refused before anything is recorded."""

from __future__ import annotations

import numpy as np
import pytest
from webgpu_room import gpu

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu.values import NBYTES
from metrale_gpu_runtime.errors import (
    ArgumentSizeError,
    CompileError,
    FunctionConstantError,
    GeometryError,
    GpuError,
    InvalidPointer,
    KernelNotFound,
    LimitExceeded,
    NotSupported,
)

__all__ = ["gpu"]

COUNT = 1000


def test_the_ith_argument_is_the_ith_binding(gpu: GpuBackend) -> None:
    """Binding numbers may have gaps: arguments go by their order, values in every block are the same."""
    x = gpu.array(np.arange(COUNT, dtype=np.uint32))
    gpu.kernel("m", "affine").over(COUNT)(x, COUNT - 1, 7, 11)
    expected = np.arange(COUNT, dtype=np.uint32) * 7 + 11
    expected[-1] = COUNT - 1
    np.testing.assert_array_equal(x.numpy(), expected)


def test_a_structure_is_laid_out_as_wgsl_does(gpu: GpuBackend) -> None:
    """A struct argument is one uniform, byte for byte; one of another size is refused with both."""
    kernel = gpu.kernel("m", "affine_by")
    x = gpu.array(np.arange(COUNT, dtype=np.uint32))
    by = np.array([COUNT, 3, 5], np.uint32)
    mg.KernelLaunch(gpu, kernel).grid(4).block(256).arg_ptr(x).arg_bytes(by.tobytes(), align=4).launch()
    np.testing.assert_array_equal(x.numpy(), np.arange(COUNT, dtype=np.uint32) * 3 + 5)
    with pytest.raises(ArgumentSizeError, match="12"):
        mg.KernelLaunch(gpu, kernel).arg_ptr(x).arg_bytes(bytes(16), align=4).launch()


LAYOUTS = """
struct Inner { v: vec3f, w: f32 }
struct Outer { a: u32, inner: Inner, m: mat2x2f, tail: vec2u }
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<uniform> given: Outer;
@group(0) @binding(2) var<uniform> after: vec3u;
@group(0) @binding(3) var<uniform> last: f32;
@compute @workgroup_size(1) fn spread() {
    out[0] = f32(given.a); out[1] = given.inner.v.x; out[2] = given.inner.v.y; out[3] = given.inner.v.z;
    out[4] = given.inner.w; out[5] = given.m[0].x; out[6] = given.m[1].y; out[7] = f32(given.tail.y);
    out[8] = f32(after.z); out[9] = last;
}
"""


def test_vectors_matrices_and_nested_structures_have_wgsls_places(gpu: GpuBackend) -> None:
    """vec3f is aligned to 16 bytes, a structure to its widest member, a matrix is its columns."""
    kernel = gpu.load_module("layouts", source={".wgsl": LAYOUTS})["spread"]
    outer = np.zeros(64, np.uint8)
    outer[0:4].view(np.uint32)[0] = 9
    outer[16:32].view(np.float32)[:] = [1.5, 2.5, 3.5, 4.5]
    outer[32:48].view(np.float32)[:] = [5.5, 6.5, 7.5, 8.5]
    outer[48:56].view(np.uint32)[:] = [10, 11]
    out = gpu.empty(10, mg.f32)
    launch = mg.KernelLaunch(gpu, kernel).arg_ptr(out).arg_bytes(outer.tobytes(), align=16)
    launch.arg_bytes(np.array([12, 13, 14], np.uint32).tobytes(), align=16).arg_f32(15.25).launch()
    assert out.numpy().tolist() == [9, 1.5, 2.5, 3.5, 4.5, 5.5, 8.5, 11, 14, 15.25]


IMMEDIATES = """
struct Given { scale: f32, count: u32, offset: vec2f }
var<immediate> given: Given;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(32) fn scaled(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < given.count) { out[id.x] = out[id.x] * given.scale + given.offset.y; }
}
"""


def test_the_members_of_immediates_are_arguments_behind_the_bindings(gpu: GpuBackend) -> None:
    """Immediates take no buffer: each member is an argument, laid out by WGSL's rules."""
    kernel = gpu.load_module("immediates", source={".wgsl": IMMEDIATES})["scaled"]
    out = gpu.array(np.arange(100, dtype=np.float32))
    for scale, offset in ((2.0, 0.5), (3.0, 1.5)):
        pair = np.array([99, offset], np.float32).tobytes()
        mg.KernelLaunch(gpu, kernel).grid(4).block(32).arg_ptr(out).arg_f32(scale).arg_u32(99).arg_bytes(
            pair, align=8
        ).launch()
    expected = (np.arange(100, dtype=np.float32) * 2 + 0.5) * 3 + 1.5
    expected[99] = 99
    np.testing.assert_array_equal(out.numpy(), expected)


def test_a_fixed_block_is_required(gpu: GpuBackend) -> None:
    """A constant @workgroup_size is the only block that the kernel takes; another one is refused with both."""
    kernel = gpu.kernel("m", "affine_32")
    assert kernel.attributes.required_block == (32, 1, 1)
    x = gpu.array(np.ones(64, np.uint32))
    with pytest.raises(GeometryError, match=r"64.*32"):
        kernel[1, 64](x, 64, 2, 3)
    kernel[2, 32](x, 64, 2, 3)
    assert x.numpy().tolist() == [5] * 64


def test_an_override_in_the_block_takes_the_launchs_extent(gpu: GpuBackend) -> None:
    """Every block of one launch after the other runs with its own size, and none that was compiled before is lost."""
    kernel = gpu.kernel("m", "affine")
    x = gpu.array(np.zeros(96, np.uint32))
    for block in (32, 96, 1, 48, 32):
        kernel[96 // block, block](x, 96, 2, block)
    expected = 0
    for block in (32, 96, 1, 48, 32):
        expected = expected * 2 + block
    assert set(x.numpy().tolist()) == {expected}


SIDES = """
override side: u32;
override depth: u32;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(side, side, 2) fn square(@builtin(local_invocation_index) at: u32) { out[at] = at + 1; }
@compute @workgroup_size(side * 2) fn worked_out() { out[0] = 1; }
"""


def test_an_override_on_two_axes_asks_for_equal_extents(gpu: GpuBackend) -> None:
    """What the text ties together a launch must give together; the axis and what it has to be are named."""
    square = gpu.load_module("sides", source={".wgsl": SIDES})["square"]
    out = gpu.array(np.zeros(40, np.uint32))
    square[1, (4, 4, 2)](out)
    assert out.numpy().tolist() == [*range(1, 33), *[0] * 8]
    with pytest.raises(GeometryError, match=r"block\.y has to be 4"):
        square[1, (4, 5, 2)](out)
    with pytest.raises(GeometryError, match=r"block\.z has to be 2"):
        square[1, (4, 4, 1)](out)


def test_a_block_that_is_worked_out_is_refused_by_name(gpu: GpuBackend) -> None:
    """An expression in @workgroup_size is nothing that a launch could set."""
    module = gpu.load_module("sides", source={".wgsl": SIDES})
    with pytest.raises(NotSupported, match="side \\* 2"):
        module["worked_out"]


@pytest.mark.parametrize("words", [8, 32, 13])
def test_shared_mem_sets_the_override_of_its_name(gpu: GpuBackend, words: int) -> None:
    """`.shared_mem(nbytes)` is the override `shared_mem`: the array in workgroup memory has that length."""
    x = gpu.array(np.arange(3 * words, dtype=np.uint32))
    gpu.kernel("m", "turned")[3, words, 4 * words](x)
    assert x.numpy().reshape(3, words).tolist() == [
        list(range(words * (at + 1) - 1, words * at - 1, -1)) for at in range(3)
    ]


def test_shared_mem_without_the_override_is_refused(gpu: GpuBackend) -> None:
    """A kernel that declares no `shared_mem` has no memory of the launch's choice, and says how to get some."""
    x = gpu.array(np.ones(32, np.uint32))
    with pytest.raises(NotSupported, match="override shared_mem"):
        gpu.kernel("m", "affine")[1, 32, 64](x, 32, 2, 3)
    assert x.numpy().tolist() == [1] * 32


CONSTANTS = """
@id(7) override N: u32 = 3;
override scale: f32;
override negated: bool = false;
override offset: i32 = -2;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn constants() {
    out[0] = f32(N); out[1] = scale; out[2] = select(1.0, -1.0, negated); out[3] = f32(offset);
}
"""


def test_overrides_are_function_constants(gpu: GpuBackend) -> None:
    """By name or @id, checked by their types; what has no default has to be given."""
    gpu.load_module("constants", source={".wgsl": CONSTANTS})
    out = gpu.empty(4, mg.f32)
    gpu.kernel("constants", "constants", constants={"scale": 1.25})[1, 1](out)
    assert out.numpy().tolist() == [3, 1.25, 1, -2]
    given = {7: 9, "scale": -0.5, "negated": True, "offset": -77}
    gpu.kernel("constants", "constants", constants=given)[1, 1](out)
    assert out.numpy().tolist() == [9, -0.5, -1, -77]
    for wrong, said in (({}, "scale"), ({"scale": 1.0, "N": -1}, "N"), ({"scale": 1.0, "M": 1}, "'M'")):
        with pytest.raises(FunctionConstantError, match=said):
            gpu.kernel("constants", "constants", constants=wrong)


def test_interior_pointers_are_offsets_of_a_binding(gpu: GpuBackend) -> None:
    """A pointer into a buffer is bound from there to the end; one that is not aligned is refused with the number."""
    align = gpu.capabilities.buffer_offset_alignment
    words = align // 4
    x = gpu.array(np.arange(3 * words, dtype=np.uint32))
    gpu.kernel("m", "affine_32")[1, 32](x.ptr + align, words, 100, 1)
    expected = np.arange(3 * words, dtype=np.uint32)
    expected[words : 2 * words] = expected[words : 2 * words] * 100 + 1
    np.testing.assert_array_equal(x.numpy(), expected)
    with pytest.raises(GpuError, match=str(align)):
        gpu.kernel("m", "affine_32")[1, 32](x.ptr + 4, words, 100, 1)


def test_memory_twice_in_one_launch_is_refused_where_it_is_written(gpu: GpuBackend) -> None:
    """WebGPU allows no buffer to be written through one binding and named by another: both arguments are named."""
    align = gpu.capabilities.buffer_offset_alignment
    a = gpu.array(np.ones(64, np.float32))
    twice = gpu.kernel("m", "twice")
    for second in (a.ptr, a.ptr + align):
        with pytest.raises(NotSupported, match=r"\(a\).*\(b\)"):
            twice[1, 64](a, second)
    assert a.numpy().tolist() == [1] * 64


def test_what_lies_in_no_memory_is_refused(gpu: GpuBackend) -> None:
    """Addresses are this backend's own numbers: any other one, and null, is refused before anything is recorded."""
    kernel = gpu.kernel("m", "affine_32")
    for address in (0x1000, 1 << 44, (1 << 64) - 4):
        with pytest.raises(InvalidPointer):
            kernel[1, 32](mg.DevicePtr(address), 1, 1, 1)
    with pytest.raises(NotSupported, match="null"):
        kernel[1, 32](None, 1, 1, 1)


def test_too_little_memory_behind_a_pointer_is_refused(gpu: GpuBackend) -> None:
    """What the kernel declares has to lie behind the pointer; the refusal says how much does."""
    source = "@group(0) @binding(0) var<storage, read_write> w: array<vec4f, 3>;\n"
    source += "@compute @workgroup_size(1) fn f() { w[2] = vec4f(1); }"
    kernel = gpu.load_module("least", source={".wgsl": source})["f"]
    with pytest.raises(ArgumentSizeError, match=r"40 bytes.*48"):
        kernel[1, 1](gpu.buffer(40))
    kernel[1, 1](gpu.buffer(48))
    gpu.synchronize()


def test_more_values_than_the_buffer_for_them_holds(gpu: GpuBackend) -> None:
    """Values are kept apart from launch to launch, also when their buffer is full and begun anew, and large ones too."""
    kernel = gpu.kernel("m", "affine_32")
    x = gpu.array(np.zeros(32, np.uint32))
    rounds = NBYTES // (3 * gpu.capabilities.buffer_offset_alignment) + 50
    with gpu.sequence() as many:
        for number in range(200):
            kernel[1, 32](x, 32, 1, number)
    total = 0
    for number in range(rounds // 200 + 1):
        many()
        total += 199 * 100
        kernel[1, 32](x, 32, 1, number)
        total += number
    assert set(x.numpy().tolist()) == {total}
    source = """
    struct Large { words: array<vec4u, 4000> }
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @group(0) @binding(1) var<uniform> first: Large;
    @group(0) @binding(2) var<uniform> second: Large;
    @group(0) @binding(3) var<uniform> third: Large;
    @compute @workgroup_size(1) fn f() {
        out[0] = first.words[0].x; out[1] = second.words[3999].w; out[2] = third.words[17].z;
    }"""
    large = gpu.load_module("large", source={".wgsl": source})["f"]
    out = gpu.empty(3, mg.u32)
    words = np.arange(3 * 16000, dtype=np.uint32).reshape(3, 16000)
    launch = mg.KernelLaunch(gpu, large).arg_ptr(out)
    for each in words:
        launch.arg_bytes(each.tobytes(), align=16)
    launch.launch()
    assert out.numpy().tolist() == [0, 16000 + 15999, 32000 + 4 * 17 + 2]
    kernel[1, 32](x, 32, 0, 5)
    assert set(x.numpy().tolist()) == {5}


def test_a_kernel_without_arguments_runs(gpu: GpuBackend) -> None:
    """Nothing is bound, and nothing is asked for."""
    gpu.load_module("none", source={".wgsl": "@compute @workgroup_size(1) fn f() { }"})["f"][2, 1]()
    gpu.synchronize()


UNFILLABLE = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(1) @binding(0) var<uniform> elsewhere: f32;
@compute @workgroup_size(1) fn reads_texture() { out[0] = textureLoad(picture, vec2u(0), 0).x; }
@compute @workgroup_size(1) fn reads_group_1() { out[0] = elsewhere; }
@compute @workgroup_size(1) fn reads_neither() { out[0] = 4.5; }
"""


def test_textures_and_other_groups_are_refused_where_they_are_used(gpu: GpuBackend) -> None:
    """A kernel is judged by what it reaches: its neighbours in the text are no matter."""
    module = gpu.load_module("unfillable", source={".wgsl": UNFILLABLE})
    for name, said in (("reads_texture", "picture"), ("reads_group_1", r"elsewhere.*@group\(1\)")):
        with pytest.raises(NotSupported, match=said):
            module[name]
    out = gpu.empty(1, mg.f32)
    module["reads_neither"][1, 1](out)
    assert out.numpy()[0] == 4.5


def test_names_that_are_not_there(gpu: GpuBackend) -> None:
    """A kernel that is not in the text is told with those that are."""
    with pytest.raises(KernelNotFound, match="afine") as caught:
        gpu.kernel("m", "afine")
    assert "affine" in caught.value.close
    with pytest.raises(NotSupported, match="variables"):
        gpu.load_module("unfillable", source={".wgsl": UNFILLABLE}).globals["out"]


def test_shared_memory_over_the_limit_is_refused_where_it_is_known(gpu: GpuBackend) -> None:
    """Workgroup memory of the text counts; the refusal has the number that the device allows."""
    limit = gpu.capabilities.max_static_and_dynamic_shared_mem
    source = f"var<workgroup> tile: array<u32, {limit // 4 + 1}>;\n"
    source += "@compute @workgroup_size(1) fn f() { tile[0] = 1; }"
    module = gpu.load_module("large", source={".wgsl": source})
    with pytest.raises((LimitExceeded, CompileError), match=str(limit)):
        module["f"][1, 1]()
    x = gpu.array(np.ones(8, np.uint32))
    with pytest.raises(LimitExceeded, match=str(limit)):
        gpu.kernel("m", "turned")[1, 8, limit + 4](x)
