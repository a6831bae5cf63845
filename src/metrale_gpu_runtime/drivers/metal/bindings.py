"""PyObjC's Metal, imported when first needed, and told which methods hand their result over to the caller.

A method whose name begins with `new` returns an object that the caller owns already (Advanced Memory Management
Programming Guide, "Memory Management Policy"). PyObjC knows that of class methods only; what an instance method of such
a name returns it retains once more, so that it is never freed (ronaldoussoren/pyobjc#690), and pyobjc-framework-Metal's
own metadata does not correct it. `OWNED` does, for the methods that this backend calls. It also makes the reflection of
a compute pipeline an out parameter, which the shipped metadata leaves as a bare pointer.

A registration is for the whole process and replaces the one before. So another user of PyObjC in the same process that
calls one of these methods gets objects that are freed with their last Python reference, as is right; code that works
around the fault by calling `release()` on what they return would release once too often and has to stop doing so here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ...errors import BackendUnavailable
from ..forks import generation

INSTALL = "pip install 'metrale-gpu-runtime[metal]'"

_Argument = Mapping[str, bytes]

# Objective-C's type encodings: an object, an NSUInteger, and an object that comes back through a pointer.
_OBJECT: _Argument = {"type": b"@"}
_COUNT: _Argument = {"type": b"Q"}
_OUT: _Argument = {"type": b"^@", "type_modifier": b"o"}

OWNED: Mapping[bytes, tuple[_Argument, ...]] = {
    b"newBufferWithLength:options:": (_COUNT, _COUNT),
    b"newCommandQueue": (),
    b"newComputePipelineStateWithDescriptor:options:reflection:error:": (_OBJECT, _COUNT, _OUT, _OUT),
    b"newFunctionWithName:": (_OBJECT,),
    b"newFunctionWithName:constantValues:error:": (_OBJECT, _OBJECT, _OUT),
    b"newLibraryWithSource:options:error:": (_OBJECT, _OBJECT, _OUT),
    b"newLibraryWithURL:error:": (_OBJECT, _OUT),
    b"newSharedEvent": (),
}
"""Every instance method named new… that the backend calls, with its arguments; each returns an object."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The imported modules, ready for use."""

    metal: Any
    objc: Any
    foundation: Any

    def pool(self) -> AbstractContextManager[Any]:
        """An autorelease pool of the calling thread. Without one, whatever a method returns autoreleased leaks."""
        pool: AbstractContextManager[Any] = self.objc.autorelease_pool()
        return pool


_lock = threading.Lock()
# The objc module whose metadata holds OWNED; one process has one.
_registered: Any = None
# In which generation of processes Metal was first loaded; in a child that was forked off since, nothing of it works.
_loaded_in: int | None = None


def load_bindings() -> Bindings:
    """Metal's bindings. Raises BackendUnavailable with what is missing and what would help.

    So in a process that was forked off one with Metal in use: Apple's frameworks end such a process, or it waits for
    threads that it does not have (fork(2), CAVEATS).
    """
    global _registered, _loaded_in
    require_bindings()
    if _loaded_in not in (None, generation.number):
        raise BackendUnavailable(
            "metal: this process was forked off one that had opened Metal, which does not work there. Fork before "
            'anything opens Metal, or start processes with the "spawn" method',
            backend="metal",
        )
    with _lock:
        _loaded_in = generation.number
        try:
            bindings = Bindings(*(importlib.import_module(name) for name in ("Metal", "objc", "Foundation")))
        except ImportError as error:
            raise BackendUnavailable(
                f"metal: PyObjC is installed but cannot be imported: {error}; {INSTALL}", backend="metal"
            ) from error
        if _registered is not bindings.objc:
            # After `import Metal`, whose own metadata would replace this, and before any of the methods is used.
            _register(bindings.objc)
            _registered = bindings.objc
    return bindings


def require_bindings() -> None:
    """Raise BackendUnavailable where PyObjC's Metal is not installed. Imports nothing."""
    if all(importlib.util.find_spec(name) is not None for name in ("Metal", "objc", "Foundation")):
        return
    if sys.platform != "darwin":
        raise BackendUnavailable(f"metal: Metal is there on macOS only, and this is {sys.platform}", backend="metal")
    raise BackendUnavailable(f"metal: PyObjC's binding of Metal is not installed; {INSTALL}", backend="metal")


def _register(objc: Any) -> None:
    # As the shipped metadata does it: between the two calls PyObjC does not look its caches over after each one.
    objc._updatingMetadata(True)
    try:
        for selector, arguments in OWNED.items():
            objc.registerMetaDataForSelector(b"NSObject", selector, metadata(arguments))
    finally:
        objc._updatingMetadata(False)


def metadata(arguments: tuple[_Argument, ...]) -> dict[str, Any]:
    """What is registered for a method with these arguments. Numbers 0 and 1 are the receiver and the selector."""
    stated: dict[str, Any] = {"required": True, "retval": {"type": b"@", "already_retained": True}}
    if arguments:
        stated["arguments"] = {number: dict(argument) for number, argument in enumerate(arguments, start=2)}
    return stated
