"""Arguments live in the launch: prepared launches, sequences, several threads and streams never share values."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import numpy as np

from ....errors import (
    ArgumentCountError,
    ArgumentError,
    ArgumentKindError,
    ArgumentRangeError,
    GpuError,
    LaunchError,
    NotSupported,
)
from ....launch import KernelLaunch
from ....scalars import u32
from ....slots import slot
from ..case import case
from ..cells import Cells
from ..refused import refused
from ..target import SIGNATURES, ConformanceTarget


@case(invariants=(5,))
def a_launch_can_be_launched_again_but_not_changed(target: ConformanceTarget) -> None:
    """After its first launch a builder launches the same again and takes no more arguments."""
    with target.opened() as gpu:
        values = gpu.array(np.array([3, 5], dtype=np.uint32))
        launch = KernelLaunch(gpu, target.kernel(gpu, "affine")).block(2).arg_ptr(values.ptr)
        assert launch.arg_u32(2) is launch
        launch.arg_u32(10).arg_u32(7).launch()
        launch.launch()
        assert values.numpy().tolist() == [377, 577]
        refused(target, gpu, lambda: launch.arg_u32(1), LaunchError)


@case(invariants=(5,), field=(9,))
def a_prepared_launch_keeps_each_calls_values(target: ConformanceTarget) -> None:
    """Calls of one prepared launch on two streams, queued before either runs, each see their own value."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_32")
        first, second = gpu.array(np.zeros(2, dtype=np.uint32)), gpu.array(np.zeros(2, dtype=np.uint32))
        one, other = gpu.create_stream(), gpu.create_stream()
        prepared = kernel[1, 1].prepare(first.ptr, u32(0))
        prepared(first.ptr, u32(41), stream=one)
        prepared(second.ptr, u32(42), stream=other)
        other.synchronize()
        one.synchronize()
        assert (int(first.numpy()[0]), int(second.numpy()[0])) == (41, 42)


@case(invariants=(5,), field=(9,))
def threads_never_see_each_others_values(target: ConformanceTarget) -> None:
    """Threads that launch one kernel, one prepared launch, at the same time each get what they passed."""
    rounds, workers = 40, 6
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_32")
        outs = [Cells(gpu, rounds) for _ in range(workers)]
        prepared = kernel[1, 1].prepare(outs[0][0], u32(0))
        failures: list[BaseException] = []

        def work(worker: int) -> None:
            try:
                stream = gpu.create_stream()
                for number in range(rounds):
                    out, value = outs[worker][number], u32(1000 * worker + number)
                    if number % 2:
                        prepared(out, value, stream=stream)
                    else:
                        KernelLaunch(gpu, kernel).arg_ptr(out).arg(value).launch(stream)
                stream.synchronize()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        for worker, out in enumerate(outs):
            assert out.values() == [1000 * worker + number for number in range(rounds)]


@case(invariants=(3, 5), field=(27,))
def slots_are_set_by_name(target: ConformanceTarget) -> None:
    """A prepared launch with slots takes values, pointers and grid by name, keeps them, and checks each."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine", signature=SIGNATURES["affine"])
        first, second = (gpu.array(np.arange(5, dtype=np.uint32)) for _ in range(2))
        prepared = kernel[slot("blocks", "grid"), 2].prepare(slot("where", "ptr"), 5, slot("factor", u32), slot("plus"))
        assert set(prepared.slot_names) == {"where", "factor", "plus", "blocks"}
        refused(target, gpu, lambda: prepared(factor=1), ArgumentCountError)
        prepared(where=first, factor=10, plus=1, blocks=3)
        prepared(where=second, blocks=1)
        assert first.numpy().tolist() == [1, 11, 21, 31, 41]
        assert second.numpy().tolist() == [1, 11, 2, 3, 4]
        for wrong, error in (
            ({"factor": -1}, ArgumentRangeError),
            ({"factor": 2.0}, ArgumentKindError),
            ({"blocks": -1}, GpuError),
            ({"colour": 1}, ArgumentCountError),
            ({"where": 7}, GpuError),
        ):
            refused(target, gpu, partial(prepared, **wrong), error)
        assert second.numpy().tolist() == [1, 11, 2, 3, 4]


@case(invariants=(5,), field=(3, 9))
def a_prepared_launch_checks_new_values(target: ConformanceTarget) -> None:
    """New values of a prepared launch are checked like the first: count, range, kind; a refused call leaves nothing."""
    with target.opened() as gpu:
        values = gpu.array(np.array([3, 5], dtype=np.uint32))
        prepared = target.kernel(gpu, "affine")[1, 2].prepare(values.ptr, u32(2), u32(10), u32(7))
        for given, error in (
            ((values.ptr, 2, 10), ArgumentCountError),
            ((values.ptr, 2, 10, -1), ArgumentRangeError),
            ((values.ptr, 2, 10, 2.5), ArgumentKindError),
            ((values.ptr, 2, 10, 2**32), ArgumentRangeError),
        ):
            refused(target, gpu, partial(prepared, *given), error)
        prepared()
        prepared(values.ptr, 2, 100, 1)
        prepared()
        assert values.numpy().tolist() == [(37 * 100 + 1) * 10 + 7, (57 * 100 + 1) * 10 + 7]


@case(invariants=(5, 7), field=(27,))
def a_sequence_runs_in_order_with_its_values(target: ConformanceTarget) -> None:
    """A recorded sequence runs its launches and copies in order; values change exactly at the next run."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values, start = gpu.array(np.zeros(3, dtype=np.uint32)), gpu.array(np.array([1, 2, 3], dtype=np.uint32))
        with gpu.sequence() as step:
            gpu.copy_d2d_async(start, values)
            KernelLaunch(gpu, kernel).block(3).args(values.ptr, u32(3), u32(10)).arg_u32(slot("plus", u32)).launch()
            KernelLaunch(gpu, kernel).block(3).args(values.ptr, u32(3), u32(2), u32(5)).launch()
        assert values.numpy().tolist() == [0, 0, 0], "recording runs nothing"
        assert len(step) == 3
        step(plus=3)
        assert values.numpy().tolist() == [(10 * v + 3) * 2 + 5 for v in (1, 2, 3)]
        frozen = step.copy()
        step(plus=4)
        assert values.numpy().tolist() == [(10 * v + 4) * 2 + 5 for v in (1, 2, 3)]
        frozen()
        assert values.numpy().tolist() == [(10 * v + 3) * 2 + 5 for v in (1, 2, 3)]
        with target.no_launch(gpu):
            refused(target, gpu, lambda: step(plus=-1), ArgumentRangeError)
            refused(target, gpu, lambda: step(minus=1), ArgumentError)


@case(invariants=(5, 7))
def an_abandoned_recording_leaves_nothing(target: ConformanceTarget) -> None:
    """A recording left by an exception cannot be run, and launches run again at once."""
    with target.opened() as gpu:
        values = gpu.array(np.array([3, 5], dtype=np.uint32))
        launch = KernelLaunch(gpu, target.kernel(gpu, "affine")).block(2).args(values.ptr, u32(2), u32(10), u32(7))
        step = gpu.sequence()
        try:
            with step:
                launch.launch()
                raise KeyError("abandoned")
        except KeyError:
            refused(target, gpu, step, GpuError)
        launch.launch()
        assert values.numpy().tolist() == [37, 57]


@case(invariants=(3,))
def a_launch_of_the_seeds_form_is_checked_too(target: ConformanceTarget) -> None:
    """`launch_typed` with a list of KernelArg goes through the same checks and reaches the same kernel."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([3, 5], dtype=np.uint32))
        launch = KernelLaunch(gpu, kernel).args(values.ptr, u32(2), u32(10), u32(7))
        gpu.launch_typed(kernel, 1, 2, 0, None, launch.kernel_args)
        assert values.numpy().tolist() == [37, 57]
        refused(
            target, gpu, lambda: gpu.launch_typed(kernel, 1, 2, 0, None, launch.kernel_args[:3]), ArgumentCountError
        )


@case(invariants=(6, 7), needs=("aliased_writes",))
def memory_may_be_given_twice(target: ConformanceTarget) -> None:
    """A kernel is given one buffer to read and to write, and two pointers into one; it computes as if in place."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "scale_add")
        step = max(gpu.capabilities.buffer_offset_alignment // 4, 4)
        values = gpu.array(np.arange(step + 3, dtype=np.float32))
        kernel[1, 3](values, values, u32(3), 10.0)
        kernel[1, 3](values.ptr, values.ptr + 4 * step, u32(3), 100.0)
        expected = np.arange(step + 3, dtype=np.float32)
        expected[:3] *= 11
        expected[step:] += 100 * expected[:3]
        np.testing.assert_array_equal(values.numpy(), expected)


@case(invariants=(6, 7), where=("not aliased_writes",))
def memory_given_twice_is_refused_where_it_is_written(target: ConformanceTarget) -> None:
    """Where what is written may not be bound twice, each way of giving it twice is refused and names both arguments."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "scale_add")
        step = max(gpu.capabilities.buffer_offset_alignment, 16)
        both, other = gpu.empty(2 * step, np.uint8), gpu.array(np.zeros(3, dtype=np.float32))
        both.fill(0)
        # The kernel is made ready at its first launch.
        kernel[1, 3](other, both.ptr, u32(3), 1.0)

        def launch(x: object, y: object) -> KernelLaunch:
            return KernelLaunch(gpu, kernel).block(3).arg_ptr(x).arg_ptr(y).arg_u32(3).arg_f32(1.0)

        prepared = kernel[1, 3].prepare(other, both.ptr, u32(3), 1.0)
        slotted = launch(slot("x"), both.ptr).prepare()
        with gpu.sequence() as sequence:
            launch(other, slot("y")).launch()
        with gpu.capture(stream) as capture:
            launch(slot("x"), other).launch(stream)
        ways: tuple[Callable[[], object], ...] = (
            launch(both.ptr, both.ptr).launch,
            launch(both.ptr, both.ptr + step).launch,
            partial(kernel[1, 3], both.ptr + step, both.ptr, u32(3), 1.0),
            partial(kernel[1, 3].prepare, both.ptr, both.ptr + step, u32(3), 1.0),
            partial(prepared, both.ptr + step, both.ptr, u32(3), 1.0),
            partial(slotted, x=both.ptr + step),
            partial(sequence, y=other),
            partial(capture.graph.launch, stream, x=other),
        )
        for way in ways:
            refused(target, gpu, way, NotSupported, says=("scale_add", "argument 0", "argument 1"))
        gpu.synchronize()
        assert not other.numpy().any()
        # What is only read may be given as often as one likes.
        added = target.kernel_of(gpu, "bound", "added")
        numbers, out = gpu.array(np.array([3, 5, 9], dtype=np.uint32)), gpu.empty(3, np.uint32)
        added[1, 3](out, numbers, numbers, u32(3))
        assert out.numpy().tolist() == [6, 10, 18]
