"""Arrays of other libraries as arguments and copy ends: who waits for whom, what is kept, what is refused."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from shared_machine import (
    CUDA,
    ROCM,
    CupyArray,
    DlpackOnly,
    Machine,
    NumbaArray,
    OldInterface,
    TorchTensor,
)

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ArgumentError, ArgumentKindError, ForeignHandle, InvalidPointer, NotSupported
from metrale_gpu_runtime.testing import MockGpuBackend

BEFORE, AFTER = bytes(range(12)), bytes(range(100, 112))


@pytest.fixture
def gpu(machine):
    with machine.open() as gpu:
        gpu.define_kernel("m", "copy", copy_body)
        yield gpu
    assert not gpu.mock.violations


def copy_body(context):
    """out = in, twelve bytes."""
    context.memory(1, 12)[:] = bytes(context.memory(0, 12))


def make(kind, machine, **options):
    return kind(machine, machine.alloc(12), (3,), **options)


@pytest.mark.parametrize("kind", [CupyArray, NumbaArray, TorchTensor, DlpackOnly])
@pytest.mark.parametrize("producer_stream", [1, 0x7700])
def test_a_launch_waits_for_the_producer(machine, gpu, kind, producer_stream):
    """A launch on a stream of ours sees what the array's library has queued on its stream, default or not."""
    if producer_stream != 1:
        machine.stream(producer_stream)
    array, out = make(kind, machine, stream=producer_stream), gpu.buffer(12)
    with gpu.create_stream() as stream:
        array.write(BEFORE)
        gpu.kernel("m", "copy")[1, 1, 0, stream](array, out)
        stream.synchronize()
        assert out.tobytes() == BEFORE


@pytest.mark.parametrize("kind", [CupyArray, NumbaArray])
def test_the_producer_waits_for_the_launch(machine, gpu, kind):
    """With version 3 of the CUDA array interface later work on the array's stream comes after the launch as well."""
    array, out = make(kind, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
    with gpu.create_stream() as stream:
        array.write(BEFORE)
        gpu.kernel("m", "copy")[1, 1, 0, stream](array, out)
        array.write(AFTER)
        machine.drain(0x7700)
        assert machine.peek(out.address, 12) == BEFORE
        assert machine.peek(array.address, 12) == AFTER


def test_dlpack_is_asked_with_the_stream_of_the_launch(machine, gpu):
    """DLPack's producer is told the launch's own stream, the legacy one as 1, and is asked at each launch anew."""
    array, out = make(TorchTensor, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
    kernel = gpu.kernel("m", "copy")
    with gpu.create_stream() as stream:
        prepared = mg.KernelLaunch(gpu, kernel).arg_ptr(array).arg_ptr(out).prepare(stream)
        assert array.asked == [-1]
        for content in (BEFORE, AFTER):
            array.write(content)
            prepared()
            stream.synchronize()
            assert out.tobytes() == content
        kernel[1, 1](array, out)
        kernel[1, 1, 0, mg.Stream.legacy](array, out)
        assert [asked for asked in array.asked if asked != -1] == [stream.native_handle] * 2 + [0xD0, 1]


def test_rocm_names_its_default_stream_zero():
    """On a ROCm device DLPack is asked with the native handle, and version 3 of CUDA's interface alone is refused."""
    machine = Machine(ROCM, "hip")
    with machine.open() as gpu:
        gpu.define_kernel("m", "copy", copy_body)
        array, out = make(TorchTensor, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
        array.write(BEFORE)
        gpu.kernel("m", "copy")[1, 1](array, out)
        assert out.tobytes() == BEFORE
        assert array.asked[-1] == 0xD0
        stranger = NumbaArray(machine, 0x7F0000, (3,))
        with pytest.raises(ForeignHandle, match="says by the CUDA array interface only"):
            gpu.resolve_pointer(stranger)


def test_an_interface_without_streams_waits_for_the_legacy_stream(machine, gpu):
    """Version 2 of the CUDA array interface, without DLPack, is waited for on the legacy default stream."""
    array, out = make(OldInterface, machine), gpu.buffer(12)
    array.write(BEFORE)
    gpu.kernel("m", "copy")[1, 1](array, out)
    assert out.tobytes() == BEFORE


def test_no_stream_means_no_wait(machine, gpu):
    """An array whose interface names no stream costs no driver call beyond the launch."""
    array, out = make(NumbaArray, machine, stream=None), gpu.buffer(12)
    kernel = gpu.kernel("m", "copy")
    kernel[1, 1](array, out)
    gpu.log.clear()
    kernel[1, 1](array, out)
    assert gpu.log.transcript() == ["launch"]


def test_each_foreign_stream_is_waited_for_once(machine, gpu):
    """Several arrays on one stream cost one wait before and one after; the events are used again."""
    first, second = (make(CupyArray, machine, stream=LATER) for LATER in [machine.stream(0x7700)] * 2)
    kernel = gpu.kernel("m", "copy")
    kernel[1, 1](first, second)
    gpu.log.clear()
    kernel[1, 1](first, second)
    assert gpu.log.transcript() == ["record_event", "wait_event", "launch", "record_event", "wait_event"]


def test_a_launch_on_the_producers_own_stream_waits_for_nobody(machine, gpu):
    """On the very stream that the array names, order is there already."""
    array, out = make(CupyArray, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
    array.write(BEFORE)
    kernel = gpu.kernel("m", "copy")
    gpu.log.clear()
    kernel[1, 1, 0, 0x7700](array, out)
    assert gpu.log.transcript() == ["prepare_launch", "launch"]
    machine.drain(0x7700)
    assert machine.peek(out.address, 12) == BEFORE


@pytest.mark.parametrize("kind", [CupyArray, TorchTensor])
def test_copies_and_fills_are_ordered_too(machine, gpu, kind):
    """As either end of a copy and as the target of a fill, a foreign array is waited for."""
    array, out = make(kind, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
    array.write(BEFORE)
    gpu.copy_d2d(array, out)
    assert out.tobytes() == BEFORE
    array.write(AFTER)
    got = bytearray(12)
    gpu.copy_d2h(array, got)
    assert got == AFTER
    array.write(AFTER)
    gpu.memset(array, 7)
    assert machine.peek(array.address, 12) == b"\7" * 12
    array.write(AFTER)
    gpu.copy_h2d(BEFORE, array)
    assert machine.peek(array.address, 12) == BEFORE
    array.write(AFTER)
    assert gpu.array(array).numpy().tolist() == np.frombuffer(AFTER, np.uint32).tolist()


@pytest.mark.parametrize("kind", [CupyArray, TorchTensor])
def test_a_graph_waits_at_every_replay(machine, gpu, kind):
    """Inside a capture nothing is waited for; each replay waits for the producer as it is then."""
    array, out = make(kind, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.log.clear()
            gpu.kernel("m", "copy")[1, 1, 0, stream](array, out)
        assert "wait_event" not in gpu.log.transcript()
        for content in (BEFORE, AFTER):
            array.write(content)
            capture.graph.launch(stream)
            stream.synchronize()
            assert out.tobytes() == content


def test_what_a_launch_uses_is_kept_until_it_is_done(machine, gpu):
    """A foreign array that is dropped right after the launch lives until the stream has passed it."""
    array, out = make(TorchTensor, machine, stream=machine.stream(0x7700)), gpu.buffer(12)
    array.write(BEFORE)
    with gpu.create_stream() as stream:
        gpu.kernel("m", "copy")[1, 1, 0, stream](array, out)
        gone = weakref.ref(array)
        del array
        gc.collect()
        assert gone() is not None
        stream.synchronize()
        gc.collect()
        assert gone() is None
    assert out.tobytes() == BEFORE


def test_thousands_of_launches_keep_no_more_than_a_few_arrays(machine, gpu):
    """Without anybody waiting, arrays of launches long done are let go."""
    kernel, out = gpu.kernel("m", "copy"), gpu.buffer(12)
    alive = weakref.WeakSet()
    for _ in range(3000):
        array = make(CupyArray, machine)
        alive.add(array)
        kernel[1, 1](array, out)
        gpu.mock.log.clear()
    del array
    gc.collect()
    assert len(alive) < 1500


@pytest.mark.parametrize("kind", [CupyArray, NumbaArray, TorchTensor])
def test_an_array_of_another_device_is_refused(machine, gpu, kind):
    """An array on device 1 is no argument on device 0; the error names both and the way."""
    array = kind(machine, machine.alloc(12, device=1), (3,), device=1)
    with pytest.raises(ForeignHandle, match=r"CUDA device 1, this is CUDA device 0 .*enable_peer_access"):
        gpu.resolve_pointer(array)
    with machine.open(1) as other:
        assert other.resolve_pointer(array).address == array.address
        gpu.enable_peer_access(other)
        assert gpu.resolve_pointer(array).address == array.address


def test_an_array_of_another_vendor_is_refused(machine, gpu):
    """ROCm and Vulkan arrays on a CUDA device are refused by name."""
    for kind, name in ((ROCM, "ROCm device 0"), (7, "Vulkan device 0"), (99, "DLPack device of type 99, 0")):
        array = DlpackOnly(machine, 0x7000, (3,), kind=kind)
        with pytest.raises(ForeignHandle, match=f"lies on {name}, this is CUDA device 0"):
            gpu.resolve_pointer(array)


def test_managed_and_pinned_memory_are_for_every_device(machine, gpu):
    """Managed (13) and pinned (3) CUDA memory is taken whatever its index; ROCm's pinned memory (11) is the host's."""
    managed = DlpackOnly(machine, machine.alloc(12, device=1), (3,), kind=13, device=1)
    pinned = DlpackOnly(machine, machine.alloc(12), (3,), kind=3)
    for array in (managed, pinned):
        assert gpu.resolve_pointer(array).address == array.address
    assert (managed.asked, pinned.asked) == ([-1], [None])
    gpu.define_kernel("m", "copy", copy_body)
    out = gpu.buffer(12)
    managed.current = machine.stream(0x7700)
    managed.write(BEFORE)
    gpu.kernel("m", "copy")[1, 1](managed, out)
    assert out.tobytes() == BEFORE
    with pytest.raises(ArgumentKindError, match="host array"):
        gpu.resolve_pointer(DlpackOnly(machine, 0x7000, (3,), kind=11))


def test_what_cannot_be_read_right_is_refused(machine, gpu):
    """Gaps, masks, stream 0 and strides that do not fit are refused, each with its reason."""
    array = make(CupyArray, machine)
    array.strides = (8,)
    with pytest.raises(ArgumentError, match="make it contiguous or pass strides"):
        gpu.resolve_pointer(array)
    array.strides = (4, 4)
    with pytest.raises(ArgumentKindError, match=r"'strides' in .* is \(4, 4\); .* each of the 1 axes"):
        gpu.resolve_pointer(array)
    array.strides, array.current = None, 0
    with pytest.raises(ArgumentKindError, match="names stream 0"):
        gpu.resolve_pointer(array)

    class Masked(CupyArray):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "mask": array}

    with pytest.raises(ArgumentKindError, match="masked array"):
        gpu.resolve_pointer(make(Masked, machine))


def test_the_element_type_is_checked(machine, gpu):
    """The element type of a foreign array is held against the kernel's parameter, bf16 by its ml_dtypes dtype too."""
    kernel = gpu.kernel("m", "typed", signature="const float* x")
    for kind in (CupyArray, TorchTensor):
        kernel[1, 1](make(kind, machine, typestr="<f4"))
        with pytest.raises(ArgumentError, match="f32"):
            kernel[1, 1](make(kind, machine, typestr="<i4"))


def test_an_array_that_moved_is_refused(machine, gpu):
    """A prepared launch does not use the old address of an array that was resized since."""
    for kind in (CupyArray, TorchTensor):
        array, out = make(kind, machine), gpu.buffer(12)
        prepared = mg.KernelLaunch(gpu, gpu.kernel("m", "copy")).arg_ptr(array).arg_ptr(out).prepare()
        array.address = machine.alloc(12)
        gpu.log.clear()
        with pytest.raises(InvalidPointer, match="resized or released since"):
            prepared()
        assert gpu.launch_count == 0


def test_a_refusal_of_the_producer_is_an_error_with_a_reason(machine, gpu):
    """What an array's own library raises becomes an ArgumentKindError that names call and reason; nothing is queued."""

    class Refusing(TorchTensor):
        def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
            raise BufferError("Can't export tensors on a different CUDA device index. Expected: 0. Current device: 1.")

    class Late(TorchTensor):
        def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
            if stream != -1:
                raise BufferError("not on this stream")
            return super().__dlpack__(stream=stream, max_version=max_version)

    kernel, out = gpu.kernel("m", "copy"), gpu.buffer(12)
    with pytest.raises(ArgumentKindError, match=r"__dlpack__\(\) refuses: .*with torch.cuda.device\(x.device\)"):
        kernel[1, 1](make(Refusing, machine), out)
    with pytest.raises(ArgumentKindError, match="not on this stream"):
        kernel[1, 1](make(Late, machine), out)
    assert gpu.launch_count == 0
    assert gpu.default_stream().query()


def test_a_stream_that_nobody_knows_cannot_be_waited_for(machine):
    """Where streams have no native handles an array that names one is refused at the launch, not run too early."""
    with MockGpuBackend() as gpu:
        kernel = gpu.kernel("m", "k")
        kernel[1, 1](OldInterface(machine, 0x7000, (3,)))
        for kind in (CupyArray, TorchTensor):
            with pytest.raises(NotSupported, match="no streams that other libraries know"):
                kernel[1, 1](kind(machine, 0x7000, (3,)))
        assert gpu.launch_count == 1


def test_the_cuda_constant_is_dlpacks():
    """The machine of these tests uses DLPack's numbers."""
    assert (CUDA, ROCM) == (2, 10)
