"""DeviceBuffer: device memory with an owner, a type and a shape, and its exchange with other libraries."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import exporting
from .elements import Element, count_of, element_of, read_shape
from .errors import ArgumentKindError, ElementTypeError, InvalidPointer
from .exchange import read_foreign
from .handles import DevicePtr
from .lending import HostArgument, HostLoan, In, InOut, Out
from .memory.allocation import Allocation
from .memory.ledger import Ledger
from .memory.pointers import PointerValue, dead_pointer, foreign_memory
from .native import BufferState, know_buffer
from .scalars import ScalarType
from .whole_numbers import is_index

if TYPE_CHECKING:
    from .backend import GpuBackend

__all__ = ["DeviceBuffer", "HostArgument", "HostLoan", "In", "InOut", "Out", "as_numpy"]


@know_buffer
class DeviceBuffer(BufferState):
    """Device memory, freed when the last reference to it (views and pointers of it included) drops.

    Made by `gpu.buffer(nbytes)`, `gpu.empty(shape, dtype)`, `gpu.array(host)`. Elements lie in C order, one behind the
    other. Slices along the first axis are views. `free()`, or the end of a `with` block, gives it back at once.
    """

    __slots__ = ("__weakref__", "_element", "_gpu", "_offset", "_shape")

    _allocation: Allocation

    def __init__(
        self, gpu: GpuBackend, allocation: Allocation, offset: int, shape: tuple[int, ...], element: Element
    ) -> None:
        self._gpu, self._allocation, self._offset = gpu, allocation, offset
        self._shape, self._element = shape, element
        # Worked out once: a launch asks for them each time.
        self._scalar = element.scalar
        self._nbytes = count_of(shape) * element.nbytes
        self._address = allocation.base + offset if self._nbytes else 0

    # ------------------------------------------------ what it is

    @property
    def gpu(self) -> GpuBackend:
        return self._gpu

    @property
    def allocation(self) -> Allocation:
        """The memory it holds."""
        return self._allocation

    @property
    def address(self) -> int:
        """The device address of its first byte; 0 when it has none."""
        return self._address

    @property
    def ptr(self) -> DevicePtr:
        """A pointer to its first byte, which holds the memory as well."""
        return DevicePtr(self.address, self._allocation if self.nbytes else None)

    @property
    def nbytes(self) -> int:
        return self._nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return count_of(self._shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._element.nbytes

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of its elements (bytes: uint8). Raises NotSupported for bf16 without ml_dtypes."""
        return self._element.dtype

    @property
    def element(self) -> ScalarType | None:
        """The scalar type of its elements; None for untyped bytes and structures."""
        return self._element.scalar

    @property
    def label(self) -> str:
        return self._allocation.label

    @property
    def is_live(self) -> bool:
        """False once its memory was freed."""
        return self._allocation.is_live

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("a buffer of one element without axes has no length")
        return self._shape[0]

    def __repr__(self) -> str:
        name = f" {self.label!r}" if self.label else ""
        state = "" if self.is_live else f", {self._allocation.block.gone}"
        return f"<DeviceBuffer{name} {self._element.name} {self._shape} at {self.address:#x}{state}>"

    # ------------------------------------------------ views

    def __getitem__(self, index: object) -> DeviceBuffer:
        """A view along the first axis: `buffer[3:9]`, `buffer[-1]`. Raises IndexError, for a step other than 1 too."""
        if not self._shape:
            raise IndexError("a buffer of one element without axes cannot be indexed")
        extent, rest = self._shape[0], self._shape[1:]
        row = count_of(rest) * self._element.nbytes
        if isinstance(index, slice):
            start, stop, step = index.indices(extent)
            if step != 1:
                raise IndexError(
                    f"step {step}: a buffer's elements lie one behind the other; only a step of 1 is a view"
                )
            return self._view(start * row, (max(stop - start, 0), *rest), self._element)
        if not is_index(index):
            raise TypeError(f"a buffer is indexed along its first axis by an integer or a slice, not by {index!r}")
        at = operator.index(index)
        if not -extent <= at < extent:
            raise IndexError(f"index {at} of an axis of {extent}")
        return self._view((at % extent) * row, rest, self._element)

    def __iter__(self) -> Iterator[DeviceBuffer]:
        return (self[at] for at in range(len(self)))

    def reshape(self, *shape: Any) -> DeviceBuffer:
        """The same elements with other extents; one may be -1. Raises ValueError when the count is another."""
        given = shape[0] if len(shape) == 1 else shape
        extents = list(given) if isinstance(given, (tuple, list)) else [given]
        if extents.count(-1) == 1:
            others = count_of(tuple(extent for extent in extents if extent != -1))
            if others and self.size % others == 0:
                extents[extents.index(-1)] = self.size // others
        read = read_shape(extents)
        if count_of(read) != self.size:
            raise ValueError(f"{self.size} elements of shape {self._shape} do not make the shape {read}")
        return self._view(0, read, self._element)

    def view(self, dtype: object) -> DeviceBuffer:
        """The same bytes as elements of another type, along the last axis. Raises ValueError where they do not fit."""
        element = element_of(dtype)
        leading, last = (self._shape[:-1], self._shape[-1]) if self._shape else ((), 1)
        row = last * self._element.nbytes
        if row % element.nbytes:
            raise ValueError(f"{row} bytes along the last axis are no whole number of {element.name}")
        shape = (*leading, row // element.nbytes) if self._shape or row != element.nbytes else ()
        return self._view(0, shape, element)

    def _view(self, offset: int, shape: tuple[int, ...], element: Element) -> DeviceBuffer:
        return DeviceBuffer(self._gpu, self._allocation, self._offset + offset, shape, element)

    # ------------------------------------------------ copies

    def copy_from(self, source: Any) -> DeviceBuffer:
        """Copy a host array, a buffer or a device array of the same size into it; done on return. Returns itself.

        Raises InvalidPointer when the bytes are not as many, ElementTypeError when both have types and they differ.
        """
        if isinstance(source, DeviceBuffer):
            self._check_same(source.nbytes, source.element, source.shape)
            if source._gpu is self._gpu:
                self._gpu.copy_d2d(source, self)
            elif self._gpu.can_copy_peer(source._gpu):
                self._gpu.copy_peer(source, self)
            else:
                self._gpu.copy_h2d(source.tobytes(), self)
            return self
        array = read_foreign(source)
        if array is None:
            array = read_foreign(as_numpy(source, self._element))
            assert array is not None
        self._check_same(array.nbytes, array.element, array.shape)
        if array.is_on_host:
            self._gpu.copy_h2d(array.owner if not isinstance(array.owner, tuple) else array.owner[0], self)
        else:
            self._gpu.copy_d2d(source, self)
        return self

    def copy_to(self, target: Any) -> None:
        """Copy it into a host array or a buffer of the same size; done on return. Raises as `copy_from` does."""
        if isinstance(target, DeviceBuffer):
            target.copy_from(self)
            return
        array = read_foreign(target)
        if array is None:
            raise ArgumentKindError(
                f"copy_to: {type(target).__name__} is no array",
                kernel="",
                expected="an array",
                given=type(target).__name__,
            )
        self._check_same(array.nbytes, array.element, array.shape)
        if array.is_on_host:
            self._gpu.copy_d2h(self, target)
        else:
            self._gpu.copy_d2d(self, target)

    def _check_same(self, nbytes: int, element: ScalarType | None, shape: tuple[int, ...]) -> None:
        own = self._element.scalar
        if own is not None and element is not None and own != element:
            raise ElementTypeError(
                f"a buffer of {own.name} and an array of {element.name}: convert the array first (array.astype), or "
                "take the buffer as bytes: buffer.view('uint8')",
                kernel="",
                expected=own.name,
                given=element.name,
            )
        if nbytes != self.nbytes:
            raise InvalidPointer(
                f"the buffer has {self.nbytes} bytes, shape {self._shape}; the array has {nbytes}, shape {shape}",
                address=self.address,
                nbytes=nbytes,
            )

    def numpy(self) -> Any:
        """A NumPy array with a copy of its contents; waits for queued work on it. Needs NumPy."""
        array, view = self.host_array()
        self._gpu.copy_d2h(self, view)
        return array

    def host_array(self) -> tuple[Any, memoryview]:
        """A new NumPy array of its type and shape, contents undefined, and its bytes."""
        import numpy

        array = numpy.empty(self._shape, self._element.dtype)
        flat: Any = array.reshape(-1).view(numpy.uint8) if array.nbytes else numpy.empty(0, numpy.uint8)
        return array, memoryview(flat)

    def tobytes(self) -> bytes:
        """A copy of its bytes; waits for queued work on it."""
        data = bytearray(self.nbytes)
        self._gpu.copy_d2h(self, data)
        return bytes(data)

    def fill(self, value: int = 0, *, width: int = 1) -> None:
        """Fill it with a byte, or with elements of 2 or 4 bytes; done on return. See `gpu.memset`."""
        self._gpu.memset(self, value, width=width)

    # ------------------------------------------------ exchange with array libraries

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("device memory cannot become a NumPy array without a copy; use .numpy()")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """The buffer as other CUDA libraries read it, without a copy; no attribute on a device that is not CUDA's.

        Version 3: `stream` is None with nothing queued on the memory, else a stream behind all that is. bf16 is "<V2",
        as ml_dtypes and PyTorch have it. Whoever takes it must keep the buffer. Source: CUDA Array Interface.
        """
        return exporting.cuda_array_interface(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's (type, index) of the memory. Raises NotSupported where no other library could use it."""
        return exporting.device_of(self)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule on the same memory, which is kept until its taker lets go; without a copy unless asked.

        On a GPU `stream`, which the taker names, waits for what is queued on the memory: None and 1 are the legacy
        default stream (ROCm: None and 0), -1 means no wait. Elsewhere this waits itself. `dl_device` (1, 0) is a copy
        on the host. Raises NotSupported where the memory can be nobody else's, BufferError for another device, a
        stream that means nothing, and elements that DLPack does not have.
        """
        return exporting.dlpack(self, stream, max_version, dl_device, copy)

    # ------------------------------------------------ the end

    def free(self) -> None:
        """Give the memory back now; views and pointers of it are dead. Raises AllocationInUse, InvalidPointer."""
        self._gpu.free(self)

    def __enter__(self) -> DeviceBuffer:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if self.is_live:
            self._gpu.free_async(self)

    # ------------------------------------------------ for the engine

    def pointer_value(self, ledger: Ledger, what: str) -> PointerValue:
        """Itself as a checked address. Raises InvalidPointer once it was freed, ForeignHandle for another backend."""
        block = self._allocation.block
        if block.ledger is not ledger:
            raise foreign_memory(block.ledger, ledger, what)
        if block.gone:
            raise dead_pointer(self.address, block, what)
        return PointerValue(self.address, self._allocation, self.nbytes, self._element.scalar)


def as_numpy(values: object, element: Element | None) -> Any:
    """Numbers and sequences of them as an array, exactly. Raises TypeError for what is none."""
    import numpy

    array = numpy.asarray(values)
    if array.dtype.hasobject:
        raise TypeError(f"{type(values).__name__} does not hold numbers of one type")
    if element is None or element.dtype == array.dtype:
        return array
    converted = array.astype(element.dtype)
    if not numpy.array_equal(converted.astype(array.dtype), array):
        raise ElementTypeError(
            f"the values do not fit {element.name} exactly; convert them: numpy.asarray(values, {element.name!r})",
            kernel="",
            expected=element.name,
            given=str(array.dtype),
        )
    return converted
