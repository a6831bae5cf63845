"""From a kernel's LLVM IR to machine code: linked with the scheduler, optimised for this very CPU, loaded.

One function, run_worker, is left visible; LLVM inlines the kernel into the scheduler's thread loop and vectorises it
there. Nothing here allows LLVM to change a floating-point result: no fast-math flags, and multiply and add are fused
only where the IR says llvm.fma.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import abi

FORM = "1"
"""Of the code that is made here: it changes whenever equal text would give other code."""

_NOWHERE: Mapping[str, int] = MappingProxyType({})

# Everything a kernel may call: how its threads are run, and what single PTX instructions mean.
LIBRARIES = ("scheduler", "semantics")
_VISIBLE = frozenset({abi.WORKER_FUNCTION, abi.SUSPENDS_SYMBOL, abi.USES_FRAME_SYMBOL})
# A weak symbol that nobody defines makes LLVM's loader leave every outer symbol null, clock_gettime and memset too.
_NOT_BY_BLOCK = (
    "@KERNEL_BY_BLOCK = constant i32 0\ndefine i32 @kernel_block(ptr, ptr, ptr, i32, i32, i32) { unreachable }\n"
)
_WORKER_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_uint32,  # abi.RunCode
    ctypes.c_void_p,  # Launch
    ctypes.c_void_p,  # array of pointers to Context
    ctypes.c_uint32,
    ctypes.c_uint64,
)

_lock = threading.Lock()


def _renew_lock() -> None:
    # Another thread may have been compiling when this process was forked off; it is not here to let go of the lock.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class CompiledKernel:
    """Machine code of one kernel. The code lives as long as this object does.

    `run_worker` is the scheduler's entry (native/abi.h); calling it releases the interpreter lock. `suspends` tells
    whether threads can wait and need a frame each; `uses_frame` whether frames are touched at all.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.run_worker = _WORKER_TYPE(engine.get_function_address(abi.WORKER_FUNCTION))
        self.suspends = _read_flag(engine, abi.SUSPENDS_SYMBOL)
        self.uses_frame = _read_flag(engine, abi.USES_FRAME_SYMBOL)


def _read_flag(engine: Any, symbol: str) -> bool:
    address = engine.get_global_value_address(symbol)
    return bool(ctypes.c_uint32.from_address(address).value)


@cache
def _target() -> tuple[str, str, str]:
    """Triple, CPU name and features of this machine, with LLVM made ready for it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not list the features of every CPU; the name then implies them
        features = ""
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features


def _target_machine(*, is_far: bool = False) -> Any:
    import llvmlite.binding as llvm

    triple, cpu, features = _target()
    # The small model reaches what lies within 2 GiB of the code.
    model = "large" if is_far else "jitdefault"
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, jit=True, codemodel=model
    )


@cache
def _library(name: str) -> bytes:
    """A library of `native/` as bitcode, which loads faster than its text."""
    import llvmlite.binding as llvm

    text = (Path(__file__).parent / "native" / f"{name}.ll").read_text(encoding="utf-8")
    return bytes(llvm.parse_assembly(text).as_bitcode())


def _without_invariant_loads(kernel_ir: str) -> str:
    # The scheduler hands kernels copies of the launch and its parameters on its own stack. "Invariant" would let LLVM
    # read them before they are written; without it LLVM still hoists the loads, since nothing else reaches the copies.
    return re.sub(r", !invariant\.load !\d+", "", kernel_ir)


def _constants(kernel_ir: str, param_nbytes: int) -> str:
    """What native/abi.h asks of the driver, as LLVM's text."""
    # Inlining makes one array of a kernel's arrays for all threads; scalars become registers.
    private = "alloca [" in kernel_ir or f"@{abi.USES_FRAME_SYMBOL} = constant i32 1" in kernel_ir
    # In a loop whose accesses are all called independent LLVM vectorises loads and stores with an order as well,
    # which is wrong where it works: its loop vectoriser has an assertion against it that ends the process.
    private |= re.search(r"\b(?:load|store) atomic ", kernel_ir) is not None
    return (
        f"\n@{abi.PARAM_NBYTES_SYMBOL} = constant i32 {max(1, param_nbytes)}\n"
        f"@{abi.PRIVATE_MEMORY_SYMBOL} = constant i32 {int(private)}\n"
        f"{'' if '@KERNEL_BY_BLOCK =' in kernel_ir else _NOT_BY_BLOCK}"
    )


def optimize(
    kernel_ir: str, param_nbytes: int, libraries: tuple[str, ...] = LIBRARIES, *, is_far: bool = False
) -> tuple[Any, Any]:
    """The linked and optimised module, as LLVM's ModuleRef, and its TargetMachine. Raises RuntimeError for IR that
    LLVM refuses: a defect of the translator, never of the user's code."""
    import llvmlite.binding as llvm

    machine = _target_machine(is_far=is_far)
    module = llvm.parse_assembly(_without_invariant_loads(kernel_ir) + _constants(kernel_ir, param_nbytes))
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    for name in libraries:
        library = llvm.parse_bitcode(_library(name))
        library.triple, library.data_layout = module.triple, module.data_layout
        module.link_in(library)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in _VISIBLE:
            value.linkage = "internal"
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_interleaving = options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    # Most of the libraries is unused: dropped first, it costs no time in the passes that follow.
    pruning = llvm.create_new_module_pass_manager()
    pruning.add_global_dead_code_eliminate_pass()
    pruning.run(module, builder)
    builder.getModulePassManager().run(module, builder)
    return module, machine


def object_code(
    kernel_ir: str, param_nbytes: int, libraries: tuple[str, ...] = LIBRARIES, *, is_far: bool = False
) -> bytes:
    """One kernel as an object file for this very CPU; `kernel_ir` defines what native/abi.h asks of translated code.

    `is_far`: it names variables outside of it, which may lie anywhere. Safe from any thread. Raises RuntimeError for IR
    that LLVM refuses.
    """
    with _lock:
        module, machine = optimize(kernel_ir, param_nbytes, libraries, is_far=is_far)
        return bytes(machine.emit_object(module))


def load_object(code: bytes, addresses: Mapping[str, int] = _NOWHERE) -> CompiledKernel:
    """Load what `object_code` gave, with the addresses of what it names. Safe from any thread.

    Raises RuntimeError for what is no object file.
    """
    import llvmlite.binding as llvm

    with _lock:
        # The loader takes addresses for declarations of a module only.
        declared = "".join(f"@{name} = external global i8\n" for name in addresses)
        module, machine = llvm.parse_assembly(declared), _target_machine()
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        file = llvm.ObjectFileRef.from_data(code)
        engine = llvm.create_mcjit_compiler(module, machine)
        for name, address in addresses.items():
            engine.add_global_mapping(module.get_global_variable(name), address)
        engine.add_object_file(file)
        engine.finalize_object()
        return CompiledKernel(engine)


def target_facts() -> tuple[str, ...]:
    """What object code depends on beside a kernel's own text: this module's form, the libraries that are linked in,
    LLVM's version, this CPU and what it can do."""
    import llvmlite
    import llvmlite.binding as llvm

    libraries = (hashlib.sha256(_library(name)).hexdigest() for name in LIBRARIES)
    return (FORM, *libraries, llvmlite.__version__, repr(llvm.llvm_version_info), *_target())


def compile_kernel(kernel_ir: str, param_nbytes: int, libraries: tuple[str, ...] = LIBRARIES) -> CompiledKernel:
    """Compile one kernel and load it. `param_nbytes` is the size of its parameter block; each launch's block must hold
    so many bytes (at least 1). Safe from any thread. Raises RuntimeError for IR that LLVM refuses."""
    return load_object(object_code(kernel_ir, param_nbytes, libraries))
