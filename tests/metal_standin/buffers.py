"""MTLBuffer: a block of the arena."""

from __future__ import annotations

from typing import Any

from .arena import arena
from .foundation import Base
from .interface import DATA
from .journal import journal
from .messages import models
from .world import World

_ENUMS: dict[str, int] = DATA["enums"]
SHARED, MANAGED, PRIVATE, MEMORYLESS = (
    _ENUMS[f"MTLStorageMode{name}"] for name in ("Shared", "Managed", "Private", "Memoryless")
)


@models
class Buffer(Base):
    """One buffer. Its memory is zeroed, and given back when the last reference goes."""

    protocol = "MTLBuffer"
    __slots__ = ("device", "is_given_back", "label", "length", "offset", "options", "rounded")

    def __init__(self, world: World, device: Any, length: int, options: int) -> None:
        super().__init__(world)
        self.device, self.length, self.options, self.label = device, length, options, None
        self.offset, self.rounded = arena().take(length)
        self.is_given_back = False
        device.allocated += self.rounded

    @property
    def storage(self) -> int:
        return (self.options >> _ENUMS["MTLResourceStorageModeShift"]) & 0xF

    def give_back(self) -> None:
        if not self.is_given_back:
            self.is_given_back = True
            self.device.allocated -= self.rounded
            arena().give(self.offset, self.rounded)

    def dealloc(self) -> None:
        self.give_back()

    def host(self) -> int:
        return arena().host + self.offset

    def gpu(self) -> int:
        return arena().gpu + self.offset

    def do_length(self) -> int:
        return self.length

    def do_contents(self) -> int:
        if self.storage == PRIVATE:
            raise journal.abort("MTLBuffer contents: the buffer has private storage, which the host cannot see")
        return self.host()

    def do_gpuAddress(self) -> int:
        return self.gpu() if self.world.facts.gpu_addresses else 0

    def do_didModifyRange_(self, range_: tuple[int, int]) -> None:
        if self.storage != MANAGED:
            raise journal.abort("MTLBuffer didModifyRange: only a buffer of managed storage has two copies")

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label

    def do_device(self) -> Any:
        return self.device

    def do_storageMode(self) -> int:
        return self.storage

    def do_cpuCacheMode(self) -> int:
        return self.options & 0xF

    def do_hazardTrackingMode(self) -> int:
        return (self.options >> _ENUMS["MTLResourceHazardTrackingModeShift"]) & 0x3

    def do_resourceOptions(self) -> int:
        return self.options

    def do_allocatedSize(self) -> int:
        return self.rounded

    def do_heap(self) -> None:
        return None

    def do_heapOffset(self) -> int:
        return 0

    def do_isAliasable(self) -> bool:
        return False

    def do_setPurgeableState_(self, state: int) -> int:
        if state not in (_ENUMS["MTLPurgeableStateKeepCurrent"], _ENUMS["MTLPurgeableStateNonVolatile"]):
            raise journal.abort("MTLBuffer setPurgeableState: the stand-in keeps every buffer's contents")
        return _ENUMS["MTLPurgeableStateNonVolatile"]
