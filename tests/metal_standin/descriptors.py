"""Metal's plain classes that callers fill in: descriptors, compile options, values of function constants."""

from __future__ import annotations

from typing import Any, ClassVar

from .checking import read_pointer
from .foundation import Base
from .interface import DATA
from .journal import journal
from .messages import models
from .ownership import Native
from .world import World

_ENUMS: dict[str, int] = DATA["enums"]
# Bytes of one value by MTLDataType, of the types that a function constant may have.
_SCALARS = {
    "Float": 4,
    "Half": 2,
    "Int": 4,
    "UInt": 4,
    "Short": 2,
    "UShort": 2,
    "Char": 1,
    "UChar": 1,
    "Bool": 1,
    "BFloat": 2,
}
_SCALARS |= {"Long": 8, "ULong": 8}
CONSTANT_NBYTES = {
    _ENUMS[f"MTLDataType{name}{width}"]: nbytes * (4 if width == "3" else int(width or 1))
    for name, nbytes in _SCALARS.items()
    for width in ("", "2", "3", "4")
    if f"MTLDataType{name}{width}" in _ENUMS
}


class _Properties(Base):
    """An object of properties: getter and setter by name, copies of nothing, objects held."""

    DEFAULTS: ClassVar[dict[str, Any]] = {}
    __slots__ = ("values",)

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.values = dict(self.DEFAULTS)

    def dealloc(self) -> None:
        for value in self.values.values():
            if isinstance(value, Native):
                value.release()

    def do_init(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("do_"):
            raise AttributeError(name)
        word = name[3:]
        if word in self.DEFAULTS:
            return lambda: self.values[word]
        if word.startswith("set") and word.endswith("_"):
            word = word[3].lower() + word[4:-1]
            if word in self.DEFAULTS:
                return lambda value: self._set(word, value)
        raise AttributeError(name)

    def _set(self, word: str, value: Any) -> None:
        if isinstance(value, Native):
            value.retain()
        before, self.values[word] = self.values[word], value
        if isinstance(before, Native):
            before.release()


@models
class CommandBufferDescriptor(_Properties):
    protocol = "MTLCommandBufferDescriptor"
    DEFAULTS: ClassVar[dict[str, Any]] = {"retainedReferences": True, "errorOptions": 0}
    __slots__ = ()


@models
class CompileOptions(_Properties):
    """`fastMathEnabled` and `mathMode` are two names of one choice, the second the newer; fast is Metal's default."""

    protocol = "MTLCompileOptions"
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "preprocessorMacros": None,
        "fastMathEnabled": True,
        "mathMode": _ENUMS["MTLMathModeFast"],
        "mathFloatingPointFunctions": 0,
        "languageVersion": 0,
        "libraryType": 0,
        "preserveInvariance": False,
        "optimizationLevel": 0,
        "enableLogging": False,
    }
    __slots__ = ()

    def _set(self, word: str, value: Any) -> None:
        if word == "languageVersion" and value not in {
            v for n, v in _ENUMS.items() if n.startswith("MTLLanguageVersion")
        }:
            raise journal.abort(f"MTLCompileOptions languageVersion: {value:#x} is no MTLLanguageVersion")
        super()._set(word, value)
        if word == "fastMathEnabled":
            self.values["mathMode"] = _ENUMS["MTLMathModeFast" if value else "MTLMathModeSafe"]
        elif word == "mathMode":
            self.values["fastMathEnabled"] = value == _ENUMS["MTLMathModeFast"]


@models
class ComputePipelineDescriptor(_Properties):
    protocol = "MTLComputePipelineDescriptor"
    DEFAULTS: ClassVar[dict[str, Any]] = {
        "label": None,
        "computeFunction": None,
        "threadGroupSizeIsMultipleOfThreadExecutionWidth": False,
        "maxTotalThreadsPerThreadgroup": 0,
        "requiredThreadsPerThreadgroup": (0, 0, 0),
        "supportIndirectCommandBuffers": False,
    }
    __slots__ = ()


@models
class FunctionConstantValues(Base):
    """Values by index or by name, each with the type that it was given as."""

    protocol = "MTLFunctionConstantValues"
    __slots__ = ("given",)

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.given: dict[int | str, tuple[int, bytes]] = {}

    def do_init(self) -> Any:
        return self

    def do_reset(self) -> None:
        self.given.clear()

    def _take(self, value: Any, kind: int, key: int | str) -> None:
        nbytes = CONSTANT_NBYTES.get(kind)
        if nbytes is None:
            raise journal.abort(f"MTLFunctionConstantValues {key!r}: MTLDataType {kind} is no type of a constant")
        if isinstance(value, memoryview) and len(value) < nbytes:
            raise journal.abort(f"MTLFunctionConstantValues {key!r}: {len(value)} bytes given, its type has {nbytes}")
        data = read_pointer(value, nbytes)
        if data is None:
            raise journal.abort(f"MTLFunctionConstantValues {key!r}: the value is a null pointer")
        self.given[key] = (kind, data)

    def do_setConstantValue_type_atIndex_(self, value: Any, kind: int, index: int) -> None:
        self._take(value, kind, index)

    def do_setConstantValue_type_withName_(self, value: Any, kind: int, name: str) -> None:
        self._take(value, kind, name)


@models
class FunctionConstant(Base):
    """One constant that a function declares."""

    protocol = "MTLFunctionConstant"
    __slots__ = ("index", "name", "required", "type")

    def __init__(self, world: World, name: str, kind: int, index: int, required: bool) -> None:
        super().__init__(world)
        self.name, self.type, self.index, self.required = name, kind, index, required

    def do_name(self) -> str:
        return self.name

    def do_type(self) -> int:
        return self.type

    def do_index(self) -> int:
        return self.index

    def do_required(self) -> bool:
        return self.required
