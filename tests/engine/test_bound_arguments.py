"""Launches on a device that binds arguments one by one (the mock's M2): named memory, null, local memory, slots."""

from __future__ import annotations

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import FunctionAttributes, KernelBinding
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.testing import Launch, MockGpuBackend

SOURCE = """
kernel void scale(device float* x [[buffer(0)]], threadgroup float* part [[threadgroup(0)]],
                  constant uint& n [[buffer(1)]], constant float& factor [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {}
kernel void two(threadgroup float* a [[threadgroup(1)]], device float* x, threadgroup float* b [[threadgroup(0)]]) {}
"""


@pytest.fixture
def gpu():
    with MockGpuBackend("M2", fill=0xC7) as gpu:
        gpu.load_module("m", source={".metal": SOURCE})
        yield gpu
        assert not gpu.mock.violations


def using(gpu):
    return [launch.using for launch in gpu.log.of(Launch)]


# ------------------------------------------------ memory named by .uses


def test_named_memory_is_handed_over_in_every_way_of_launching(gpu):
    """Builder, prepared launch, sequence and graph hand the same addresses over, each once, in the order given."""
    kernel = gpu.kernel("m", "free")
    first, second = gpu.empty(3, mg.f32), gpu.empty(5, mg.f32)
    addresses = (second.address + 8, first.address)
    with gpu.create_stream() as stream:

        def built(value):
            launch = mg.KernelLaunch(gpu, kernel).grid(mg.slot("blocks", "grid")).arg_u32(value)
            return launch.uses(second.ptr + 8, None, first, first, gpu.empty(0, mg.u8))

        mg.KernelLaunch(gpu, kernel).arg_u32(1).uses(second.ptr + 8, first).launch()
        prepared = built(mg.slot("n")).prepare()
        prepared(n=2, blocks=3)
        prepared(n=2, blocks=0)
        with gpu.sequence() as step:
            built(mg.slot("n")).launch()
        step(n=3, blocks=1)
        with gpu.capture(stream) as capture:
            built(mg.slot("n")).launch(stream)
            step(stream=stream)
        capture.graph.launch(stream, n=4, blocks=2)
        gpu.synchronize()
        assert using(gpu) == [addresses] * 5


def test_a_launch_that_names_none_is_the_plain_one(gpu):
    """A launch without named memory, or with null alone, is submitted as ever."""
    kernel = gpu.kernel("m", "free")
    mg.KernelLaunch(gpu, kernel).arg_u32(1).launch()
    mg.KernelLaunch(gpu, kernel).arg_u32(1).uses(None).launch()
    kernel[1, 1](mg.u32(1))
    assert using(gpu) == [None, None, None]


@pytest.mark.parametrize("profile", ["generic", "H100", "OpenCL"])
def test_a_device_that_reaches_everything_is_told_nothing(profile):
    """Where no device has to be told, `.uses` keeps memory alive and nothing else."""
    with MockGpuBackend(profile) as gpu:
        mg.KernelLaunch(gpu, gpu.kernel("m", "k")).arg_u32(1).uses(gpu.empty(3, mg.f32)).launch()
        gpu.synchronize()
        assert using(gpu) == [None]


def test_memory_that_was_not_named_is_not_reached(gpu):
    """A kernel that follows an address to memory that its launch has not named faults, as a GPU without it would."""

    def follow(launch):
        launch.memory_at(launch.elements(0, "u64")[0], 4)[:] = b"\x01\x02\x03\x04"

    gpu.define_kernel("n", "follow", follow)
    cell = gpu.array(np.zeros(1, np.uint32))
    table = gpu.array(np.array([cell.address], np.uint64))
    kernel = gpu.kernel("n", "follow")
    mg.KernelLaunch(gpu, kernel).arg_ptr(table).uses(cell).launch()
    assert cell.numpy().tobytes() == b"\x01\x02\x03\x04"
    kernel[1, 1](table)
    with pytest.raises(mg.KernelFault, match=r"nor named by \.uses"):
        gpu.synchronize()


def test_named_memory_that_was_freed_is_refused(gpu):
    """A prepared launch whose named memory is gone says so, and nothing reaches the driver."""
    pointer = gpu.alloc(12)
    prepared = mg.KernelLaunch(gpu, gpu.kernel("m", "free")).arg_u32(1).uses(pointer).prepare()
    prepared()
    gpu.synchronize()
    gpu.free(pointer)
    with pytest.raises(mg.InvalidPointer, match="memory that it uses"):
        prepared()
    assert len(using(gpu)) == 1


# ------------------------------------------------ null


def test_null_is_refused_in_every_way(gpu):
    """Null and memory of no bytes name kernel, argument and remedy, wherever a pointer is given."""
    kernel = gpu.kernel("m", "scale")
    x = gpu.empty(4, mg.f32)
    prepared = kernel[1, 4, 16].prepare(x, 4, 2.0)
    slotted = kernel[1, 4, 16].prepare(mg.slot("where"), 4, mg.slot("what", "ptr"))
    before = gpu.log.transcript()
    for null in (None, DevicePtr(0), gpu.empty(0, mg.f32)):
        for given in (
            lambda null=null: mg.KernelLaunch(gpu, kernel).arg_ptr(null),
            lambda null=null: kernel[1, 4, 16](null, 4, 2.0),
            lambda null=null: kernel[1, 4, 16](x=null, n=4, factor=2.0),
            lambda null=null: prepared(null, 4, 2.0),
            lambda null=null: prepared(x=null),
            lambda null=null: slotted(where=null, what=x),
            lambda null=null: gpu.launch_typed(kernel, 1, 1, 0, None, [mg.KernelArg.Buffer(DevicePtr(0))]),
        ):
            with pytest.raises(mg.NotSupported, match=r"scale: argument 0.*function constant") as info:
                given()
            assert info.value.feature == "null pointers"
        with pytest.raises(mg.NotSupported, match=r"argument 2 \(factor\)"):
            kernel[1, 4, 16](x, 4, null)
    with pytest.raises(mg.NotSupported, match=r"argument 0.*In of 0 bytes"):
        kernel[1, 4, 16](mg.In(np.zeros(0, np.float32)), 4, 2.0)
    assert gpu.log.transcript() == before


# ------------------------------------------------ local memory


def recorded(gpu):
    launch = gpu.log.of(Launch)[-1]
    return [each.nbytes for each in launch.arguments], launch.threadgroup_memory


def test_local_memory_is_an_argument_or_shared_memory(gpu):
    """A threadgroup parameter takes arg_local at its place, or is left out for shared_mem; names and places follow."""
    kernel = gpu.kernel("m", "scale")
    x = gpu.empty(4, mg.f32)
    mg.KernelLaunch(gpu, kernel).arg_ptr(x).arg_local(20).arg_u32(4).arg_f32(2.0).launch()
    assert recorded(gpu) == ([8, 20, 4, 4], (32,))
    for launch in (
        lambda: kernel[1, 4, 20](x, 4, 2.0),
        lambda: kernel[1, 4, 20](x, factor=2.0, n=4),
        lambda: mg.KernelLaunch(gpu, kernel).shared_mem(20).args(x, 4, 2.0).launch(),
        lambda: mg.KernelLaunch(gpu, kernel).arg_ptr(x).arg_u32(4).arg_f32(2.0).shared_mem(20).launch(),
        lambda: kernel[1, 4, 20].prepare(x, 4, 2.0)(n=5),
        lambda: kernel[1, 4, 20].prepare(x, mg.slot("count"), 2.0)(count=5, factor=3.0),
    ):
        launch()
        assert recorded(gpu) == ([8, 4, 4], (32,))
    with gpu.trace() as trace:
        kernel[1, 4, 20](x, 4, 2.0)
    assert trace.launches[0].arguments.endswith("n=u32 4, factor=f32 2.0")


def test_local_memory_is_missing_or_given_twice(gpu):
    """Both ways are named where it is missing, and refused together."""
    kernel = gpu.kernel("m", "scale")
    x = gpu.empty(4, mg.f32)
    for missing in (
        lambda: kernel[1, 4](x, 4, 2.0),
        lambda: kernel[1, 4](x, n=4, factor=2.0),
        mg.KernelLaunch(gpu, kernel).arg_ptr(x).arg_u32(4).arg_f32(2.0).launch,
    ):
        with pytest.raises(mg.ArgumentCountError, match=r"part.*arg_local\(nbytes\).*shared_mem\(nbytes\)"):
            missing()
    twice = mg.KernelLaunch(gpu, kernel).arg_ptr(x).arg_local(20).arg_u32(4).arg_f32(2.0).shared_mem(20)
    with pytest.raises(mg.ArgumentCountError, match="given twice"):
        twice.launch()
    twice.shared_mem(0).launch()
    assert recorded(gpu) == ([8, 20, 4, 4], (32,))


def test_shared_memory_is_the_first_of_several(gpu):
    """Of two threadgroup parameters shared_mem is index 0; the other is given, and their sum is checked as rounded."""
    kernel = gpu.kernel("m", "two")
    assert [each.name for each in kernel.signature.parameters] == ["b", "x", "a"]
    x = gpu.empty(4, mg.f32)
    mg.KernelLaunch(gpu, kernel).arg_local(1).arg_ptr(x).arg_local(17).launch()
    assert recorded(gpu) == ([1, 8, 17], (16, 32))
    mg.KernelLaunch(gpu, kernel).shared_mem(100).arg_ptr(x).arg_local(17).launch()
    assert recorded(gpu) == ([8, 17], (112, 32))
    with pytest.raises(mg.ArgumentCountError):
        mg.KernelLaunch(gpu, kernel).shared_mem(100).arg_ptr(x).launch()
    full = mg.KernelLaunch(gpu, kernel).shared_mem(32 * 1024 - 32).arg_ptr(x).arg_local(17)
    full.launch()
    with pytest.raises(mg.LimitExceeded) as info:
        full.shared_mem(32 * 1024 - 31).launch()
    assert (info.value.asked, info.value.limit) == (32 * 1024 + 16, 32 * 1024)
    with pytest.raises(mg.LimitExceeded):
        mg.KernelLaunch(gpu, kernel).arg_local(16385).arg_ptr(x).arg_local(16370).launch()


def test_local_memory_in_the_short_form(gpu):
    """`KernelArg.Local(nbytes)` is local memory in the short form, by position and by name; a number is none."""
    x = gpu.empty(4, mg.f32)
    two, scale = gpu.kernel("m", "two"), gpu.kernel("m", "scale")
    two[1, 4](mg.KernelArg.Local(5), x, a=mg.KernelArg.Local(17))
    assert recorded(gpu) == ([5, 8, 17], (16, 32))
    prepared = scale[1, 4].prepare(x, mg.KernelArg.Local(20), 4, 2.0)
    prepared(n=5)
    prepared(x, mg.KernelArg.Local(20), 5, 2.0)
    assert recorded(gpu) == ([8, 20, 4, 4], (32,))
    with pytest.raises(mg.ArgumentSizeError, match=r"argument 1.*prepared with 20 bytes of local memory, given 24"):
        prepared(x, mg.KernelArg.Local(24), 5, 2.0)
    for wrong in (20, x, mg.u32(20), bytes(20)):
        with pytest.raises(mg.ArgumentKindError, match=r"part.*(arg_local|Local)"):
            scale[1, 4](x, wrong, 4, 2.0)


# ------------------------------------------------ values by reference


@pytest.mark.parametrize("given", [bytes(12), bytes(4), "pointer"])
def test_a_prepared_value_keeps_its_room(gpu, given):
    """A prepared launch refuses bytes of another size, or memory for bytes: they would lie in their neighbours' room."""
    gpu.define_kernel(
        "r",
        "k",
        attributes=FunctionAttributes(
            bindings=(
                KernelBinding("buffer", 0, "table", "read", 4, 4, "float"),
                KernelBinding("buffer", 1, "n", "read", 4, 4, "uint"),
            )
        ),
    )
    prepared = gpu.kernel("r", "k")[1, 1].prepare(bytes(8), 7)
    prepared(b"\1" * 8, 7)
    for call in (lambda value: prepared(value, 7), lambda value: prepared(table=value)):
        with pytest.raises((mg.ArgumentSizeError, mg.ArgumentKindError), match=r"prepared with 8 bytes.*anew"):
            call(gpu.empty(4, mg.f32) if given == "pointer" else given)
    assert [each.data for each in gpu.log.of(Launch)[-1].arguments] == [b"\1" * 8, b"\7\0\0\0"]
    unknown = gpu.kernel("m", "unknown")[1, 1].prepare(bytes(8), mg.u32(7))
    with pytest.raises((mg.ArgumentSizeError, mg.ArgumentKindError), match="prepared with 8 bytes"):
        unknown(gpu.empty(4, mg.f32) if given == "pointer" else given, 7)


def test_a_slot_by_reference_says_what_it_is(gpu):
    """A slot without a type takes the type of one value; where there may be many, it has to say it."""
    gpu.define_kernel(
        "r",
        "k",
        attributes=FunctionAttributes(bindings=(KernelBinding("buffer", 0, "table", "read", 4, 4, "float"),)),
    )
    table = gpu.empty(4, mg.f32)
    many = gpu.kernel("r", "k")
    with pytest.raises(mg.ArgumentKindError, match="say it"):
        many[1, 1].prepare(mg.slot("t"))
    many[1, 1].prepare(mg.slot("t", mg.f32))(t=2.0)
    many[1, 1].prepare(mg.slot("t", "ptr"))(t=table)
    many[1, 1](2.5)
    many[1, 1](bytes(12))
    assert [each.arguments[0].data for each in gpu.log.of(Launch)] == [
        bytes.fromhex("00000040"),
        table.address.to_bytes(8, "little"),
        bytes.fromhex("00002040"),
        bytes(12),
    ]
