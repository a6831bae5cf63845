"""Everything that can stand for a device address, read and checked: pointers, buffers, foreign arrays, host arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..capabilities import Capabilities
from ..dlpack import CUDA, REACHABLE, device_name
from ..errors import ArgumentError, ArgumentKindError, ForeignHandle, InvalidPointer, ScalarKindError
from ..exchange import ForeignArray, read_foreign
from ..handles import DevicePtr
from ..native import BufferState, PointerState
from ..scalars import ScalarType
from ..trace.launches import LentHostMemory
from .allocation import Allocation, Block
from .ledger import Ledger
from .peers import PeerAccess
from .producers import DlpackArray, InterfaceArray, PeerMemory, Producer


@dataclass(slots=True, eq=False)
class PointerValue:
    """A checked address: what a launch or a copy needs to know of it.

    `nbytes` is how much lies behind the address (None: unknown, an untracked address); `allocation` holds the memory
    alive; `lent` is set for host memory used in place; `keepalive` is whatever else must live; `producer` is set
    for memory on which somebody else queues work.
    """

    address: int
    allocation: Allocation | None = None
    nbytes: int | None = None
    element: ScalarType | None = None
    writable: bool = True
    lent: LentHostMemory | None = None
    keepalive: object = None
    producer: Producer | None = None

    @property
    def is_own(self) -> bool:
        """True for memory on which only this backend queues work, without anything to be done around a launch."""
        return self.lent is None and self.producer is None

    def check_alive(self) -> None:
        """Raise InvalidPointer once the allocation was freed, another backend's too."""
        allocation = self.allocation
        if allocation is not None:
            if allocation.block.gone:
                raise dead_pointer(self.address, allocation.block, "pointer")
        elif isinstance(self.producer, PeerMemory) and self.producer.block.gone:
            raise dead_pointer(self.address, self.producer.block, "pointer to memory of another backend")


def producers_of(pointers: Sequence[PointerValue]) -> tuple[Producer, ...]:
    """Who else works on the memory of these pointers."""
    return tuple([pointer.producer for pointer in pointers if pointer.producer is not None])


def dead_pointer(address: int, block: Block, what: str) -> InvalidPointer:
    """The error for memory that is not there any more."""
    return InvalidPointer(
        f"{what}: {address:#x} lies in {block}, which is gone: {block.gone}", address=address, nbytes=block.nbytes
    )


def read_array_of(value: object, what: str) -> ForeignArray | None:
    """The array of another library, or None. Raises ArgumentKindError for one that no device can read."""
    try:
        return read_foreign(value)
    except ScalarKindError as refused:
        expected = refused.expected or "elements a device can read"
        raise ArgumentKindError(
            f"{what}: {refused.message}", kernel="", expected=expected, given=refused.given
        ) from None


def foreign_memory(owner: Ledger, here: Ledger, what: str, advice: str = "") -> ForeignHandle:
    """The error for memory of one backend in a call on another."""
    here_too = " by another open_backend()" if owner.device == here.device else ""
    return ForeignHandle(
        f"{what}: this memory was allocated on {owner.device} ({owner.backend}){here_too}, the call is for "
        f"{here.device} ({here.backend}); {advice or 'copy it over through the host: gpu.array(buffer.numpy())'}"
    )


class PointerReader:
    """Reads what a caller gives as an address, for one backend."""

    def __init__(
        self,
        ledger: Ledger,
        capabilities: Capabilities,
        peers: PeerAccess,
        device_of: Callable[[int], tuple[int, int] | None],
    ) -> None:
        self._ledger, self._capabilities, self._peers, self._device_of = ledger, capabilities, peers, device_of
        self._takes_host_arrays = capabilities.host_arrays_are_device_arrays
        self._takes_untracked = capabilities.untracked_pointers
        self._alignment = capabilities.buffer_offset_alignment

    def find_own(self, value: object) -> PointerValue | None:
        """The address of a live buffer or pointer of this backend; None for whatever `read` has to look at."""
        if isinstance(value, BufferState):
            allocation, nbytes, element = value._allocation, value._nbytes, value._scalar
        elif isinstance(value, PointerState):
            allocation, nbytes, element = value._allocation, None, None
        else:
            return None
        if not isinstance(allocation, Allocation):
            return None
        block, address = allocation.block, value._address
        if block.ledger is not self._ledger or block.gone or not address:
            return None
        if self._alignment > 1 and (address - block.base) % self._alignment:
            return None
        if nbytes is None:
            nbytes = block.base + block.nbytes - address
            if nbytes <= 0 or address < block.base:
                return None
        return PointerValue(address, allocation, nbytes, element)

    def read(self, value: object, what: str) -> PointerValue:
        """The address that `value` stands for. `what` begins every message.

        Takes DevicePtr, DeviceBuffer, None (null), foreign device arrays, and host arrays where the device uses host
        memory in place (pinned memory that its library says is pinned, on any GPU of that vendor). Raises
        InvalidPointer for an address in no live allocation, ForeignHandle for memory of another device that is not
        reached from here, ArgumentKindError for what is no address, ArgumentError for arrays with gaps.
        """
        if isinstance(value, DevicePtr):
            return self._read_pointer(value, what)
        if value is None:
            return PointerValue(0, nbytes=0)
        reader = getattr(type(value), "pointer_value", None)
        if reader is not None:
            allocation = getattr(value, "allocation", None)
            if isinstance(allocation, Allocation) and allocation.block.ledger is not self._ledger:
                return self._read_peer(allocation, lambda: reader(value, allocation.block.ledger, what), what)
            read: PointerValue = reader(value, self._ledger, what)
            return read
        if isinstance(value, (bool, int)):
            raise self._no_address(value, what, "an integer is no address; wrap it: DevicePtr(address)")
        if isinstance(value, (bytes, str, float, complex)):
            raise self._no_address(value, what, "give a DevicePtr, a DeviceBuffer or a device array")
        array = read_array_of(value, what)
        if array is None:
            raise self._no_address(value, what, "give a DevicePtr, a DeviceBuffer or a device array")
        return self._read_array(value, array, what)

    def _read_pointer(self, pointer: DevicePtr, what: str) -> PointerValue:
        allocation = pointer.allocation
        address = pointer.address
        if allocation is None:
            return self._read_address(address, what)
        if not isinstance(allocation, Allocation):
            return PointerValue(address, None, allocation.base + allocation.nbytes - address, keepalive=allocation)
        block = allocation.block
        if block.ledger is not self._ledger:
            return self._read_peer(allocation, lambda: self._inside(address, allocation, what), what)
        return self._inside(address, allocation, what)

    def _inside(self, address: int, allocation: Allocation, what: str) -> PointerValue:
        block = allocation.block
        if block.gone:
            raise dead_pointer(address, block, what)
        behind = block.base + block.nbytes - address
        if behind <= 0 or address < block.base:
            check_inside(address, block, what)
        return PointerValue(address, allocation, behind)

    def _read_peer(self, allocation: Allocation, read: Callable[[], PointerValue], what: str) -> PointerValue:
        """Memory of another backend, where kernels here may use it; its books hear of every use."""
        block = allocation.block
        keeper = block.ledger.keeper() if block.ledger.keeper is not None else None
        if keeper is None or not self._peers.may_use(block, keeper.driver):
            raise self.foreign(block.ledger, what)
        pointer = read()
        # Not among the allocations of the launch: those are entered in the books of this backend.
        return replace(pointer, allocation=None, keepalive=allocation, producer=PeerMemory(allocation))

    def _read_address(self, address: int, what: str) -> PointerValue:
        if address == 0:
            return PointerValue(0, nbytes=0)
        block = self._ledger.find(address) or self._ledger.find(address, 0)
        if block is not None:
            if block.gone:
                raise dead_pointer(address, block, what)
            allocation = block.allocation
            if allocation is not None:
                check_inside(address, block, what)
                return PointerValue(address, allocation, block.base + block.nbytes - address)
            raise InvalidPointer(
                f"{what}: {address:#x} lies in {block}, whose last reference was dropped; "
                "keep the buffer, or a DevicePtr of it, while its address is used",
                address=address,
            )
        if self._takes_untracked:
            return PointerValue(address)
        place = self._ledger.describe(address)
        raise InvalidPointer(
            f"{what}: {address:#x} lies in no live allocation of {self._capabilities.device}"
            f"{f' ({place})' if place else ''}; give a pointer that gpu.alloc or a buffer returned",
            address=address,
        )

    def _read_array(self, value: object, array: ForeignArray, what: str) -> PointerValue:
        name = type(value).__name__
        if not array.is_contiguous:
            raise ArgumentError(
                f"{what}: {name} of shape {array.shape} has strides of {array.strides} bytes: its elements do not lie "
                "one behind the other, and a kernel would walk the wrong ones; make it contiguous or pass strides",
                kernel="",
                expected="contiguous",
                given=array.strides,
            )
        own = self._capabilities.dlpack_device
        is_reached = array.device is not None and own is not None and array.device[0] in REACHABLE.get(own[0], ())
        if array.is_on_host and not is_reached:
            return self._read_host_array(name, array, what)
        if not self._takes_untracked:
            raise ForeignHandle(
                f"{what}: {name} lies on {array.where}, this is {self._capabilities.device} "
                f"({self._capabilities.backend}); copy it to the host first, then gpu.array(host)"
            )
        if own is not None and not is_reached and array.nbytes:
            self._check_device(name, array, own, what)
        known = self._ledger.find(array.address) if array.nbytes else None
        return PointerValue(
            array.address if array.nbytes else 0,
            known.allocation if known is not None else None,
            array.nbytes,
            array.element,
            array.is_writable,
            keepalive=array.owner,
            producer=_producer_of(value, array, own),
        )

    def _check_device(self, name: str, array: ForeignArray, own: tuple[int, int], what: str) -> None:
        """Raise ForeignHandle for an array of a device that kernels here do not reach."""
        device = array.device
        if device is None:
            device = self._device_of(array.address)
            if device is None and own[0] != CUDA:
                raise ForeignHandle(
                    f"{what}: {name} says by the CUDA array interface only that it lies on a CUDA device, and this is "
                    f"{device_name(own)} ({self._capabilities.device}); give an array that has DLPack, which says where"
                )
            if device is None and not self._capabilities.pageable_memory_access:
                raise InvalidPointer(
                    f"{what}: {name} shows {array.nbytes} bytes at {array.address:#x} by the CUDA array interface, and "
                    f"the driver of {self._capabilities.device} knows no memory there: it was freed, or is ordinary "
                    "memory of the host, which kernels here cannot use; lend a host array with In(a), Out(a) or "
                    "InOut(a), or copy it with gpu.array(a)",
                    address=array.address,
                    nbytes=array.nbytes,
                )
        if device is None or self._peers.reaches(device) or device[0] in REACHABLE.get(own[0], ()):
            return
        if device[0] == own[0]:
            raise ForeignHandle(
                f"{what}: {name} lies on {device_name(device)}, this is {device_name(own)} "
                f"({self._capabilities.device}); open that device as well and call gpu.enable_peer_access(other), or "
                "move the array with its own library"
            )
        raise ForeignHandle(
            f"{what}: {name} lies on {device_name(device)}, this is {device_name(own)} "
            f"({self._capabilities.device}); copy it to the host first, then gpu.array(host)"
        )

    def _read_host_array(self, name: str, array: ForeignArray, what: str) -> PointerValue:
        if not self._takes_host_arrays:
            raise self._no_address(
                None,
                what,
                f"{name} is a host array, and kernels on {self._capabilities.device} cannot use host memory; "
                "lend it to this launch with In(a), Out(a) or InOut(a), or copy it with gpu.array(a)",
                given=name,
            )
        if array.nbytes == 0:
            return PointerValue(0, None, 0, array.element, array.is_writable, keepalive=array.owner)
        # A host array may be a view of device memory that this backend allocated (DeviceBuffer's DLPack export).
        known = self._ledger.find(array.address, array.nbytes)
        if known is not None and known.allocation is not None:
            return PointerValue(
                array.address, known.allocation, array.nbytes, array.element, array.is_writable, keepalive=array.owner
            )
        lent = LentHostMemory(array.address, array.nbytes, array.is_writable, array.owner)
        return PointerValue(
            array.address, None, array.nbytes, array.element, array.is_writable, lent=lent, keepalive=array.owner
        )

    def foreign(self, other: Ledger, what: str) -> ForeignHandle:
        """The error for memory of another backend; it names the call that would allow it, where there is one."""
        keeper = other.keeper() if other.keeper is not None else None
        advice = ""
        if keeper is not None and self._peers.is_of_same_kind(keeper.driver):
            advice = (
                "gpu.enable_peer_access(other) lets kernels here use it, if the devices can; "
                "gpu.copy_peer(buffer, here) copies it over"
            )
        return foreign_memory(other, self._ledger, what, advice)

    def _no_address(self, value: object, what: str, advice: str, given: str | None = None) -> ArgumentKindError:
        shown = given if given is not None else type(value).__name__
        return ArgumentKindError(
            f"{what}: {shown} where a device address is wanted: {advice}",
            kernel="",
            expected="a device address",
            given=shown,
        )


def _producer_of(value: object, array: ForeignArray, own: tuple[int, int] | None) -> Producer | None:
    """Who else may be working on a device array. Pinned memory is its owner's to have ready."""
    if array.nbytes == 0:
        return None
    if array.protocol == "dlpack" and array.device is not None:
        return DlpackArray(value, array, own[0] if own is not None else array.device[0])
    if array.protocol == "cuda-array-interface":
        return InterfaceArray(value, array)
    return None


def check_inside(address: int, block: Block, what: str) -> None:
    """Raise InvalidPointer for an address outside of a block, or where nothing is mapped yet; its end is inside."""
    offset = address - block.base
    if block.nbytes <= offset < block.reserved_nbytes:
        raise InvalidPointer(
            f"{what}: {address:#x} lies {offset} bytes into {block}, and nothing is mapped there yet; "
            f"call ensure_mapped with more than {offset} first",
            address=address,
            nbytes=block.nbytes,
        )
    if not 0 <= offset <= block.nbytes:
        where = f"{-offset} bytes before the start" if offset < 0 else f"{offset - block.nbytes} bytes past the end"
        raise InvalidPointer(f"{what}: {address:#x} lies {where} of {block}", address=address, nbytes=block.nbytes)


def check_extent(pointer: PointerValue, nbytes: int, what: str) -> None:
    """Raise InvalidPointer unless `nbytes` lie behind the address."""
    if nbytes and pointer.address == 0:
        raise InvalidPointer(f"{what}: {nbytes} bytes at the null pointer", address=0, nbytes=nbytes)
    if pointer.nbytes is None or nbytes <= pointer.nbytes:
        return
    place = ""
    if pointer.allocation is not None:
        block = pointer.allocation.block
        place = f" of {block}, {pointer.address - block.base} bytes in"
    raise InvalidPointer(
        f"{what}: {nbytes} bytes at {pointer.address:#x}, but only {pointer.nbytes} lie there{place}; "
        f"that is {nbytes - pointer.nbytes} too many",
        address=pointer.address,
        nbytes=nbytes,
    )
