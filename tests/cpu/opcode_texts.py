"""A small kernel around any opcode of the core families, so that each can be asked about: what are its operands?"""

from __future__ import annotations

HEADER = ".version 8.8\n.target sm_90a\n.address_size 64\n"
_WIDTHS = {
    "pred": "p", "b8": "h", "u8": "h", "s8": "h", "b16": "h", "u16": "h", "s16": "h", "f16": "h", "bf16": "h",
    "e4m3x2": "h", "e5m2x2": "h", "b32": "r", "u32": "r", "s32": "r", "f16x2": "r", "bf16x2": "r", "tf32": "r",
    "f32": "f", "b64": "d", "u64": "d", "s64": "d", "f64": "e",
}  # fmt: skip
_SPACES = ("global", "shared", "shared::cta", "local", "const", "param", "generic")
_DECLARATIONS = """
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .f64 %e<9>;
  .reg .b64 %a<4>;
  .local .align 16 .b8 depot[64]; .param .align 16 .b8 slot[64];
"""


def _types(words: list[str]) -> list[str]:
    return [word for word in words if word in _WIDTHS]


class _Registers:
    """Hands out registers of a type, a new one each time."""

    def __init__(self) -> None:
        self.used: dict[str, int] = {}

    def __call__(self, kind: str) -> str:
        letter = _WIDTHS[kind]
        self.used[letter] = self.used.get(letter, 0) + 1
        return f"%{letter}{self.used[letter]}"


def statement(opcode: str) -> str:
    """One instruction with operands that suit it."""
    base, *words = opcode.split(".")
    types, register = _types(words), _Registers()
    vector = next((int(word[1]) for word in words if word in ("v2", "v4")), 1)
    first = types[0] if types else "u32"

    def many(kind: str) -> str:
        return register(kind) if vector == 1 else "{" + ", ".join(register(kind) for _ in range(vector)) + "}"

    def listed(*kinds: str) -> str:
        return ", ".join(register(kind) for kind in kinds)

    space = next((word for word in words if word in _SPACES), "generic")
    place = {"param": "[slot+8]" if base == "st" else "[params]", "local": "[%a2+16]", "shared": "[%r8+16]",
             "shared::cta": "[%r8+16]"}.get(space, "[%a1+32]")  # fmt: skip
    if base in ("ld", "ldu"):
        policy = ", %a3" if "L2::cache_hint" in words else ""
        text = f"{many(first)}, {place}{policy}"
    elif base == "st":
        text = f"{place}, {many(first)}"
    elif base in ("atom", "red"):
        text = f"{place}, {register(first)}" + (f", {register(first)}" if "cas" in words else "")
        text = f"{register(first)}, {text}" if base == "atom" else text
    elif base in ("bra",):
        text = "$end"
    elif base in ("ret", "exit", "trap", "membar", "fence"):
        text = ""
    elif base in ("bar", "barrier"):
        text = _barrier(words, register)
    elif base == "cvta":
        text = "%d1, %a1"
    elif base in ("shfl", "vote", "match", "redux", "activemask", "elect"):
        text = _warp(base, words, first, register)
    elif base == "setp":
        text = ("%p1|%p2, " if first.endswith("x2") else "%p1, ") + listed(first, first)
    elif base == "set":
        text = listed(types[0], types[1], types[1])
    elif base == "selp":
        text = listed(first, first, first, "pred")
    elif base == "cvt":
        packs = types[0].endswith("x2") and types[1] == "f32"
        text = listed(types[0], types[1], *([types[1]] if packs else []))
    elif base in ("popc", "clz", "bfind"):
        text = listed("u32", first)
    elif base in ("bfe",):
        text = listed(first, first, "u32", "u32")
    elif base in ("bfi",):
        text = listed(first, first, first, "u32", "u32")
    elif base in ("prmt", "shf", "dp4a", "dp2a", "sad", "vabsdiff4", "vabsdiff2"):
        text = listed("b32", "b32", "b32", "b32")
    elif base == "lop3":
        text = listed("b32", "b32", "b32", "b32") + ", 0xE8"
    elif base in ("shl", "shr"):
        text = listed(first, first, "u32")
    elif base in ("mad", "fma", "madc"):
        wide = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[first] if "wide" in words else first
        text = listed(wide, first, first, wide)
    elif base == "mul" and "wide" in words:
        text = listed({"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[first], first, first)
    elif base in (
        "mov",
        "neg",
        "abs",
        "not",
        "cnot",
        "brev",
        "rcp",
        "sqrt",
        "rsqrt",
        "ex2",
        "lg2",
        "sin",
        "cos",
        "tanh",
    ):
        text = listed(first, first)
    elif base == "nanosleep":
        text = "20"
    elif base == "prefetch":
        text = "[%a1]"
    elif base == "createpolicy":
        text = "%d1, 0f3F800000"
    elif base == "cp":
        text = _copy(words)
    else:
        text = listed(first, first, first)
    return f"{opcode} {text};" if text else f"{opcode};"


def _barrier(words: list[str], register: _Registers) -> str:
    if "warp" in words:
        return "0xffffffff"
    if "red" in words:
        return f"{register('u32' if 'popc' in words else 'pred')}, 0, !%p5"
    return "0"


def _warp(base: str, words: list[str], first: str, register: _Registers) -> str:
    mask = ", 0xffffffff" if "sync" in words else ""
    if base == "shfl":
        return f"%r1|%p1, %r2, %r3, %r4{mask}"
    if base == "vote":
        return ("%r1" if "ballot" in words else "%p1") + f", !%p3{mask}"
    if base == "match":
        return f"%r1, {register(first)}{mask}"
    if base == "redux":
        return f"%r1, %r2{mask}"
    return "%r1" if base == "activemask" else f"%r1|%p1{mask}"


def _copy(words: list[str]) -> str:
    if "async" in words and "global" in words and "shared" in words:
        return "[%r8], [%a1], 16" if "cg" in words else "[%r8], [%a1], 8"
    return "0" if words[-1] == "wait_group" else ""


def kernel_text(opcode: str) -> str:
    """A module whose one kernel holds the opcode."""
    body = f"""
.visible .entry k(.param .align 16 .b8 params[64])
{{{_DECLARATIONS}
  ld.param.u64 %a1, [params]; mov.u64 %a2, depot; mov.u32 %r8, %tid.x;
  {statement(opcode)}
$end:
  ret;
}}
"""
    return HEADER + body
