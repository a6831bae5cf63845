"""What a launch is given: widths, counts, alignment, empty grids and empty buffers (field cases 1, 3, 14, 21, 22)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from field_cases_places import CODE_OBJECTS, PLACES, Place, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ArgumentCountError, ArgumentError, ArgumentSizeError, GeometryError

CUBIN = Path(__file__).parents[1] / "cuda_code" / "data" / "one.sm_90.cubin"


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with opened(request.param) as place:
        yield place


# ------------------------------------------------ 1: a scalar of the wrong width

SCALE = "float* out, float x"
FLOAT_PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry write(.param .u64 out, .param .f32 x) {
    .reg .u64 %a; .reg .f32 %x;
    ld.param.u64 %a, [out]; ld.param.f32 %x, [x];
    st.global.f32 [%a], %x;
    ret;
}
.visible .entry opaque(.param .u64 out, .param .b32 x) { ret; }
"""


def ways_of_giving(gpu: mg.GpuBackend, kernel: mg.Kernel, out: object, value: object) -> list[Callable[[], object]]:
    """Short form, builder, prepared launch, sequence: each ends in a launch of (out, value), or in a refusal."""

    def in_a_sequence() -> None:
        with gpu.sequence() as step:
            kernel[1, 1](out, value)
        step()

    return [
        lambda: kernel[1, 1](out, value),
        lambda: mg.KernelLaunch(gpu, kernel).arg_ptr(out).arg(value).launch(),
        lambda: kernel[1, 1].prepare(out, value)(),
        in_a_sequence,
    ]


def test_a_double_for_a_float_is_refused_before_the_launch(place: Place) -> None:
    """An f64 is refused naming kernel, parameter index and name, 4 bytes expected and 8 given; nothing is launched."""
    kernel = place.kernel("echo_f32", SCALE)
    out = place.gpu.empty(1, mg.f32)
    for give in ways_of_giving(place.gpu, kernel, out, mg.f64(2.0)):
        with pytest.raises(ArgumentSizeError) as refused:
            give()
        error = refused.value
        assert (error.kernel, error.index, error.name) == ("echo_f32", 1, "x")
        assert (error.expected, error.given) == (4, 8)
        for word in ("echo_f32", "argument 1", "x", "4", "8"):
            assert word in str(error), (word, str(error))
    with pytest.raises(ArgumentSizeError):
        mg.KernelLaunch(place.gpu, kernel).arg_ptr(out).arg_f64(2.0).launch()
    assert place.launch_calls == 0


def test_a_double_is_refused_where_only_the_driver_knows_the_size(standin) -> None:
    """A cubin tells sizes and no types: an f64 for its 4 bytes is refused with both sizes, and nothing is launched."""
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("one", binary=CUBIN.read_bytes())["mark"]
        out = gpu.empty(3, mg.i32)
        with pytest.raises(ArgumentSizeError) as refused:
            kernel[1, 3](out, mg.f64(2.0))
        assert (refused.value.kernel, refused.value.index) == ("mark", 1)
        assert (refused.value.expected, refused.value.given) == (4, 8)
        # Nobody knows that it is a float, so a bare number has no type.
        with pytest.raises(ArgumentError) as unknown:
            kernel[1, 3](out, 2.0)
        assert "mg.f32" in str(unknown.value)
        assert standin.call_count("cuLaunchKernelEx") == 0
        kernel[1, 3](out, mg.f32(2.0))
        gpu.synchronize()
        assert struct.unpack_from("<f", standin.launches()[0].parameters, 8) == (2.0,)


def test_a_float_gives_exactly_two(standin) -> None:
    """A typed f32 and a bare float that the kernel is known to take arrive as 2.0; executed, the kernel writes 2.0."""
    from standin.executor import Executor

    executor = Executor(standin)
    try:
        with mg.open_backend("cuda") as gpu:
            kernel = gpu.load_module("m", source={".ptx": FLOAT_PTX})["write"]
            for value in (mg.f32(2.0), 2.0, np.float32(2.0)):
                out = gpu.array(np.full(2, -1, dtype=np.float32))
                kernel[1, 1](out, value)
                assert out.numpy().tolist() == [2.0, -1.0]
            assert {launch.parameters[8:12] for launch in standin.launches()} == {struct.pack("<f", 2.0)}
            with pytest.raises(ArgumentError):
                kernel[1, 1](out, np.float64(2.0))
    finally:
        executor.close()
    assert executor.failures == []


def test_a_bare_float_is_refused_where_the_kind_is_not_known(standin) -> None:
    """4 bytes of no known kind take a typed value only; the refusal says how to type it, and nothing is launched."""
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("m", source={".ptx": FLOAT_PTX})["opaque"]
        out = gpu.empty(1, mg.f32)
        with pytest.raises(ArgumentError) as refused:
            kernel[1, 1](out, 2.0)
        assert (refused.value.kernel, refused.value.index) == ("opaque", 1)
        assert "mg.f32" in str(refused.value)
        assert standin.call_count("cuLaunchKernelEx") == 0
        kernel[1, 1](out, mg.f32(2.0))
        gpu.synchronize()
        assert standin.launches()[0].parameters[8:12] == struct.pack("<f", 2.0)


def test_a_code_objects_metadata_knows_no_floats() -> None:
    """On HIP too: a bare float for 4 bytes of no known kind is refused, a typed one arrives as 2.0."""
    with opened("hip") as place:
        module = place.gpu.load_module("m", path=CODE_OBJECTS / "suite.gfx1100.hsaco")
        out = place.gpu.empty(1, mg.f32)
        with pytest.raises(ArgumentError) as refused:
            module["echo_f32"][1, 1](out, 2.0)
        assert "mg.f32" in str(refused.value)
        assert place.launch_calls == 0
        module["echo_f32"][1, 1](out, mg.f32(2.0))
        place.gpu.synchronize()
        assert place.standin.launches()[0].parameters[8:12] == struct.pack("<f", 2.0)


# ------------------------------------------------ 3: too few arguments, too many


def test_a_wrong_count_is_refused_each_time(place: Place) -> None:
    """2 and 4 arguments for 3 parameters raise one error on every backend, after a good launch too; none is launched."""
    kernel, gpu = place.kernel("sum_i32", "const int* x, int* out, unsigned int count"), place.gpu
    x, out = gpu.empty(5, mg.i32), gpu.empty(1, mg.i32)
    for accepted in (0, 1):
        before = place.launch_calls
        for values in ((x, out), (x, out, mg.u32(5), mg.u32(6))):
            for form in (
                lambda values=values: kernel[1, 1](*values),
                lambda values=values: mg.KernelLaunch(gpu, kernel).args(*values).launch(),
                lambda values=values: kernel[1, 1].prepare(*values),
            ):
                with pytest.raises(ArgumentCountError) as refused:
                    form()
                assert (refused.value.expected, refused.value.given) == (3, len(values))
                said = "sum_i32 expects 3 arguments (const int* x, int* out, unsigned int count), got"
                assert str(refused.value) == f"{said} {len(values)}"
        assert place.launch_calls == before == accepted
        kernel[1, 1](x, out, mg.u32(5))
    gpu.synchronize()


def test_a_prepared_launch_takes_no_other_count(place: Place) -> None:
    """A prepared launch called with fewer or more values than it was prepared with raises and launches nothing."""
    kernel, gpu = place.kernel("sum_i32", "const int* x, int* out, unsigned int count"), place.gpu
    x, out = gpu.empty(5, mg.i32), gpu.empty(1, mg.i32)
    prepared = kernel[1, 1].prepare(x, out, mg.u32(5))
    prepared()
    for values in ((x, out), (x, out, mg.u32(5), mg.u32(6))):
        with pytest.raises(ArgumentCountError) as refused:
            prepared(*values)
        assert (refused.value.expected, refused.value.given) == (3, len(values))
    assert place.launch_calls == 1
    gpu.synchronize()


# ------------------------------------------------ 14: alignment of the argument block

ORDERS = """.version 7.8
.target sm_80
.address_size 64
.visible .entry small_wide(.param .u8 a, .param .u64 b) { ret; }
.visible .entry four(.param .u32 a, .param .u64 b, .param .u16 c, .param .f64 d) { ret; }
.visible .entry map(.param .u8 a, .param .align 64 .b8 b[128], .param .u8 c) { ret; }
.visible .entry short_tail(.param .u64 a, .param .u16 b) { ret; }
"""


def test_every_order_of_sizes_is_aligned(standin) -> None:
    """(u8, u64), (u32, ptr, u16, f64) and (u8, tensor map, u8) lie by C's rules, and the bytes are those given."""
    tensor = bytes((7 * i + 3) % 251 for i in range(128))
    with mg.open_backend("cuda") as gpu:
        module = gpu.load_module("m", source={".ptx": ORDERS})
        x = gpu.empty(3, mg.f32)

        def launch(kernel: str) -> mg.KernelLaunch:
            return mg.KernelLaunch(gpu, module[kernel])

        forms = (
            launch("small_wide").arg_u8(0xA7).arg_u64(0x1122334455667788),
            launch("four").arg_u32(0xDEADBEEF).arg_ptr(x).arg_u16(0x3344).arg_f64(-2.25),
            launch("map").arg_u8(9).arg_tensormap(tensor).arg_u8(11),
        )
        for form in forms:
            form.launch()
            form.prepare()()
        gpu.synchronize()
        blocks = [each.parameters for each in standin.launches()]
    assert blocks[0::2] == blocks[1::2]
    assert struct.unpack_from("<B7xQ", blocks[0]) == (0xA7, 0x1122334455667788)
    assert struct.unpack_from("<I4xQH6xd", blocks[2]) == (0xDEADBEEF, x.ptr.address, 0x3344, -2.25)
    assert (blocks[4][0], blocks[4][64:192], blocks[4][192]) == (9, tensor, 11)
    # The stand-in asks each address for its natural alignment, and a map's for its own.
    assert standin.violations("misaligned-parameter") == []


def test_the_packed_block_has_no_padding_at_its_end(place: Place) -> None:
    """A pointer and 16 bits are 10 bytes in the image that a driver gets, and in what is checked against its limit."""
    kernel = place.kernel("echo_16", "unsigned short* out, unsigned short value")
    out = place.gpu.empty(1, mg.u16)
    checked = mg.KernelLaunch(place.gpu, kernel).arg_ptr(out).arg_u16(0x3344).check()
    layout = checked.layout
    assert (layout.offsets, layout.sizes, layout.nbytes) == ((0, 8), (8, 2), 10)


# ------------------------------------------------ 21: an empty grid


def test_an_empty_grid_is_a_checked_no_op(place: Place) -> None:
    """A zero in the grid launches nothing in any form; arguments are checked and the trace says "empty"."""
    kernel, gpu = (
        place.kernel("affine", "unsigned int* values, unsigned int count, unsigned int f, unsigned int a"),
        place.gpu,
    )
    values = gpu.empty(5, mg.u32)
    arguments = (values, mg.u32(5), mg.u32(3), mg.u32(1))
    with gpu.create_stream() as stream:
        for grid in ((0, 1, 1), (1, 0, 1)):
            with gpu.trace() as trace:
                kernel[grid, 32](*arguments)
                kernel[grid, 32].prepare(*arguments)()
                mg.KernelLaunch(gpu, kernel).grid(grid).block(32).args(*arguments).launch()
                with gpu.sequence() as step:
                    kernel[grid, 32](*arguments)
                step()
            assert [each.outcome for each in trace.launches] == ["empty"] * 4
            with gpu.capture(stream) as capture:
                kernel[grid, 32, 0, stream](*arguments)
            capture.graph.launch(stream)
            stream.synchronize()
            capture.graph.close()
            with pytest.raises(ArgumentCountError):
                kernel[grid, 32](*arguments[:2])
            with pytest.raises(ArgumentSizeError):
                kernel[grid, 32](values, mg.u64(5), *arguments[2:])
    assert place.launches() == []


def test_events_and_waits_stand_around_an_empty_grid(place: Place) -> None:
    """An event recorded behind an empty launch is reached, and a stream that waits for it goes on."""
    kernel, gpu = place.kernel("echo_32"), place.gpu
    out = gpu.empty(1, mg.u32)
    with gpu.create_stream() as one, gpu.create_stream() as other:
        kernel[0, 1, 0, one](out, mg.u32(5))
        event = one.record_event()
        other.wait_event(event)
        gpu.memset_async(out, 7, 4, other)
        kernel[(1, 0, 1), 1, 0, other](out, mg.u32(5))
        other.synchronize()
        assert event.query()
        assert out.numpy().tolist() == [0x07070707]
        event.close()
    assert place.launch_calls == 0


@pytest.mark.parametrize(
    ("grid", "block", "axis"),
    [
        ((1, 1, 1), (0, 1, 1), "x"),
        ((0, 1, 1), (0, 1, 1), "x"),
        ((1, 1, 1), (1, -1, 1), "y"),
        ((1, 1, -3), (1, 1, 1), "z"),
        ((-1, 1, 1), (1, 1, 1), "x"),
    ],
)
def test_an_empty_block_and_a_negative_extent_always_raise(place: Place, grid, block, axis: str) -> None:
    """In every form, beside an empty grid too: the axis is named and the driver is not called."""
    kernel, gpu = place.kernel("echo_32"), place.gpu
    out = gpu.empty(1, mg.u32)
    with gpu.create_stream() as stream:

        def in_a_sequence() -> None:
            with gpu.sequence():
                kernel[grid, block](out, mg.u32(5))

        def in_a_capture() -> None:
            with gpu.capture(stream):
                kernel[grid, block, 0, stream](out, mg.u32(5))

        for form in (
            lambda: kernel[grid, block](out, mg.u32(5)),
            lambda: kernel[grid, block].prepare(out, mg.u32(5)),
            lambda: mg.KernelLaunch(gpu, kernel).arg_ptr(out).arg_u32(5).grid(grid).block(block).launch(),
            in_a_sequence,
            in_a_capture,
        ):
            with pytest.raises(GeometryError) as refused:
                form()
            assert refused.value.axis == axis
        assert not gpu.stream_is_capturing(stream)
    assert place.launch_calls == 0


# ------------------------------------------------ 22: empty buffers and null pointers


@pytest.mark.parametrize("redzone", [0, 64])
@pytest.mark.parametrize("name", PLACES)
def test_an_empty_buffer_is_a_buffer(name: str, redzone: int) -> None:
    """0 bytes can be passed, copied both ways, filled, guarded and traced; the kernel gets null, the ledger 0 bytes."""
    with opened(name, redzone=redzone) as place:
        gpu = place.gpu
        kernel = place.kernel("is_null", "unsigned int* out, const void* pointer")
        before = gpu.live_bytes()
        empty, out = gpu.buffer(0, label="none"), gpu.empty(1, mg.u32)
        host = np.zeros((0,), dtype=np.uint8)
        assert (empty.nbytes, gpu.live_bytes() - before) == (0, 4)
        with gpu.trace() as trace:
            gpu.copy_h2d(host, empty)
            gpu.copy_d2h(empty, host)
            gpu.copy_d2d(empty, gpu.buffer(0))
            gpu.memset(empty, 7)
            kernel[1, 1](out, empty)
            kernel[1, 1](out, None)
            kernel[1, 1](out, mg.DevicePtr(0))
            gpu.synchronize()
        assert len(trace.launches) == 3
        assert trace.to_json()
        if redzone:
            assert not gpu.scan_redzones()
        if place.standin is not None:
            assert [launch.parameters[8:16] for launch in place.standin.launches()] == [bytes(8)] * 3
        gpu.free(empty)
        out.free()
        assert gpu.live_bytes() == before
