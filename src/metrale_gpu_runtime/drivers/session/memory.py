"""Device, managed and pinned memory, stream-ordered memory, peers, and address ranges that are backed later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from ...driver import MemoryKind
from ...errors import DriverFault
from .api import ApiError
from .calls import Calls


class Memory:
    """What one session has allocated and not given back. Safe to use from several threads."""

    def __init__(self, calls: Calls) -> None:
        self._calls, self._api = calls, calls.api
        self._live: dict[int, MemoryKind] = {}

    # ------------------------------------------------ allocations

    def alloc(self, nbytes: int, kind: MemoryKind) -> int:
        api = self._api
        allocate, release = {
            MemoryKind.DEVICE: (api.mem_alloc, api.mem_free),
            MemoryKind.MANAGED: (api.mem_alloc_managed, api.mem_free),
            MemoryKind.PINNED: (api.host_alloc, api.host_free),
        }[kind]
        with self._calls.whole():
            address = self._calls.make(release, nbytes, allocate, nbytes)
            self._live[address] = kind
        return address

    def free(self, address: int, kind: MemoryKind) -> None:
        """Also for what `alloc_async` gave. Memory of a lost context is gone with it: nothing is raised then."""
        release = self._api.host_free if kind is MemoryKind.PINNED else self._api.mem_free
        try:
            self._calls.give_back(self._live, address, release, address)
        except DriverFault as fault:
            if not fault.context_lost:
                raise

    def alloc_async(self, nbytes: int, stream: int) -> int:
        api = self._api
        # Undone in the stream's order: the allocation itself may still be queued.
        with self._calls.whole():
            address = self._calls.make(
                lambda made: api.mem_free_async(made, stream), nbytes, api.mem_alloc_async, nbytes, stream
            )
            self._live[address] = MemoryKind.DEVICE
        return address

    def free_async(self, address: int, stream: int) -> None:
        self._calls.give_back(self._live, address, self._api.mem_free_async, address, stream)

    def host_device_pointer(self, address: int) -> int:
        return self._calls.ask(self._api.host_device_pointer, address)

    def leftovers(self) -> list[Callable[[], object]]:
        """What frees everything that was not given back; it is off the books then."""
        left: list[Callable[[], object]] = []
        while self._live:
            address, kind = self._live.popitem()
            release = self._api.host_free if kind is MemoryKind.PINNED else self._api.mem_free
            left.append(partial(release, address))
        return left


class AddressRanges:
    """Reserved address ranges and what is mapped in them. Safe to use from several threads.

    Every mapping is one piece of physical memory, which the driver keeps as long as it is mapped and takes back when it
    is unmapped; only whole mappings can be (cuMemUnmap).
    """

    def __init__(self, calls: Calls, device: int) -> None:
        self._calls, self._api, self._device = calls, calls.api, device
        self._granule = 0
        self._reserved: dict[int, int] = {}
        self._mapped: dict[int, int] = {}
        self._lock = threading.Lock()

    def reserve(self, nbytes: int) -> tuple[int, int, int]:
        if not self._granule:
            self._granule = self._calls.ask(self._api.memory_granularity, self._device)
        granule = self._granule
        nbytes = -(-nbytes // granule) * granule
        api = self._api
        with self._calls.whole():
            base = self._calls.make(lambda base: api.address_free(base, nbytes), nbytes, api.address_reserve, nbytes)
            self._reserved[base] = nbytes
        return base, nbytes, granule

    def map(self, address: int, nbytes: int) -> None:
        with self._calls.whole():
            self._calls.make(lambda _: self._api.mem_unmap(address, nbytes), nbytes, self._map, address, nbytes)
            with self._lock:
                self._mapped[address] = nbytes

    def _map(self, address: int, nbytes: int) -> None:
        """Create, map, allow, let go: whatever fails, the steps before it are undone."""
        api = self._api
        physical = api.mem_create(nbytes, self._device)
        try:
            api.mem_map(address, nbytes, physical)
        except ApiError as error:
            _also(error, api.mem_release, physical)
            raise
        try:
            api.mem_set_access(address, nbytes, self._device)
            # From here on the mapping alone keeps the memory.
            api.mem_release(physical)
        except ApiError as error:
            _also(error, api.mem_unmap, address, nbytes)
            _also(error, api.mem_release, physical)
            raise

    def unmap(self, address: int, nbytes: int) -> None:
        """Every mapping is tried; the first failure is raised, the others are notes on it."""
        with self._lock:
            pieces = sorted((at, size) for at, size in self._mapped.items() if address <= at < address + nbytes)
        first: Exception | None = None
        for at, size in pieces:
            try:
                self._calls.give_back(self._mapped, at, self._api.mem_unmap, at, size)
            except Exception as error:
                if first is None:
                    first = error
                else:
                    first.add_note(f"and at {at:#x}: {error}")
        if first is not None:
            try:
                raise first
            finally:
                del first  # its traceback holds this frame: neither may keep the other

    def release(self, base: int, nbytes: int) -> None:
        self._calls.give_back(self._reserved, base, self._api.address_free, base, nbytes)

    def leftovers(self) -> list[Callable[[], object]]:
        """What gives everything back that was not, in order; it is off the books then."""
        with self._lock:
            left: list[Callable[[], object]] = [
                *(partial(self._api.mem_unmap, at, size) for at, size in self._mapped.items()),
                *(partial(self._api.address_free, base, size) for base, size in self._reserved.items()),
            ]
            self._mapped.clear()
            self._reserved.clear()
        return left


def _also(error: ApiError, call: Callable[..., None], *args: int) -> None:
    """Undo a step after a failure; what fails in that is a note on the failure."""
    try:
        call(*args)
    except ApiError as second:
        error.add_note(f"and: {second}")


def free_bytes(driver_free: int, is_integrated: bool | None, host_available: int | None) -> int:
    """How much memory could be had: the driver's figure, or what the host could give to an integrated GPU if more.

    None is "unknown": such a device counts as discrete, and a missing host figure as none.
    """
    if not is_integrated or host_available is None:
        return driver_free
    return max(driver_free, host_available)
