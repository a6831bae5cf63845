"""The mock driver by itself, without an engine above it."""

from __future__ import annotations

import gc
import struct

import pytest

from metrale_gpu_runtime.driver import ArgumentKind, ArgumentLayout, CodeImage, DriverOptions, MemoryKind
from metrale_gpu_runtime.drivers.mock import (
    ContractViolation,
    FaultPlan,
    Launch,
    LaunchFault,
    MockDriver,
    MockFactory,
    OutOfMemory,
    Refusal,
)
from metrale_gpu_runtime.errors import (
    BackendUnavailable,
    CompileError,
    DriverError,
    DriverFault,
    KernelNotFound,
    OutOfDeviceMemory,
)
from metrale_gpu_runtime.geometry import Dim3, Geometry
from metrale_gpu_runtime.handles import DEFAULT_STREAM

POINTER_AND_COUNT = ArgumentLayout(
    kinds=(ArgumentKind.POINTER, ArgumentKind.VALUE), offsets=(0, 8), sizes=(8, 4), alignments=(8, 4), nbytes=12
)
GEOMETRY = Geometry(Dim3(3, 2), Dim3(7), 11)


def image_of(address, count):
    return struct.pack("<QI", address, count)


def open_kernel(driver, body=None, *, module="m", function="k"):
    if body is not None:
        driver.define_kernel(module, function, body)
    handle = driver.function(driver.load_module(CodeImage(module, "any", b"")), function)
    return driver.prepare_launch(handle, POINTER_AND_COUNT)


def upload(driver, data):
    address = driver.alloc(len(data))
    view = memoryview(data)
    driver.copy_h2d(address, view, DEFAULT_STREAM)
    driver.synchronize(DEFAULT_STREAM)
    return address


def test_addresses_only_go_up():
    """An address is a multiple of 256 from 0x1000_0000 on and is never given twice."""
    driver = MockDriver()
    first = driver.alloc(257)
    second = driver.alloc(1)
    driver.free(second)
    assert (first, second, driver.alloc(5)) == (0x1000_0000, 0x1000_0200, 0x1000_0300)


def test_copies_run_when_waited_for():
    """A queued copy reads its source at the time it runs, not at the time it is queued."""
    driver = MockDriver()
    source = memoryview(bytearray(b"early"))
    address = driver.alloc(5)
    driver.copy_h2d(address, source, DEFAULT_STREAM)
    source[:] = b"later"
    assert driver.peek(address, 5) == bytes(5)
    driver.synchronize(DEFAULT_STREAM)
    assert driver.peek(address, 5) == b"later"


def test_a_source_dropped_early_shows():
    """A host source that nobody keeps until its copy runs is a broken promise of the engine."""
    driver = MockDriver()
    address = driver.alloc(3)
    driver.copy_h2d(address, memoryview(bytearray(b"abc")), DEFAULT_STREAM)
    gc.collect()
    with pytest.raises(ContractViolation, match="dropped before the copy ran"):
        driver.synchronize(DEFAULT_STREAM)
    assert len(driver.violations) == 1


def test_a_kept_object_is_enough():
    """A source counts as kept when the object below the view lives, though the view itself is gone."""
    numpy = pytest.importorskip("numpy")
    driver = MockDriver()
    source = numpy.arange(5, dtype=numpy.int32)
    address = driver.alloc(12)
    driver.copy_h2d(address, memoryview(source)[2:].cast("B"), DEFAULT_STREAM)
    gc.collect()
    driver.synchronize(DEFAULT_STREAM)
    assert driver.peek(address, 12) == source[2:].tobytes()


def test_read_only_sources_are_read():
    """bytes, which no one may write, can be copied from."""
    driver = MockDriver()
    view = memoryview(b"\x01\x02\x03")
    address = driver.alloc(3)
    driver.copy_h2d(address, view, DEFAULT_STREAM)
    driver.synchronize(DEFAULT_STREAM)
    assert driver.peek(address, 3) == bytes(view)


def test_fills_of_each_width():
    """A fill repeats the value's bytes, lowest first, and touches nothing behind them."""
    driver = MockDriver(fill=0x77)
    address = driver.alloc(11)
    for width, value in ((1, 0xA1), (2, 0xB2B1), (4, 0xC4C3C2C1)):
        driver.memset(address, value, width, 2, DEFAULT_STREAM)
        driver.synchronize(DEFAULT_STREAM)
        assert driver.peek(address, 2 * width) == value.to_bytes(width, "little") * 2
    assert driver.peek(address + 8, 3) == b"\x77\x77\x77"


def test_pitched_copy_moves_rows_only():
    """A pitched copy moves `width` bytes of each row and leaves the gaps of the target alone."""
    driver = MockDriver(fill=0)
    source = upload(driver, bytes(range(1, 16)))
    target = driver.alloc(14)
    driver.copy_d2d_2d(target, 7, source, 5, 3, 2, DEFAULT_STREAM)
    driver.synchronize(DEFAULT_STREAM)
    assert driver.peek(target, 14) == bytes([1, 2, 3, 0, 0, 0, 0, 6, 7, 8, 0, 0, 0, 0])


def test_a_body_runs_with_its_launch():
    """A Python body sees the launch's geometry and arguments, and memory as it is when the queue runs."""
    seen = []

    def body(launch):
        seen.append((launch.grid, launch.block, launch.shared_mem, launch.value(1, "u32"), launch.memory(0)[0]))

    driver = MockDriver()
    target = open_kernel(driver, body)
    address = upload(driver, b"\x05\x06")
    target.submit(image_of(address, 42), GEOMETRY, DEFAULT_STREAM, 9)
    driver.memset(address, 8, 1, 1, DEFAULT_STREAM)
    assert seen == []
    driver.synchronize(DEFAULT_STREAM)
    assert seen == [(Dim3(3, 2), Dim3(7), 11, 42, 5)]


def test_the_log_holds_the_launch():
    """A launch's entry holds the kernel's names, the geometry, the stream, the ordinal and every argument."""
    driver = MockDriver()
    open_kernel(driver, module="norm", function="rms").submit(image_of(0x1000, 42), GEOMETRY, DEFAULT_STREAM, 9)
    (entry,) = driver.log.of(Launch)
    assert (entry.module, entry.function, entry.ordinal, entry.stream) == ("norm", "rms", 9, 0)
    assert (entry.grid, entry.block, entry.shared_mem) == ((3, 2, 1), (7, 1, 1), 11)
    assert [a.data for a in entry.arguments] == [(0x1000).to_bytes(8, "little"), (42).to_bytes(4, "little")]
    assert entry.arguments[0].address == 0x1000
    assert driver.log.launch_count == 1


def test_kernels_have_their_own_handles():
    """Each (module, function) has one handle, the same at every lookup; 0 is none of them."""
    driver = MockDriver()
    first, second = (driver.load_module(CodeImage(name, "any", b"")) for name in ("a", "b"))
    handles = [driver.function(first, "k"), driver.function(second, "k"), driver.function(first, "l")]
    assert len({*handles, 0}) == 4
    assert driver.function(first, "k") == handles[0]


def test_strict_finds_what_is_known():
    """A strict mock finds what was defined, declared, or stands in a PTX text, and no comment."""
    driver = MockDriver(strict=True)
    driver.declare_kernels("m", "said")
    driver.define_kernel("m", "body", lambda launch: None)
    text = b"// .entry ghost()\n.visible .entry real (\n.param .u32 p)\n{ ret; }\n"
    module = driver.load_module(CodeImage("m", "ptx", text))
    assert set(driver.function_names(module)) == {"real", "body", "said"}
    with pytest.raises(KernelNotFound) as caught:
        driver.function(module, "ghost")
    assert caught.value.available == ("real", "body", "said")
    assert driver.function(module, "real")


def test_denied_kernels_are_recorded():
    """A denied kernel cannot be looked up, and the lookup stays in the log."""
    driver = MockDriver()
    driver.deny_kernel("m", "k")
    module = driver.load_module(CodeImage("m", "any", b""))
    with pytest.raises(KernelNotFound):
        driver.function(module, "k")
    assert driver.log[-1].line() == "function failed=KernelNotFound module=m function=k"


def test_events_order_streams():
    """Work behind a wait runs after the work before the event's recording, on whatever stream that is."""
    driver = MockDriver()
    order = []
    first = open_kernel(driver, lambda launch: order.append("first"), function="first")
    second = open_kernel(driver, lambda launch: order.append("second"), module="n", function="second")
    one, two, event = driver.create_stream(), driver.create_stream(), driver.create_event()
    first.submit(image_of(0, 1), GEOMETRY, one, 1)
    driver.record_event(event, one)
    driver.wait_event(two, event)
    second.submit(image_of(0, 1), GEOMETRY, two, 2)
    driver.synchronize(two)
    assert order == ["first", "second"]


def test_streams_run_apart():
    """Without an event, waiting for one stream leaves the other's work queued."""
    driver = MockDriver()
    target = open_kernel(driver)
    one, two = driver.create_stream(), driver.create_stream()
    target.submit(image_of(0, 1), GEOMETRY, one, 1)
    target.submit(image_of(0, 1), GEOMETRY, two, 2)
    driver.synchronize(two)
    assert [entry.ordinal for entry in driver.ran] == [2]
    driver.run_queued(seed=5)
    assert [entry.ordinal for entry in driver.ran] == [2, 1]


def test_polling_runs_one_operation():
    """Each question about a stream or event runs one operation and answers for the moment it was asked."""
    driver = MockDriver()
    target, event = open_kernel(driver), driver.create_event()
    target.submit(image_of(0, 1), GEOMETRY, DEFAULT_STREAM, 1)
    driver.record_event(event, DEFAULT_STREAM)
    assert [driver.query_event(event) for _ in range(3)] == [False, False, True]
    assert driver.query_stream(DEFAULT_STREAM)


def test_event_times_grow_with_work():
    """The time between two events is positive when work lies between them."""
    driver = MockDriver()
    target, start, end = open_kernel(driver), driver.create_event(), driver.create_event()
    driver.record_event(start, DEFAULT_STREAM)
    target.submit(image_of(0, 1), GEOMETRY, DEFAULT_STREAM, 1)
    driver.record_event(end, DEFAULT_STREAM)
    driver.synchronize_event(end)
    assert driver.elapsed_ms(start, end) == 2 / 1024


def test_a_full_queue_runs_its_oldest():
    """A stream holds `queue_depth` operations; one more makes the oldest run."""
    driver = MockDriver(queue_depth=3)
    target = open_kernel(driver)
    for ordinal in range(1, 6):
        target.submit(image_of(0, 1), GEOMETRY, DEFAULT_STREAM, ordinal)
    assert [entry.ordinal for entry in driver.ran] == [1, 2]


def free_in_use(driver):
    address = driver.alloc(4)
    open_kernel(driver).submit(image_of(address, 1), GEOMETRY, DEFAULT_STREAM, 1)
    driver.free(address)


def free_twice(driver):
    address = driver.alloc(4)
    driver.free(address)
    driver.free(address)


def free_inside(driver):
    driver.free(driver.alloc(4) + 1)


def destroy_busy_stream(driver):
    stream = driver.create_stream()
    open_kernel(driver).submit(image_of(0, 1), GEOMETRY, stream, 1)
    driver.destroy_stream(stream)


def unload_busy_module(driver):
    module = driver.load_module(CodeImage("m", "any", b""))
    target = driver.prepare_launch(driver.function(module, "k"), POINTER_AND_COUNT)
    target.submit(image_of(0, 1), GEOMETRY, DEFAULT_STREAM, 1)
    driver.unload_module(module)


def copy_past_the_end(driver):
    driver.memset(driver.alloc(6), 0, 1, 7, DEFAULT_STREAM)


def launch_an_empty_grid(driver):
    open_kernel(driver).submit(image_of(0, 1), Geometry(Dim3(0)), DEFAULT_STREAM, 1)


def call_after_close(driver):
    driver.close()
    driver.alloc(1)


@pytest.mark.parametrize(
    "misuse",
    [
        free_in_use,
        free_twice,
        free_inside,
        destroy_busy_stream,
        unload_busy_module,
        copy_past_the_end,
        launch_an_empty_grid,
        call_after_close,
    ],
)
def test_broken_promises_of_the_engine_show(misuse):
    """What the contract forbids the engine raises ContractViolation and stays listed."""
    driver = MockDriver()
    with pytest.raises(ContractViolation):
        misuse(driver)
    assert len(driver.violations) == 1


def test_the_nth_call_fails_once():
    """A plan makes the n-th call of its kind fail and no other."""
    driver = MockDriver(plan=FaultPlan().fail("alloc", nth=2, failure=OutOfMemory()))
    driver.alloc(3)
    with pytest.raises(OutOfDeviceMemory) as caught:
        driver.alloc(17)
    assert caught.value.nbytes == 17
    assert driver.alloc(5)
    assert driver.books["allocations"] == 2


def test_a_call_fails_for_good():
    """With `forever`, the n-th and every later call of the kind fails, each naturally for its kind."""
    driver = MockDriver(plan=FaultPlan().fail(nth=2, forever=True))
    driver.create_stream()
    with pytest.raises(CompileError):
        driver.load_module(CodeImage("m", "any", b""))
    with pytest.raises(OutOfDeviceMemory):
        driver.alloc(3)
    with pytest.raises(DriverError):
        driver.create_event()


def test_a_refused_launch_does_not_stick():
    """A launch refused with 1 or 209 is not queued, and the next synchronisation finds nothing."""
    plan = FaultPlan().fail("launch", nth=1, failure=Refusal(209, "CUDA_ERROR_NO_BINARY_FOR_GPU"))
    driver = MockDriver(plan=plan)
    with pytest.raises(DriverError) as caught:
        open_kernel(driver).submit(image_of(0, 1), GEOMETRY, DEFAULT_STREAM, 1)
    assert (caught.value.code, caught.value.code_name) == (209, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    driver.synchronize(DEFAULT_STREAM)
    assert driver.log.launch_count == 0


def test_a_lost_context_stays_lost():
    """After a fault that takes the context every call raises it again, and clean-up goes through."""
    driver = MockDriver(plan=FaultPlan().fail("launch", nth=2, failure=LaunchFault()))
    target, stream, address = open_kernel(driver), driver.create_stream(), driver.alloc(4)
    for ordinal, where in ((11, DEFAULT_STREAM), (12, DEFAULT_STREAM), (13, stream), (14, DEFAULT_STREAM)):
        target.submit(image_of(0, 1), GEOMETRY, where, ordinal)
    with pytest.raises(DriverFault) as caught:
        driver.synchronize(DEFAULT_STREAM)
    assert (caught.value.launch, caught.value.context_lost, caught.value.dropped) == (12, True, (13, 14))
    assert driver.is_lost
    with pytest.raises(DriverFault, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        driver.alloc(1)
    driver.free(address)
    driver.destroy_stream(stream)
    driver.close()


def test_later_work_is_dropped_as_metal_does():
    """A fault that drops later work names the stream's later launches; other streams and later work go on."""
    failure = LaunchFault(context_lost=False, drops_later=True)
    driver = MockDriver(plan=FaultPlan().fail("launch", nth=1, failure=failure))
    target, stream = open_kernel(driver), driver.create_stream()
    for ordinal, where in ((1, DEFAULT_STREAM), (2, DEFAULT_STREAM), (3, stream)):
        target.submit(image_of(0, 1), GEOMETRY, where, ordinal)
    with pytest.raises(DriverFault) as caught:
        driver.synchronize(DEFAULT_STREAM)
    assert (caught.value.launch, caught.value.dropped) == (1, (2,))
    driver.synchronize(stream)
    assert [entry.ordinal for entry in driver.ran] == [1, 3]


@pytest.mark.parametrize("attributed", [True, False])
def test_a_fault_found_at_once(attributed):
    """A fault may be found by the next call of any kind, with the launch's number or without."""
    failure = LaunchFault(found_at_once=True, context_lost=False, attributed=attributed)
    driver = MockDriver(plan=FaultPlan().fail("launch", failure=failure))
    open_kernel(driver).submit(image_of(0, 1), GEOMETRY, DEFAULT_STREAM, 6)
    with pytest.raises(DriverFault) as caught:
        driver.alloc(1)
    assert caught.value.launch == (6 if attributed else None)
    assert driver.alloc(1)


def test_a_body_that_raises_is_a_fault():
    """An exception in a body is a fault of its launch, with the exception as its cause; the rest still runs."""

    def body(launch):
        launch.memory(0, 5)

    driver = MockDriver()
    target, address = open_kernel(driver, body), driver.alloc(4)
    target.submit(image_of(address, 1), GEOMETRY, DEFAULT_STREAM, 6)
    driver.memset(address, 3, 1, 1, DEFAULT_STREAM)
    with pytest.raises(DriverFault) as caught:
        driver.synchronize(DEFAULT_STREAM)
    assert caught.value.launch == 6
    assert caught.value.findings[0].kind == "out-of-bounds"
    assert isinstance(caught.value.__cause__, IndexError)
    assert driver.peek(address, 1) == b"\x03"


def test_pinned_memory_has_two_addresses():
    """Pinned memory is one piece of memory under a host address and another address of the device."""
    import ctypes

    driver = MockDriver()
    host = driver.alloc(19, MemoryKind.PINNED)
    mapped = driver.map_host(host + 3, 4)
    assert mapped not in (host, host + 3)
    assert host % 256 == 0
    driver.memset(mapped, 0x5A, 1, 2, DEFAULT_STREAM)
    driver.synchronize(DEFAULT_STREAM)
    assert ctypes.string_at(host + 3, 2) == b"\x5a\x5a"
    driver.free(host, MemoryKind.PINNED)
    assert driver.books["allocations"] == 0


def test_memory_can_run_out():
    """An allocation over what is free raises with the figures, and takes nothing."""
    driver = MockDriver(total_memory=1000, reserved_memory=100)
    driver.alloc(700)
    with pytest.raises(OutOfDeviceMemory) as caught:
        driver.alloc(201)
    assert (caught.value.free, caught.value.total) == (200, 1000)
    assert driver.memory_figures() == (200, 1000)


def test_globals_live_with_their_module():
    """A module's variable has memory with its first bytes until the module goes."""
    driver = MockDriver()
    driver.define_global("m", "table", b"\x09\x08\x07")
    module = driver.load_module(CodeImage("m", "any", b""))
    address, nbytes = driver.global_symbol(module, "table")
    assert driver.peek(address, nbytes) == b"\x09\x08\x07"
    driver.unload_module(module)
    assert not any(driver.books.values())


def test_counting_without_keeping():
    """With `keep_log=False` the counters count and no entry is kept."""
    driver = MockDriver(keep_log=False)
    upload(driver, b"12345")
    assert (len(driver.log), driver.log.h2d_count, driver.log.h2d_nbytes, len(driver.ran)) == (0, 1, 5, 0)


def test_the_factory_opens_profiles():
    """The factory hands its extras to the driver and knows one device only."""
    driver = MockFactory().open(0, DriverOptions(extra={"profile": "rtx4090", "strict_pointers": True}))
    assert driver.capabilities.max_static_and_dynamic_shared_mem == 101376
    with pytest.raises(BackendUnavailable):
        MockFactory().open(1, DriverOptions())
    with pytest.raises(ValueError, match="A100, H100"):
        MockDriver("B300")
    with pytest.raises(TypeError, match=r"^mock: unknown options memory; it takes profile, strict, .* and keep_log$"):
        MockFactory().open(0, DriverOptions(extra={"memory": "svm", "strict": True}))
