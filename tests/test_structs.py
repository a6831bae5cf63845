"""Structures by value: the bytes of the C layout or a refusal (field case 13)."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from metrale_gpu_runtime.scalars import ScalarKindError
from metrale_gpu_runtime.structs import is_struct, struct_bytes

FIELDS = [("a", "i1"), ("b", "f8"), ("c", "i4")]


class Particle(ctypes.Structure):
    _fields_ = [("a", ctypes.c_char), ("b", ctypes.c_double), ("c", ctypes.c_int)]


def test_an_aligned_numpy_structure_is_its_bytes() -> None:
    """A dtype made with align=True has the 24 bytes of C, each field where C puts it."""
    value = np.array((7, -2.5, 1234567), np.dtype(FIELDS, align=True))
    for given in (value, value[()]):
        data, align, description = struct_bytes(given)
        assert (len(data), align) == (24, 8)
        assert (data[0], np.frombuffer(data, "f8", 1, 8)[0], np.frombuffer(data, "i4", 1, 16)[0]) == (7, -2.5, 1234567)
        assert "b float64 at 8" in description


def test_a_packed_numpy_structure_is_refused_with_both_sizes() -> None:
    """The packed 13 bytes of the same fields are refused, naming 13, 24 and the remedy; packed=True takes them."""
    value = np.array((7, -2.5, 1234567), FIELDS)[()]
    with pytest.raises(ScalarKindError, match=r"13 bytes.*24 bytes, align 8.*align=True.*packed=True"):
        struct_bytes(value)
    data, align, _ = struct_bytes(value, packed=True)
    assert (len(data), align) == (13, 1)


def test_a_dtype_that_needs_no_padding_is_c_without_asking() -> None:
    """Three floats have no gaps, so the default dtype is C's layout."""
    value = np.array((1, 2, 3), [("x", "f4"), ("y", "f4"), ("z", "f4")])
    assert struct_bytes(value)[:2] == (np.array([1, 2, 3], "f4").tobytes(), 4)


def test_missing_tail_padding_is_refused() -> None:
    """A structure of a double and an int has 16 bytes in C, not 12."""
    with pytest.raises(ScalarKindError, match=r"12 bytes.*16 bytes"):
        struct_bytes(np.array((1.0, 2), [("d", "f8"), ("i", "i4")]))


def test_nested_structures_and_arrays_follow_c() -> None:
    """Members that are structures or arrays have the alignment of their own members."""
    inner = np.dtype([("flag", "?"), ("weights", "f4", (3,))], align=True)
    outer = np.dtype([("n", "u2"), ("parts", inner, (2,)), ("last", "u1")], align=True)
    data, align, _ = struct_bytes(np.zeros((), outer))
    assert (len(data), align) == (4 + 2 * 16 + 4, 4)
    packed_inside = np.dtype({"names": ["n", "p"], "formats": ["u4", [("f", "?"), ("w", "f4")]], "offsets": [0, 4]})
    with pytest.raises(ScalarKindError, match="C puts them"):
        struct_bytes(np.zeros((), packed_inside))


def test_reordered_fields_are_refused() -> None:
    """Fields whose offsets do not grow in the order of their names are no C structure."""
    swapped = np.dtype({"names": ["a", "b"], "formats": ["u4", "u4"], "offsets": [4, 0]})
    with pytest.raises(ScalarKindError):
        struct_bytes(np.zeros((), swapped))


@pytest.mark.parametrize("field", ["U3", "O", "M8[s]", ">f4", "g"])
def test_fields_that_no_device_reads_are_refused_by_name(field: str) -> None:
    """Unicode text, objects, dates, big-endian numbers and long doubles are refused, naming the field."""
    value = np.zeros((), np.dtype([("good", "i4"), ("odd", field)], align=True))
    with pytest.raises(ScalarKindError, match="odd"):
        struct_bytes(value)


def test_a_ctypes_structure_has_its_own_layout() -> None:
    """ctypes lays out as C does, packing included."""
    data, align, description = struct_bytes(Particle(b"x", 0.5, -9))
    assert (len(data), align) == (24, 8)
    assert data[0] == ord("x")
    assert np.frombuffer(data, "f8", 1, 8)[0] == 0.5
    assert description.startswith("Particle, 24 bytes")
    packed = type("Tight", (ctypes.Structure,), {"_layout_": "ms", "_pack_": 1, "_fields_": Particle._fields_})
    assert struct_bytes(packed())[1] == 1
    assert len(struct_bytes(packed()).data) == 13


def test_host_pointers_inside_a_structure_are_refused() -> None:
    """A pointer into host memory means nothing on a device; c_void_p may carry a device address."""
    bad = type("Bad", (ctypes.Structure,), {"_fields_": [("n", ctypes.c_int), ("p", ctypes.POINTER(ctypes.c_float))]})
    good = type("Good", (ctypes.Structure,), {"_fields_": [("n", ctypes.c_int), ("p", ctypes.c_void_p)]})
    with pytest.raises(ScalarKindError, match=r"Bad\.p"):
        struct_bytes(bad())
    assert struct_bytes(good(3, 0x1000)).data[8:] == (0x1000).to_bytes(8, "little")


def test_big_endian_ctypes_structures_are_refused() -> None:
    """The other byte order is no device's."""
    big = type("Big", (ctypes.BigEndianStructure,), {"_fields_": [("n", ctypes.c_int)]})
    with pytest.raises(ScalarKindError, match="big-endian"):
        struct_bytes(big(1))


@pytest.mark.parametrize(
    "value", [5, b"123", np.zeros(3, [("a", "i4")]), np.float32(1), None, ctypes.c_int(1)], ids=repr
)
def test_what_is_no_structure_is_refused(value: object) -> None:
    """Numbers, bytes and arrays of structures are no structure."""
    assert not is_struct(value)
    with pytest.raises(ScalarKindError, match="structure is wanted"):
        struct_bytes(value)
