"""TensorMap: how a kernel's bulk tensor copies see a region of memory; 128 bytes passed to the kernel by value.

Every constraint that CUDA documents for tiled maps is checked here, before the driver is asked: the driver answers all
of them with one "invalid value". Source: CUDA Driver API, cuTensorMapEncodeTiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .arguments import HoldingValue
from .driver import TensorMapDescription
from .elements import Element, element_of
from .errors import TensorMapError
from .memory.pointers import PointerValue
from .whole_numbers import whole

if TYPE_CHECKING:
    from .backend import GpuBackend

TENSOR_MAP_NBYTES = 128
TENSOR_MAP_ALIGN = 128

MAX_RANK = 5
MAX_EXTENT = 1 << 32
MAX_STRIDE = 1 << 40
MAX_BOX = 256
MAX_ELEMENT_STRIDE = 8

# Bits of one element in global memory. The padding that the 16-byte aligned packed types get is in shared memory only.
BITS = {
    "UINT8": 8,
    "UINT16": 16,
    "UINT32": 32,
    "INT32": 32,
    "UINT64": 64,
    "INT64": 64,
    "FLOAT16": 16,
    "FLOAT32": 32,
    "FLOAT64": 64,
    "BFLOAT16": 16,
    "FLOAT32_FTZ": 32,
    "TFLOAT32": 32,
    "TFLOAT32_FTZ": 32,
    "16U4_ALIGN8B": 4,
    "16U4_ALIGN16B": 4,
    "16U6_ALIGN16B": 6,
}

_FLOATS = frozenset({"FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ"})
_PADDED = frozenset({"16U4_ALIGN16B", "16U6_ALIGN16B"})

# A copy moves bits: signed and unsigned elements of 8 and 16 bits are the same to it, and so is a bool to a byte.
_OF_SCALAR = {
    "u8": "UINT8",
    "i8": "UINT8",
    "bool": "UINT8",
    "u16": "UINT16",
    "i16": "UINT16",
    "u32": "UINT32",
    "i32": "INT32",
    "u64": "UINT64",
    "i64": "INT64",
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f32": "FLOAT32",
    "f64": "FLOAT64",
}

INTERLEAVES = ("NONE", "16B", "32B")
_SPANS = {
    "NONE": None,
    "32B": 32,
    "64B": 64,
    "128B": 128,
    "128B_ATOM_32B": 128,
    "128B_ATOM_32B_FLIP_8B": 128,
    "128B_ATOM_64B": 128,
}
SWIZZLES = tuple(_SPANS)
_SWIZZLES_OF = {
    "16U4_ALIGN16B": ("NONE", "128B", "128B_ATOM_32B"),
    "16U6_ALIGN16B": ("NONE", "128B", "128B_ATOM_32B", "128B_ATOM_64B"),
}
L2_PROMOTIONS = ("NONE", "L2_64B", "L2_128B", "L2_256B")
FILLS = ("NONE", "NAN_REQUEST_ZERO_FMA")
_SHORT = {"64B": "L2_64B", "128B": "L2_128B", "256B": "L2_256B"}


class TensorMap(HoldingValue):
    """A tiled tensor map, encoded for one device. Made by `gpu.tensor_map(…)`; immutable.

    It is an argument for a parameter declared `const __grid_constant__ CUtensorMap`, by `arg_tensormap` and in the
    short form. It holds the memory that it describes, and launches mark that memory as in use, as a pointer does.
    """

    __slots__ = ("__weakref__", "_description")

    def __init__(self, gpu: GpuBackend, description: TensorMapDescription, data: bytes, pointer: PointerValue) -> None:
        super().__init__(gpu, data, TENSOR_MAP_ALIGN, pointer)
        self._description = description

    @property
    def gpu(self) -> GpuBackend:
        """The backend whose device it was encoded for."""
        return self._gpu

    @property
    def description(self) -> TensorMapDescription:
        """What was encoded: address, element type, extents and strides, innermost first."""
        return self._description

    @property
    def data(self) -> bytes:
        """The 128 bytes as the kernel gets them."""
        return self._data

    def __bytes__(self) -> bytes:
        return self._data

    def __repr__(self) -> str:
        each = self._description
        return f"<TensorMap {each.data_type} {each.shape} box {each.box} at {each.address:#x}>"


def describe_tiled(
    address: int,
    *,
    data_type: str,
    shape: Sequence[int],
    strides: Sequence[int] | None,
    box: Sequence[int],
    element_strides: Sequence[int] | None,
    interleave: str,
    swizzle: str,
    l2_promotion: str,
    out_of_bounds_fill: str,
) -> TensorMapDescription:
    """The description of a tiled map, with every documented rule checked. Extents are innermost first.

    Raises TensorMapError with the dimension, the value, the limit and what to do.
    """
    interleave = _choice("interleave", interleave, INTERLEAVES)
    swizzle = _choice("swizzle", swizzle, SWIZZLES)
    l2_promotion = _choice("l2_promotion", _SHORT.get(_upper(l2_promotion), l2_promotion), L2_PROMOTIONS)
    fill = _choice(
        "out_of_bounds_fill",
        "NAN_REQUEST_ZERO_FMA" if _upper(out_of_bounds_fill) == "NAN" else out_of_bounds_fill,
        FILLS,
    )
    extents = _integers("shape", shape)
    rank = len(extents)
    _check_rank(rank, interleave)
    _check_choices(data_type, interleave, swizzle, fill)
    _check_address(address, data_type, interleave)
    _check_shape(extents, data_type)
    row_strides = _packed(extents, data_type) if strides is None else _integers("strides", strides, rank - 1)
    _check_strides(row_strides, extents, data_type, interleave, is_given=strides is not None)
    sides = _integers("box", box, rank)
    _check_box(sides, data_type, interleave, swizzle)
    steps = (1,) * rank if element_strides is None else _integers("element_strides", element_strides, rank)
    _check_element_strides(steps, interleave)
    return TensorMapDescription(
        address, data_type, extents, row_strides, sides, steps, interleave, swizzle, l2_promotion, fill
    )


def extent_nbytes(description: TensorMapDescription) -> int:
    """How many bytes from its address on the map can reach at least."""
    if description.interleave == "NONE":
        last = description.shape[0] * BITS[description.data_type] // 8
    else:
        last = _slice_nbytes(description.interleave)
    steps = zip(description.shape[1:], description.strides, strict=True)
    return sum((extent - 1) * stride for extent, stride in steps) + last


def data_type_of(dtype: object) -> str:
    """The data type for a name of CUtensorMapDataType ("BFLOAT16", "16U4_ALIGN8B"), a scalar type or a NumPy dtype.

    Raises TensorMapError for what has none.
    """
    if isinstance(dtype, str) and _upper(dtype) in BITS:
        return _upper(dtype)
    try:
        element = element_of(dtype)
    except TypeError as error:
        raise TensorMapError(
            f"tensor map: dtype: {error}; the element types are {', '.join(BITS)}",
            what="dtype",
            asked=dtype,
            limit=tuple(BITS),
        ) from None
    return _data_type_of_element(element, dtype)


def _data_type_of_element(element: Element, given: object) -> str:
    found = _OF_SCALAR.get(element.scalar.name) if element.scalar is not None else None
    if found is None:
        raise TensorMapError(
            f"tensor map: dtype: {element.name} is no element type of tensor maps; name one of the same size: "
            f"{', '.join(BITS)}",
            what="dtype",
            asked=given,
            limit=tuple(BITS),
        )
    return found


# ---------------------------------------------------------------- reading


def _upper(text: object) -> str:
    return text.upper() if isinstance(text, str) else ""


def _choice(what: str, given: object, known: tuple[str, ...]) -> str:
    word = _upper(given)
    if word not in known:
        raise TensorMapError(
            f"tensor map: {what} is {given!r}; there are {', '.join(known)}", what=what, asked=given, limit=known
        )
    return word


def _integers(what: str, values: object, count: int | None = None) -> tuple[int, ...]:
    given = values if isinstance(values, Sequence) and not isinstance(values, (str, bytes)) else (values,)
    read = []
    for dimension, value in enumerate(given):
        number = whole(value)
        if number is None:
            raise TensorMapError(
                f"tensor map: {what}[{dimension}] is {value!r}; it is a whole number",
                what=what,
                dimension=dimension,
                asked=value,
            )
        read.append(number)
    if count is not None and len(read) != count:
        fewer = ": one fewer than the shape, the innermost elements are contiguous" if what == "strides" else ""
        raise TensorMapError(
            f"tensor map: {what} has {len(read)} entries, the shape has {count + (what == 'strides')} dimensions; "
            f"give {count}{fewer}, innermost first",
            what=what,
            asked=len(read),
            limit=count,
        )
    return tuple(read)


def _refused(what: str, dimension: int, asked: object, rule: str, limit: object, remedy: str) -> TensorMapError:
    return TensorMapError(
        f"tensor map: {what}[{dimension}] is {asked}; {rule}. {remedy}",
        what=what,
        dimension=dimension,
        asked=asked,
        limit=limit,
    )


# ---------------------------------------------------------------- the rules


def _check_rank(rank: int, interleave: str) -> None:
    least = 1 if interleave == "NONE" else 3
    if not least <= rank <= MAX_RANK:
        why = f" with interleave {interleave}" if least > 1 else ""
        raise TensorMapError(
            f"tensor map: shape has {rank} dimensions; a map has {least} to {MAX_RANK}{why}. "
            "Merge contiguous dimensions, or add some of extent 1",
            what="shape",
            asked=rank,
            limit=(least, MAX_RANK),
        )


def _check_choices(data_type: str, interleave: str, swizzle: str, fill: str) -> None:
    if interleave == "32B" and swizzle != "32B":
        raise TensorMapError(
            f"tensor map: swizzle is {swizzle}; interleave 32B goes with swizzle 32B alone",
            what="swizzle",
            asked=swizzle,
            limit="32B",
        )
    if data_type == "16U6_ALIGN16B" and interleave != "NONE":
        raise TensorMapError(
            f"tensor map: interleave is {interleave}; {data_type} goes with interleave none alone",
            what="interleave",
            asked=interleave,
            limit="NONE",
        )
    allowed = _SWIZZLES_OF.get(data_type, SWIZZLES)
    if swizzle not in allowed:
        raise TensorMapError(
            f"tensor map: swizzle is {swizzle}; {data_type} goes with {', '.join(allowed)}",
            what="swizzle",
            asked=swizzle,
            limit=allowed,
        )
    if fill != "NONE" and data_type not in _FLOATS:
        raise TensorMapError(
            f"tensor map: out_of_bounds_fill is {fill}; {data_type} elements are no floating-point numbers, use none "
            "(zeros)",
            what="out_of_bounds_fill",
            asked=fill,
            limit="NONE",
        )


def _unit(data_type: str, interleave: str) -> tuple[int, str]:
    """What address and strides must be multiples of, and why."""
    if interleave == "32B":
        return 32, " with interleave 32B"
    if data_type in _PADDED:
        return 32, f" for {data_type}"
    return 16, ""


def _check_address(address: int, data_type: str, interleave: str) -> None:
    unit, why = _unit(data_type, interleave)
    if address == 0:
        raise TensorMapError(
            "tensor map: address is the null pointer; give memory", what="address", asked=0, limit=unit
        )
    if address % unit:
        raise TensorMapError(
            f"tensor map: address {address:#x} is {address % unit} bytes past a multiple of {unit}, which it must be"
            f"{why}. Begin at an aligned element and shift the kernel's coordinates",
            what="address",
            asked=address,
            limit=unit,
        )


def _check_shape(shape: tuple[int, ...], data_type: str) -> None:
    for dimension, extent in enumerate(shape):
        if not 1 <= extent <= MAX_EXTENT:
            remedy = "There is nothing to describe" if extent == 0 else "Split the tensor into several maps"
            raise _refused("shape", dimension, extent, f"an extent is 1 to {MAX_EXTENT}", (1, MAX_EXTENT), remedy)
    multiple = 128 if data_type in _PADDED else 2 if data_type == "16U4_ALIGN8B" else 1
    if shape[0] % multiple:
        raise _refused(
            "shape",
            0,
            shape[0],
            f"{data_type} packs its elements: the innermost extent is a multiple of {multiple}",
            multiple,
            "Count single values, and pad the rows",
        )


def _packed(shape: tuple[int, ...], data_type: str) -> tuple[int, ...]:
    """The strides of a tensor without padding."""
    strides: list[int] = []
    # Rows of packed elements are whole bytes: their extents are even.
    stride = shape[0] * BITS[data_type] // 8
    for extent in shape[1:]:
        strides.append(stride)
        stride *= extent
    return tuple(strides)


def _slice_nbytes(interleave: str) -> int:
    return int(interleave[:-1])


def _check_strides(
    strides: tuple[int, ...], shape: tuple[int, ...], data_type: str, interleave: str, *, is_given: bool
) -> None:
    unit, why = _unit(data_type, interleave)
    # In an interleaved layout the neighbour of a slice of channels is the next pixel, not the next channel.
    inner = shape[0] * BITS[data_type] // 8 if interleave == "NONE" else _slice_nbytes(interleave)
    for dimension, stride in enumerate(strides):
        if stride % unit:
            remedy = f"Pad the rows to {-(-stride // unit) * unit} bytes"
            if not is_given:
                remedy += " and say so with strides="
            raise _refused("strides", dimension, stride, f"a stride is a multiple of {unit} bytes{why}", unit, remedy)
        if not 0 <= stride < MAX_STRIDE:
            raise _refused(
                "strides",
                dimension,
                stride,
                f"a stride is less than {MAX_STRIDE} bytes and not negative",
                MAX_STRIDE,
                "Describe the tensor by several maps",
            )
        if stride < inner:
            raise _refused(
                "strides",
                dimension,
                stride,
                f"dimension {dimension} takes {inner} bytes: the next one would overlap it",
                inner,
                "Strides are in bytes, of dimensions 1 and up, innermost first",
            )
        inner = stride * shape[dimension + 1]


def _check_box(box: tuple[int, ...], data_type: str, interleave: str, swizzle: str) -> None:
    for dimension, side in enumerate(box):
        if not 1 <= side <= MAX_BOX:
            raise _refused(
                "box",
                dimension,
                side,
                f"a side of the box is 1 to {MAX_BOX} elements",
                (1, MAX_BOX),
                "Copy in several boxes",
            )
    if data_type in _PADDED and box[0] != 128:
        raise _refused("box", 0, box[0], f"{data_type} is copied 128 elements at a time", 128, "Make it 128")
    if interleave != "NONE":
        return
    bits = box[0] * BITS[data_type]
    # 128 elements fill 128 bytes of shared memory: 16 of them 16 bytes, gap included.
    nbytes = box[0] if data_type in _PADDED else bits // 8
    if data_type not in _PADDED and bits % 128:
        per_unit = 128 // BITS[data_type]
        raise _refused(
            "box",
            0,
            box[0],
            f"the box's inner side is a multiple of 16 bytes, that is {per_unit} {data_type} elements",
            per_unit,
            f"Make it {-(-box[0] // per_unit) * per_unit}; what lies outside of the tensor is filled",
        )
    span = _SPANS[swizzle]
    if span is not None and nbytes > span:
        most = span * 8 // BITS[data_type]
        raise _refused(
            "box",
            0,
            box[0],
            f"the box's inner side is {nbytes} bytes, swizzle {swizzle} spans {span}",
            most,
            f"Make it at most {most} elements, or take a wider swizzle or none",
        )


def _check_element_strides(steps: tuple[int, ...], interleave: str) -> None:
    for dimension, step in enumerate(steps):
        if not 1 <= step <= MAX_ELEMENT_STRIDE:
            raise _refused(
                "element_strides",
                dimension,
                step,
                f"a step is 1 to {MAX_ELEMENT_STRIDE} elements",
                (1, MAX_ELEMENT_STRIDE),
                "Use 1 and skip in the kernel",
            )
    if interleave == "NONE" and steps[0] != 1:
        raise _refused(
            "element_strides",
            0,
            steps[0],
            "without interleave the device ignores the step of the innermost dimension",
            1,
            "Use 1 and skip in the kernel",
        )
