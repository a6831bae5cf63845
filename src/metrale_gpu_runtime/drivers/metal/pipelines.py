"""A kernel compiled for the device: its pipeline state, and what Metal tells of it.

Source: MTLDevice newComputePipelineStateWithDescriptor:options:reflection:error:, MTLComputePipelineState.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...driver import FunctionAttributes, KernelBinding
from ...errors import CompileError
from .bindings import Bindings
from .reflection import kernel_bindings


@dataclass(slots=True)
class Pipeline:
    """A kernel ready to be launched. `state` is its MTLComputePipelineState, None once the module is unloaded.

    `bindings` are its parameters in the kernel's order, `buffers` and `locals` those of a kind by rising index.
    `max_threads` of a threadgroup are fewer than the device's where the kernel needs many registers.
    """

    state: Any
    name: str
    bindings: tuple[KernelBinding, ...]
    buffers: tuple[KernelBinding, ...]
    locals: tuple[KernelBinding, ...]
    max_threads: int
    static_threadgroup_nbytes: int
    thread_execution_width: int

    def release(self) -> None:
        """Let go of the native object: who keeps a kernel of a closed backend keeps nothing of the device."""
        self.state = None

    def attributes(self) -> FunctionAttributes:
        """What the engine asks of a kernel."""
        return FunctionAttributes(
            max_threads_per_block=self.max_threads,
            static_shared_mem=self.static_threadgroup_nbytes,
            bindings=self.bindings,
            extra={"thread_execution_width": self.thread_execution_width},
        )


def make_pipeline(
    bindings: Bindings, device: Any, function: Any, *, module: str, name: str, unset: Sequence[str] = ()
) -> Pipeline:
    """Compile an MTLFunction for the device. The caller holds an autorelease pool.

    `unset` are the function constants that have no value, for the message. Raises CompileError with Metal's log,
    NotSupported for a kernel that takes more than buffers and threadgroup memory.
    """
    metal = bindings.metal
    descriptor = metal.MTLComputePipelineDescriptor.alloc().init()
    # What profilers and Metal's own messages call it.
    descriptor.setLabel_(name)
    descriptor.setComputeFunction_(function)
    state, reflection, error = device.newComputePipelineStateWithDescriptor_options_reflection_error_(
        descriptor, metal.MTLPipelineOptionBindingInfo, None, None
    )
    if state is None:
        log = str(error.localizedDescription()) if error is not None else "it says nothing"
        missing = f"\n  function constants without a value: {', '.join(unset)}" if unset else ""
        raise CompileError(
            f"module {module!r}: {device.name()} cannot run kernel {name}\n  {log}{missing}", module=module, log=log
        )
    found = kernel_bindings(bindings, reflection, module=module, kernel=name)
    return Pipeline(
        state=state,
        name=name,
        bindings=found,
        buffers=_of_kind(found, "buffer"),
        locals=_of_kind(found, "local"),
        max_threads=state.maxTotalThreadsPerThreadgroup(),
        static_threadgroup_nbytes=state.staticThreadgroupMemoryLength(),
        thread_execution_width=state.threadExecutionWidth(),
    )


def _of_kind(found: Sequence[KernelBinding], kind: str) -> tuple[KernelBinding, ...]:
    return tuple(sorted((each for each in found if each.kind == kind), key=lambda each: each.index))
