"""The ways to launch: builder, short form, prepared, sequences, slots, CuPy's call; each on the mock, by its log."""

from __future__ import annotations

import ctypes
import struct
import threading

import numpy as np
import pytest
from scale_add_room import gpu, kernel

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock.log import Launch
from metrale_gpu_runtime.testing import MockGpuBackend

__all__ = ["gpu", "kernel"]


def launches(gpu: MockGpuBackend) -> list[Launch]:
    return gpu.log.of(Launch)


def images(gpu: MockGpuBackend) -> list[bytes]:
    return [launch.image for launch in launches(gpu)]


def image(x: mg.DeviceBuffer, y: mg.DeviceBuffer, count: int, factor: float) -> bytes:
    return struct.pack("<QQIf", x.ptr.address, y.ptr.address, count, factor)


def test_all_forms_send_the_same_bytes(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Builder, short form, names, prepared, sequence and launch_typed reach the driver with one and the same image."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(70, mg.f32)
    (
        mg.KernelLaunch(gpu, kernel)
        .grid([3, 1, 1])
        .block([33, 1, 1])
        .arg_ptr(x)
        .arg_ptr(y)
        .arg_u32(70)
        .arg_f32(1.5)
        .launch()
    )
    mg.KernelLaunch(gpu, kernel).grid(3).block(33).args(x, y, 70, 1.5).launch()
    kernel[3, 33](x, y, 70, 1.5)
    kernel[3, 33](x, factor=1.5, count=70, y=y)
    kernel.over(70, block=33)(x, y, 70, 1.5)
    kernel[3, 33].prepare(x, y, 70, 1.5)()
    kernel[3, 33].prepare(x, y, 1, 9.0)(x, y, 70, 1.5)
    with gpu.sequence() as sequence:
        kernel[3, 33](x, y, 70, 1.5)
    sequence()
    gpu.launch_typed(
        kernel,
        [3, 1, 1],
        [33, 1, 1],
        0,
        0,
        [
            mg.KernelArg.Buffer(x.ptr),
            mg.KernelArg.Buffer(y.ptr),
            mg.KernelArg.Bytes(struct.pack("<I", 70)),
            mg.KernelArg.Bytes(struct.pack("<f", 1.5)),
        ],
    )
    assert images(gpu) == [image(x, y, 70, 1.5)] * 9
    assert {(launch.grid, launch.block) for launch in launches(gpu)} == {((3, 1, 1), (33, 1, 1))}


def test_every_typed_argument_lies_where_c_puts_it(gpu: MockGpuBackend) -> None:
    """Each arg_ method adds its bytes at its natural alignment, and only those."""
    declaration = (
        "unsigned char a, long long b, __half c, bool d, double e, short f, __nv_bfloat16 g, float h, int8_t i, "
        "unsigned short j, unsigned long long k, cuFloatComplex l, double2 m, int n"
    )
    kernel = gpu.kernel("m", "all_types", signature=declaration)
    launch = mg.KernelLaunch(gpu, kernel)
    launch.arg_u8(200).arg_i64(-(2**63)).arg_f16(1.5).arg_bool(True).arg_f64(-0.1).arg_i16(-2).arg_bf16(1.5)
    launch.arg_f32(3.25).arg_i8(-113).arg_u16(65535).arg_u64(2**64 - 1).arg_c64(1 - 2j).arg_c128(0.5 + 4j).arg_i32(-7)
    launch.launch()
    expected = struct.pack(
        "<B7xqe?5xdhHfb x H 4x Q ff dd i".replace(" ", ""),
        200, -(2**63), 1.5, True, -0.1, -2, 0x3FC0, 3.25, -113, 65535, 2**64 - 1, 1.0, -2.0, 0.5, 4.0, -7,
    )  # fmt: skip
    assert images(gpu) == [expected]


def test_structures_and_bytes_by_value(gpu: MockGpuBackend) -> None:
    """A ctypes structure, a NumPy structured scalar and bytes reach a struct parameter unchanged, the sizes checked."""

    class Particle(ctypes.Structure):
        _fields_ = (("a", ctypes.c_char), ("b", ctypes.c_double), ("c", ctypes.c_int))

    kernel = gpu.kernel("m", "particles", signature="struct(24, 8) particle, unsigned char last")
    aligned = np.dtype([("a", "S1"), ("b", "f8"), ("c", "i4")], align=True)
    packed = np.dtype([("a", "S1"), ("b", "f8"), ("c", "i4")])
    value = Particle(b"q", 2.5, -3)
    kernel[1, 1](value, 7)
    record = np.zeros((), aligned)
    record["a"], record["b"], record["c"] = b"q", 2.5, -3
    kernel[1, 1](record[()], 7)
    mg.KernelLaunch(gpu, kernel).arg_struct(value).arg_u8(7).launch()
    mg.KernelLaunch(gpu, kernel).arg_bytes(bytes(value), align=8).arg_u8(7).launch()
    assert images(gpu) == [bytes(value) + b"\x07"] * 4
    with pytest.raises(mg.ArgumentError, match=r"13.*24"):
        kernel[1, 1](np.array((b"q", 2.5, -3), packed)[()], 7)
    with pytest.raises(mg.ArgumentSizeError, match="24 bytes expected, 23 given"):
        mg.KernelLaunch(gpu, kernel).arg_bytes(bytes(23)).arg_u8(7).launch()
    with pytest.raises(mg.ArgumentSizeError, match="power of two"):
        mg.KernelLaunch(gpu, kernel).arg_bytes(bytes(24), align=3)
    with pytest.raises(mg.ArgumentKindError, match="has no bytes"):
        mg.KernelLaunch(gpu, kernel).arg_bytes(24)
    assert gpu.launch_count == 4


def test_a_launched_builder_takes_no_more_arguments(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """After its first launch a builder launches the same again, with another grid if wanted, but never grows."""
    x = gpu.empty(5, mg.f32)
    launch = mg.KernelLaunch(gpu, kernel).args(x, x, 5, 2.0)
    launch.launch()
    with pytest.raises(mg.LaunchError, match="takes no more arguments"):
        launch.arg_u32(1)
    launch.grid(4).launch()
    assert [each.grid for each in launches(gpu)] == [(1, 1, 1), (4, 1, 1)]
    assert images(gpu) == [image(x, x, 5, 2.0)] * 2


def test_slots_are_set_by_name_and_remembered(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A prepared launch with slots needs each set once; a slot keeps its value, a parameter set by name does not."""
    x, y = gpu.empty(5, mg.f32), gpu.empty(9, mg.f32)
    prepared = kernel[mg.slot("rows", "grid"), 32].prepare(x, mg.slot("out", "ptr"), mg.slot("n", mg.u32), 2.0)
    assert prepared.slot_names == ("out", "n", "rows")
    with pytest.raises(mg.ArgumentCountError, match="slot 'rows' has no value"):
        prepared(n=1, out=y)
    prepared(n=5, out=x, rows=3)
    prepared(n=6)
    prepared(factor=0.25)
    prepared(out=y, rows=0)
    prepared(rows=7)
    assert images(gpu) == [
        image(x, x, 5, 2.0),
        image(x, x, 6, 2.0),
        image(x, x, 6, 0.25),
        image(x, y, 6, 2.0),
    ]
    assert [each.grid[0] for each in launches(gpu)] == [3, 3, 3, 7]


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"n": 2**32}, mg.ArgumentRangeError, "4294967296 does not fit u32"),
        ({"n": -1}, mg.ArgumentRangeError, "-1 does not fit u32"),
        ({"n": 1.5}, mg.ArgumentKindError, "whole numbers"),
        ({"n": True}, mg.ArgumentKindError, "bool"),
        ({"m": 1}, mg.ArgumentCountError, "called 'm'"),
        ({"rows": -1}, mg.GeometryError, "-1"),
        ({"rows": 2**31}, mg.LimitExceeded, "grid.x is 2147483648"),
    ],
)
def test_a_refused_slot_value_changes_nothing(
    gpu: MockGpuBackend, kernel: mg.Kernel, values: dict[str, object], error: type[Exception], words: str
) -> None:
    """A value that does not fit its slot is refused before the driver, and the next call has the old value."""
    x = gpu.empty(5, mg.f32)
    prepared = kernel[mg.slot("rows", "grid"), 32].prepare(x, x, mg.slot("n"), 2.0)
    prepared(n=4, rows=2)
    with pytest.raises(error, match=words):
        prepared(**values)
    prepared()
    assert images(gpu) == [image(x, x, 4, 2.0)] * 2
    assert [each.grid[0] for each in launches(gpu)] == [2, 2]


def test_prepared_launches_refuse_other_kinds(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """New values are held to what was prepared: kind, type, element type and count."""
    x, ints = gpu.empty(5, mg.f32), gpu.empty(5, mg.i32)
    prepared = kernel[1, 32].prepare(x, x, 5, 2.0)
    for values, error in (
        ((x, x, 5), mg.ArgumentCountError),
        ((x, ints, 5, 2.0), mg.ElementTypeError),
        ((x, x, mg.i32(5), 2.0), mg.ArgumentKindError),
        ((x, x, 5, mg.f64(2.0)), mg.ArgumentKindError),
        ((x, 5, 5, 2.0), mg.ArgumentKindError),
    ):
        with pytest.raises(error):
            prepared(*values)
    with pytest.raises(mg.ArgumentCountError, match="given twice"):
        prepared(x, x, 5, 2.0, count=5)
    with pytest.raises(mg.LaunchError, match="lent to one synchronous launch"):
        prepared(x, mg.Out(np.zeros(5, np.float32)), 5, 2.0)
    with pytest.raises(mg.LimitExceeded, match=r"grid\.y"):
        prepared(grid=(1, 65536))
    assert gpu.launch_count == 0


def test_slots_need_a_type_that_fits_their_place(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A slot of another type than its place, or of none where none is known, is refused when it is prepared."""
    x = gpu.empty(5, mg.f32)
    unknown = gpu.kernel("m", "unknown")
    with pytest.raises(mg.ArgumentKindError, match="stands where f32 is wanted"):
        kernel[1, 1].prepare(x, x, 5, mg.slot("a", mg.f64))
    with pytest.raises(mg.ArgumentKindError, match="stands where a pointer is wanted"):
        kernel[1, 1].prepare(mg.slot("a", mg.u64), x, 5, 1.0)
    with pytest.raises(mg.ArgumentKindError, match=r"type of slot.* is not known here"):
        unknown[1, 1].prepare(mg.slot("a"))
    with pytest.raises(mg.ArgumentKindError, match="grid axis"):
        kernel[1, 1].prepare(x, x, mg.slot("a", "grid"), 1.0)
    with pytest.raises(mg.GeometryError, match='"grid"'):
        kernel[mg.slot("a", mg.u32), 1]
    with pytest.raises(mg.ArgumentCountError, match="slot 'n' has no value"):
        kernel[1, 1](x, x, mg.slot("n"), 1.0)
    for name, kind in (("2n", None), ("n", "u33"), ("n", 5)):
        with pytest.raises(ValueError, match="slot"):
            mg.slot(name, kind)  # type: ignore[arg-type]


def test_a_sequence_replays_in_order_with_slots_in_many_places(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """One call sets a name in all its places; a refused value leaves nothing launched; a copy keeps its values."""
    x, y = gpu.empty(5, mg.f32), gpu.empty(5, mg.f32)
    with gpu.sequence() as step:
        for index in range(5):
            kernel[1, 32](x, y, mg.slot("n", mg.u32), float(index))
        kernel[mg.slot("rows", "grid"), 32](y, x, mg.slot("n", mg.u32), 9.0)
    assert gpu.launch_count == 0
    assert step.slot_names == ("n", "rows")
    with pytest.raises(mg.ArgumentCountError, match="slot 'rows' of the sequence has no value"):
        step(n=3)
    with pytest.raises(mg.ArgumentRangeError):
        step(n=-3, rows=2)
    with pytest.raises(mg.ArgumentCountError, match="no slot 'm'"):
        step(n=3, rows=2, m=1)
    assert gpu.launch_count == 0
    step(n=3, rows=2)
    twin = step.copy()
    step(n=4)
    twin()
    expected = [[*(image(x, y, n, float(index)) for index in range(5)), image(y, x, n, 9.0)] for n in (3, 4, 3)]
    assert images(gpu) == [each for once in expected for each in once]


def test_a_sequence_refuses_to_be_used_wrongly(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A sequence is recorded once, not called while it is recorded, and gone after an exception in its block."""
    x = gpu.empty(5, mg.f32)
    with gpu.sequence() as step:
        kernel[1, 1](x, x, 5, 1.0)
        with pytest.raises(mg.CaptureError, match="still being recorded"):
            step()
        with pytest.raises(mg.LaunchError, match="lent to one synchronous launch"):
            kernel[1, 1](x, mg.Out(np.zeros(5, np.float32)), 5, 1.0)
    with pytest.raises(mg.CaptureError, match="recorded already"), step:
        pass
    abandoned = gpu.sequence()
    with pytest.raises(ZeroDivisionError), abandoned:
        kernel[1 // 0, 1](x, x, 5, 1.0)
    with pytest.raises(mg.HandleClosed):
        abandoned()
    step.close()
    with pytest.raises(mg.HandleClosed):
        step()
    with gpu.sequence() as slotted:
        kernel[1, 1](x, x, mg.slot("n"), 1.0)
    with pytest.raises(TypeError, match=r"^a sequence takes its slots' values by name \(n=…\), and stream=$"):
        slotted(5)  # type: ignore[call-arg]
    assert gpu.launch_count == 0


def test_a_prepared_launch_in_a_sequence_keeps_its_own_values(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """What a prepared launch was called with while recording is what is replayed; open slots become the sequence's."""
    x, y = gpu.empty(5, mg.f32), gpu.empty(5, mg.f32)
    prepared = kernel[1, 32].prepare(x, y, mg.slot("n"), 1.0)
    with gpu.sequence() as step:
        prepared()
        prepared(n=8)
        prepared(n=9, factor=3.0, grid=5)
    assert step.slot_names == ("n",)
    step(n=2)
    assert images(gpu) == [image(x, y, 2, 1.0), image(x, y, 8, 1.0), image(x, y, 9, 3.0)]
    assert [each.grid[0] for each in launches(gpu)] == [1, 1, 5]


def test_a_sequence_holds_its_memory(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Buffers named by a sequence, or set in a slot, live until it lets go of them."""
    x = gpu.empty(5, mg.f32)
    before = gpu.live_alloc_count()
    with gpu.sequence() as step:
        kernel[1, 1](x, gpu.empty(7, mg.f32), 5, 1.0)
        kernel[1, 1](x, mg.slot("out", "ptr"), 5, 1.0)
    assert gpu.live_alloc_count() == before + 1
    step(out=gpu.empty(3, mg.f32))
    gpu.synchronize()
    assert gpu.live_alloc_count() == before + 2
    step(out=x)
    gpu.synchronize()
    assert gpu.live_alloc_count() == before + 1
    step.close()
    gpu.synchronize()
    assert gpu.live_alloc_count() == before


def test_threads_sharing_a_prepared_launch_never_see_each_others_values(gpu: MockGpuBackend) -> None:
    """Every value each thread passed arrives exactly once, whatever the others do at the same time."""
    kernel = gpu.kernel("m", "ids", signature="unsigned int thread, unsigned int count")
    prepared = kernel[1, 1].prepare(0, 0)

    def work(thread: int) -> None:
        for count in range(200):
            prepared(thread, count)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    found = sorted(struct.unpack("<II", each) for each in images(gpu))
    assert found == [(thread, count) for thread in range(4) for count in range(200)]


def test_the_short_form_wants_its_geometry(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """kernel(…) without geometry, or with too few or many parts, says how it is written."""
    x = gpu.empty(5, mg.f32)
    with pytest.raises(mg.GeometryError, match=r"kernel\[grid, block\]"):
        kernel(x, x, 5, 1.0)
    for configuration in (4, (4,), (1, 1, 0, None, 5)):
        with pytest.raises(mg.GeometryError, match="grid and block"):
            kernel[configuration]
    with pytest.raises(mg.GeometryError, match="no threads"):
        kernel.over(100, block=0)
    with pytest.raises(mg.GeometryError, match="shared_mem"):
        kernel[1, 1, -5]
    with pytest.raises(mg.GeometryError, match="whole number"):
        kernel[1, 1, 2.5]
    kernel.over(0)(x, x, 5, 1.0)
    assert gpu.launch_count == 0
    kernel[4, 32, 100, gpu.create_stream()](x, x, 5, 1.0)
    assert [(each.shared_mem, each.stream != 0) for each in launches(gpu)] == [(100, True)]


def test_raw_kernel_takes_cupys_call(gpu: MockGpuBackend) -> None:
    """`raw_kernel(source, name)` is called (grid, block, args, shared_mem=…), compiles once, and checks like others."""
    source = "what the mock loads"
    kernel = gpu.raw_kernel(source, "scale_add")
    again = gpu.raw_kernel(source, "scale_add")
    assert kernel.kernel is again.kernel
    x = gpu.empty(5, mg.f32)
    kernel((4,), (256,), (x, np.int32(5), np.float32(1.5)), shared_mem=16)
    (launch,) = launches(gpu)
    assert (launch.grid, launch.block, launch.shared_mem) == ((4, 1, 1), (256, 1, 1), 16)
    assert launch.image == struct.pack("<Qif", x.ptr.address, 5, 1.5)
    with pytest.raises(mg.ArgumentCountError, match="one tuple"):
        kernel((4,), (256,), x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="string"):
        gpu.raw_kernel(b"source", "k")  # type: ignore[arg-type]
    with pytest.raises(mg.ArgumentKindError, match="say the type"):
        kernel((4,), (256,), (x, 5))


def test_the_builder_shows_what_it_holds(gpu: MockGpuBackend) -> None:
    """storage, starts and kernel_args are the seed's packing of the arguments so far."""
    kernel = gpu.kernel("m", "tma")
    tensor_map = bytes(range(128))
    launch = mg.KernelLaunch(gpu, kernel).arg_ptr(mg.DevicePtr(0x1000)).arg_tensormap(tensor_map).arg_u32(7)
    assert launch.starts == [0, 1, 17]
    assert launch.storage[0] == 0x1000
    assert b"".join(word.to_bytes(8, "little") for word in launch.storage[1:17]) == tensor_map
    assert launch.storage[17] == 7
    assert launch.kernel_args[0] == mg.KernelArg.Buffer(mg.DevicePtr(0x1000))
    assert "tma" in repr(launch)
    for wrong in (bytes(127), bytes(129)):
        with pytest.raises(mg.ArgumentSizeError, match="128 bytes are wanted"):
            mg.KernelLaunch(gpu, kernel).arg_tensormap(wrong)


def test_local_memory_and_clusters_are_refused_where_there_are_none(gpu: MockGpuBackend) -> None:
    """arg_local names shared_mem as the way; a cluster or cooperative launch names the feature and the device."""
    with MockGpuBackend(profile="A100") as a100:
        a100.load_module("m", source="x")
        kernel = a100.kernel("m", "k")
        with pytest.raises(mg.NotSupported, match="shared_mem"):
            mg.KernelLaunch(a100, kernel).arg_local(64).launch()
        with pytest.raises(mg.NotSupported, match="clusters"):
            mg.KernelLaunch(a100, kernel).cluster(2).grid(4).launch()
        assert a100.launch_count == 0
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(mg.ArgumentSizeError, match="local memory"):
            mg.KernelLaunch(gpu, gpu.kernel("m", "k")).arg_local(wrong)  # type: ignore[arg-type]


def test_a_kernel_belongs_to_its_backend(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A launch refuses another backend's kernel, and what is no kernel at all."""
    with MockGpuBackend() as other, pytest.raises(mg.ForeignHandle, match="load the module there too"):
        mg.KernelLaunch(other, kernel)
    with pytest.raises(TypeError, match="takes a Kernel"):
        mg.KernelLaunch(gpu, 0xDEAD)  # type: ignore[arg-type]


def test_messages_name_a_cpp_kernel_as_its_author_wrote_it(gpu: MockGpuBackend) -> None:
    """The driver is asked for the symbol; signature, errors and summaries show the C++ name."""
    kernel = gpu.kernel("m", "_ZN2ns5scaleIfEEvPT_j")
    assert kernel.function == "_ZN2ns5scaleIfEEvPT_j"
    assert str(kernel.signature) == "void ns::scale<float>(float*, unsigned int)  [mangled name]"
    with pytest.raises(mg.ArgumentCountError, match=r"^ns::scale<float> expects 2 arguments"):
        kernel[1, 1](gpu.empty(5, mg.f32))
    assert launches(gpu) == []


def test_a_hole_is_no_value(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A slot or a lent host array as the value of a call is refused: neither has bytes to launch with."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(70, mg.f32)
    fixed = kernel[1, 64].prepare(x, y, 70, 1.5)
    open_launch = kernel[1, 64].prepare(mg.slot("where"), y, mg.slot("n"), 1.5)
    with gpu.sequence() as step:
        kernel[1, 64](mg.slot("where"), y, mg.slot("n"), 1.5)
    lent = mg.InOut(np.zeros(70, np.float32))
    for call in (fixed, open_launch, step):
        names = {"count": mg.slot("other")} if call is fixed else {"n": mg.slot("other"), "where": x}
        with pytest.raises(
            mg.ArgumentKindError, match=r"argument 2 \(count\): slot\('other', 'u32'\) where a value is"
        ):
            call(**names)
    for call in (open_launch, step):
        with pytest.raises(mg.ArgumentKindError, match="argument 0"):
            call(n=70, where=mg.slot("other"))
        with pytest.raises(mg.LaunchError, match=r"argument 0: .*lent to one synchronous launch"):
            call(n=70, where=lent)
    with pytest.raises(mg.ArgumentKindError, match="argument 3"):
        fixed(x, y, 70, mg.slot("other"))
    with pytest.raises(mg.LaunchError, match="lent to one synchronous launch"):
        fixed(x, lent, 70, 1.5)
    assert launches(gpu) == []


def test_a_slot_given_by_position_is_not_given_by_name_as_well(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Neither value wins in silence; a grid axis of the same name still takes its value."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(70, mg.f32)
    prepared = kernel[1, 64].prepare(x, y, mg.slot("n"), 1.5)
    with pytest.raises(mg.ArgumentCountError, match="slot 'n' is given twice, by position 2 and by name"):
        prepared(x, y, 70, 1.5, n=60)
    assert launches(gpu) == []
    both = kernel[mg.slot("n", "grid"), 64].prepare(x, y, mg.slot("n"), 1.5)
    both(x, y, 70, 1.5, n=3)
    assert launches(gpu)[0].grid == (3, 1, 1)
    assert images(gpu) == [image(x, y, 70, 1.5)]


@pytest.mark.parametrize("name", ["grid", "stream"])
def test_a_slot_is_not_called_as_the_call_s_own_keywords(name: str) -> None:
    """`grid=` and `stream=` of a call mean the launch, so a slot of that name could never be set."""
    with pytest.raises(ValueError, match="choose another name"):
        mg.slot(name)


def test_an_argument_that_comes_while_the_launch_is_checked_is_none_of_it(
    gpu: MockGpuBackend, kernel: mg.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A builder's launch has the arguments that it began with, though another thread gives the builder more meanwhile."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(70, mg.f32)
    builder = mg.KernelLaunch(gpu, kernel).grid(1).block(64).args(x, y, 70, 1.5)
    checked = mg.Kernel.checked

    def meanwhile(*given: object) -> object:
        builder._arguments.append(builder._arguments[2])
        return checked(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(mg.Kernel, "checked", meanwhile)
    builder.launch()
    assert len(builder._arguments) == 5
    assert images(gpu) == [image(x, y, 70, 1.5)]
