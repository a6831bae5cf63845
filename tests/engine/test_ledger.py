"""The ledger: what is alive, who made it, which launch used it, and what becomes of what nobody freed."""

from __future__ import annotations

import gc
import re

import pytest

from metrale_gpu_runtime.errors import GpuResourceWarning, InvalidPointer, OutOfDeviceMemory
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.testing import MockGpuBackend


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu


def test_bytes_and_counts_follow_what_is_alive(gpu):
    """live_bytes and live_alloc_count add up allocations and buffers, empty buffers as 0 bytes, and fall back to 0."""
    pointer = gpu.alloc(333)
    buffer, empty = gpu.buffer(77), gpu.buffer(0)
    assert (gpu.live_bytes(), gpu.live_alloc_count()) == (410, 3)
    gpu.free(pointer)
    assert (gpu.live_bytes(), gpu.live_alloc_count()) == (77, 2)
    del buffer, empty
    assert (gpu.live_bytes(), gpu.live_alloc_count()) == (0, 0)


def test_the_report_names_label_size_site_and_last_use(gpu):
    """alloc_report shows the total, the largest sites first, label and last use, folds the rest, and sums per file."""
    big = gpu.buffer(5000, label="weights")
    small = [gpu.buffer(30 + at) for at in range(3)]
    gpu.kernel("m", "norm")[1, 1](big)
    report = gpu.alloc_report(top=1)
    lines = report.splitlines()
    assert lines[0] == "5093 bytes in 4 live allocations"
    assert re.search(r"5000 bytes\s+1 x\s+.*test_ledger\.py:\d+", lines[1])
    assert "'weights': 5000 bytes, last used by launch 1 of norm" in lines[2]
    assert re.search(r"93 bytes\s+3 x\s+at 1 more", report)
    assert re.search(r"5093 bytes  in test_ledger\.py", report)
    assert "weights" not in gpu.alloc_report(top=1, min_nbytes=6000)
    del big, small


def test_sweeping_frees_and_tells_what_nobody_freed(gpu):
    """sweep_unreleased frees what alloc gave, leaves buffers alone, and gives one warning with the sites."""
    gpu.alloc(700, label="forgotten")
    gpu.alloc_managed(40)
    kept = gpu.buffer(9)
    with pytest.warns(GpuResourceWarning, match=r"(?s)740 bytes in 2 live.*forgotten"):
        assert gpu.sweep_unreleased() == 2
    assert gpu.live_bytes() == 9
    assert gpu.sweep_unreleased() == 0
    assert kept.is_live


def test_a_freed_pointer_says_where_it_was_freed(gpu):
    """Using or freeing dead memory names the line that freed it and the line that made it."""
    pointer = gpu.alloc(50, label="gone")
    gpu.free(pointer)
    for call in (
        lambda: gpu.free(pointer),
        lambda: gpu.memset(pointer + 3, 1, 5),
        lambda: gpu.resolve_pointer(pointer),
    ):
        with pytest.raises(
            InvalidPointer, match=r"'gone' .*made at .*test_ledger.py:\d+.*freed at .*test_ledger.py:\d+"
        ):
            call()


def test_bad_frees_name_what_is_wrong(gpu):
    """Freeing inside an allocation, an unknown address or no pointer raises with the figures, and frees nothing."""
    pointer = gpu.alloc(100)
    with pytest.raises(InvalidPointer, match="36 bytes into"):
        gpu.free(pointer + 36)
    with pytest.raises(InvalidPointer, match="not the address of a live allocation"):
        gpu.free(DevicePtr(0x77))
    with pytest.raises(InvalidPointer, match="takes a DevicePtr"):
        gpu.free(pointer.address)
    assert gpu.live_bytes() == 100
    gpu.free(DevicePtr(pointer.address))
    assert gpu.live_bytes() == 0
    gpu.free(None)
    gpu.free(gpu.alloc(0))


def test_a_raw_address_is_found_in_the_ledger(gpu):
    """DevicePtr(int) inside live memory is bounds checked like a tracked pointer."""
    buffer = gpu.buffer(64)
    raw = DevicePtr(buffer.address + 60)
    assert gpu.resolve_pointer(raw).nbytes == 4
    with pytest.raises(InvalidPointer, match="only 4 lie there"):
        gpu.memset(raw, 0, 5)


def test_an_address_far_from_everything_is_called_far():
    """Nearest is worth a distance only where it is near: 4097 bytes are told, the other end of memory is not."""
    with MockGpuBackend(strict_pointers=True) as gpu:
        base = gpu.alloc(333).address
        with pytest.raises(InvalidPointer, match=r"\(4097 bytes past the end of allocation 0 "):
            gpu.resolve_pointer(DevicePtr(base + 333 + 4097))
        with pytest.raises(InvalidPointer, match=r"\(far from any allocation; the nearest is allocation 0 "):
            gpu.resolve_pointer(DevicePtr(base + (1 << 30)))


def test_a_raw_address_of_dropped_memory_is_refused(gpu):
    """An address whose buffer was dropped while queued work still used it is not found again by number."""
    buffer = gpu.buffer(64)
    address = buffer.address
    gpu.kernel("m", "k")[1, 1](buffer)
    del buffer
    with pytest.raises(InvalidPointer, match="last reference was dropped"):
        gpu.resolve_pointer(DevicePtr(address))
    gpu.synchronize()
    assert gpu.live_alloc_count() == 0


@pytest.mark.parametrize("nbytes", [-1, 2.0, True, "8", None])
def test_a_size_is_a_whole_number(gpu, nbytes):
    """Sizes that are no whole numbers or negative raise before the driver is asked."""
    for call in (gpu.alloc, gpu.buffer):
        with pytest.raises((TypeError, ValueError), match="nbytes is"):
            call(nbytes)
    assert gpu.log.counts["alloc"] == 0


def test_running_out_tells_figures_and_report():
    """OutOfDeviceMemory carries what was asked, what is free and what this backend holds."""
    with MockGpuBackend(total_memory=10_000) as gpu:
        held = gpu.buffer(3000)
        with pytest.raises(OutOfDeviceMemory, match=r"9000 bytes.*holds 3000 bytes in 1 allocation") as info:
            gpu.buffer(9000)
        assert (info.value.nbytes, info.value.total) == (9000, 10_000)
        assert gpu.live_bytes() == 3000
        del held


def test_memory_short_waits_for_what_was_dropped():
    """An allocation that does not fit waits for queued work on dropped memory instead of failing."""
    with MockGpuBackend(total_memory=10_000) as gpu:
        first = gpu.buffer(6000)
        gpu.kernel("m", "k")[1, 1](first)
        del first
        second = gpu.buffer(6001)
        assert gpu.live_bytes() == 6001
        assert gpu.launch_count == len([call for call in gpu.ran if call.call == "launch"]) == 1
        del second


def test_pinned_memory_is_freed_once_and_never_under_a_copy(gpu):
    """Pinned memory is zeroed, used by copies in place, guarded while one is queued, and refused after its end."""
    pinned = gpu.alloc_host_pinned(40)
    assert bytes(pinned.view) == bytes(40)
    pinned.view[7] = 9
    buffer = gpu.buffer(40)
    gpu.copy_h2d_async_retained(pinned, buffer)
    with pytest.raises(Exception, match="copy_h2d_async_retained of 40 bytes"):
        gpu.free_host_pinned(pinned)
    gpu.synchronize()
    device = gpu.host_ptr_to_device(pinned)
    assert device.address != pinned.address
    assert gpu.resolve_pointer(device + 30).nbytes == 10
    gpu.free_host_pinned(pinned)
    for call in (lambda: gpu.free_host_pinned(pinned), lambda: gpu.resolve_pointer(device), lambda: pinned.view):
        with pytest.raises(Exception, match="freed at"):
            call()
    assert buffer.tobytes()[7] == 9


def test_closing_gives_back_what_nobody_freed_and_says_nothing(recwarn):
    """`close` is no leak check: that is what `sweep_unreleased` is for, and it warns once when it is asked before."""
    for is_asked in (False, True):
        gpu = MockGpuBackend()
        gpu.alloc(40)
        pinned, buffer = gpu.alloc_host_pinned(20), gpu.buffer(10)
        assert (gpu.sweep_unreleased() if is_asked else 2) == 2
        gpu.close()
        assert gpu.mock.books["allocations"] == 0
        assert not buffer.is_live
        assert [warning.category for warning in recwarn] == [GpuResourceWarning] * is_asked
        del pinned


def test_a_buffer_in_a_reference_cycle_is_given_back(gpu):
    """Memory held by a cycle is free again after the collector has run."""
    holder = {"buffer": gpu.buffer(31)}
    holder["self"] = holder
    del holder
    gc.collect()
    assert gpu.live_alloc_count() == 0
