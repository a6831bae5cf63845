"""RangeMap: which object holds an address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.ranges import RangeMap


def _filled(*rows: tuple[int, int, str]) -> RangeMap[str]:
    ranges: RangeMap[str] = RangeMap()
    for row in rows:
        ranges.insert(*row)
    return ranges


def _distance(address: int, start: int, nbytes: int) -> int:
    """0 inside, negative before the first byte, positive past the last."""
    if address < start:
        return address - start
    return max(0, address - (start + nbytes - 1))


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 30)), max_size=20), st.data())
def test_lookups_agree_with_a_search_through_all(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    """After any insertions and removals, find and nearest agree with looking at every range."""
    ranges: RangeMap[int] = RangeMap()
    model: dict[int, tuple[int, int]] = {}
    for number, (address, nbytes) in enumerate(rows):
        overlaps = any(a < address + nbytes and address < a + n for a, n in model.values())
        if overlaps:
            with pytest.raises(ValueError, match="overlaps"):
                ranges.insert(address, nbytes, number)
        else:
            ranges.insert(address, nbytes, number)
            model[number] = (address, nbytes)
    for number in data.draw(st.lists(st.sampled_from(sorted(model)), unique=True) if model else st.just([])):
        assert ranges.remove(model.pop(number)[0]) == number
    assert len(ranges) == len(model)
    assert list(ranges) == sorted(model, key=lambda number: model[number][0])
    for address in range(0, 240, 7):
        inside = [k for k, (a, n) in model.items() if a <= address and address + 3 <= a + n]
        assert ranges.find(address, 3) == (inside[0] if inside else None)
        found = ranges.nearest(address)
        distances = [
            0 if a <= address < a + n else (address - a if address < a else address - a - n + 1)
            for a, n in model.values()
        ]
        assert (found is None) == (not model)
        if found is not None:
            assert abs(found[1]) == min(abs(each) for each in distances)
            a, n = model[found[0]]
            assert found[1] == (0 if a <= address < a + n else (address - a if address < a else address - a - n + 1))


def test_touching_ranges_are_told_apart_to_the_byte() -> None:
    """The last byte of one and the first of the next belong to different objects; a span over both to none."""
    ranges = _filled((100, 50, "low"), (150, 7, "high"))
    assert [ranges.find(at) for at in (99, 100, 149, 150, 156, 157)] == [None, "low", "low", "high", "high", None]
    assert ranges.find(148, 3) is None
    assert ranges.find(100, 50) == "low"


def test_no_bytes_at_the_end_still_belong() -> None:
    """A pointer one past the end with no bytes to touch belongs to the range it ends."""
    ranges = _filled((100, 50, "low"))
    assert ranges.find(150, 0) == "low"
    assert ranges.find(151, 0) is None


def test_nearest_says_side_and_distance() -> None:
    """Past the end counts from 1, before the start is negative, ties go to the range below."""
    ranges = _filled((100, 50, "low"), (201, 9, "high"))
    assert ranges.nearest(150) == ("low", 1)
    assert ranges.nearest(99) == ("low", -1)
    assert ranges.nearest(200) == ("high", -1)
    assert ranges.nearest(175) == ("low", 26)
    assert ranges.nearest(300) == ("high", 91)


def test_removal_wants_the_start() -> None:
    """An address inside a range, or removed before, is no start."""
    ranges = _filled((100, 50, "low"))
    with pytest.raises(KeyError):
        ranges.remove(101)
    assert ranges.remove(100) == "low"
    with pytest.raises(KeyError):
        ranges.remove(100)
    assert ranges.nearest(100) is None


@pytest.mark.parametrize(("address", "nbytes"), [(5, 0), (5, -1), (-5, 10)])
def test_a_range_has_bytes(address: int, nbytes: int) -> None:
    """Empty and negative ranges are refused."""
    with pytest.raises(ValueError, match="at least 1 byte"):
        RangeMap[str]().insert(address, nbytes, "x")


def test_a_refused_range_changes_nothing() -> None:
    """After an overlap is refused the map is as before."""
    ranges = _filled((100, 50, "low"))
    with pytest.raises(ValueError, match="0x64"):
        ranges.insert(90, 11, "over")
    assert list(ranges.items()) == [(100, 50, "low")]


def test_lookups_probe_few_of_many_entries() -> None:
    """Among 100,000 ranges a lookup compares a handful of addresses: it is a search by halves."""

    class Counted(int):
        compared = 0

        def __lt__(self, other: int) -> bool:
            Counted.compared += 1
            return int(self) < int(other)

        def __gt__(self, other: int) -> bool:
            Counted.compared += 1
            return int(self) > int(other)

    ranges: RangeMap[int] = RangeMap()
    for number in range(100_000):
        ranges.insert(number * 64 * 7919 % (64 * 100_003), 64, number)
    assert len(ranges) == 100_000
    address = 54_321 * 64 * 7919 % (64 * 100_003)
    assert ranges.find(Counted(address), 64) == 54_321
    assert 0 < Counted.compared <= 20
