"""PTX's scalar types and the LLVM types their values have here. Half and bfloat values are carried as their bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """One PTX type: `kind` is "u", "s", "b", "f" (f32 and f64), "h" (half and smaller floats, also packed) or "p"."""

    name: str
    bits: int
    kind: str
    llvm: str

    @property
    def nbytes(self) -> int:
        return self.bits // 8

    @property
    def is_signed(self) -> bool:
        return self.kind == "s"

    @property
    def is_integer(self) -> bool:
        return self.kind in "usb"


def _scalars() -> Mapping[str, Scalar]:
    found = {"pred": Scalar("pred", 1, "p", "i1")}
    for kind in "usb":
        for bits in (8, 16, 32, 64, 128):
            found[f"{kind}{bits}"] = Scalar(f"{kind}{bits}", bits, kind, f"i{bits}")
    found["f32"] = Scalar("f32", 32, "f", "float")
    found["f64"] = Scalar("f64", 64, "f", "double")
    halves = {"f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32, "tf32": 32, "e4m3": 8, "e5m2": 8, "e4m3x2": 16,
              "e5m2x2": 16}  # fmt: skip
    for name, bits in halves.items():
        found[name] = Scalar(name, bits, "h", f"i{bits}")
    return found


SCALARS = _scalars()

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "float": 32, "double": 64, "ptr": 64}
INTEGER_OF = {"float": "i32", "double": "i64", "ptr": "i64"}
