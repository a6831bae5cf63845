"""The types of variables and registers, with their sizes (PTX ISA, "Types")."""

from __future__ import annotations

# Bytes of an element; a predicate has no memory form and opaque references are handles of 8 bytes.
TYPE_NBYTES = {
    "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "b128": 16, "u128": 16, "s128": 16, "f128": 16,
    "texref": 8, "samplerref": 8, "surfref": 8,
    "e4m3": 1, "e5m2": 1, "e4m3x2": 2, "e5m2x2": 2, "e2m3x2": 2, "e3m2x2": 2, "e2m1x2": 1, "ue8m0x2": 2,
    "s16x2": 4, "u16x2": 4, "f32x2": 8,
}  # fmt: skip
REGISTER_TYPES = frozenset({"pred", *TYPE_NBYTES} - {"texref", "samplerref", "surfref"})
OPAQUE_TYPES = frozenset({"texref", "samplerref", "surfref"})
FLOAT_TYPES = frozenset({"f16", "bf16", "f16x2", "bf16x2", "tf32", "f32", "f64"})
