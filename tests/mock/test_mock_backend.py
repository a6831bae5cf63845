"""MockGpuBackend: the engine over the mock driver, as a tester of other programs uses it."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

from metrale_gpu_runtime.args import KernelArg, pack_kernel_args
from metrale_gpu_runtime.discovery import open_backend
from metrale_gpu_runtime.errors import GpuWarning, KernelFault, KernelNotFound, NotSupported
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.launch import KernelLaunch
from metrale_gpu_runtime.scalars import f32, u32
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault, MockGpuBackend


def add_one(launch):
    values = launch.array(0, np.uint32, launch.value(1, "u32"))
    for i in launch.global_ids():
        if i < len(values):
            values[i] += 1


# ---------------------------------------------------------------- the seed's own tests


def test_kernel_launch_builder():
    """The seed's: a launch through the builder with an untracked pointer counts once."""
    with MockGpuBackend() as gpu:
        kernel = gpu.kernel("test", "test_kernel")
        KernelLaunch(gpu, kernel).grid([4, 1, 1]).block([256, 1, 1]).arg_ptr(DevicePtr(0x1000)).arg_u32(42).arg_f32(
            1.5
        ).launch(0)
        assert gpu.launch_count == 1


def test_a_128_byte_argument_is_not_truncated():
    """The seed's: 128 bytes by value take 16 slots and keep every byte; the argument after them is intact."""
    tensors = bytes(i * 7 % 251 for i in range(128))
    arguments = [
        KernelArg.Buffer(DevicePtr(0xDEAD_BEEF)),
        KernelArg.Bytes(tensors),
        KernelArg.Bytes((42).to_bytes(4, "little")),
    ]
    storage, starts = pack_kernel_args(arguments)
    assert starts == [0, 1, 17]
    assert len(storage) == 18
    assert storage[0] == 0xDEAD_BEEF
    assert b"".join(word.to_bytes(8, "little") for word in storage[1:17]) == tensors
    assert storage[17] == 42


def test_a_tensormap_does_not_shift_the_arguments_around_it():
    """The seed's: through the builder a tensor map is one argument of 16 slots between two others."""
    with MockGpuBackend() as gpu:
        kernel = gpu.kernel("test", "tma_kernel")
        launch = KernelLaunch(gpu, kernel).arg_ptr(DevicePtr(0x1000)).arg_tensormap(bytes([0xAB] * 128)).arg_u32(7)
        assert launch.starts == [0, 1, 17]
        assert len(launch.storage) == 18
        assert launch.storage[17] == 7
        launch.launch(0)
        (entry,) = (entry for entry in gpu.log if entry.call == "launch")
        assert [a.nbytes for a in entry.arguments] == [8, 128, 4]
        assert entry.arguments[1].data == b"\xab" * 128


def test_an_empty_byte_argument_still_gets_one_slot():
    """The seed's: empty bytes take one slot in packing."""
    assert pack_kernel_args([KernelArg.Bytes(b""), KernelArg.Bytes(b"\x09")]) == ([0, 9], [0, 1])


# ---------------------------------------------------------------- lookups


def test_each_kernel_has_its_own_handle():
    """Kernels may be looked up by any name, each (module, function) with a handle of its own, none of them 0."""
    with MockGpuBackend() as gpu:
        handles = [gpu.kernel(*pair).handle for pair in (("a", "k"), ("a", "l"), ("b", "k"))]
        assert len({*handles, 0}) == 4
        assert gpu.kernel("a", "k").handle == handles[0]


def test_strict_lookup_and_denial():
    """A strict mock finds declared kernels in loaded modules only; a denied kernel is missing everywhere."""
    with MockGpuBackend(strict=True) as gpu:
        gpu.declare_kernels("m", "right", "wrong")
        gpu.deny_kernel("m", "wrong")
        with pytest.raises(KernelNotFound):
            gpu.kernel("m", "right")
        gpu.load_module("m", binary=b"any bytes")
        assert gpu.kernel("m", "right").function == "right"
        for missing in ("wrong", "rihgt"):
            with pytest.raises(KernelNotFound) as info:
                gpu.kernel("m", missing)
            assert info.value.available == ("right",)
        assert [(entry.function, entry.failed) for entry in gpu.log if entry.call == "function"] == [
            ("right", None),
            ("wrong", "KernelNotFound"),
            ("rihgt", "KernelNotFound"),
        ]


# ---------------------------------------------------------------- bodies and the queue


def test_a_python_body_runs_on_numpy():
    """A Python body reads and writes the mock's memory as NumPy arrays, when the queue runs."""
    with MockGpuBackend() as gpu:
        gpu.define_kernel("m", "add_one", add_one)
        values = gpu.array(np.array([5, 6, 7, 8], dtype=np.uint32))
        gpu.kernel("m", "add_one").over(3, 2)(values, u32(3))
        assert gpu.queued_count == 1
        assert values.numpy().tolist() == [6, 7, 8, 8]
        assert gpu.queued_count == 0


def test_orders_of_unordered_streams_can_be_tried():
    """Work on streams that no event orders runs in other orders for other seeds, the same for the same seed."""

    def order_for(seed):
        ran = []
        with MockGpuBackend() as gpu:
            gpu.define_kernel("m", "k", lambda launch: ran.append(launch.value(0, "u32")))
            streams = [gpu.create_stream() for _ in range(3)]
            for number in range(9):
                KernelLaunch(gpu, gpu.kernel("m", "k")).arg_u32(number).launch(streams[number % 3])
            gpu.run_queued(seed=seed)
        return ran

    orders = {tuple(order_for(seed)) for seed in range(6)}
    assert len(orders) > 1
    assert order_for(3) == order_for(3)
    for order in orders:
        assert all([n for n in order if n % 3 == stream] == [stream, stream + 3, stream + 6] for stream in range(3))


def test_running_the_queue_tells_faults():
    """A fault met by `run_queued` is a KernelFault like any other."""
    with MockGpuBackend(plan=FaultPlan().fail("launch", failure=LaunchFault(context_lost=False))) as gpu:
        KernelLaunch(gpu, gpu.kernel("m", "k")).arg_u32(1).launch()
        with pytest.raises(KernelFault) as info:
            gpu.run_queued()
        assert info.value.launch.kernel == "k"


def test_reads_of_the_wrong_size_are_refused():
    """A body that reads an argument with another size, or memory past its end, is told so as a fault."""
    with MockGpuBackend() as gpu:
        gpu.define_kernel("m", "wide", lambda launch: launch.value(0, "u64"))
        gpu.define_kernel("m", "long", lambda launch: launch.array(0, np.uint32, 99))
        KernelLaunch(gpu, gpu.kernel("m", "wide")).arg_u32(1).launch()
        with pytest.raises(KernelFault, match="4 bytes"):
            gpu.synchronize()
        KernelLaunch(gpu, gpu.kernel("m", "long")).arg_ptr(gpu.buffer(12)).launch()
        with pytest.raises(KernelFault, match="384 bytes past"):
            gpu.synchronize()


# ---------------------------------------------------------------- what a scenario asks of the driver


def test_the_transcript_of_a_launch():
    """A first launch asks the driver for exactly these calls; a second one for the launch alone."""
    with MockGpuBackend() as gpu:
        gpu.define_kernel("m", "k", add_one)
        values = gpu.array(np.array([5, 6, 7], dtype=np.uint32))
        kernel = gpu.kernel("m", "k")
        kernel[1, 3](values, u32(3))
        kernel[1, 3](values, u32(2))
        values.numpy()
        assert gpu.log.transcript() == [
            "alloc",
            "copy_h2d",
            "synchronize",
            "load_module",
            "function",
            "function_attributes",
            "prepare_launch",
            "launch",
            "launch",
            "copy_d2h",
            "synchronize",
        ]
        assert (gpu.log.h2d_count, gpu.log.h2d_nbytes, gpu.log.d2h_count, gpu.sync_count) == (1, 12, 1, 2)


def test_the_transcript_of_a_replayed_graph():
    """Capturing asks the driver for nothing but what makes the kernel ready; a replay for its operations."""
    with MockGpuBackend() as gpu, gpu.create_stream() as stream:
        kernel = gpu.kernel("m", "k")
        values = gpu.buffer(12)
        gpu.log.clear()
        with gpu.capture(stream) as capture:
            kernel[1, 3, 0, stream](values, u32(3))
            gpu.memset_async(values, 0, 12, stream)
            kernel[2, 3, 0, stream](values, u32(3))
        assert gpu.log.transcript() == ["prepare_launch"]
        capture.graph.launch(stream)
        capture.graph.launch(stream)
        assert gpu.log.transcript() == ["prepare_launch", *["launch", "memset", "launch"] * 2]


def test_the_transcript_of_debug_sync():
    """Under debug sync each launch is one wait, the launch, and one wait; an empty one is neither."""
    with MockGpuBackend(debug_sync=True) as gpu:
        kernel = gpu.kernel("m", "k")
        kernel[1, 3](u32(3))
        gpu.log.clear()
        kernel[1, 3](u32(3))
        kernel[0, 3](u32(3))
        assert gpu.log.transcript() == ["synchronize", "launch", "synchronize"]


def test_a_prepared_launch_asks_for_nothing_else():
    """A call of a prepared launch is one driver call, with new values too."""
    with MockGpuBackend() as gpu:
        prepared = gpu.kernel("m", "k")[1, 3].prepare(gpu.buffer(12), u32(3), f32(1.5))
        gpu.log.clear()
        prepared()
        prepared(gpu.buffer(0), 4, 2.5)
        assert gpu.log.transcript() == ["launch", "launch"]
        assert gpu.log[1].arguments[1].data == (4).to_bytes(4, "little")


def test_ten_thousand_prepared_launches_check_and_ask_nothing_again(monkeypatch):
    """A prepared launch checks its signature once; each call is one driver call, and 10,000 keep no memory."""
    from metrale_gpu_runtime.signature import KernelSignature

    checks = []
    check = KernelSignature.check
    monkeypatch.setattr(
        KernelSignature, "check", lambda self, *args, **named: checks.append(1) or check(self, *args, **named)
    )
    with MockGpuBackend(keep_log=False) as gpu:
        prepared = gpu.kernel("m", "k")[1, 3].prepare(gpu.buffer(12), u32(3), f32(1.5))
        assert len(checks) == 1
        before = dict(gpu.log.counts)
        tracemalloc.start()
        try:
            for _ in range(500):
                prepared()
            gpu.synchronize()
            gc.collect()
            start = tracemalloc.get_traced_memory()[0]
            for _ in range(10_000):
                prepared()
            gpu.synchronize()
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - start
        finally:
            tracemalloc.stop()
        counted = {call: count - before.get(call, 0) for call, count in gpu.log.counts.items()}
        assert {call: count for call, count in counted.items() if count} == {"launch": 10_500, "synchronize": 2}
        assert len(checks) == 1
        assert grown < 20_000, grown


def test_many_launches_leave_nothing_behind():
    """Thousands of rounds of launch, event, copy and drop grow neither Python's memory nor the driver's books."""
    with MockGpuBackend(keep_log=False) as gpu:
        kernel = gpu.kernel("m", "k")
        prepared = kernel[1, 3].prepare(gpu.buffer(12), u32(3))
        host = np.zeros(3, dtype=np.uint32)

        def rounds(count):
            for number in range(count):
                buffer = gpu.array(host)
                prepared()
                kernel[1, 3](buffer, u32(number))
                event = gpu.create_event(timing=False)
                event.record()
                event.synchronize()
                event.close()

        tracemalloc.start()
        try:
            # The engine remembers the last few hundred frees by name; that is full by then.
            rounds(400)
            gc.collect()
            books, before = gpu.mock.books, tracemalloc.get_traced_memory()[0]
            rounds(800)
            gc.collect()
            after = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert gpu.mock.books == books
        assert after - before < 32_000, f"{after - before} bytes more after 800 rounds"


def test_many_backends_leave_nothing_behind():
    """A hundred backends opened, used and closed leave no object of theirs alive."""
    for _ in range(100):
        with MockGpuBackend() as gpu:
            KernelLaunch(gpu, gpu.kernel("m", "k")).arg_ptr(gpu.buffer(12)).launch()
    del gpu
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is MockGpuBackend]


def test_opening_the_mock_by_name():
    """`open_backend("mock", profile=…)` gives the recording backend with the profile's limits and its options."""
    with open_backend("mock", profile="M2", strict_pointers=True, debug_sync=True) as gpu:
        assert isinstance(gpu, MockGpuBackend)
        assert gpu.capabilities.max_buffer_arguments == 31
        assert gpu.debug_sync_kernels()
        KernelLaunch(gpu, gpu.kernel("m", "k")).arg_u32(1).launch()
        assert gpu.launch_count == 1
    with pytest.raises(ValueError, match="A100"):
        open_backend("mock", profile="B300")
    with pytest.raises(NotSupported, match="profile"):
        open_backend("cpu", profile="A100")


def test_a_source_changed_under_its_copy_is_told():
    """Under debug sync a source that changes between queueing and copying is told; the copy took what it found."""
    with MockGpuBackend(debug_sync=True) as gpu:
        source, buffer = np.arange(5, dtype=np.uint32), gpu.empty(5, np.uint32)
        gpu.copy_h2d_async_retained(source, buffer)
        source[:] = 9
        with pytest.warns(GpuWarning, match="changed"):
            gpu.synchronize()
        assert buffer.numpy().tolist() == [9] * 5
