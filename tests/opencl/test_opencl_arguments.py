"""How arguments reach OpenCL's kernels, and which are refused before the driver is asked."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from opencl_room import MEMORIES, gpu, ints, kernel, open_pocl, svm

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import (
    ArgumentCountError,
    ArgumentKindError,
    ArgumentSizeError,
    ElementTypeError,
    GeometryError,
    GpuError,
    InvalidPointer,
    LimitExceeded,
)

__all__ = ["gpu", "svm"]

ECHO = "kernel void echo(global float *out, float x) { out[get_global_id(0)] = x; }"


def test_1_a_float_is_four_bytes(gpu: GpuBackend) -> None:
    """A double for a float is refused with both sizes; a typed float and a bare number arrive exactly."""
    echo, out = kernel(gpu, ECHO, "echo"), gpu.empty((3,), np.float32)
    launch = mg.KernelLaunch(gpu, echo).grid([1, 1, 1]).block([3, 1, 1]).arg_ptr(out)
    with pytest.raises(ArgumentSizeError, match=r"echo: argument 1 \(x\).*4 bytes expected, 8 given"):
        launch.arg_f64(2.0).launch()
    echo[1, 3](out, mg.f32(2.0))
    assert out.numpy().tolist() == [2.0, 2.0, 2.0]
    echo[1, 3](out, 0.375)
    assert out.numpy().tolist() == [0.375, 0.375, 0.375]


def test_3_an_argument_left_out_is_never_the_last_ones(gpu: GpuBackend) -> None:
    """A kernel object keeps what was set: a launch with one argument fewer is refused also after a good one."""
    add = kernel(gpu, "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }", "add")
    out = ints(gpu, 5)
    add[1, 5](out, 4)
    for given in ((out,), (out, 1, 2)):
        with pytest.raises(ArgumentCountError, match=rf"expects 2 .*got {len(given)}"):
            add[1, 5](*given)
    assert out.numpy().tolist() == [3] * 5


def test_5_elements_have_the_declared_type(gpu: GpuBackend) -> None:
    """64-bit integers for `int *` are refused naming both types; a bare pointer has none and is taken."""
    total = kernel(gpu, "kernel void total(global const int *x, global int *y) { *y = x[0] + x[1]; }", "total")
    out, wide = ints(gpu, 1), gpu.array(np.arange(8, dtype=np.int64))
    with pytest.raises(ElementTypeError, match=r"i64.*int|int.*i64"):
        total[1, 1](wide, out)
    total[1, 1](wide.ptr, out)
    assert out.numpy().tolist() == [0]


STRUCTS = """
struct Padded { char a; double b; int c; };
typedef struct { float3 v; float r; } Sphere;
kernel void padded(global double *out, struct Padded p) { out[0] = p.a; out[1] = p.b; out[2] = p.c; }
kernel void sphere(global float *out, Sphere s) { out[0] = s.v.x; out[1] = s.v.y; out[2] = s.v.z; out[3] = s.r; }
"""


def test_13_structures_keep_every_field(gpu: GpuBackend) -> None:
    """The compiler's own sizes (24 and 32) are known without a declaration, and every field arrives."""
    gpu.load_module("m", source=STRUCTS)
    wide, narrow = gpu.empty((3,), np.float64), gpu.empty((4,), np.float32)
    padded, sphere = gpu.kernel("m", "padded"), gpu.kernel("m", "sphere")
    data = struct.pack("<b7xdi4x", -3, 2.5, 70000)
    mg.KernelLaunch(gpu, padded).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(wide).arg_bytes(data, align=8).launch()
    assert wide.numpy().tolist() == [-3.0, 2.5, 70000.0]
    data = struct.pack("<3f4xf12x", 1.5, 2.5, 3.5, 9.0)
    mg.KernelLaunch(gpu, sphere).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(narrow).arg_bytes(data, align=16).launch()
    assert narrow.numpy().tolist() == [1.5, 2.5, 3.5, 9.0]


@pytest.mark.parametrize(("name", "right", "packed"), [("padded", 24, 13), ("sphere", 32, 16)])
def test_13_packed_structures_are_refused(svm: GpuBackend, name: str, right: int, packed: int) -> None:
    """The packed sizes are refused naming both; PoCL itself takes any."""
    svm.load_module("m", source=STRUCTS)
    out = svm.empty((4,), np.float64 if name == "padded" else np.float32)
    launch = mg.KernelLaunch(svm, svm.kernel("m", name)).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(out)
    with pytest.raises(ArgumentSizeError, match=rf"{right} bytes expected, {packed} given"):
        launch.arg_bytes(bytes(packed)).launch()


INTEGERS = {
    "i8": ("char", [-113, 127], [-129, 128]),
    "u8": ("uchar", [0, 255], [-1, 256]),
    "i32": ("int", [2**31 - 1, -(2**31)], [2**31]),
    "u32": ("uint", [2**32 - 1], [-1, 2**32]),
    "i64": ("long", [-(2**63)], [2**63]),
    "u64": ("ulong", [2**63, 2**64 - 1], [2**64, -1]),
}


def test_15_integers_arrive_or_are_refused(svm: GpuBackend) -> None:
    """Numbers in range arrive bit for bit; those out of range are refused naming argument, type and range."""
    source = "\n".join(
        f"kernel void echo_{name}(global {type} *out, {type} x) {{ *out = x; }}"
        for name, (type, _, _) in INTEGERS.items()
    )
    svm.load_module("m", source=source)
    for name, (_, fitting, unfitting) in INTEGERS.items():
        echo, out = (
            svm.kernel("m", f"echo_{name}"),
            svm.empty(
                (1,),
                np.dtype(name.replace("u", "uint").replace("i", "int", 1) if name[0] == "i" else f"uint{name[1:]}"),
            ),
        )
        for value in fitting:
            echo[1, 1](out, value)
            assert int(out.numpy()[0]) == value
        for value in (*unfitting, 1.5):
            with pytest.raises((GpuError, TypeError, ValueError), match=rf"argument 1.*{name}|{name}.*argument 1"):
                echo[1, 1](out, value)


def test_16_halves_go_by_their_bits(svm: GpuBackend) -> None:
    """bfloat16 needs no extra package and arrives in a ushort by its bits; bool is refused with its substitute."""
    echo, out = (
        kernel(svm, "kernel void echo(global ushort *o, ushort x) { *o = x; }", "echo"),
        svm.empty((1,), np.uint16),
    )
    mg.KernelLaunch(svm, echo).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(out).arg_bf16(1.5).launch()
    assert out.numpy()[0] == 0x3FC0
    with pytest.raises(GpuError, match="bool"):
        mg.KernelLaunch(svm, echo).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(out).arg_bool(True).launch()


def test_17_views_start_where_they_start() -> None:
    """A slice reaches the kernel from its first element; with buffer objects an offset that no sub-buffer may have is
    refused with both numbers, and one that it may have is bound."""
    copied = {}
    for memory in MEMORIES:
        with open_pocl(memory) as gpu:
            first = kernel(
                gpu, "kernel void first(global const int *x, global int *y) { y[0] = x[0]; y[1] = x[3]; }", "first"
            )
            x, out = gpu.array(np.arange(200, dtype=np.int32)), ints(gpu, 2)
            step = gpu.capabilities.buffer_offset_alignment
            first[1, 1](x[128 // 4 :], out)
            assert out.numpy().tolist() == [32, 35]
            if step == 1:
                first[1, 1](x[1:], out)
                copied[memory] = out.numpy().tolist()
                continue
            with pytest.raises(InvalidPointer, match=rf"(?s)4.*{step}|{step}.*4"):
                first[1, 1](x[1:], out)
            copied[memory] = x[1:5].numpy()[[0, 3]].tolist()
    assert copied == {"svm": [1, 4], "buffers": [1, 4]}


@pytest.mark.parametrize("view", [np.s_[:, :4], np.s_[::2], "T"])
def test_17_views_with_gaps_are_refused(svm: GpuBackend, view: object) -> None:
    """Host arrays whose elements do not lie one behind the other are refused: make them contiguous."""
    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    gappy = x.T if view == "T" else x[view]
    with pytest.raises(GpuError, match="contiguous"):
        svm.buffer(gappy.nbytes).copy_from(gappy)


def test_21_an_empty_grid_is_a_checked_no_op(gpu: GpuBackend) -> None:
    """A zero in the grid runs nothing and is no error; a zero in the block always is; arguments are checked anyway."""
    echo, out = kernel(gpu, ECHO, "echo"), gpu.array(np.full(2, 7, np.float32))
    for grid in ((0, 1, 1), (1, 0, 1)):
        echo[grid, 2](out, 1.0)
    with pytest.raises(ArgumentCountError):
        echo[0, 2](out)
    for block in ((0, 1, 1), (2, -1, 1)):
        with pytest.raises(GeometryError):
            echo[1, block](out, 1.0)
    assert out.numpy().tolist() == [7.0, 7.0]


def test_22_null_and_empty_buffers(gpu: GpuBackend) -> None:
    """A buffer of no bytes and the null pointer arrive as null, and a pointer behind the last byte may be given."""
    source = "kernel void is_null(global int *out, global const int *x) { *out = x == 0; }"
    is_null, out = kernel(gpu, source, "is_null"), ints(gpu, 1)
    empty, some = gpu.buffer(0), ints(gpu, 64)
    for given, told in ((empty, 1), (mg.DevicePtr(0), 1), (some, 0)):
        is_null[1, 1](out, given)
        assert out.numpy()[0] == told
    is_null[1, 1](out, some.ptr + 256)
    empty.copy_from(np.empty(0, np.int32))
    gpu.memset(empty, 0)
    assert gpu.live_bytes() == 4 + 256


def test_25_a_kernels_own_work_group_size_is_checked(svm: GpuBackend) -> None:
    """The size that a kernel was compiled for is the only one, and the device's largest is refused with numbers."""
    source = """
    kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global int *out) {
        out[get_global_id(1) * 4 + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);
    }
    kernel void loose(global int *out) { out[0] = 1; }
    """
    svm.load_module("m", source=source)
    fixed, out = svm.kernel("m", "fixed"), ints(svm, 8)
    assert fixed.attributes.required_block == (4, 2, 1)
    with pytest.raises(GeometryError, match=r"\(8, 1, 1\).*exactly \(4, 2, 1\)"):
        fixed[1, 8](out)
    fixed[1, (4, 2, 1)](out)
    assert out.numpy().tolist() == [42] * 8
    most = svm.kernel("m", "loose").attributes.max_threads_per_block
    assert most is not None
    with pytest.raises(LimitExceeded, match=rf"{most + 1}.*allows {most}"):
        svm.kernel("m", "loose")[1, most + 1](out)


def test_31_every_group_is_whole(gpu: GpuBackend) -> None:
    """1000 threads in blocks of 256 are 4 whole blocks; the kernel's own bounds check stops at 1000."""
    source = "kernel void count(global int *out, int n) { int at = get_global_id(0); if (at < n) out[at] = get_local_size(0); }"
    count, out = kernel(gpu, source, "count"), ints(gpu, 1024)
    count.over(1000, block=256)(out, 1000)
    assert out.numpy().tolist() == [256] * 1000 + [-1] * 24


LOCALS = """
kernel void locals(global int *out, local int *a, int n, local int *b) {
    int at = get_local_id(0);
    a[at] = n + at; b[at] = 10 * at;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = a[(at + 1) % 3] + b[(at + 2) % 3];
}
"""


def test_31_local_memory_is_given_by_argument_or_as_shared(gpu: GpuBackend) -> None:
    """`.shared_mem` is the last local parameter, `arg_local` one at its place; over the limit is refused with numbers."""
    locals, out = kernel(gpu, LOCALS, "locals"), ints(gpu, 6)
    expected = [100 + (at + 1) % 3 + 10 * ((at + 2) % 3) for at in range(3)] * 2
    launch = mg.KernelLaunch(gpu, locals).grid([2, 1, 1]).block([3, 1, 1])
    launch.arg_ptr(out).arg_local(12).arg_i32(100).arg_local(12).launch()
    assert out.numpy().tolist() == expected
    out.copy_from(np.zeros(6, np.int32))
    shared = mg.KernelLaunch(gpu, locals).grid([2, 1, 1]).block([3, 1, 1]).shared_mem(12)
    shared.arg_ptr(out).arg_local(12).arg_i32(100).launch()
    assert out.numpy().tolist() == expected
    limit = gpu.capabilities.max_static_and_dynamic_shared_mem
    over = mg.KernelLaunch(gpu, locals).grid([2, 1, 1]).block([3, 1, 1]).shared_mem(limit - 11)
    with pytest.raises(LimitExceeded, match=rf"{limit + 1}.*allows {limit}"):
        over.arg_ptr(out).arg_local(12).arg_i32(100).launch()


def test_31_local_memory_left_out_is_refused(svm: GpuBackend) -> None:
    """A local parameter that gets no memory is never a zero-byte argument: the launch is refused naming it."""
    locals, out = kernel(svm, LOCALS, "locals"), ints(svm, 6)
    with pytest.raises(ArgumentCountError, match=r"locals.*\bb\b"):
        mg.KernelLaunch(svm, locals).grid([2, 1, 1]).block([3, 1, 1]).arg_ptr(out).arg_local(12).arg_i32(1).launch()
    for nbytes in (0, 12):
        launch = mg.KernelLaunch(svm, locals).grid([2, 1, 1]).block([3, 1, 1]).shared_mem(nbytes)
        with pytest.raises((ArgumentCountError, ValueError)):
            launch.arg_ptr(out).arg_local(12 - nbytes).arg_i32(1).arg_local(nbytes).launch()
    assert out.numpy().tolist() == [-1] * 6


def test_34_argument_bytes_have_the_devices_limit(svm: GpuBackend) -> None:
    """As many arguments as fit CL_DEVICE_MAX_PARAMETER_SIZE arrive; one byte more is refused with count and limit."""
    limit = svm.capabilities.max_parameter_nbytes
    assert limit == 1024
    count = (limit - 8) // 8
    names = [f"v{at}" for at in range(count)]
    declared = ", ".join(f"ulong {name}" for name in names)
    body = "".join(f"out[{at}] = {name}; " for at, name in enumerate(names))
    source = f"kernel void fits(global ulong *out, {declared}) {{ {body} }}\n"
    source += f"kernel void over(global ulong *out, {declared}, char more) {{ {body} }}"
    svm.load_module("m", source=source)
    out = svm.empty((count,), np.uint64)
    values = [2**40 * at + 3 for at in range(count)]
    svm.kernel("m", "fits")[1, 1](out, *values)
    assert out.numpy().tolist() == values
    with pytest.raises(LimitExceeded, match=r"1025.*allows 1024"):
        svm.kernel("m", "over")[1, 1](out, *values, 1)


def test_images_are_refused_by_name(svm: GpuBackend) -> None:
    """A kernel that takes an image can be looked up, and no argument is one."""
    source = "kernel void shade(global int *out, read_only image2d_t i) { out[0] = get_image_width(i); }"
    shade, out = kernel(svm, source, "shade"), ints(svm, 1)
    for given in (out, 5, 1.5, None, bytes(8), mg.u64(5), np.zeros(4, np.float32)):
        with pytest.raises(ArgumentKindError, match=r"image2d_t.* no argument is; keep what it holds in a buffer"):
            shade[1, 1](out, given)


def test_vectors_are_as_opencl_lays_them_out(svm: GpuBackend) -> None:
    """A float3 has 16 bytes and a uchar4 4: given as bytes they arrive, and a float3 of 12 is refused."""
    source = "kernel void v(global float *o, float3 x, uchar4 c) { o[0] = x.x; o[1] = x.y; o[2] = x.z; o[3] = c.w; }"
    v, out = kernel(svm, source, "v"), svm.empty((4,), np.float32)

    def launch(x: bytes) -> None:
        builder = mg.KernelLaunch(svm, v).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(out)
        builder.arg_bytes(x, align=16).arg_bytes(b"\x01\x02\x03\x09", align=4).launch()

    launch(struct.pack("<4f", 1.5, 2.5, 3.5, 0))
    assert out.numpy().tolist() == [1.5, 2.5, 3.5, 9.0]
    with pytest.raises(ArgumentSizeError, match="16 bytes expected, 12 given"):
        launch(struct.pack("<3f", 1, 2, 3))


def test_a_host_array_for_a_vector_is_told_what_is_wanted(svm: GpuBackend) -> None:
    """An array, list or lent array for a vector by value is refused as no value of it, not as a missing address; its
    bytes arrive."""
    v, out = kernel(svm, "kernel void v(global int *o, int4 x) { o[0] = x.y; o[1] = x.w; }", "v"), ints(svm, 2)
    array = np.array([3, 5, 7, 11], np.int32)
    for given in (array, array.tolist(), mg.In(array)):
        with pytest.raises(ArgumentKindError, match=r"\(x\) is declared `int4 x`.*16 bytes") as refused:
            v[1, 1](out, given)
        assert "address" not in str(refused.value)
    v[1, 1](out, array.tobytes())
    assert out.numpy().tolist() == [5, 11]


@pytest.mark.parametrize("grid", [(1 << 32) + 16, (65536, 65536, 2), (1, 1, 1 << 33), (1 << 31, 1 << 31, 1)])
def test_more_blocks_than_pocl_counts_are_refused(gpu: GpuBackend, grid: int | tuple[int, ...]) -> None:
    """PoCL counts blocks in 32 bits: a launch of more is refused with the number, instead of running what is left over."""
    mark, out = kernel(gpu, "kernel void mark(global int *o) { o[0] = 5; }", "mark"), ints(gpu, 2)
    mark[1, 1](out)
    before = out.numpy().tolist()
    prepared = mark[1, 1].prepare(out)
    with pytest.raises(LimitExceeded, match="4294967295"):
        prepared(grid=grid)
    with pytest.raises(LimitExceeded, match="4294967295"):
        mark[grid, 1](out)
    assert out.numpy().tolist() == before == [5, -1]
