"""Memory and code stay alive until the work that uses them is done, however early their owner lets go."""

from __future__ import annotations

import gc

import numpy as np

from ....backend import GpuBackend
from ....errors import AllocationInUse, HandleClosed
from ....launch import KernelLaunch
from ....scalars import u32
from ....slots import slot
from ....stream import Stream
from ..case import case
from ..cells import Cells
from ..refused import refused
from ..target import ConformanceTarget


def _churn(gpu: GpuBackend) -> None:
    """Let go of garbage, and take memory that a careless backend would take from what is still in use."""
    gc.collect()
    for _ in range(3):
        gpu.array(np.full(64, 0xDEAD, dtype=np.uint32))
    gc.collect()


def _back_to(gpu: GpuBackend, count: int) -> None:
    gc.collect()
    gpu.synchronize()
    assert gpu.live_alloc_count() == count, gpu.alloc_report()


@case(invariants=(6,), field=(4,))
def dropped_memory_outlives_its_launch(target: ConformanceTarget) -> None:
    """A buffer dropped while a queued launch reads it is there when the launch runs, and gone afterwards."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "scale_add")
        out = gpu.array(np.array([1, 2, 3], dtype=np.float32))
        before = gpu.live_alloc_count()
        kernel[1, 3, 0, stream](gpu.array(np.array([4, 5, 6], dtype=np.float32)), out, u32(3), 10.0)
        _churn(gpu)
        stream.synchronize()
        assert out.numpy().tolist() == [41, 52, 63]
        _back_to(gpu, before)


@case(invariants=(6,), field=(4,))
def prepared_launches_and_sequences_hold_their_memory(target: ConformanceTarget) -> None:
    """A prepared launch and a sequence keep what they name alive, run after run, and let go when they are dropped."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "scale_add")
        out = gpu.array(np.zeros(3, dtype=np.float32))
        before = gpu.live_alloc_count()
        prepared = kernel[1, 3].prepare(gpu.array(np.array([4, 5, 6], dtype=np.float32)), out, u32(3), 10.0)
        held = gpu.array(np.array([7, 8, 9], dtype=np.float32))
        with gpu.sequence() as step:
            kernel[1, 3](held, out, u32(3), 100.0)
        del held
        for _ in range(2):
            _churn(gpu)
            prepared()
            step()
        assert out.numpy().tolist() == [2 * (10 * a + 100 * b) for a, b in ((4, 7), (5, 8), (6, 9))]
        del prepared, step
        _back_to(gpu, before)


@case(invariants=(6, 7), field=(4, 27))
def a_graph_holds_its_memory(target: ConformanceTarget) -> None:
    """A captured graph keeps what it names alive until it is destroyed; replays queued before that still run."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "scale_add")
        out = gpu.array(np.zeros(3, dtype=np.float32))
        before = gpu.live_alloc_count()
        held = gpu.array(np.array([4, 5, 6], dtype=np.float32))
        gpu.begin_capture(stream)
        kernel[1, 3, 0, stream](held, out, u32(3), 10.0)
        del held
        graph = gpu.end_capture(stream)
        for _ in range(2):
            _churn(gpu)
            graph.launch(stream)
        gpu.destroy_graph(graph)
        _churn(gpu)
        stream.synchronize()
        assert out.numpy().tolist() == [80, 100, 120]
        refused(target, gpu, lambda: graph.launch(stream), HandleClosed)
        _back_to(gpu, before)


@case(invariants=(6,), field=(4, 27))
def a_slot_holds_its_last_memory_only(target: ConformanceTarget) -> None:
    """Memory put into a slot lives until another is put there and the last run that used it is done."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "scale_add")
        out = gpu.array(np.zeros(3, dtype=np.float32))
        with gpu.sequence() as step:
            KernelLaunch(gpu, kernel).block(3).arg_ptr(slot("x", "ptr")).args(out, u32(3)).arg_f32(1).launch()
        before = gpu.live_alloc_count()
        for number in (1, 10, 100):
            step(x=gpu.array(np.full(3, number, dtype=np.float32)))
            _churn(gpu)
        gpu.synchronize()
        gc.collect()
        assert out.numpy().tolist() == [111] * 3
        assert gpu.live_alloc_count() == before + 1
        step.close()
        _back_to(gpu, before)


@case(invariants=(6,), field=(4,), where=("asynchronous",))
def freeing_memory_in_use_raises(target: ConformanceTarget) -> None:
    """An explicit free of memory that queued work may still use raises and names the launch; after a wait it works."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        pointer = gpu.alloc(12)
        gpu.memset(pointer, 0, 12)
        target.kernel(gpu, "echo_32")[1, 1, 0, stream](pointer, u32(5))
        refused(target, gpu, lambda: gpu.free(pointer), AllocationInUse, says=("echo_32",))
        stream.synchronize()
        back = np.zeros(3, dtype=np.uint32)
        gpu.copy_d2h(pointer, back)
        assert back.tolist() == [5, 0, 0]
        gpu.free(pointer)


@case(invariants=(6,), field=(4,))
def memory_freed_in_stream_order_lives_until_then(target: ConformanceTarget) -> None:
    """`free_async` is allowed at once: the memory is there for all that was queued before it."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        before = gpu.live_alloc_count()
        source, out = gpu.alloc_async(12, stream), gpu.array(np.zeros(3, dtype=np.float32))
        gpu.copy_h2d_async(np.array([4, 5, 6], dtype=np.float32), source, stream)
        target.kernel(gpu, "scale_add")[1, 3, 0, stream](source, out, u32(3), 10.0)
        gpu.free_async(source, stream)
        _churn(gpu)
        stream.synchronize()
        assert out.numpy().tolist() == [40, 50, 60]
        del out
        _back_to(gpu, before)


@case(invariants=(6,), field=(18,))
def a_host_source_lives_until_it_was_read(target: ConformanceTarget) -> None:
    """The source of a queued upload and the target of a queued download may be dropped by their owner at once."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        first, second = gpu.empty(777, np.uint32), gpu.empty(777, np.uint32)
        gpu.copy_h2d_async_retained(np.arange(777, dtype=np.uint32) * 3, first, stream)
        source = np.arange(777, dtype=np.uint32) * 5
        gpu.copy_h2d_async(source, second, stream)
        source[:] = 9
        gpu.copy_d2h_async(first, np.zeros(777, dtype=np.uint32), stream)
        del source
        gc.collect()
        clutter = [np.full(777, number, dtype=np.uint32) for number in range(20)]
        stream.synchronize()
        assert len(clutter) == 20
        np.testing.assert_array_equal(first.numpy(), np.arange(777) * 3)
        np.testing.assert_array_equal(second.numpy(), np.arange(777) * 5)


@case(invariants=(6,))
def memory_reached_through_memory_is_kept(target: ConformanceTarget) -> None:
    """What a launch reaches through a table of addresses is kept by `.uses`, though no argument names it."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        if not gpu.capabilities.raw_addresses:
            return
        before = gpu.live_alloc_count()
        cells = [gpu.array(np.array([7, 8], dtype=np.uint32)) for _ in range(3)]
        kept = cells[2]
        table = gpu.array(np.array([cell.ptr.address for cell in cells], dtype=np.uint64))
        launch = KernelLaunch(gpu, target.kernel(gpu, "follow")).block(3)
        launch.arg_ptr(table.ptr).args(u32(3), u32(500)).uses(*cells).launch(stream)
        del launch, cells, table
        _churn(gpu)
        stream.synchronize()
        assert kept.numpy().tolist() == [502, 8]
        _back_to(gpu, before + 1)


@case(invariants=(6,), field=(11,))
def a_module_outlives_its_launches(target: ConformanceTarget) -> None:
    """A module unloaded while its launches are queued runs them; its kernels refuse new ones."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        module = target.load(gpu, "doubled")
        kernel = module["transform"]
        values, out = gpu.array(np.array([4, 9], dtype=np.uint32)), gpu.array(np.zeros(2, dtype=np.uint32))
        kernel[1, 2, 0, stream](out, values, u32(2))
        gpu.unload_module("doubled")
        refused(target, gpu, lambda: kernel[1, 2, 0, stream](out, values, u32(2)), HandleClosed)
        stream.synchronize()
        assert out.numpy().tolist() == [8, 18]


@case(invariants=(6,))
def streams_and_events_may_be_dropped_with_work_queued(target: ConformanceTarget) -> None:
    """A stream dropped with work in it does that work before it goes; so does an event that others wait for."""

    def start(gpu: GpuBackend, other: Stream) -> None:
        stream = gpu.create_stream()
        kernel[1, 1, 0, stream](cells[0], u32(5))
        other.wait_event(stream.record_event())

    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "echo_32")
        cells = Cells(gpu, 2)
        start(gpu, stream)
        gc.collect()
        kernel[1, 1, 0, stream](cells[1], u32(6))
        stream.synchronize()
        assert cells.values() == [5, 6]
