"""One parameter of a kernel as far as it is known, and one argument as far as it has to be for the check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ..scalars import SCALARS, ScalarType, bf16, boolean, f16, f32, f64, i8, u8

DECLARED: Final = "declared"
DEBUG_INFORMATION: Final = "debug information"
MANGLED_NAME: Final = "mangled name"
PTX: Final = "PTX"
CODE_OBJECT: Final = "code object"
CUBIN: Final = "cubin"
DRIVER: Final = "driver"
MSL: Final = "MSL text"
METAL_REFLECTION: Final = "Metal reflection"
WGSL: Final = "WGSL text"
OPENCL_INFO: Final = "OpenCL argument info"
SPIRV: Final = "SPIR-V"

ONE: Final = "one"
MANY: Final = "many"
"""How many values stand behind a parameter that is taken by reference."""

_SHARED: Final = 4096
"""How many descriptions of each kind are kept, to be used again by later launches."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of one parameter; None is "not known", and is not checked.

    `offset` counts from the start of the parameter block. `kind` is "pointer" or "value". `scalar` is the exact type
    of a value, `element` that of what a pointer points to (for a vector type its component), `element_name` the
    pointee's C spelling; `constant` says that the pointee is const. `space` is the address space of a pointer where
    one is named ("global", "shared", "constant", "local"). `c_type` is the whole type in C, `source` says who knew.

    `by_reference` is set for a parameter without a kind of its own, which takes a value or memory that holds it: "one"
    value of `nbytes`, or "many", a whole multiple of them. `unfillable` says why no argument can be given for it.
    """

    index: int
    name: str | None = None
    nbytes: int | None = None
    align: int | None = None
    offset: int | None = None
    kind: str | None = None
    floating: bool | None = None
    signed: bool | None = None
    scalar: ScalarType | None = None
    element: ScalarType | None = None
    element_name: str | None = None
    constant: bool | None = None
    space: str | None = None
    c_type: str | None = None
    source: str = ""
    by_reference: str | None = None
    unfillable: str | None = None

    @property
    def label(self) -> str:
        """The parameter's name, or `param_2` where it has none."""
        return self.name if self.name is not None else f"param_{self.index}"

    def readings(self) -> tuple[ScalarType, ...] | None:
        """Every scalar type the value may have by what is known; None when it may be anything of its size."""
        if self.scalar is not None:
            return (self.scalar,)
        if self.kind == "pointer" or self.floating is None or self.nbytes is None:
            return None
        if self.floating:
            return {2: (f16, bf16), 4: (f32,), 8: (f64,)}.get(self.nbytes)
        if self.nbytes not in (1, 2, 4, 8):
            return None
        signed, unsigned = SCALARS[f"i{8 * self.nbytes}"], SCALARS[f"u{8 * self.nbytes}"]
        if self.signed is not None:
            return (signed,) if self.signed else (unsigned,)
        if self.c_type == "char":
            # Plain char is signed on x86 and unsigned on Arm hosts, and nvcc follows the host.
            return (i8, u8)
        # OpenCL has no parameters that are bools.
        is_bool = self.nbytes == 1 and self.source != SPIRV
        return (signed, unsigned, boolean) if is_bool else (signed, unsigned)

    def __str__(self) -> str:
        """The parameter as C; what is not known is said, not made up."""
        if self.by_reference is not None and self.source == METAL_REFLECTION:
            return f"{self.c_type} {self.label} /* a value or a buffer */"
        if self.c_type is not None:
            if self.name is None and not self.c_type.startswith("struct("):
                return self.c_type
            # C writes the name of a pointer to a function or to an array between its parentheses.
            mark = next((each for each in ("(*)", "(&)") if each in self.c_type), None)
            if mark is not None:
                return self.c_type.replace(mark, f"{mark[:2]}{self.label})", 1)
            return f"{self.c_type} {self.label}"
        if self.kind == "pointer":
            qualifier = "const " if self.constant else ""
            if self.element_name is not None or self.element is not None:
                pointee = self.element_name or (self.element.c_name if self.element is not None else "")
                return f"{qualifier}{pointee}* {self.label}"
            return f"{qualifier}void* {self.label} /* element type unknown */"
        if self.scalar is not None:
            return f"{self.scalar.c_name} {self.label}"
        if self.nbytes is None:
            return f"? {self.label} /* unknown */"
        readings = self.readings()
        if readings is not None and len(readings) == 1:
            return f"{readings[0].c_name} {self.label}"
        if self.kind is None and self.nbytes == 8:
            what = "64-bit integer" if self.floating is False else "64-bit value"
            return f"b64 {self.label} /* pointer or {what} */"
        if readings is not None:
            return f"b{8 * self.nbytes} {self.label} /* {' or '.join(each.c_name for each in readings)} */"
        if self.nbytes in (1, 2, 4):
            return f"b{8 * self.nbytes} {self.label} /* {_bytes(self.nbytes)} of unknown kind */"
        return f"{_bytes(self.nbytes)} {self.label} /* of unknown kind */"


class ArgumentDescription(NamedTuple):
    """What the check needs to know of one argument; equal descriptions are checked once.

    `kind` is "pointer", "value" or "local". `align` is the alignment the argument asks for, None when it asks for
    none. `element` is the element type of a typed pointer (None: untyped, not checked). `opaque` are bytes and
    structures, whose inside is not known; `structured` are those whose `align` was worked out from their fields. A
    value that is neither opaque nor has a scalar type is an integer whose bytes are right for every type it may have.
    """

    kind: str
    scalar: ScalarType | None = None
    nbytes: int = 8
    align: int | None = None
    element: ScalarType | None = None
    name: str | None = None
    opaque: bool = False
    structured: bool = False

    @staticmethod
    @lru_cache(_SHARED)
    def of_scalar(scalar: ScalarType, name: str | None = None) -> ArgumentDescription:
        """A typed scalar: the same object again wherever it can be."""
        return ArgumentDescription("value", scalar, scalar.nbytes, scalar.align, name=name)

    @staticmethod
    @lru_cache(_SHARED)
    def of_pointer(element: ScalarType | None = None, name: str | None = None) -> ArgumentDescription:
        """A pointer to elements of a type, or untyped: the same object again wherever it can be."""
        return ArgumentDescription("pointer", None, 8, 8, element, name)

    def __str__(self) -> str:
        if self.kind == "pointer":
            return f"a pointer to {self.element.name} elements" if self.element is not None else "an untyped pointer"
        if self.kind == "local":
            return f"{self.nbytes} bytes of local memory"
        if self.scalar is not None:
            return f"{self.scalar.name} ({_bytes(self.scalar.nbytes)})"
        if not self.opaque:
            return f"an integer of {_bytes(self.nbytes)}"
        return f"a structure of {_bytes(self.nbytes)}" if self.structured else f"{_bytes(self.nbytes)} as they are"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
