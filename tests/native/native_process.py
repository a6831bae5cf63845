"""A function of a test module, called in a process of its own that has the native core."""

from __future__ import annotations

from typing import Any

from core_worker import Worker
from rungs import require_rung
from standin import build_cuda


def in_native_process(module: str, function: str, *arguments: object) -> Any:
    """What the module's function returned in a process with the native core, which has to end well."""
    require_rung("stand-in driver")
    build_cuda()
    worker = Worker("native")
    worker.ask(f"{module}:{function}", *arguments)
    try:
        return worker.answer()
    finally:
        assert worker.close() == 0
