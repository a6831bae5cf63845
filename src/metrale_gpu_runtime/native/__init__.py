"""The launch core in use: the extension's where it is built, else the same in plain Python.

METRALE_LAUNCH_CORE=native or python asks for one of them; the first raises ImportError where there is no extension.
"""

from __future__ import annotations

import os

VARIABLE = "METRALE_LAUNCH_CORE"

NATIVE, PYTHON = "native", "python"

# Type checkers read the plain core, which says everything that both have.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import plain as core
else:
    _wanted = os.environ.get(VARIABLE, "").strip()
    if _wanted not in ("", NATIVE, PYTHON):
        raise ImportError(f'{VARIABLE}={_wanted!r} in the environment; it is "{NATIVE}", "{PYTHON}" or not set')
    if _wanted == PYTHON:
        from . import plain as core
    else:
        try:
            import metrale_gpu_runtime.native._core as core
        except ModuleNotFoundError as _error:
            # One that is there and cannot be loaded is no reason to go on without it.
            if _error.name != "metrale_gpu_runtime.native._core":
                raise
            if _wanted == NATIVE:
                raise ImportError(
                    f"{VARIABLE}={NATIVE} in the environment, and the native launch core is not built here; install "
                    "the package with a C compiler at hand, or leave the variable out"
                ) from None
            from . import plain as core
        else:
            if not core.is_usable_here():
                if _wanted == NATIVE:
                    raise ImportError(
                        f"{VARIABLE}={NATIVE} in the environment, and the native launch core serves the process's "
                        "first interpreter alone; leave the variable out"
                    )
                from . import plain as core

# Where the core has a lock of its own.
_before_fork, _after_fork = getattr(core, "before_fork", None), getattr(core, "after_fork", None)
if _before_fork is not None and _after_fork is not None and hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

launch_core: str = PYTHON if core.__name__.endswith("plain") else NATIVE
"""Which launch core this process uses: "native" or "python"."""

MOST_ARGUMENTS, MOST_NBYTES, BLOCK_ALIGNMENT = 128, 2048, 128
"""What a native launch takes: so many arguments, so large a parameter block, so strict an alignment."""

RING_LENGTH = 64
"""How many launches since the last good synchronisation a stream remembers by name."""

AllocationState = core.AllocationState
BlockState = core.BlockState
BufferState = core.BufferState
BuilderState = core.BuilderState
ConfiguredState = core.ConfiguredState
Gate = core.Gate
KernelState = core.KernelState
LaneState = core.LaneState
Lock = core.Lock
LaunchMark = core.LaunchMark
LaunchRecord = core.LaunchRecord
ModuleState = core.ModuleState
PointerState = core.PointerState
PreparedState = core.PreparedState
ProgressState = core.ProgressState
Ring = core.Ring
SequenceState = core.SequenceState
Uses = core.Uses
call_directly = core.call_directly
know_allocation = core.know_allocation
know_birth = core.know_birth
know_buffer = core.know_buffer
know_builder = core.know_builder
know_configured = core.know_configured
know_kernel = core.know_kernel
know_package = core.know_package
know_pointer = core.know_pointer
know_scalars = core.know_scalars
know_stream = core.know_stream
know_typed = core.know_typed
take_answer = core.take_answer
