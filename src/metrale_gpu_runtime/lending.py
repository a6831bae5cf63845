"""In, Out and InOut: host arrays lent to one launch, in place where the device can, else by copies there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ArgumentError, ArgumentKindError
from .exchange import ForeignArray
from .memory.pointers import PointerValue, read_array_of
from .scalars import ScalarType
from .trace.launches import LentHostMemory

if TYPE_CHECKING:
    from .backend import GpuBackend
    from .buffers import DeviceBuffer
    from .stream import Stream


class HostArgument:
    """A host array lent to one synchronous launch. Use In, Out or InOut."""

    __slots__ = ("array",)

    reads: bool = True
    writes: bool = True

    def __init__(self, array: Any) -> None:
        self.array = array

    def lend(self, gpu: GpuBackend, what: str) -> HostLoan:
        """The loan to one launch; `what` begins every message.

        Raises ArgumentKindError for what is no host array, ArgumentError for gaps.
        """
        name = f"{what}: {type(self).__name__}"
        array = None if hasattr(type(self.array), "pointer_value") else read_array_of(self.array, name)
        if array is None or not array.is_on_host:
            given = type(self.array).__name__
            raise ArgumentKindError(
                f"{name}(…) lends a host array; {given} is none. A device array is given as it is",
                kernel="",
                expected="a host array",
                given=given,
            )
        if not array.is_contiguous:
            raise ArgumentError(
                f"{name}(…): an array of shape {array.shape} has strides of {array.strides} bytes; make it contiguous",
                kernel="",
                expected="contiguous",
                given=array.strides,
            )
        if self.writes and not array.is_writable:
            raise ArgumentError(
                f"{name}(…): this array is read-only; lend it with In(…), or lend a copy", kernel="", given="read-only"
            )
        return HostLoan(gpu, self, array)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.array).__name__} {getattr(self.array, 'shape', '')})"


class In(HostArgument):
    """A host array that the kernel only reads."""

    __slots__ = ()
    writes = False


class Out(HostArgument):
    """A host array that the kernel writes, all of it: what it held does not reach the kernel, and need not survive."""

    __slots__ = ()
    reads = False


class InOut(HostArgument):
    """A host array that the kernel reads and writes."""

    __slots__ = ()


class HostLoan:
    """One host array on loan: `begin` makes it reachable, `finish` queues its way back, `release` ends the loan.

    Where the device uses host memory in place nothing is copied; a kernel that writes into an In array faults there.
    """

    __slots__ = ("_argument", "_array", "_buffer", "_gpu")

    def __init__(self, gpu: GpuBackend, argument: HostArgument, array: ForeignArray) -> None:
        self._gpu, self._argument, self._array = gpu, argument, array
        self._buffer: DeviceBuffer | None = None

    @property
    def element(self) -> ScalarType | None:
        return self._array.element

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def begin(self, stream: Stream) -> PointerValue:
        """Its address on the device, in the order of the stream."""
        array = self._array
        if array.nbytes == 0:
            return PointerValue(0, None, 0, array.element, self._argument.writes, keepalive=array.owner)
        if self._gpu.capabilities.host_arrays_are_device_arrays:
            lent = LentHostMemory(array.address, array.nbytes, self._argument.writes, array.owner)
            return PointerValue(
                array.address,
                None,
                array.nbytes,
                array.element,
                self._argument.writes,
                lent=lent,
                keepalive=array.owner,
            )
        self._buffer = self._gpu.buffer(array.nbytes, label=repr(self._argument))
        if self._argument.reads:
            self._gpu.copy_h2d_async_retained(self._argument.array, self._buffer, stream)
        return PointerValue(self._buffer.address, self._buffer.allocation, array.nbytes, array.element)

    def finish(self, stream: Stream) -> None:
        """Queue the copy back for what the kernel writes; wait for the stream afterwards."""
        if self._buffer is not None and self._argument.writes:
            self._gpu.copy_d2h_async(self._buffer, self._argument.array, stream)

    def release(self) -> None:
        """Let go of the device's copy."""
        self._buffer = None

    def __repr__(self) -> str:
        return repr(self._argument)
