"""Other backends of the same vendor: peer access, and copies from their memory to ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..errors import ForeignHandle, NotSupported
from ..handles import StreamHandle
from ..lane import Lane
from ..memory.allocation import Allocation
from ..memory.pointers import PointerValue, check_extent
from ..memory.producers import PeerMemory
from .copies import CopyCalls, agreed_nbytes

if TYPE_CHECKING:
    from ..backend import GpuBackend
    from ..stream import Stream


class PeerCalls(CopyCalls):
    """The part of GpuBackend that deals with other devices.

    Two backends on one device share its primary context: memory of the one is taken by the other without more ado.
    """

    def can_access_peer(self, other: GpuBackend) -> bool:
        """Whether kernels here could use the other backend's memory (cuDeviceCanAccessPeer, hipDeviceCanAccessPeer)."""
        self._check_usable()
        other._check_usable()
        if not self._peers.is_of_same_kind(other.driver):
            return False
        if self._peers.is_of_same_device(other.driver):
            return True
        return self._capabilities.peer_access and self._ask(None, self._driver.can_access_peer, other.driver)

    def enable_peer_access(self, other: GpuBackend) -> None:
        """Let kernels and copies here use the other backend's memory; its pointers are arguments from then on.

        One way only; nothing when it is on already. It does not cover memory in a stream's order and lazy buffers.
        Raises NotSupported where the devices cannot, DriverError. Source: cuCtxEnablePeerAccess.
        """
        if not self.can_access_peer(other):
            raise NotSupported(
                f"enable_peer_access: {self._capabilities.device} ({self._capabilities.backend}) cannot use memory of "
                f"{other.capabilities.device} ({other.capabilities.backend}); copy it: gpu.copy_peer(src, dst) between "
                "devices of one vendor, gpu.array(buffer.numpy()) otherwise",
                backend=self._capabilities.backend,
                feature="peer access",
            )
        device = other.capabilities.dlpack_device
        if device is not None and not self._peers.reaches(device):
            self._ask(None, self._driver.enable_peer_access, other.driver)
            self._peers.enable(device)

    def can_copy_peer(self, other: GpuBackend) -> bool:
        """Whether `copy_peer` takes memory of that backend: of the same vendor, where the driver copies between
        devices. Peer access makes such a copy faster and is not needed for it."""
        is_here = self._peers.is_of_same_device(other.driver)
        return self._peers.is_of_same_kind(other.driver) and (is_here or self._capabilities.peer_access)

    def copy_peer(self, src: object, dst: object, nbytes: int | None = None) -> None:
        """Copy from another backend's memory to this one's; done on return. `nbytes` as for `copy_d2d`.

        It waits for what is queued on the source there and on the target here. Raises ForeignHandle when the source
        can be no peer's, InvalidPointer when a range runs past its allocation. Source: cuMemcpyPeerAsync.
        """
        self._copy_peer(src, dst, nbytes, self._default_lane, "copy_peer", waits=True)

    def copy_peer_async(
        self, src: object, dst: object, nbytes: int | None = None, stream: Stream | int | None = None
    ) -> None:
        """Queue a copy from another backend's memory on a stream of this one; see `copy_peer`.

        Both allocations are in use until it is done, in the books of both backends.
        """
        self._copy_peer(src, dst, nbytes, self.resolve_stream(stream)._lane, "copy_peer_async")

    # ------------------------------------------------ inside

    def _copy_peer(
        self, src: object, dst: object, nbytes: int | None, lane: Lane, call: str, *, waits: bool = False
    ) -> None:
        if waits:
            self._refuse_while_recording(call, lane)
        owner, source = self._peer_range(src, f"{call}: src")
        target = self._range(dst, 0, f"{call}: dst", is_written=True)
        count = agreed_nbytes(nbytes, source, target, call)
        check_extent(source, count, f"{call}: src")
        check_extent(target, count, f"{call}: dst")
        if count == 0:
            return
        if waits:
            self._wait_for_other_users(lane, (target,))
        driver = owner.driver

        def queue(handle: StreamHandle) -> None:
            if self._peers.is_of_same_device(driver):
                self._driver.copy_d2d(target.address, source.address, count, handle)
            else:
                self._driver.copy_peer(target.address, source.address, count, driver, handle)

        self._queue(
            lane,
            queue,
            (source, target),
            lambda: f"{call} of {count} bytes from {owner.capabilities.device}",
            kind=call,
            nbytes=count,
            is_recordable=not waits,
        )
        if waits:
            self._wait_for(lane)

    def _peer_range(self, value: object, what: str) -> tuple[GpuBackend, PointerValue]:
        """The backend that allocated the source, and the source as what somebody else works on."""
        self._check_usable()
        allocation = getattr(value, "allocation", None)
        if not isinstance(allocation, Allocation):
            raise ForeignHandle(
                f"{what}: {type(value).__name__} is no memory of another backend; give its DeviceBuffer or the "
                "DevicePtr that its alloc returned (copy_d2d copies on one device)"
            )
        ledger = allocation.block.ledger
        keeper = ledger.keeper() if ledger.keeper is not None else None
        if keeper is None or ledger is self._ledger:
            raise ForeignHandle(
                f"{what}: this memory was allocated on {ledger.device} ({ledger.backend}), "
                + ("by this very backend; use copy_d2d" if keeper is not None else "whose backend is gone")
            )
        owner = cast("GpuBackend", keeper)
        if not self.can_copy_peer(owner):
            raise self._pointers.foreign(ledger, what)
        pointer = owner._pointers.read(value, what)
        return owner, PointerValue(
            pointer.address,
            None,
            pointer.nbytes,
            pointer.element,
            keepalive=allocation,
            producer=PeerMemory(allocation),
        )
