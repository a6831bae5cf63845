"""Allocations over the stand-in: addresses, what lies behind them, what is given back."""

from __future__ import annotations

import ctypes
import struct

import pytest
from metal_room import POINTER, VALUE, Room, layout, opened
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime.driver import DriverOptions, MemoryKind
from metrale_gpu_runtime.drivers.metal import memory
from metrale_gpu_runtime.drivers.metal.factory import MetalFactory
from metrale_gpu_runtime.errors import BackendUnavailable, DriverError, InvalidPointer, OutOfDeviceMemory

__all__ = ["metal_standin"]

PINNED, MANAGED, DEVICE = MemoryKind.PINNED, MemoryKind.MANAGED, MemoryKind.DEVICE


@pytest.fixture
def room(metal_standin: MetalStandIn):
    with opened(metal_standin) as room:
        yield room


@pytest.mark.parametrize("kind", list(MemoryKind))
def test_an_address_leads_to_its_buffer_and_ends_before_the_next(room: Room, kind):
    """Every byte of an allocation leads to it with its offset; the end belongs to nobody, be it another's beginning."""
    book = room.driver._memory
    sizes = (1, 255, 256, 257, 70_001)
    made = [room.driver.alloc(nbytes, kind) for nbytes in sizes]
    assert len(set(made)) == len(made)
    for address, nbytes in zip(made, sizes, strict=True):
        assert kind is PINNED or address % 256 == 0
        for offset in {0, nbytes // 2, nbytes - 1}:
            found, at = book.find(address + offset)
            assert (found.nbytes, at) == (nbytes, offset)
        with pytest.raises(InvalidPointer):
            book.find(address, nbytes + 1)
    for address in made:
        room.driver.free(address, kind)
        with pytest.raises(InvalidPointer):
            book.find(address)


def test_an_end_is_not_the_neighbours_beginning(room: Room):
    """An address behind an allocation that is another one's first leads to that one only."""
    book = room.driver._memory
    low, high = memory.Allocation(None, 0x1000, 256, 256, 0, DEVICE), memory.Allocation(None, 0x1100, 64, 64, 0, DEVICE)
    assert book._enter(low)
    assert book._enter(high)
    assert book.find(0x1100) == (high, 0)
    assert book.find(0x10FF) == (low, 255)
    with pytest.raises(InvalidPointer, match="run past the end of the 256 bytes"):
        book.find(0x10FF, 2)


def test_pinned_memory_has_two_addresses_of_one_buffer(room: Room):
    """Pinned memory is written by the host at its address and read by kernels at the one that map_host tells."""
    host = room.driver.alloc(40, PINNED)
    device = room.driver.map_host(host, 40)
    assert device != host
    assert room.driver.map_host(host + 12, 4) == device + 12
    (ctypes.c_uint32 * 10).from_address(host)[:] = range(10)
    room.affine(device + 4, 9, 10, 1)
    room.driver.synchronize(0)
    assert list((ctypes.c_uint32 * 10).from_address(host)) == [0, 11, 21, 31, 41, 51, 61, 71, 81, 91]
    room.driver.free(host, PINNED)
    for address in (host, device):
        with pytest.raises(InvalidPointer):
            room.driver._memory.find(address)


def test_gpu_and_host_addresses_are_kept_apart(room: Room, monkeypatch):
    """A buffer whose GPU address is another one's host address is not handed out, and goes back."""
    real = memory.Memory._address
    taken = room.driver.alloc(300, PINNED)
    addresses = [taken, taken + 256]

    def address(self, native):
        return addresses.pop() if addresses else real(self, native)

    before = room.standin.live()["MTLBuffer"]
    monkeypatch.setattr(memory.Memory, "_address", address)
    made = room.driver.alloc(100)
    assert not addresses
    assert made not in (taken, taken + 256)
    assert len(room.standin.live()["MTLBuffer"]) == len(before) + 1


def test_addresses_that_cannot_be_kept_apart_are_refused(room: Room, monkeypatch):
    """When Metal gives no buffer at a free address, the allocation raises and holds nothing."""
    taken = room.driver.alloc(300, PINNED)
    before = room.standin.live()["MTLBuffer"]
    with monkeypatch.context() as patch:
        patch.setattr(memory.Memory, "_address", lambda self, native: taken)
        with pytest.raises(DriverError, match="on the other side"):
            room.driver.alloc(100)
    assert room.standin.live()["MTLBuffer"] == before


def test_memory_that_ran_out_raises_with_figures(room: Room):
    """A buffer that Metal does not give is OutOfDeviceMemory with the size and the device's figures."""
    room.standin.fail_next("buffer")
    with pytest.raises(OutOfDeviceMemory) as info:
        room.driver.alloc(12_345)
    assert info.value.nbytes == 12_345
    assert (info.value.free, info.value.total) == room.driver.memory_figures()
    assert "12,345" in str(info.value)
    assert room.driver.alloc(12_345)


def test_kept_temporary_buffers_make_room(room: Room):
    """Before memory is called out, temporary buffers that nobody uses are given back and Metal is asked again."""
    room.driver._temporaries.take(10_000).give_back()
    kept = len(room.standin.live()["MTLBuffer"])
    room.standin.fail_next("buffer")
    assert room.driver.alloc(5_000)
    assert len(room.standin.live()["MTLBuffer"]) == kept, "the temporary one went, the new one came"


def test_buffers_without_gpu_addresses_are_explained(metal_standin: MetalStandIn):
    """A device that gives buffers no GPU address says which macOS that takes."""
    metal_standin.reset(gpu_addresses=False)
    driver = MetalFactory().open(0, DriverOptions())
    with pytest.raises(BackendUnavailable, match="macOS 13"):
        driver.alloc(100)
    driver.close()


@pytest.mark.parametrize("unified", [True, False])
def test_memory_figures_are_the_devices_and_the_hosts(metal_standin: MetalStandIn, monkeypatch, unified):
    """Total is the recommended working set, free what is left of it, and no more than a host with the same memory has."""
    metal_standin.reset(unified=unified, working_set=10_000_000, memory=40_000_000)
    monkeypatch.setattr(memory, "host_available_nbytes", lambda: 3_000_000)
    with opened(metal_standin) as room:
        before = room.driver.device_free_memory()
        address = room.driver.alloc(1_000_000)
        left = room.driver.device_free_memory()
        assert 1_000_000 <= before - left <= 1_100_000
        assert room.driver.memory_figures() == (3_000_000 if unified else left, 10_000_000)
        room.driver.free(address)
        assert room.driver.device_free_memory() == before


def test_the_hosts_figure_is_plausible():
    """What the host is said to have available is between a megabyte and all addresses."""
    assert 1 << 20 < (memory.host_available_nbytes() or 0) < 1 << 50


@pytest.mark.parametrize("storage", ["shared", "private"])
def test_allocations_and_launches_keep_no_reference(metal_standin: MetalStandIn, storage):
    """Rounds of alloc, copy, launch, large value and free end at the retain counts they began with."""
    large = layout((POINTER, 8), (VALUE, 4100))

    with opened(metal_standin, storage) as room:

        def round_trip(number: int) -> None:
            address = room.driver.alloc(4 * (1 + number % 50) + 8)
            room.write(address, struct.pack("<II", number, 7))
            room.affine(address, 1, 3, 2)
            room.launch("ends_of_large", large, struct.pack("<Q", address) + bytes(4100))
            assert room.words(address, 2) == [0, 0]
            room.driver.free(address)

        def after(rounds: int) -> dict[str, list[int]]:
            for number in range(rounds):
                round_trip(number)
            # How many temporary buffers are kept depends on how far the GPU was each time.
            room.driver._temporaries.drain()
            return metal_standin.live_at_rest()

        assert after(3) == after(300)
    assert metal_standin.live() == {}
