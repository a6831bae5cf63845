"""The right context is current for every call on every thread, and the thread's own one afterwards (field case 20)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from kernels_for_launch import PTX
from primary_contexts import active_contexts

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend


@pytest.fixture
def cuda(standin):
    from cuda.bindings import driver

    assert driver.cuInit(0)[0] == 0
    return driver


def current(cuda) -> int:
    code, context = cuda.cuCtxGetCurrent()
    assert code == 0
    return int(context)


@pytest.fixture
def foreign(cuda) -> Iterator[int]:
    """The context of the other device, as another library would have made it current."""
    code, context = cuda.cuDevicePrimaryCtxRetain(1)
    assert code == 0
    yield int(context)
    cuda.cuDevicePrimaryCtxRelease(1)


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend


def everything(gpu: GpuBackend) -> None:
    """One call of each kind."""
    kernel = gpu.kernel("m", "scale")
    with gpu.create_stream() as stream:
        x = gpu.empty(37, mg.f32)
        gpu.memset_async(x, 0, x.nbytes, stream)
        kernel[3, 32, 60_000, stream](x, mg.u32(37), 2.5)
        event = gpu.create_event()
        event.record(stream)
        gpu.stream_wait_event(None, event)
        event.synchronize()
        x.numpy()
        pinned = gpu.alloc_host_pinned(99)
        gpu.free_host_pinned(pinned)
        with gpu.capture(stream) as capture:
            kernel[3, 32, 0, stream](x, mg.u32(37), 2.5)
        capture.graph.launch(stream)
        stream.synchronize()
        capture.graph.close()
        event.close()
    gpu.max_active_blocks_per_sm(kernel, 64)
    gpu.load_module("second", source={".ptx": PTX})
    assert gpu.module("second").globals["table"].nbytes == 12
    gpu.unload_module("second")
    gpu.free_memory()
    gpu.free(gpu.alloc(1234))


def on_threads(count: int, function: Callable[[int], None]) -> None:
    """Run it on so many threads at once; the first failure is raised here."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            barrier.wait()
            function(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_every_call_runs_in_the_owning_context(standin, gpu, cuda, foreign) -> None:
    """From four threads with another library's context current, no call uses a handle of a context that is not current."""
    everything(gpu)
    gpu.unload_module("m")
    gpu.load_module("m", source={".ptx": PTX})

    def work(number: int) -> None:
        assert cuda.cuCtxSetCurrent(foreign)[0] == 0
        kernel = gpu.kernel("m", "scale")
        for _ in range(5):
            x = gpu.empty(37 + number, mg.f32)
            with gpu.create_stream() as stream:
                kernel[3, 32, 0, stream](x, mg.u32(37), 1.0 + number)
                event = stream.record_event()
                event.synchronize()
                x.numpy()
                event.close()
            assert current(cuda) == foreign
        assert cuda.cuCtxSetCurrent(0)[0] == 0

    on_threads(4, work)
    wrong = [call.name for call in standin.calls() if call.owner_matches is False]
    assert wrong == []
    assert {launch.context for launch in standin.launches()} == {gpu.driver.context}


def test_the_threads_own_context_is_restored(standin, gpu, cuda, foreign) -> None:
    """After each call, and after each that raises, what was current before is current again: a context or none."""
    for before in (0, foreign):
        assert cuda.cuCtxSetCurrent(before)[0] == 0
        everything(gpu)
        assert current(cuda) == before
        with pytest.raises(mg.OutOfDeviceMemory):
            gpu.driver.alloc(1 << 50)
        assert current(cuda) == before
        with pytest.raises(mg.KernelNotFound):
            gpu.kernel("m", "scala")
        assert current(cuda) == before
    assert cuda.cuCtxSetCurrent(0)[0] == 0


def test_a_context_that_is_right_costs_one_question(standin, gpu, cuda) -> None:
    """With our context current already a call is cuCtxGetCurrent and itself; else a push and a pop more."""
    address = gpu.driver.alloc(64)
    standin.clear_journal()
    gpu.driver.memset(address, 7, 1, 64, 0)
    assert standin.names() == ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuMemsetD8Async", "cuCtxPopCurrent"]
    assert cuda.cuCtxSetCurrent(gpu.driver.context)[0] == 0
    standin.clear_journal()
    gpu.driver.memset(address, 7, 1, 64, 0)
    assert standin.names() == ["cuCtxGetCurrent", "cuMemsetD8Async"]
    gpu.driver.synchronize(0)
    assert cuda.cuCtxSetCurrent(0)[0] == 0
    gpu.driver.free(address)


def test_the_primary_context_is_shared_and_counted(standin, cuda) -> None:
    """Two backends of a device and another library have one context; it ends with the last of them."""
    code, foreign = cuda.cuDevicePrimaryCtxRetain(0)
    assert code == 0
    one, other = mg.open_backend("cuda"), mg.open_backend("cuda")
    assert one.driver.context == other.driver.context == int(foreign)
    one.close()
    other.free(other.alloc(50))
    other.close()
    assert active_contexts() == 1
    assert cuda.cuDevicePrimaryCtxRelease(0)[0] == 0
    assert active_contexts() == 0


def test_destruction_from_any_thread_works(standin, cuda, foreign) -> None:
    """What one thread made another with a foreign context may free, destroy and close."""
    gpu = mg.open_backend("cuda")
    module = gpu.load_module("m", source={".ptx": PTX})
    made = [gpu.empty(10, mg.f32), gpu.create_stream(), gpu.create_event(), module]
    pinned = gpu.alloc_host_pinned(10)

    def destroy(_: int) -> None:
        assert cuda.cuCtxSetCurrent(foreign)[0] == 0
        buffer, stream, event, _module = made
        buffer.free()
        stream.close()
        event.close()
        gpu.free_host_pinned(pinned)
        gpu.unload_module("m")
        gpu.close()
        assert current(cuda) == foreign
        assert cuda.cuCtxSetCurrent(0)[0] == 0

    on_threads(1, destroy)
    assert not standin.live()


def test_two_devices_do_not_mix(standin, cuda) -> None:
    """Eight threads that use two devices in turn: every launch ran on the device of its backend."""
    with mg.open_backend("cuda:0") as first, mg.open_backend("cuda:1") as second:
        kernels = [gpu.load_module("m", source={".ptx": PTX})["scale"] for gpu in (first, second)]

        def work(number: int) -> None:
            for turn in range(12):
                which = (number + turn) % 2
                gpu, kernel = (first, second)[which], kernels[which]
                x = gpu.empty(33, mg.f32)
                kernel[2, 32](x, mg.u32(which), float(number))
                gpu.default_stream().synchronize()

        on_threads(8, work)
        launches = standin.launches()
        assert len(launches) == 96
        for launch in launches:
            assert int.from_bytes(launch.parameters[8:12], "little") == launch.device
        assert [call.name for call in standin.calls() if call.owner_matches is False] == []
