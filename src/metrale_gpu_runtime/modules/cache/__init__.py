"""The one compile cache: what this process, or one before it, has compiled from the same text, headers and options.

`keys`, `headers` and `toolkit` say what a compilation depends on, `memo` remembers within the process, `kept` is what
compilers ask, `by_drivers` asks it for drivers' own, `store` is the folder between processes with `settings` and
`entries`, and `records` is how results are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .memo import CompileMemo

if TYPE_CHECKING:
    from ...driver import CompiledSource
    from ..nvrtc import CompiledPtx

__all__ = ["COMPILED", "COMPILED_BY_DRIVERS", "CompileMemo"]

COMPILED: CompileMemo[CompiledPtx] = CompileMemo()
COMPILED_BY_DRIVERS: CompileMemo[CompiledSource] = CompileMemo()
