"""Libraries whose values we recognise without importing them: asked for only once they are here, and whole.

While another thread is in the middle of the first import, the module is in sys.modules and half empty. Nobody has a
value of it then.
"""

from __future__ import annotations

import sys
from typing import Any


def _whole(library: str, name: str) -> Any:
    """The library's module once it has `name`, which it gets late or together with all that we use; else None."""
    module = sys.modules.get(library)
    return module if module is not None and name in module.__dict__ else None


def loaded_numpy() -> Any:
    """NumPy, or None."""
    # Its names from the core come in alphabetical order: with the last that we use, all of them are there.
    return _whole("numpy", "void")


def loaded_ctypes() -> Any:
    """ctypes, or None."""
    return _whole("ctypes", "_SimpleCData")


def loaded_torch() -> Any:
    """PyTorch, or None."""
    return _whole("torch", "Tensor")
