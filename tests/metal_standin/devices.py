"""MTLDevice: what it says of itself, and what it makes."""

from __future__ import annotations

from typing import Any

from .arena import arena
from .buffers import MANAGED, MEMORYLESS, PRIVATE, SHARED, Buffer
from .events import Event, SharedEvent
from .foundation import Base
from .interface import DATA
from .journal import journal
from .libraries import compile_source, load_file
from .messages import models
from .ownership import Fresh
from .pipelines import make_pipeline
from .queues import CommandQueue
from .world import World

_ENUMS: dict[str, int] = DATA["enums"]


@models
class Device(Base):
    """One device. Devices live as long as their world does."""

    protocol = "MTLDevice"
    __slots__ = ("allocated", "index")

    def __init__(self, world: World, index: int) -> None:
        super().__init__(world)
        self.index = index
        self.allocated = 0

    def do_name(self) -> str:
        return self.world.facts.name

    def do_registryID(self) -> int:
        return 0x100000400 + self.index

    def do_maxThreadsPerThreadgroup(self) -> tuple[int, int, int]:
        return self.world.facts.max_threads

    def do_isLowPower(self) -> bool:
        return self.world.facts.low_power

    def do_isHeadless(self) -> bool:
        return self.world.facts.headless

    def do_isRemovable(self) -> bool:
        return self.world.facts.removable

    def do_hasUnifiedMemory(self) -> bool:
        return self.world.facts.unified

    def do_recommendedMaxWorkingSetSize(self) -> int:
        return self.world.facts.working_set

    def do_currentAllocatedSize(self) -> int:
        return self.allocated

    def do_maxBufferLength(self) -> int:
        return self.world.facts.max_buffer_length

    def do_maxThreadgroupMemoryLength(self) -> int:
        return self.world.facts.threadgroup_memory

    def do_maxTransferRate(self) -> int:
        return 0

    def do_location(self) -> int:
        return _ENUMS["MTLDeviceLocationBuiltIn"]

    def do_locationNumber(self) -> int:
        return self.index

    def do_peerGroupID(self) -> int:
        return 0

    def do_peerIndex(self) -> int:
        return 0

    def do_peerCount(self) -> int:
        return 0

    def do_argumentBuffersSupport(self) -> int:
        return _ENUMS["MTLArgumentBuffersTier2"]

    def do_supportsFamily_(self, family: int) -> bool:
        return family in self.world.facts.families

    def do_newCommandQueue(self) -> Fresh | None:
        return self.do_newCommandQueueWithMaxCommandBufferCount_(64)

    def do_newCommandQueueWithMaxCommandBufferCount_(self, count: int) -> Fresh | None:
        if not count:
            raise journal.abort("MTLDevice newCommandQueueWithMaxCommandBufferCount: the count is 0")
        if self.world.failure("queue") is not None:
            return None
        return Fresh(CommandQueue(self.world, self, count))

    def do_newBufferWithLength_options_(self, length: int, options: int) -> Fresh | None:
        facts = self.world.facts
        if not length:
            raise journal.abort("MTLDevice newBufferWithLength: the length is 0")
        if length > facts.max_buffer_length:
            raise journal.abort(
                f"MTLDevice newBufferWithLength: {length} exceeds maxBufferLength ({facts.max_buffer_length})"
            )
        storage = (options >> _ENUMS["MTLResourceStorageModeShift"]) & 0xF
        if storage not in (SHARED, PRIVATE) and (storage == MEMORYLESS or storage != MANAGED or facts.unified):
            raise journal.abort(f"MTLDevice newBufferWithLength: this device has no buffers of storage mode {storage}")
        if self.world.failure("buffer") is not None or self.allocated + length > facts.memory:
            return None
        return Fresh(Buffer(self.world, self, length, options))

    def do_newBufferWithBytes_length_options_(self, data: Any, length: int, options: int) -> Fresh | None:
        if (options >> _ENUMS["MTLResourceStorageModeShift"]) & 0xF == PRIVATE:
            raise journal.abort("MTLDevice newBufferWithBytes: private storage takes no bytes from the host")
        made = self.do_newBufferWithLength_options_(length, options)
        if made is not None:
            arena().write(made.native.offset, bytes(data[:length]))  # type: ignore[attr-defined]
        return made

    def do_newLibraryWithSource_options_error_(self, source: Any, options: Any, wanted: bool) -> tuple[Any, Any]:
        if not isinstance(source, str):
            raise journal.abort("MTLDevice newLibraryWithSource: the source is nil")
        values = options.values if options is not None else {"preprocessorMacros": None, "fastMathEnabled": True}
        macros = {str(name): str(value) for name, value in (values["preprocessorMacros"] or {}).items()}
        return compile_source(self, source, macros, bool(values["fastMathEnabled"]))

    def do_newLibraryWithURL_error_(self, url: Any, wanted: bool) -> tuple[Any, Any]:
        if url is None:
            raise journal.abort("MTLDevice newLibraryWithURL: the URL is nil")
        return load_file(self, url.path)

    def do_newDefaultLibrary(self) -> None:
        return None

    def do_newComputePipelineStateWithFunction_error_(self, function: Any, wanted: bool) -> tuple[Any, Any]:
        state, _, error = make_pipeline(self, function, 0, False)
        return state, error

    def do_newComputePipelineStateWithFunction_options_reflection_error_(
        self, function: Any, options: int, reflected: bool, wanted: bool
    ) -> tuple[Any, Any, Any]:
        return make_pipeline(self, function, options, reflected)

    def do_newComputePipelineStateWithDescriptor_options_reflection_error_(
        self, descriptor: Any, options: int, reflected: bool, wanted: bool
    ) -> tuple[Any, Any, Any]:
        if descriptor is None:
            raise journal.abort("MTLDevice newComputePipelineStateWithDescriptor: the descriptor is nil")
        limit = descriptor.values["maxTotalThreadsPerThreadgroup"]
        label = descriptor.values["label"]
        return make_pipeline(self, descriptor.values["computeFunction"], options, reflected, limit, label)

    def do_newSharedEvent(self) -> Fresh | None:
        if self.world.failure("event") is not None:
            return None
        return Fresh(SharedEvent(self.world, self))

    def do_newEvent(self) -> Fresh:
        return Fresh(Event(self.world, self))
