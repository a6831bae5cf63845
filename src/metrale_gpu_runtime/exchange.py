"""Arrays of other libraries, read without importing any: where the bytes lie, how many, of what type.

Sources: NumPy's array interface (version 3), Numba's CUDA array interface (version 3), the buffer protocol, DLPack.
"""

from __future__ import annotations

import ctypes
import math
import sys
from dataclasses import dataclass, replace

from .array_interface import ON_CUDA, ON_HOST, ArrayInterface, interface_of, masked, refused
from .dlpack import HOST_DEVICES, NO_WAIT, STREAM_DEVICES, device_name, dlpack_device, read_dlpack
from .errors import GpuError, ScalarKindError
from .host_address import address_of
from .loaded_libraries import loaded_numpy, loaded_torch
from .scalars import ScalarType, element_type_of


@dataclass(frozen=True, slots=True)
class ForeignArray:
    """An array that somebody else owns. `owner` keeps it alive; `is_on_host` tells whose memory it is.

    `strides` are in bytes and None for C order; `where` is the memory's name for messages. `device` is DLPack's (type,
    index) where the array tells it. `protocol` is by which a device array was read: "cuda-array-interface", whose
    version is `version`, or "dlpack"; "" for an array of the host.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    item_nbytes: int
    element: ScalarType | None
    is_writable: bool
    is_on_host: bool
    where: str
    owner: object
    device: tuple[int, int] | None = None
    protocol: str = ""
    version: int = 0

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.item_nbytes

    @property
    def is_contiguous(self) -> bool:
        """True when the elements lie one behind the other in C order."""
        if self.strides is None or self.nbytes == 0:
            return True
        expected = self.item_nbytes
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= extent
        return True


def read_foreign(value: object) -> ForeignArray | None:
    """What an array of another library is, or None for an object that is no array.

    A device array is never taken for a host array: the device interfaces are asked first. Of those, version 3 of the
    CUDA array interface says whose stream to wait for, and to let wait; DLPack whom to wait for; version 2 nothing.
    A NumPy scalar is no array: the memory that its interface shows is a copy made for the occasion. Raises
    ScalarKindError for elements that no device can read (Python objects, dates, big-endian numbers), for masked arrays
    and interfaces with a wrong field, and with the reason for an array that its library does not hand out (one that
    needs a gradient, a sparse one).
    """
    kind = type(value)
    numpy = loaded_numpy()
    if numpy is not None and isinstance(value, numpy.generic):
        return None
    torch = loaded_torch()
    if torch is not None and isinstance(value, torch.Tensor) and value.is_neg():
        # DLPack hands out the memory without a word about the sign.
        raise ScalarKindError(
            "this tensor's elements are stored with the other sign (torch's negative bit); give x.resolve_neg()"
        )
    refuse_masked(value)
    interface = interface_of(value, ON_CUDA)
    if interface is not None:
        if interface.version() < 3 and hasattr(kind, "__dlpack__"):
            return _from_dlpack(value)
        return _from_cuda_interface(value, interface)
    interface = interface_of(value, ON_HOST)
    if interface is not None:
        return _from_interface(value, interface, "the host", is_on_host=True)
    if hasattr(kind, "__dlpack__"):
        return _from_dlpack(value)
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return None
    return from_memoryview(view, value)


def refuse_masked(value: object) -> None:
    """Raise ScalarKindError for NumPy's masked arrays, which NumPy itself would hand out without their masks."""
    masks = sys.modules.get("numpy.ma")
    if masks is not None and isinstance(value, getattr(masks, "MaskedArray", ())):
        raise masked()


def from_memoryview(view: memoryview, owner: object) -> ForeignArray:
    """The memory below a buffer-protocol view."""
    address = address_of(view)
    code = "?" if view.format == "?" else view.format.lstrip("@=<|") if view.format else "B"
    return ForeignArray(
        address,
        tuple(view.shape or ()),
        tuple(view.strides) if view.strides else None,
        view.itemsize,
        _buffer_element(code, view.itemsize),
        not view.readonly,
        True,
        "the host",
        (owner, view),
    )


def _buffer_element(code: str, nbytes: int) -> ScalarType | None:
    if len(code) != 1:
        return {"Zf": element_type_of("<c8"), "Zd": element_type_of("<c16")}.get(code)
    for letters, kind in (("bhilqn", "i"), ("BHILQN", "u"), ("efd", "f"), ("?", "b")):
        if code in letters:
            return element_type_of(f"<{kind}{nbytes}")
    return None


def _from_interface(value: object, interface: ArrayInterface, where: str, *, is_on_host: bool) -> ForeignArray:
    interface.version()
    interface.refuse_mask()
    shape, typestr = interface.shape(), interface.typestr()
    item_nbytes = _item_nbytes(typestr)
    address, is_read_only = interface.data()
    if not address and item_nbytes * math.prod(shape):
        raise ScalarKindError(
            f"it shows {item_nbytes * math.prod(shape)} bytes at address 0, where no memory is", given=address
        )
    dtype = getattr(value, "dtype", None)
    element = element_type_of(dtype) if getattr(dtype, "name", None) == "bfloat16" else None
    return ForeignArray(
        address,
        shape,
        interface.strides(len(shape)),
        item_nbytes,
        element if element is not None else element_type_of(typestr),
        not is_read_only,
        is_on_host,
        where,
        # An interface made for this question may itself hold what keeps the memory.
        (value, interface.fields),
    )


def _from_cuda_interface(value: object, interface: ArrayInterface) -> ForeignArray:
    interface.stream()
    array = _from_interface(value, interface, "a CUDA device", is_on_host=False)
    try:
        device = dlpack_device(value)
    except Exception as error:
        raise refused(value, "__dlpack_device__()", error) from error
    return replace(
        array,
        where=device_name(device) if device is not None else array.where,
        device=device,
        protocol="cuda-array-interface",
        version=interface.version(),
    )


def _item_nbytes(typestr: str) -> int:
    """The bytes of one element, from an array interface's typestr."""
    kind, digits = typestr[1:2], typestr[2:]
    if kind in "Mm":
        raise ScalarKindError(
            f"elements of type {typestr!r} mean nothing to a kernel; convert them to integers: a.view('i8')",
            given=typestr,
        )
    if kind in "Ot" or not digits.isdigit():
        raise ScalarKindError(
            f"elements of type {typestr!r} have no fixed bytes that a kernel could read; convert them, for example "
            "with a.astype('f4')",
            given=typestr,
        )
    # NumPy counts the characters of its text, which have four bytes each.
    return int(digits) * (4 if kind == "U" else 1)


def _from_dlpack(value: object) -> ForeignArray:
    try:
        device = dlpack_device(value)
        # Who waits for whom is settled when the memory is used, not now.
        is_ordered = device is not None and device[0] in STREAM_DEVICES
        tensor = read_dlpack(value, NO_WAIT if is_ordered else None)
    except GpuError:
        raise
    except Exception as error:
        raise refused(value, "__dlpack__()", error) from error
    _, bits, lanes = tensor.dtype
    if bits * lanes % 8:
        raise ScalarKindError(
            f"its elements have {bits * lanes} bits and are packed; give the bytes that hold them as uint8",
            given=tensor.dtype,
        )
    device = tensor.device_type, tensor.device_id
    return ForeignArray(
        tensor.address,
        tensor.shape,
        tensor.strides,
        tensor.item_nbytes,
        element_type_of(tensor.dtype),
        not tensor.is_read_only,
        tensor.device_type in HOST_DEVICES,
        device_name(device),
        (value, tensor.owner),
        device,
        "dlpack" if device[0] in STREAM_DEVICES else "",
    )


def host_view(array: ForeignArray) -> memoryview:
    """The bytes of a contiguous host array as a flat view that keeps the array alive."""
    if array.nbytes == 0:
        return memoryview(b"") if not array.is_writable else memoryview(bytearray())
    block = (ctypes.c_ubyte * array.nbytes).from_address(array.address)
    block._owner = array.owner  # type: ignore[attr-defined]
    view = memoryview(block).cast("B")
    return view if array.is_writable else view.toreadonly()
