"""MTLComputePipelineState and what reflection says of its function."""

from __future__ import annotations

from typing import Any

from .foundation import Base, NSArray, NSError
from .interface import DATA
from .journal import journal
from .libraries import Function
from .messages import models
from .ownership import Fresh
from .world import World

_ENUMS: dict[str, int] = DATA["enums"]
_BINDING_INFO, _TYPE_INFO = _ENUMS["MTLPipelineOptionBindingInfo"], _ENUMS["MTLPipelineOptionBufferTypeInfo"]


def make_pipeline(
    device: Any, function: Any, options: int, reflected: bool, limit: int = 0, label: str | None = None
) -> tuple[Any, Any, Any]:
    """(pipeline, reflection, error); the reflection only where it is asked for and there is a place for it."""
    world = device.world
    if function is None:
        raise journal.abort("MTLDevice newComputePipelineState: the function is nil")
    if function.library.device is not device:
        raise journal.abort("MTLDevice newComputePipelineState: the function is another device's")
    missing = function.missing()
    if missing:
        text = f"function {function.name} cannot be used without its constants: {', '.join(missing)}"
        journal.note(f"MTLDevice newComputePipelineState: {text}")
        return None, None, Fresh(NSError(world, "MTLLibraryErrorDomain", _ENUMS["MTLLibraryErrorCompileFailure"], text))
    failure = world.failure("pipeline")
    if failure is not None:
        return None, None, Fresh(NSError(world, "AGXMetalG14X", failure.code, failure.text))
    state = PipelineState(world, device, function, limit, label)
    if state.static_nbytes > world.facts.threadgroup_memory:
        text = (
            f"Threadgroup memory size ({state.static_nbytes}) exceeds the maximum threadgroup memory allowed "
            f"({world.facts.threadgroup_memory})"
        )
        state.release()
        return None, None, Fresh(NSError(world, "AGXMetalG14X", 3, text))
    reflection = None
    if reflected and options & _BINDING_INFO:
        reflection = Fresh(Reflection(world, state, bool(options & _TYPE_INFO)))
    return Fresh(state), reflection, None


@models
class PipelineState(Base):
    """One compiled kernel with its limits."""

    protocol = "MTLComputePipelineState"
    __slots__ = ("by_kind", "compiled", "device", "label", "max_threads", "name", "static_nbytes")

    def __init__(self, world: World, device: Any, function: Function, limit: int, label: str | None) -> None:
        super().__init__(world)
        self.device, self.name, self.label = device, function.name, label
        self.compiled = function.compile()
        own = self.compiled.max_total_threads or world.facts.max_total_threads
        self.max_threads = min(own, limit or own, world.facts.max_total_threads)
        self.static_nbytes = self.compiled.static_threadgroup_nbytes
        self.by_kind: dict[str, dict[int, Any]] = {"buffer": {}, "threadgroup": {}}
        for binding in self.compiled.bindings:
            self.by_kind[binding.kind][binding.index] = binding

    def do_label(self) -> Any:
        return self.label

    def do_device(self) -> Any:
        return self.device

    def do_maxTotalThreadsPerThreadgroup(self) -> int:
        return self.max_threads

    def do_threadExecutionWidth(self) -> int:
        return self.world.facts.thread_execution_width

    def do_staticThreadgroupMemoryLength(self) -> int:
        return self.static_nbytes

    def do_supportIndirectCommandBuffers(self) -> bool:
        return False

    def do_allocatedSize(self) -> int:
        return 0


@models
class Reflection(Base):
    """The bindings of one pipeline."""

    protocol = "MTLComputePipelineReflection"
    __slots__ = ("array",)

    def __init__(self, world: World, state: PipelineState, with_types: bool) -> None:
        super().__init__(world)
        made = [
            BufferBinding(world, binding, with_types)
            if binding.kind == "buffer"
            else ThreadgroupBinding(world, binding, False)
            for binding in state.compiled.bindings
        ]
        self.array = NSArray(world, made)
        for one in made:
            one.release()

    def dealloc(self) -> None:
        self.array.release()

    def do_bindings(self) -> NSArray:
        return self.array


class _Binding(Base):
    __slots__ = ("binding", "with_types")

    def __init__(self, world: World, binding: Any, with_types: bool) -> None:
        super().__init__(world)
        self.binding, self.with_types = binding, with_types

    def do_name(self) -> str:
        return self.binding.name

    def do_index(self) -> int:
        return self.binding.index

    def do_access(self) -> int:
        return (
            _ENUMS["MTLBindingAccessReadOnly"] if self.binding.access == "read" else _ENUMS["MTLBindingAccessReadWrite"]
        )

    def do_isUsed(self) -> bool:
        return self.binding.is_used

    def do_isArgument(self) -> bool:
        return True


@models
class BufferBinding(_Binding):
    """One parameter in a buffer slot."""

    protocol = "MTLBufferBinding"
    __slots__ = ()

    def do_type(self) -> int:
        return _ENUMS["MTLBindingTypeBuffer"]

    def do_bufferAlignment(self) -> int:
        return self.binding.alignment

    def do_bufferDataSize(self) -> int:
        return self.binding.data_size

    def do_bufferDataType(self) -> int:
        return self.binding.data_type

    def do_bufferStructType(self) -> Any:
        if not self.with_types or self.binding.data_type != _ENUMS["MTLDataTypeStruct"]:
            return None
        return Fresh(StructType(self.world))

    def do_bufferPointerType(self) -> Any:
        return Fresh(PointerType(self.world, self.binding)) if self.with_types else None


@models
class ThreadgroupBinding(_Binding):
    """One parameter in threadgroup memory."""

    protocol = "MTLThreadgroupBinding"
    __slots__ = ()

    def do_type(self) -> int:
        return _ENUMS["MTLBindingTypeThreadgroupMemory"]

    def do_threadgroupMemoryAlignment(self) -> int:
        return self.binding.alignment

    def do_threadgroupMemoryDataSize(self) -> int:
        return self.binding.data_size


@models
class PointerType(Base):
    """What a buffer's elements are."""

    protocol = "MTLPointerType"
    __slots__ = ("binding",)

    def __init__(self, world: World, binding: Any) -> None:
        super().__init__(world)
        self.binding = binding

    def do_dataType(self) -> int:
        return _ENUMS["MTLDataTypePointer"]

    def do_elementType(self) -> int:
        return self.binding.data_type

    def do_access(self) -> int:
        return (
            _ENUMS["MTLBindingAccessReadOnly"] if self.binding.access == "read" else _ENUMS["MTLBindingAccessReadWrite"]
        )

    def do_alignment(self) -> int:
        return self.binding.alignment

    def do_dataSize(self) -> int:
        return self.binding.data_size


@models
class StructType(Base):
    """That a buffer's elements are structs; their members are not modelled."""

    protocol = "MTLStructType"
    __slots__ = ()

    def do_dataType(self) -> int:
        return _ENUMS["MTLDataTypeStruct"]
