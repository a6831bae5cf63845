"""Memory on which somebody else queues work: what our work on it waits for, and who waits for ours afterwards.

Sources: CUDA Array Interface version 3, "Synchronization"; Python array API standard, `__dlpack__` and its `stream`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ..array_interface import ON_CUDA, interface_of
from ..dlpack import LEGACY_STREAM, PER_THREAD_STREAM, ROCM, read_dlpack
from ..errors import ArgumentKindError, GpuError, InvalidPointer, NotSupported, ScalarKindError
from ..exchange import ForeignArray
from .allocation import Allocation, Block

if TYPE_CHECKING:
    from ..calls.ordering import Handover


class Producer(ABC):
    """One array or allocation that others work on too. It is kept until our work on it is done."""

    __slots__ = ()

    @abstractmethod
    def precede(self, handover: Handover) -> None:
        """Let the operation to come wait for what was queued on this memory elsewhere, and note who waits for it."""


class InterfaceArray(Producer):
    """An array by its CUDA array interface: its stream is waited for, and waits for what we queue.

    Version 2 names no stream. What it usually means is waited for: the legacy default stream, which waits for all
    streams that are not non-blocking; nobody is made to wait.
    """

    __slots__ = ("_address", "_value", "_version")

    def __init__(self, value: object, array: ForeignArray) -> None:
        self._value, self._address, self._version = value, array.address, array.version

    def precede(self, handover: Handover) -> None:
        # Read anew at each use: the stream is that of the moment.
        try:
            interface = interface_of(self._value, ON_CUDA)
            if interface is None:
                raise _moved(self._value, self._address, "nothing")
            address, _ = interface.data()
            stream = interface.stream()
        except ScalarKindError as refused:
            raise ArgumentKindError(
                f"{type(self._value).__name__}: {refused.message}", kernel="", given=refused.given
            ) from None
        if address != self._address:
            raise _moved(self._value, self._address, f"{address:#x}")
        if self._version < 3:
            if handover.has_native_streams:
                handover.wait_for_stream(LEGACY_STREAM)
            return
        if stream is not None:
            handover.wait_for_stream(stream)
            handover.let_wait(stream)


class DlpackArray(Producer):
    """An array by DLPack: its library makes our stream wait for its own. It learns nothing of what we queue."""

    __slots__ = ("_address", "_device_type", "_value")

    def __init__(self, value: object, array: ForeignArray, device_type: int) -> None:
        self._value, self._address, self._device_type = value, array.address, device_type

    def precede(self, handover: Handover) -> None:
        stream = dlpack_stream(handover.native_stream(), self._device_type)
        try:
            address = read_dlpack(self._value, stream).address
        except GpuError:
            raise
        except Exception as error:
            raise ArgumentKindError(
                f"{type(self._value).__name__}.__dlpack__(stream={stream:#x}) refuses to order its work before ours: "
                f"{error}",
                kernel="",
                expected="an array whose library waits on streams",
                given=type(self._value).__name__,
            ) from error
        if address != self._address:
            raise _moved(self._value, self._address, f"{address:#x}")


class PeerMemory(Producer):
    """Memory of another backend that the device reaches: its work there comes first, and it is not freed under ours."""

    __slots__ = ("_allocation",)

    def __init__(self, allocation: Allocation) -> None:
        self._allocation = allocation

    @property
    def block(self) -> Block:
        return self._allocation.block

    def precede(self, handover: Handover) -> None:
        handover.wait_for_peer(self.block)


def dlpack_stream(native: int, device_type: int) -> int:
    """A stream's handle as `__dlpack__` takes it. Raises NotSupported for one that it cannot name.

    CUDA: 1 and 2 are the default streams, 0 is none. ROCm: 0 is the default stream, 1 and 2 are none.
    """
    if device_type == ROCM:
        if native in (LEGACY_STREAM, PER_THREAD_STREAM):
            raise NotSupported(
                f"DLPack has no name for stream {native} of a ROCm device; use a stream of gpu.create_stream()",
                feature="DLPack on the per-thread stream",
            )
        return native
    return native or LEGACY_STREAM


def _moved(value: object, was: int, now: str) -> InvalidPointer:
    return InvalidPointer(
        f"this {type(value).__name__} lay at {was:#x} when it was given and shows {now} now: it was resized or "
        "released since; give it again",
        address=was,
    )
