"""Metal Shading Language for the host: kernels compiled as C++ and run, threadgroup by threadgroup, as a GPU would.

`compile_library(source, macros=…, fast_math=…)` gives a `CompiledLibrary` or raises `CompileFailure` with Metal's log;
`library.function(name, constants)` a `CompiledFunction`, whose `run` executes it over a grid and says how it ended.
"""

from __future__ import annotations

from .diagnostics import CompileFailure
from .library import Binding, CompiledFunction, CompiledLibrary, FunctionConstant, KernelCrash, compile_library

__all__ = [
    "Binding",
    "CompileFailure",
    "CompiledFunction",
    "CompiledLibrary",
    "FunctionConstant",
    "KernelCrash",
    "compile_library",
]
