"""Metal Shading Language for the host: kernels compiled as C++ and run, threadgroup by threadgroup, as a GPU would.

`compile_library(source, macros=…, fast_math=…)` gives a `CompiledLibrary` or raises `CompileFailure` with Metal's log;
`library.function(name, constants)` a `CompiledFunction`, whose `run` executes it over a grid and says how it ended.

Not here: textures and samplers, matrices (simdgroup_matrix too), quadgroups, bfloat functions beyond those of half,
functions that differ in address spaces alone, member functions qualified with one, parameters that depend on a function
constant, recursion's refusal. All but the last are refused when they are met. A kernel that never ends is never stopped.
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
