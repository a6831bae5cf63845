"""Red zones: a write outside an allocation is found, with side, offset and last launch; nothing else is."""

from __future__ import annotations

import struct

import pytest

from metrale_gpu_runtime.testing import MockGpuBackend


def poke(gpu, pointer, offset, data):
    """Let a launch write bytes at an offset from its argument, inside or outside of the allocation."""

    def body(launch):
        launch.memory_at(launch.address(0) + offset, len(data))[:] = data

    name = f"poke_{offset + 1000}"
    gpu.define_kernel("m", name, body)
    gpu.kernel("m", name)[2, 3](pointer)


@pytest.fixture
def gpu():
    with MockGpuBackend(redzone=40) as gpu:
        yield gpu


def test_both_sides_are_watched(gpu):
    """A write behind and one before the data are each reported with label, side, first offset, count and launch."""
    one, other = gpu.buffer(101, label="one"), gpu.buffer(55, label="other")
    poke(gpu, one, 103, b"\x11\x12")
    poke(gpu, other, -5, b"\x13")
    after, before = gpu.scan_redzones()
    assert (after.label, after.side, after.offset, after.last_offset, after.count, after.value) == (
        "'one'", "after", 103, 104, 2, 0x11,
    )  # fmt: skip
    assert (before.label, before.side, before.offset, before.count, before.value) == ("'other'", "before", -5, 1, 0x13)
    assert "launch 1 of poke_1103" in after.last_use
    assert "2 bytes past its end" in str(after)
    assert "5 bytes before its first byte" in str(before)
    assert [finding.kind for finding in gpu.findings] == ["out-of-bounds", "out-of-bounds"]
    assert gpu.scan_redzones() == (), "a band is filled anew after it was reported"


def test_the_very_next_byte_is_watched_and_the_last_byte_is_not(gpu):
    """The band begins right behind the data: the last byte may be written, the next one may not."""
    buffer = gpu.buffer(77)
    poke(gpu, buffer, 76, b"\xff")
    assert gpu.scan_redzones() == ()
    poke(gpu, buffer, 77, b"\xff")
    (damage,) = gpu.scan_redzones()
    assert (damage.offset, damage.count) == (77, 1)


def test_nan_and_negative_zero_inside_are_no_damage(gpu):
    """Bytes are compared, never numbers: odd payloads in the data raise no alarm, nor does the fill value in a band."""
    buffer = gpu.buffer(12)
    poke(gpu, buffer, 0, struct.pack("<3f", float("nan"), -0.0, float("-inf")))
    poke(gpu, buffer, 13, b"\xee\xee")
    assert gpu.scan_redzones() == ()


def test_data_keeps_its_alignment_and_its_size(gpu):
    """With bands the data is aligned to 256 as ever, and the ledger counts the data only."""
    buffers = [gpu.buffer(size) for size in (1, 255, 256, 300)]
    assert all(buffer.address % 256 == 0 for buffer in buffers)
    assert gpu.live_bytes() == 812


def test_poison_changes_what_reads_find_and_scans_know_it(gpu):
    """poison_redzones fills chosen allocations' bands with a byte and the others with 0; later scans expect that."""
    first, second, third = (gpu.buffer(20) for _ in range(3))
    assert gpu.poison_redzones(1, 2, fill=0xA5) == 1
    assert gpu.scan_redzones() == ()
    assert gpu.mock.peek(second.address + 20, 40) == b"\xa5" * 40
    assert gpu.mock.peek(first.address + 20, 40) == bytes(40)
    poke(gpu, third, 20, b"\xa5")
    (damage,) = gpu.scan_redzones()
    assert (damage.offset, damage.value) == (20, 0xA5)


def test_empty_and_managed_memory(gpu):
    """An empty buffer has no bands; managed memory has them like any other."""
    empty, managed = gpu.buffer(0), gpu.alloc_managed(33)
    assert gpu.scan_redzones() == ()
    poke(gpu, managed, 33, b"\x01")
    assert len(gpu.scan_redzones()) == 1
    gpu.free(managed)
    del empty


def test_without_bands_nothing_is_added():
    """Without red zones the driver is asked for exactly the bytes, and no fill is made."""
    with MockGpuBackend() as gpu:
        buffer = gpu.buffer(100)
        assert gpu.scan_redzones() == ()
        assert [call.nbytes for call in gpu.log if call.call == "alloc"] == [100]
        assert gpu.log.counts["memset"] == 0
        del buffer


def test_the_environment_gives_the_default(monkeypatch):
    """METRALE_REDZONE and METRALE_REDZONE_FILL are the defaults; what is no number is refused, not ignored."""
    monkeypatch.setenv("METRALE_REDZONE", "48")
    monkeypatch.setenv("METRALE_REDZONE_FILL", "0x5A")
    with MockGpuBackend() as gpu:
        buffer = gpu.buffer(3)
        assert gpu.mock.peek(buffer.address + 3, 48) == b"\x5a" * 48
    monkeypatch.setenv("METRALE_REDZONE", "many")
    with pytest.raises(ValueError, match="METRALE_REDZONE='many'"):
        MockGpuBackend()


@pytest.mark.parametrize("nbytes", [-1, True, 2.5])
def test_a_band_is_a_number_of_bytes(nbytes):
    """A red zone that is no number of bytes is refused."""
    with pytest.raises(ValueError, match="redzone"):
        MockGpuBackend(redzone=nbytes)
