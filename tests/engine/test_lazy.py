"""Lazy buffers, on a device with virtual memory and on one without: the base stays, the mapped prefix grows."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock import FaultPlan, OutOfMemory, Refusal
from metrale_gpu_runtime.drivers.mock.log import Alloc, MapMemory, ReserveAddresses, UnmapMemory
from metrale_gpu_runtime.drivers.mock.profiles import profile

MIB = 1 << 20
GRANULE = 2 * MIB
PROFILES = {"virtual": profile("H100"), "eager": replace(profile("H100"), lazy_memory=False)}


@pytest.fixture(params=PROFILES)
def kind(request):
    return request.param


@pytest.fixture
def gpu(kind):
    with mg.MockGpuBackend(PROFILES[kind], fill=0xC7) as gpu:
        yield gpu
    assert not gpu.mock.violations
    assert not any(gpu.mock.books.values())


@pytest.fixture
def virtual():
    with mg.MockGpuBackend(PROFILES["virtual"], total_memory=100 * MIB, fill=0xC7) as gpu:
        # 6 MiB are in use from the start.
        yield gpu
    assert not gpu.mock.violations
    assert not any(gpu.mock.books.values())


def lazy(gpu, nbytes, **options):
    return gpu.lazy_buffer(nbytes, **{"free_floor": 0, **options})


def test_it_says_which_kind_it_is(gpu, kind):
    """A device with virtual memory reserves addresses and maps nothing; without it all of it is allocated at once."""
    with lazy(gpu, 5 * MIB, label="cache") as buffer:
        assert buffer.kind == kind
        assert (buffer.reserved_nbytes, buffer.mapped_nbytes, buffer.granule) == (6 * MIB, 0, GRANULE)
        assert buffer.label == "cache"
        assert len(gpu.log.of(ReserveAddresses)) == (kind == "virtual")
        assert [call.nbytes for call in gpu.log.of(Alloc)] == ([] if kind == "virtual" else [6 * MIB])
        assert kind in repr(buffer)


def test_it_grows_by_granules_and_never_moves(gpu):
    """Wants are rounded up to granules, smaller ones change nothing, and the base and what was written stay."""
    buffer = lazy(gpu, 20 * MIB)
    base = buffer.ptr.address
    assert buffer.ensure_mapped(1) == GRANULE
    gpu.copy_h2d(np.arange(100, dtype=np.uint8), buffer.ptr + GRANULE - 100)
    for wanted, mapped in ((GRANULE, GRANULE), (GRANULE + 1, 2 * GRANULE), (5, 2 * GRANULE), (7 * MIB, 8 * MIB)):
        assert buffer.ensure_mapped(wanted) == mapped
        assert (buffer.mapped_nbytes, buffer.ptr.address) == (mapped, base)
    across = np.zeros(200, np.uint8)
    gpu.copy_h2d(np.arange(100, 200, dtype=np.uint8), buffer.ptr + GRANULE)
    gpu.copy_d2h(buffer.ptr + GRANULE - 100, across)
    assert across.tolist() == list(range(200))
    buffer.release()


def test_a_want_beyond_the_reservation_is_capped(gpu):
    """More than is reserved maps the whole reservation, and says so by what it returns."""
    with lazy(gpu, 5 * MIB) as buffer:
        assert buffer.ensure_mapped(64 * MIB) == 6 * MIB == buffer.reserved_nbytes
        assert buffer.ensure_mapped(64 * MIB) == 6 * MIB


def test_only_the_new_granules_are_mapped(virtual):
    """Each growth maps exactly what is missing, behind what is there; the release unmaps all of it at once."""
    buffer = lazy(virtual, 20 * MIB)
    base = buffer.address
    for wanted in (1, 3 * MIB, 2 * MIB, 9 * MIB):
        buffer.ensure_mapped(wanted)
    assert [(call.address - base, call.nbytes) for call in virtual.log.of(MapMemory)] == [
        (0, 2 * MIB),
        (2 * MIB, 2 * MIB),
        (4 * MIB, 6 * MIB),
    ]
    buffer.release()
    assert [(call.address - base, call.nbytes) for call in virtual.log.of(UnmapMemory)] == [(0, 10 * MIB)]


def test_the_ledger_counts_what_is_mapped(gpu):
    """Live bytes are the mapped ones; the report names the buffer with what is mapped and reserved."""
    before = gpu.live_bytes()
    buffer = lazy(gpu, 20 * MIB, label="cache")
    assert gpu.live_bytes() == before
    buffer.ensure_mapped(3 * MIB)
    assert gpu.live_bytes() == before + 4 * MIB
    assert "'cache': 4194304 bytes" in gpu.alloc_report()
    buffer.release()
    assert gpu.live_bytes() == before
    assert gpu.live_alloc_count() == 0


def test_the_unmapped_part_is_refused(gpu):
    """A pointer, bare address or copy behind the mapped bytes is refused with what is mapped; growing makes it good."""
    buffer = lazy(gpu, 20 * MIB, label="cache")
    kernel = gpu.kernel("m", "k")
    with pytest.raises(mg.InvalidPointer, match="ensure_mapped with more than 0"):
        kernel[1, 1](buffer)
    with pytest.raises(mg.InvalidPointer, match="0 bytes mapped of 20971520 reserved"):
        kernel[1, 1](buffer.ptr)
    with pytest.raises(mg.InvalidPointer):
        gpu.memset(buffer, 0, 1)
    buffer.ensure_mapped(4 * MIB)
    behind = buffer.ptr + 4 * MIB
    for pointer in (behind, behind + 1, mg.DevicePtr(behind.address), mg.DevicePtr(behind.address + 5 * MIB)):
        with pytest.raises(mg.InvalidPointer, match="4194304 bytes mapped of 20971520"):
            kernel[1, 1](pointer)
        with pytest.raises(mg.InvalidPointer, match="4194304 bytes mapped of 20971520"):
            gpu.copy_h2d(b"12", pointer)
    with pytest.raises(mg.InvalidPointer, match=r"4194304 bytes mapped.*1 too many"):
        gpu.copy_h2d(b"12", behind - 1)
    assert gpu.launch_count == gpu.log.h2d_count == 0
    kernel[1, 1](behind - 1)
    gpu.copy_h2d(b"12", behind - 2)
    buffer.ensure_mapped(4 * MIB + 1)
    kernel[1, 1](behind)
    gpu.copy_h2d(b"12", behind - 1)
    gpu.synchronize()
    buffer.ensure_mapped(20 * MIB)
    # One past the end of all of it is a pointer again, as with any allocation.
    kernel[1, 1](buffer.ptr + 20 * MIB)
    buffer.release()


def test_pointers_outside_are_refused(gpu):
    """An address before the buffer or behind the reservation is refused as for any allocation."""
    buffer = lazy(gpu, 4 * MIB)
    buffer.ensure_mapped(4 * MIB)
    for pointer, words in ((buffer.ptr - 1, "1 bytes before"), (buffer.ptr + 4 * MIB + 3, "3 bytes past")):
        with pytest.raises(mg.InvalidPointer, match=words):
            gpu.kernel("m", "k")[1, 1](pointer)
    buffer.release()


# ---------------------------------------------------------------- budgets


def test_a_budget_is_shared(gpu):
    """Buffers draw on one budget; a refusal has the numbers and changes nothing; a release refunds once."""
    budget = mg.MappingBudget(9 * MIB)
    one, other = lazy(gpu, 20 * MIB, budget=budget), lazy(gpu, 20 * MIB, budget=budget, label="other")
    one.ensure_mapped(4 * MIB)
    other.ensure_mapped(3 * MIB)
    assert (budget.charged_nbytes, budget.free_nbytes, budget.nbytes) == (8 * MIB, MIB, 9 * MIB)
    calls = len(gpu.log.transcript())
    with pytest.raises(mg.MappingBudgetExceeded, match="other") as info:
        other.ensure_mapped(4 * MIB + 1)
    error = info.value
    assert (error.nbytes, error.budget, error.charged) == (2 * MIB, 9 * MIB, 8 * MIB)
    assert isinstance(error, mg.OutOfDeviceMemory)
    assert len(gpu.log.transcript()) == calls
    assert (other.mapped_nbytes, budget.charged_nbytes) == (4 * MIB, 8 * MIB)
    one.release()
    one.release()
    assert budget.charged_nbytes == 4 * MIB
    assert other.ensure_mapped(4 * MIB + 1) == 6 * MIB
    # A caught error's traceback holds the buffer that refused.
    del other, info, error
    gc.collect()
    assert gpu.live_bytes() == 0
    assert budget.charged_nbytes == 0


def test_a_budget_counts_and_saturates():
    """A budget is a whole number of bytes, is charged all or nothing, and a refund never gives more than there is."""
    budget = mg.MappingBudget(10)
    budget.charge(7)
    with pytest.raises(mg.MappingBudgetExceeded):
        budget.charge(4)
    assert budget.charged_nbytes == 7
    budget.charge(3)
    budget.refund(99)
    assert (budget.charged_nbytes, budget.free_nbytes) == (0, 10)
    for wrong, error in ((1.5, TypeError), (True, TypeError), ("8", TypeError), (-1, ValueError)):
        with pytest.raises(error):
            mg.MappingBudget(wrong)


def test_a_failed_mapping_refunds(virtual):
    """When the driver cannot map, the budget and the buffer are as before, and the next try can succeed."""
    budget = mg.MappingBudget(50 * MIB)
    buffer = lazy(virtual, 200 * MIB, budget=budget)
    buffer.ensure_mapped(2 * MIB)
    for failure, error in ((OutOfMemory(), mg.OutOfDeviceMemory), (Refusal(), mg.DriverError)):
        virtual.inject(FaultPlan().fail("map_memory", failure=failure, forever=True))
        with pytest.raises(error):
            buffer.ensure_mapped(7 * MIB)
        assert (buffer.mapped_nbytes, budget.charged_nbytes, virtual.live_bytes()) == (2 * MIB, 2 * MIB, 2 * MIB)
        virtual.inject(FaultPlan())
    assert buffer.ensure_mapped(7 * MIB) == 8 * MIB
    budget_free = lazy(virtual, 200 * MIB)
    with pytest.raises(mg.OutOfDeviceMemory, match="104857600") as info:
        budget_free.ensure_mapped(150 * MIB)
    assert info.value.nbytes == 150 * MIB


def test_dropped_memory_makes_room(virtual):
    """When memory is short, what was dropped and waits for its stream is waited for, and the mapping succeeds."""
    big = virtual.buffer(60 * MIB)
    virtual.kernel("m", "k")[1, 1](big)
    del big
    buffer = lazy(virtual, 80 * MIB)
    assert buffer.ensure_mapped(70 * MIB) == 70 * MIB
    buffer.release()


# ---------------------------------------------------------------- the floor


def test_the_device_keeps_a_floor(virtual):
    """A mapping that would leave the device under the floor is refused before it is made, with all the numbers."""
    free = virtual.free_memory()
    budget = mg.MappingBudget(90 * MIB)
    buffer = lazy(virtual, 200 * MIB, free_floor=free - 5 * MIB, budget=budget)
    assert buffer.ensure_mapped(4 * MIB) == 4 * MIB
    with pytest.raises(mg.FreeMemoryFloor) as info:
        buffer.ensure_mapped(4 * MIB + 1)
    error = info.value
    assert (error.nbytes, error.floor, error.free) == (2 * MIB, free - 5 * MIB, free - 4 * MIB)
    assert isinstance(error, mg.OutOfDeviceMemory)
    assert len(virtual.log.of(MapMemory)) == 1
    assert (buffer.mapped_nbytes, budget.charged_nbytes) == (4 * MIB, 4 * MIB)
    assert buffer.ensure_mapped(4 * MIB) == 4 * MIB


def test_the_floor_comes_from_the_environment(monkeypatch, virtual):
    """Without an argument the floor is METRALE_LAZY_MAP_FREE_FLOOR_MB megabytes, 4096 where that is not set."""
    monkeypatch.delenv("METRALE_LAZY_MAP_FREE_FLOOR_MB", raising=False)
    with pytest.raises(mg.FreeMemoryFloor) as info:
        virtual.lazy_buffer(4 * MIB).ensure_mapped(1)
    assert info.value.floor == 4096 * MIB
    monkeypatch.setenv("METRALE_LAZY_MAP_FREE_FLOOR_MB", "3")
    assert virtual.lazy_buffer(4 * MIB).free_floor == 3 * MIB
    for wrong in ("-1", "many", "1.5"):
        monkeypatch.setenv("METRALE_LAZY_MAP_FREE_FLOOR_MB", wrong)
        with pytest.raises(ValueError, match="METRALE_LAZY_MAP_FREE_FLOOR_MB"):
            virtual.lazy_buffer(4 * MIB)
    for wrong, error in ((-1, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error):
            virtual.lazy_buffer(4 * MIB, free_floor=wrong)


def test_an_eager_buffer_keeps_a_given_floor():
    """Without virtual memory the default floor says nothing; one that is given holds for the whole allocation."""
    with mg.MockGpuBackend(PROFILES["eager"], total_memory=100 * MIB) as gpu:
        free = gpu.free_memory()
        assert gpu.lazy_buffer(4 * MIB).ensure_mapped(3 * MIB) == 4 * MIB
        with pytest.raises(mg.FreeMemoryFloor) as info:
            gpu.lazy_buffer(6 * MIB, free_floor=free - 5 * MIB)
        assert info.value.nbytes == 6 * MIB
        assert gpu.live_alloc_count() == 0


# ---------------------------------------------------------------- captures


def test_nothing_is_mapped_during_a_capture(gpu):
    """While any stream is captured a buffer does not grow, by whichever thread; what is there already is no growth."""
    budget = mg.MappingBudget(90 * MIB)
    buffer = lazy(gpu, 20 * MIB, budget=budget)
    buffer.ensure_mapped(4 * MIB)
    refused = []

    def grow():
        try:
            buffer.ensure_mapped(4 * MIB + 1)
        except mg.CaptureError as error:
            refused.append(str(error))

    with gpu.create_stream() as first, gpu.create_stream() as second:
        gpu.begin_capture(first)
        gpu.begin_capture(second)
        assert buffer.ensure_mapped(3 * MIB) == 4 * MIB
        grow()
        thread = threading.Thread(target=grow)
        thread.start()
        thread.join()
        gpu.destroy_graph(gpu.end_capture(first))
        grow()
        assert len(refused) == 3
        assert "captured" in refused[0]
        assert (buffer.mapped_nbytes, budget.charged_nbytes) == (4 * MIB, 4 * MIB)
        gpu.abort_capture(second)
        assert buffer.ensure_mapped(4 * MIB + 1) == 6 * MIB
    buffer.release()


def test_a_captured_buffer_is_not_released(gpu):
    """A release is refused while a capture names the buffer, and works once the capture is over."""
    buffer = lazy(gpu, 4 * MIB)
    buffer.ensure_mapped(4 * MIB)
    with gpu.create_stream() as stream:
        gpu.begin_capture(stream)
        gpu.memset_async(buffer, 3, stream=stream)
        with pytest.raises(mg.CaptureError):
            buffer.release()
        assert buffer.is_live
        gpu.abort_capture(stream)
        buffer.release()
        assert not buffer.is_live


# ---------------------------------------------------------------- the end


def test_a_release_waits_for_its_users(gpu):
    """Queued work on any stream is done before the memory goes; pointers and the buffer are dead afterwards."""
    buffer = lazy(gpu, 4 * MIB, label="cache")
    buffer.ensure_mapped(2 * MIB)
    pointer = buffer.ptr
    with gpu.create_stream() as stream:
        gpu.memset_async(buffer.ptr, 5, 100, stream)
        gpu.kernel("m", "k")[1, 1](buffer)
        buffer.release()
        assert gpu.queued_count == 0
    assert (buffer.mapped_nbytes, buffer.is_live) == (0, False)
    assert "released at" in repr(buffer)
    for use in (lambda: buffer.ptr, lambda: buffer.ensure_mapped(1)):
        with pytest.raises(mg.HandleClosed, match="cache"):
            use()
    for value in (buffer, pointer):
        with pytest.raises(mg.InvalidPointer, match="cache"):
            gpu.kernel("m", "k")[1, 1](value)
    with pytest.raises(mg.InvalidPointer):
        gpu.free(pointer)


def test_a_dropped_buffer_goes_behind_its_work(gpu):
    """Without a release the buffer lives as long as pointers of it and queued work, then goes by itself."""
    budget = mg.MappingBudget(90 * MIB)
    buffer = lazy(gpu, 4 * MIB, budget=budget)
    buffer.ensure_mapped(2 * MIB)
    pointer = buffer.ptr
    del buffer
    gc.collect()
    gpu.memset_async(pointer, 7, 100)
    del pointer
    gc.collect()
    assert gpu.live_bytes() == budget.charged_nbytes == 2 * MIB
    gpu.synchronize()
    assert gpu.live_bytes() == budget.charged_nbytes == 0


def test_closing_the_backend_releases_and_refunds(kind):
    """What is not released when the backend closes is released then; a release afterwards is nothing."""
    budget = mg.MappingBudget(90 * MIB)
    with mg.MockGpuBackend(PROFILES[kind]) as gpu:
        buffer = lazy(gpu, 4 * MIB, budget=budget)
        buffer.ensure_mapped(1)
    assert not any(gpu.mock.books.values())
    assert budget.charged_nbytes == 0
    buffer.release()
    with pytest.raises(mg.HandleClosed):
        buffer.ensure_mapped(1)


@pytest.mark.parametrize("call", ["unmap_memory", "release_addresses"])
def test_a_failed_release_tells_and_refunds(virtual, call):
    """What the driver does not take back becomes a warning; the buffer is gone and the budget refunded all the same."""
    budget = mg.MappingBudget(90 * MIB)
    buffer = lazy(virtual, 4 * MIB, budget=budget)
    buffer.ensure_mapped(1)
    address, reserved = buffer.address, buffer.reserved_nbytes
    virtual.inject(FaultPlan().fail(call))
    with pytest.warns(mg.GpuResourceWarning, match=call):
        buffer.release()
    assert (budget.charged_nbytes, buffer.is_live) == (0, False)
    # Addresses that still have memory are not given back.
    assert virtual.mock.books["reservations"] == 1
    if call == "unmap_memory":
        virtual.mock.unmap_memory(address, GRANULE)
    virtual.mock.release_addresses(address, reserved)


def test_a_with_block_releases(gpu):
    """Leaving a `with` block releases, after an error too, and the error is the one that comes out."""
    buffer = lazy(gpu, 4 * MIB)

    def fail():
        with buffer:
            buffer.ensure_mapped(1)
            raise KeyError("mine")

    with pytest.raises(KeyError):
        fail()
    assert not buffer.is_live


def test_sizes_that_mean_nothing(gpu):
    """A reservation is at least one byte, a want at least none, a budget a MappingBudget."""
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error):
            gpu.lazy_buffer(wrong)
    with pytest.raises(TypeError, match="MappingBudget"):
        gpu.lazy_buffer(10, budget=10 * MIB)
    with lazy(gpu, 10) as buffer:
        assert buffer.ensure_mapped(0) == 0
        for wrong, error in ((-1, ValueError), (1.5, TypeError)):
            with pytest.raises(error):
                buffer.ensure_mapped(wrong)
    assert gpu.live_alloc_count() == 0


def test_red_zones_around_an_eager_buffer():
    """With red zones an eager buffer is guarded at the ends of its reservation, not of what is mapped."""
    with mg.MockGpuBackend(PROFILES["eager"], redzone=64) as gpu:
        buffer = lazy(gpu, 4 * MIB, label="cache")
        buffer.ensure_mapped(2 * MIB)
        gpu.memset(buffer.ptr, 0x11, 2 * MIB)
        assert gpu.scan_redzones() == ()
        gpu.mock._memory.view(buffer.address + 4 * MIB, 3)[:] = b"abc"
        (damage,) = gpu.scan_redzones()
        assert (damage.label, damage.side, damage.offset, damage.count) == ("'cache'", "after", 4 * MIB, 3)


def test_threads_grow_one_buffer(virtual):
    """Eight threads that want different lengths leave the longest mapped, each granule mapped and charged once."""
    budget = mg.MappingBudget(90 * MIB)
    buffer = lazy(virtual, 40 * MIB, budget=budget)
    threads = [threading.Thread(target=buffer.ensure_mapped, args=(n * 2 * MIB + 1,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert buffer.mapped_nbytes == budget.charged_nbytes == 16 * MIB
    assert sum(call.nbytes for call in virtual.log.of(MapMemory)) == 16 * MIB
    buffer.release()
