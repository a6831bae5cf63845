"""For children of the hardware command's tests: where the CUDA driver room is imported, the stand-in executes kernels."""

from __future__ import annotations

import atexit
import ctypes
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

ROOM = "metrale_gpu_runtime.drivers.cuda.opening"
LIBRARY = "METRALE_STANDIN_EXECUTING_LIBRARY"
kept: list[object] = []


class ExecutingRoom(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the room's module as ever, and sets the executor up right after it was loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != ROOM:
            return None
        sys.meta_path.remove(self)
        found = importlib.machinery.PathFinder.find_spec(name, path)
        assert found is not None
        assert found.loader is not None
        self.inner = found.loader
        found.loader = self
        return found

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        from standin.control import StandIn
        from standin.executor import Executor

        # The built library itself: these processes may have no compiler to look for it with.
        executor = Executor(StandIn(ctypes.CDLL(os.environ[LIBRARY], ctypes.RTLD_GLOBAL)))
        kept.append(executor)
        # What other libraries let go of while the interpreter ends must find no Python function to call.
        atexit.register(executor.close)


if LIBRARY in os.environ:
    sys.meta_path.insert(0, ExecutingRoom())
