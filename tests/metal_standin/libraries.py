"""MTLLibrary and MTLFunction over the room that compiles Metal Shading Language, and the stand-in's metallib."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .descriptors import FunctionConstant
from .foundation import Base, NSArray, NSDictionary, NSError
from .interface import DATA
from .messages import models
from .ownership import Fresh
from .world import World

_ENUMS: dict[str, int] = DATA["enums"]
DOMAIN = "MTLLibraryErrorDomain"
# A true metallib begins with the same four bytes; what follows is this container's own.
_MAGIC, _MARK = b"MTLB", b"metrale stand-in\0"


def make_metallib(source: str, macros: dict[str, str] | None = None, *, fast_math: bool = False) -> bytes:
    """A precompiled library for the stand-in: its MSL text, compiled when it is loaded."""
    body = json.dumps({"source": source, "macros": macros or {}, "fast_math": fast_math}).encode()
    return _MAGIC + _MARK + body


def _compiler(world: World) -> Any:
    """The room that compiles MSL, or what a test put in its place."""
    if world.compile_library is not None:
        return world.compile_library
    from .msl import compile_library

    return compile_library


def _error(world: World, code: str, text: str) -> Fresh:
    return Fresh(NSError(world, DOMAIN, _ENUMS[f"MTLLibraryError{code}"], text))


def compile_source(device: Any, source: str, macros: dict[str, str], fast_math: bool) -> tuple[Any, Any]:
    """(library, error) as `newLibraryWithSource:options:error:` gives them."""
    world = device.world
    failure = world.failure("library")
    if failure is not None:
        return None, Fresh(NSError(world, DOMAIN, failure.code, failure.text))
    try:
        compiled = _compiler(world)(source, macros=macros, fast_math=fast_math)
    except Exception as refused:
        # Only a refusal of the source has a log; anything else is a defect of the stand-in.
        log = getattr(refused, "log", None)
        if log is None:
            raise
        return None, _error(world, "CompileFailure", log)
    return Fresh(Library(world, device, compiled)), None


def load_file(device: Any, path: str) -> tuple[Any, Any]:
    """(library, error) of a metallib on disk."""
    world = device.world
    try:
        data = Path(path).read_bytes()
    except OSError as missing:
        return None, _error(world, "FileNotFound", f"library not found: {missing}")
    if not data.startswith(_MAGIC):
        return None, _error(
            world,
            "Unsupported",
            "This library format is not supported on this platform (or was built with an old version of the tools).",
        )
    if not data.startswith(_MAGIC + _MARK):
        return None, _error(
            world, "Unsupported", "a metallib of Apple's compiler; the stand-in runs only its own (make_metallib)"
        )
    try:
        body = json.loads(data[len(_MAGIC + _MARK) :])
    except ValueError:
        return None, _error(world, "Internal", "the library file is damaged")
    return compile_source(device, body["source"], body["macros"], body["fast_math"])


@models
class Library(Base):
    """One library."""

    protocol = "MTLLibrary"
    __slots__ = ("compiled", "device", "label")

    def __init__(self, world: World, device: Any, compiled: Any) -> None:
        super().__init__(world)
        self.device, self.compiled, self.label = device, compiled, None

    def do_device(self) -> Any:
        return self.device

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label

    def do_type(self) -> int:
        return _ENUMS["MTLLibraryTypeExecutable"]

    def do_installName(self) -> None:
        return None

    def do_functionNames(self) -> Fresh:
        return Fresh(NSArray(self.world, list(self.compiled.function_names)))

    def do_newFunctionWithName_(self, name: str) -> Any:
        if name not in self.compiled.function_names:
            return None
        return Fresh(Function(self.world, self, name, {}, False))

    def do_newFunctionWithName_constantValues_error_(self, name: str, values: Any, wanted: bool) -> tuple[Any, Any]:
        if name not in self.compiled.function_names:
            return None, _error(self.world, "FunctionNotFound", f"no function named {name!r} in the library")
        given = values.given if values is not None else {}
        constants: dict[int, bytes] = {}
        for constant in self.compiled.constants(name):
            key = constant.index if constant.index in given else constant.name
            if key not in given:
                if constant.required:
                    text = f"function {name}: the required function constant {constant.name} ({constant.index}) has no value"
                    return None, _error(self.world, "CompileFailure", text)
                continue
            kind, data = given[key]
            if kind != constant.data_type:
                text = f"function {name}: constant {constant.name} has MTLDataType {constant.data_type}, the value was given as {kind}"
                return None, _error(self.world, "CompileFailure", text)
            constants[constant.index] = data
        return Fresh(Function(self.world, self, name, constants, True)), None


@models
class Function(Base):
    """One function; specialised where its constants have been given."""

    protocol = "MTLFunction"
    __slots__ = ("constants", "is_specialised", "label", "library", "name")

    def __init__(
        self, world: World, library: Library, name: str, constants: dict[int, bytes], specialised: bool
    ) -> None:
        super().__init__(world)
        library.retain()
        self.library, self.name, self.constants, self.is_specialised, self.label = (
            library,
            name,
            constants,
            specialised,
            None,
        )

    def dealloc(self) -> None:
        self.library.release()

    def missing(self) -> list[str]:
        """Required constants that have no value."""
        if self.is_specialised:
            return []
        return [constant.name for constant in self.library.compiled.constants(self.name) if constant.required]

    def compile(self) -> Any:
        return self.library.compiled.function(self.name, self.constants)

    def do_name(self) -> str:
        return self.name

    def do_device(self) -> Any:
        return self.library.device

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label

    def do_functionType(self) -> int:
        return _ENUMS["MTLFunctionTypeKernel"]

    def do_options(self) -> int:
        return 0

    def do_functionConstantsDictionary(self) -> Fresh:
        made = {
            one.name: FunctionConstant(self.world, one.name, one.data_type, one.index, one.required)
            for one in ([] if self.is_specialised else self.library.compiled.constants(self.name))
        }
        dictionary = NSDictionary(self.world, made)
        for constant in made.values():
            constant.release()
        return Fresh(dictionary)
