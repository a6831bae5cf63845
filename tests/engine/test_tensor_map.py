"""Tensor maps: every documented rule is checked before the driver, what passes reaches it as given, memory is held."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import TensorMapDescription
from metrale_gpu_runtime.drivers.mock.log import EncodeTensorMap
from metrale_gpu_runtime.drivers.mock.profiles import profile
from metrale_gpu_runtime.tensor_map import BITS, FILLS, INTERLEAVES, L2_PROMOTIONS, SWIZZLES, describe_tiled

ADDRESS = 0x7F00_0000_0400


def describe(address=ADDRESS, **changes):
    given = {
        "data_type": "FLOAT16",
        "shape": (96, 7, 5),
        "strides": (208, 208 * 9),
        "box": (40, 3, 2),
        "element_strides": None,
        "interleave": "none",
        "swizzle": "none",
        "l2_promotion": "none",
        "out_of_bounds_fill": "none",
    }
    return describe_tiled(address, **{**given, **changes})


def refuse(what, dimension=None, *, says=(), address=ADDRESS, **changes):
    with pytest.raises(mg.TensorMapError) as info:
        describe(address, **changes)
    error = info.value
    assert (error.what, error.dimension) == (what, dimension), str(error)
    for words in says:
        assert words in str(error), str(error)
    return error


# A map that each element type takes; the packed ones have sizes of their own.
FITS = {name: {"shape": (64, 7, 5), "strides": (1024, 1024 * 9), "box": (32, 3, 2)} for name in BITS}
FITS["16U4_ALIGN8B"] = {"shape": (66, 7, 5), "strides": (48, 48 * 9), "box": (64, 3, 2)}
FITS["16U4_ALIGN16B"] = {"shape": (384, 7, 5), "strides": (192, 192 * 9), "box": (128, 3, 2)}
FITS["16U6_ALIGN16B"] = {"shape": (384, 7, 5), "strides": (288, 288 * 9), "box": (128, 3, 2)}


@pytest.mark.parametrize("data_type", BITS)
def test_every_element_type_is_taken(data_type):
    """Each of the 16 element types passes under its own name, with the numbers as they were given."""
    description = describe(data_type=data_type, **FITS[data_type])
    assert description == TensorMapDescription(
        ADDRESS,
        data_type,
        FITS[data_type]["shape"],
        FITS[data_type]["strides"],
        FITS[data_type]["box"],
        (1, 1, 1),
    )


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (mg.bf16, "BFLOAT16"),
        (mg.f16, "FLOAT16"),
        (np.float32, "FLOAT32"),
        ("float64", "FLOAT64"),
        (np.dtype(np.int64), "INT64"),
        (mg.u64, "UINT64"),
        (mg.i32, "INT32"),
        (mg.u32, "UINT32"),
        (mg.i16, "UINT16"),
        (mg.i8, "UINT8"),
        ("tfloat32", "TFLOAT32"),
        ("FLOAT32_FTZ", "FLOAT32_FTZ"),
    ],
)
def test_dtypes_are_read_as_element_types(dtype, name):
    """Scalar types, NumPy dtypes and the enum's own words name an element type; 8 and 16 bits have no sign."""
    with mg.MockGpuBackend("H100") as gpu:
        made = gpu.tensor_map(gpu.buffer(1 << 16), shape=(64, 7), strides=(1024,), box=(16, 3), dtype=dtype)
        assert made.description.data_type == name


def test_dtypes_without_an_element_type():
    """A complex type, a structure, nothing and an unknown word are refused with the list of element types."""
    with mg.MockGpuBackend("H100") as gpu:
        memory = gpu.buffer(1 << 16)
        for dtype in (mg.c64, np.dtype([("a", "i4"), ("b", "f4")]), "float8", None):
            with pytest.raises(mg.TensorMapError) as info:
                gpu.tensor_map(memory, shape=(64, 7), box=(16, 3), dtype=dtype)
            assert info.value.what == "dtype"
            assert "BFLOAT16" in str(info.value)


def test_every_interleave_and_swizzle():
    """Each interleave goes with the swizzles it may have; 32B with 32B alone."""
    for interleave in INTERLEAVES:
        for swizzle in SWIZZLES:
            changes = {"interleave": interleave, "swizzle": swizzle, "strides": (224, 224 * 9), "box": (8, 3, 2)}
            if interleave == "32B" and swizzle != "32B":
                refuse("swizzle", says=(swizzle, "32B"), **changes)
            else:
                made = describe(**changes)
                assert (made.interleave, made.swizzle) == (interleave, swizzle)


def test_every_promotion_and_fill():
    """The short words and the enum's own words are taken, in any case; others are refused with what there is."""
    for word, name in (("none", "NONE"), ("64B", "L2_64B"), ("128b", "L2_128B"), ("L2_256B", "L2_256B")):
        assert describe(l2_promotion=word).l2_promotion == name
    for word, name in (("none", "NONE"), ("nan", "NAN_REQUEST_ZERO_FMA"), ("NaN_request_zero_FMA", FILLS[1])):
        assert describe(out_of_bounds_fill=word).out_of_bounds_fill == name
    for what, known in (
        ("interleave", INTERLEAVES),
        ("swizzle", SWIZZLES),
        ("l2_promotion", L2_PROMOTIONS),
        ("out_of_bounds_fill", FILLS),
    ):
        for wrong in ("48B", 64, None):
            assert refuse(what, says=(known[1],), **{what: wrong}).limit == known


def test_ranks():
    """1 to 5 dimensions without interleave, 3 to 5 with it."""
    shape, strides, box = (96, 7, 5, 3, 2), (208, 1872, 9360, 28080), (40, 3, 2, 1, 2)
    for rank in range(1, 6):
        described = {"shape": shape[:rank], "strides": strides[: rank - 1], "box": box[:rank]}
        assert len(describe(**described).shape) == rank
        if rank < 3:
            refuse("shape", interleave="16B", says=("3 to 5",), **described)
        else:
            describe(interleave="16B", **described)
    assert refuse("shape", shape=(), strides=(), box=()).asked == 0
    assert refuse("shape", shape=(8,) * 6, strides=None, box=(8,) * 6).limit == (1, 5)


def test_address_alignment():
    """The address is a multiple of 16; of 32 with interleave 32B and for the types that pad to 16 bytes; not null."""
    describe(ADDRESS + 16)
    for offset in (1, 8, 15, 24):
        assert refuse("address", address=ADDRESS + offset, says=(f"{offset % 16} bytes past",)).limit == 16
    wide = {"interleave": "32B", "swizzle": "32B", "strides": (224, 224 * 9)}
    describe(ADDRESS + 32, **wide)
    assert refuse("address", address=ADDRESS + 16, says=("interleave 32B",), **wide).limit == 32
    for data_type in ("16U4_ALIGN16B", "16U6_ALIGN16B"):
        describe(ADDRESS + 32, data_type=data_type, **FITS[data_type])
        refuse("address", address=ADDRESS + 16, says=(data_type,), data_type=data_type, **FITS[data_type])
    describe(ADDRESS + 16, data_type="16U4_ALIGN8B", **FITS["16U4_ALIGN8B"])
    refuse("address", address=0)


def test_extents():
    """An extent is 1 to 2**32 along each dimension."""
    for dimension in range(3):
        shape = [8, 1, 1]
        shape[dimension] = 2**32
        strides = (16, 16) if dimension else (2**33, 2**33)
        if dimension == 1:
            strides = (16, 2**36)
        assert describe(shape=shape, strides=strides, box=(8, 1, 1)).shape == tuple(shape)
        for wrong in (0, -3, 2**32 + 1):
            shape[dimension] = wrong
            error = refuse("shape", dimension, shape=shape, strides=strides, box=(8, 1, 1))
            assert (error.asked, error.limit) == (wrong, (1, 2**32))


def test_extents_of_packed_types():
    """The innermost extent of packed types is a multiple of 128, or of 2 where nothing is padded."""
    for data_type, wrong, multiple in (
        ("16U4_ALIGN16B", 320, 128),
        ("16U6_ALIGN16B", 64, 128),
        ("16U4_ALIGN8B", 65, 2),
    ):
        changes = {**FITS[data_type], "shape": (wrong, 7, 5)}
        assert refuse("shape", 0, data_type=data_type, says=(str(multiple),), **changes).limit == multiple


def test_strides_are_multiples():
    """Strides are multiples of 16 bytes, of 32 with interleave 32B and for the padded types; the remedy has the number."""
    assert refuse("strides", 0, strides=(200, 1872), says=("208",)).limit == 16
    assert refuse("strides", 1, strides=(208, 1880), says=("1888",)).asked == 1880
    assert refuse("strides", 0, interleave="32B", swizzle="32B", says=("224",)).limit == 32
    for data_type in ("16U4_ALIGN16B", "16U6_ALIGN16B"):
        changes = {**FITS[data_type], "strides": (304, 304 * 9)}
        assert refuse("strides", 0, data_type=data_type, says=(data_type, "320"), **changes).limit == 32
    describe(data_type="16U4_ALIGN8B", **{**FITS["16U4_ALIGN8B"], "strides": (48, 48 * 9)})


def test_strides_end_below_two_to_the_forty():
    """A stride is less than 2**40 bytes, and not negative."""
    describe(strides=(208, 2**40 - 16))
    for wrong in (2**40, 2**41, -208):
        assert refuse("strides", 1, strides=(208, wrong)).limit == 2**40


def test_rows_do_not_overlap():
    """A stride holds at least what lies inside: a row of elements, then a plane of rows."""
    describe(strides=(192, 192 * 7))
    error = refuse("strides", 0, strides=(176, 1872), says=("192",))
    assert (error.asked, error.limit) == (176, 192)
    error = refuse("strides", 1, strides=(208, 208 * 6), says=(str(208 * 7),))
    assert error.limit == 208 * 7
    # The packed types count bits: 384 elements of 6 bits are 288 bytes.
    changes = {**FITS["16U6_ALIGN16B"], "strides": (256, 288 * 9)}
    assert refuse("strides", 0, data_type="16U6_ALIGN16B", **changes).limit == 288
    # With interleave a row is one slice of channels per pixel.
    describe(interleave="16B", strides=(16, 16 * 7))
    refuse("strides", 1, interleave="16B", strides=(16, 16 * 6))


def test_strides_left_out_mean_no_padding():
    """Without strides the tensor is packed; where its rows are no multiples of 16 that is refused with the remedy."""
    assert describe(strides=None).strides == (192, 192 * 7)
    changes = {**FITS["16U6_ALIGN16B"], "strides": None}
    assert describe(data_type="16U6_ALIGN16B", **changes).strides == (288, 288 * 7)
    assert describe(shape=(1001,), strides=None, box=(8,)).strides == ()
    refuse("strides", 0, strides=None, shape=(97, 7, 5), says=("208", "strides="))


def test_counts_of_entries():
    """Each list has one entry per dimension, strides one fewer; entries are whole numbers."""
    refuse("strides", strides=(208,), says=("give 2", "innermost first"))
    refuse("strides", strides=(2, 208, 1872), says=("give 2",))
    refuse("box", box=(40, 3), says=("give 3",))
    refuse("element_strides", element_strides=(1, 1, 1, 1), says=("give 3",))
    for wrong in (1.0, True, "8", None):
        refuse("shape", 1, shape=(96, wrong, 5))
    assert describe(shape=tuple(np.array([96, 7, 5])), box=[np.uint8(40), 3, 2]).shape == (96, 7, 5)


def test_sides_of_the_box():
    """A side of the box is 1 to 256 elements, the innermost a multiple of 16 bytes, 128 elements for padded types."""
    describe(box=(256, 256, 256), shape=(256, 256, 256), strides=None)
    for dimension in range(3):
        for wrong in (0, 257, -8):
            box = [40, 3, 2]
            box[dimension] = wrong
            assert refuse("box", dimension, box=box).limit == (1, 256)
    error = refuse("box", 0, box=(41, 3, 2), says=("48", "8 FLOAT16"))
    assert (error.asked, error.limit) == (41, 8)
    describe(interleave="16B", box=(41, 3, 2))
    assert refuse("box", 0, data_type="FLOAT64", shape=(24, 7, 5), box=(3, 3, 2), says=("Make it 4",)).limit == 2
    changes = {**FITS["16U4_ALIGN8B"], "box": (48, 3, 2)}
    assert refuse("box", 0, data_type="16U4_ALIGN8B", **changes).limit == 32
    for data_type in ("16U4_ALIGN16B", "16U6_ALIGN16B"):
        changes = {**FITS[data_type], "box": (64, 3, 2)}
        assert refuse("box", 0, data_type=data_type, **changes).limit == 128


@pytest.mark.parametrize(("swizzle", "span"), [("32B", 32), ("64B", 64), *((name, 128) for name in SWIZZLES[3:])])
def test_the_box_fits_the_swizzle(swizzle, span):
    """The box's inner side is at most what the swizzle spans, unless the layout is interleaved."""
    describe(swizzle=swizzle, box=(span // 2, 3, 2))
    error = refuse("box", 0, swizzle=swizzle, box=(span // 2 + 8, 3, 2), says=(str(span), swizzle))
    assert error.limit == span // 2
    describe(swizzle=swizzle, interleave="16B", box=(span // 2 + 8, 3, 2))


def test_steps():
    """A step is 1 to 8; that of the innermost dimension is 1 unless the layout is interleaved."""
    assert describe(element_strides=(1, 8, 2)).element_strides == (1, 8, 2)
    for wrong in (0, 9, -1):
        assert refuse("element_strides", 2, element_strides=(1, 1, wrong)).limit == (1, 8)
    refuse("element_strides", 0, element_strides=(2, 1, 1), says=("ignores",))
    assert describe(element_strides=(2, 1, 1), interleave="16B").element_strides == (2, 1, 1)


def test_swizzles_of_packed_types():
    """The padded types go with the swizzles that the device has for them, 6-bit ones without interleave."""
    for data_type, allowed in (
        ("16U4_ALIGN8B", {"NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"}),
        ("16U4_ALIGN16B", {"NONE", "128B", "128B_ATOM_32B"}),
        ("16U6_ALIGN16B", {"NONE", "128B", "128B_ATOM_32B", "128B_ATOM_64B"}),
    ):
        for swizzle in SWIZZLES:
            if swizzle in allowed:
                describe(data_type=data_type, swizzle=swizzle, **FITS[data_type])
            else:
                refuse("swizzle", data_type=data_type, swizzle=swizzle, says=(data_type,), **FITS[data_type])
    refuse("interleave", data_type="16U6_ALIGN16B", interleave="16B", **FITS["16U6_ALIGN16B"])
    describe(data_type="16U4_ALIGN16B", interleave="16B", **FITS["16U4_ALIGN16B"])


@pytest.mark.parametrize("data_type", BITS)
def test_nan_fills_floats_alone(data_type):
    """Out-of-bounds elements can be NaN for the seven floating-point types, zero for all."""
    floats = {"FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ"}
    changes = {"data_type": data_type, "out_of_bounds_fill": "nan", **FITS[data_type]}
    if data_type in floats:
        describe(**changes)
    else:
        refuse("out_of_bounds_fill", says=(data_type,), **changes)


# ---------------------------------------------------------------- on a backend


@pytest.fixture
def gpu():
    with mg.MockGpuBackend("H100") as gpu:
        yield gpu
    assert not gpu.mock.violations
    assert not any(gpu.mock.books.values())


def described(gpu, kernel="k"):
    return mg.KernelLaunch(gpu, gpu.kernel("m", kernel))


def test_the_driver_gets_the_description(gpu):
    """What reaches the driver is the description, once; a refused map does not reach it."""
    buffer = gpu.empty((5, 9, 104), np.float16)
    made = gpu.tensor_map(
        buffer.ptr + 32,
        shape=(70, 7, 5),
        strides=(208, 208 * 9),
        box=(40, 3, 2),
        element_strides=(1, 2, 1),
        dtype=mg.f16,
        swizzle="128B",
        l2_promotion="256B",
        out_of_bounds_fill="nan",
    )
    (call,) = gpu.log.of(EncodeTensorMap)
    assert call.description == made.description
    assert made.description == TensorMapDescription(
        buffer.address + 32,
        "FLOAT16",
        (70, 7, 5),
        (208, 208 * 9),
        (40, 3, 2),
        (1, 2, 1),
        "NONE",
        "128B",
        "L2_256B",
        "NAN_REQUEST_ZERO_FMA",
    )
    assert len(made.data) == 128
    with pytest.raises(mg.TensorMapError):
        gpu.tensor_map(buffer, box=(3, 3, 3))
    assert len(gpu.log.of(EncodeTensorMap)) == 1


def test_shape_and_type_come_from_the_buffer(gpu):
    """Without shape and dtype they are the buffer's, its shape reversed: innermost first."""
    buffer = gpu.empty((5, 7, 96), mg.bf16)
    made = gpu.tensor_map(buffer, box=(8, 2, 1))
    assert (made.description.shape, made.description.data_type) == ((96, 7, 5), "BFLOAT16")
    assert made.description.strides == (192, 1344)
    with pytest.raises(mg.TensorMapError, match="shape="):
        gpu.tensor_map(buffer.ptr, box=(8, 2, 1), dtype=mg.bf16)


def test_the_tensor_lies_in_the_memory(gpu):
    """A tensor that runs past its allocation is refused with the bytes that are missing; the last row needs no padding."""
    nbytes = 6 * 208 + 2 * 96
    buffer = gpu.buffer(nbytes)
    fits = {"strides": (208,), "box": (8, 2), "dtype": mg.f16}
    gpu.tensor_map(buffer, shape=(96, 7), **fits)
    with pytest.raises(mg.InvalidPointer, match="2 too many"):
        gpu.tensor_map(buffer, shape=(97, 7), **fits)
    with pytest.raises(mg.InvalidPointer, match="208 too many"):
        gpu.tensor_map(buffer, shape=(96, 8), **fits)
    with pytest.raises(mg.InvalidPointer, match="16 too many"):
        gpu.tensor_map(buffer.ptr + 16, shape=(96, 7), **fits)


def test_the_bytes_reach_the_kernel_aligned(gpu):
    """Builder, short form and prepared launch carry the 128 bytes at a multiple of 128, neighbours intact."""
    made = gpu.tensor_map(gpu.empty((7, 96), mg.f16), box=(8, 2))
    other = gpu.tensor_map(gpu.empty((7, 96), mg.f16), box=(16, 2))
    kernel = gpu.kernel("m", "k")
    described(gpu).arg_u8(5).arg_tensormap(made).arg_u8(6).launch()
    kernel[1, 1](mg.u8(5), made, mg.u8(6))
    prepared = kernel[1, 1].prepare(mg.u8(5), made, mg.u8(6))
    prepared()
    prepared(mg.u8(7), other, mg.u8(8))
    launches = [call for call in gpu.log if call.call == "launch"]
    for launch, (before, tensors, after) in zip(launches, [(5, made, 6)] * 3 + [(7, other, 8)], strict=True):
        assert launch.layout.offsets == (0, 128, 256)
        assert [each.data for each in launch.arguments] == [bytes([before]), bytes(tensors), bytes([after])]


def test_ready_made_bytes_are_still_taken(gpu):
    """128 bytes of another library go where a tensor map goes; 127 do not."""
    described(gpu).arg_tensormap(bytes(range(128))).launch()
    (launch,) = [call for call in gpu.log if call.call == "launch"]
    assert launch.arguments[0].data == bytes(range(128))
    with pytest.raises(mg.ArgumentSizeError, match="127"):
        described(gpu).arg_tensormap(bytes(127))


def test_the_memory_is_held_and_in_use(gpu):
    """The map keeps its memory; a queued launch keeps it without the map; an explicit free is refused until then."""
    buffer = gpu.empty((7, 96), mg.f16, label="weights")
    pointer = buffer.ptr
    made = gpu.tensor_map(buffer, box=(8, 2))
    del buffer, pointer
    gc.collect()
    assert gpu.live_alloc_count() == 1
    described(gpu, "reads").arg_tensormap(made).launch()
    with pytest.raises(mg.AllocationInUse, match="launch 1 of reads"):
        gpu.free(mg.DevicePtr(made.description.address))
    del made
    gc.collect()
    assert gpu.live_alloc_count() == 1
    gpu.synchronize()
    assert gpu.live_alloc_count() == 0


def test_a_map_of_freed_memory_is_refused(gpu):
    """Once its memory is freed a map is refused where it is given, in a prepared launch where it is called."""
    pointer = gpu.alloc(7 * 192, label="weights")
    made = gpu.tensor_map(pointer, shape=(96, 7), box=(8, 2), dtype=mg.f16)
    prepared = described(gpu).arg_tensormap(made).prepare()
    gpu.free(pointer)
    with pytest.raises(mg.InvalidPointer, match="weights"):
        described(gpu).arg_tensormap(made)
    with pytest.raises(mg.InvalidPointer, match="weights"):
        prepared()
    assert gpu.launch_count == 0


def test_a_map_belongs_to_its_backend(gpu):
    """A map of another backend is refused by name, in the builder and in the short form."""
    with mg.MockGpuBackend(replace(profile("H100"), device="the other H100")) as other:
        made = other.tensor_map(other.empty((7, 96), mg.f16), box=(8, 2))
        with pytest.raises(mg.ForeignHandle, match="the other H100"):
            described(gpu).arg_tensormap(made)
        with pytest.raises(mg.ForeignHandle, match="the other H100"):
            gpu.kernel("m", "k")[1, 1](made)
        with pytest.raises(mg.ForeignHandle):
            gpu.tensor_map(other.empty((7, 96), mg.f16), box=(8, 2))


def test_a_map_is_no_pointer(gpu):
    """Where a pointer is declared a tensor map is refused as one."""
    made = gpu.tensor_map(gpu.empty((7, 96), mg.f16), box=(8, 2))
    gpu.load_module("declared", binary=b"x", signatures={"k": "float* x, int n"})
    with pytest.raises(mg.ArgumentKindError, match="TensorMap"):
        gpu.kernel("declared", "k")[1, 1](made, 5)
    with pytest.raises(mg.ArgumentKindError):
        described(gpu).arg_ptr(made)


def test_maps_in_sequences_and_captures(gpu):
    """A recording holds the memory of the maps it names, and runs with their bytes."""
    made = gpu.tensor_map(gpu.empty((7, 96), mg.f16), box=(8, 2))
    data = made.data
    with gpu.sequence() as step:
        described(gpu).arg_tensormap(made).launch()
    del made
    gc.collect()
    step()
    step()
    launches = [call for call in gpu.log if call.call == "launch"]
    assert [launch.arguments[0].data for launch in launches] == [data, data]
    gpu.synchronize()
    assert gpu.live_alloc_count() == 1
    step.close()
    assert gpu.live_alloc_count() == 0


def test_a_device_without_tensor_maps():
    """A device that encodes none says so by name and feature, whatever else is wrong."""
    with mg.MockGpuBackend("A100") as gpu, pytest.raises(mg.NotSupported, match="A100") as info:
        gpu.tensor_map(gpu.buffer(64), box=())
    assert info.value.feature == "tensor maps"


def test_a_map_of_freed_memory_names_the_launch_and_the_argument(gpu):
    """Where the map is given, and where a prepared launch of it is made later: kernel, argument, and what was freed."""
    buffer = gpu.empty((64, 96), mg.f32)
    tensors = gpu.tensor_map(buffer, box=(32, 8))
    prepared = described(gpu, "tiles").arg_u32(7).arg_tensormap(tensors).prepare()
    address = buffer.address
    buffer.free()
    for launch in (lambda: described(gpu, "tiles").arg_u32(7).arg_tensormap(tensors), prepared):
        with pytest.raises(
            mg.InvalidPointer, match=rf"tiles.*: argument 1: pointer: {address:#x} lies in .*gone"
        ) as refused:
            launch()
        assert refused.value.address == address
