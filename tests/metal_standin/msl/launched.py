"""A kernel launched on NumPy arrays and scalars, for the tests of this room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .library import CompiledFunction, KernelCrash


def launch(
    function: CompiledFunction,
    *arguments: np.ndarray | np.generic | bytes,
    grid: Sequence[int] = (1,),
    block: Sequence[int] = (1,),
    lengths: Sequence[int] = (),
) -> KernelCrash | None:
    """Bind each argument to the buffer of its rank, an array as it lies and a scalar or bytes as a copy, and run."""
    held = [
        np.frombuffer(bytearray(given), np.uint8) if isinstance(given, bytes) else np.atleast_1d(given)
        for given in arguments
    ]
    slots = sorted(binding.index for binding in function.bindings if binding.kind == "buffer")
    assert len(slots) == len(held), f"{function.name} takes {len(slots)} buffers, not {len(held)}"
    places = sorted(binding.index for binding in function.bindings if binding.kind == "threadgroup")
    addresses = {slot: array.ctypes.data for slot, array in zip(slots, held, strict=True)}
    return function.run(addresses, dict(zip(places, lengths, strict=True)), grid, block)
