"""What PTX and drivers tell of parameters, and what comes of two sources about one kernel."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.errors import SignatureError
from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.scalars import f16, f32, f64, i32, u32
from metrale_gpu_runtime.signature import (
    KernelSignature,
    Parameter,
    from_driver,
    from_mangled,
    from_ptx,
    merge,
    parse_declaration,
)


def _ptx(parameters: str, name: str = "k") -> KernelSignature:
    text = f".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry {name}({parameters})\n{{ ret; }}\n"
    return from_ptx(parse(text, name="m").functions[name])


def _only(signature: KernelSignature) -> Parameter:
    assert signature.parameters is not None
    (parameter,) = signature.parameters
    return parameter


@pytest.mark.parametrize(
    ("declared", "kind", "nbytes", "align", "floating"),
    [
        (".param .f32 k_param_0", "value", 4, 4, True),
        (".param .f64 k_param_0", "value", 8, 8, True),
        (".param .u32 k_param_0", "value", 4, 4, False),
        (".param .s32 k_param_0", "value", 4, 4, False),
        (".param .u16 k_param_0", "value", 2, 2, False),
        (".param .u8 k_param_0", "value", 1, 1, False),
        (".param .u64 k_param_0", None, 8, 8, False),
        (".param .b64 k_param_0", None, 8, 8, None),
        (".param .b32 k_param_0", "value", 4, 4, None),
        (".param .u64 .ptr .global .align 16 k_param_0", "pointer", 8, 8, False),
        (".param .u64 .ptr .align 1 k_param_0", "pointer", 8, 8, False),
        (".param .align 8 .b8 k_param_0[24]", "value", 24, 8, None),
        (".param .align 1 .b8 k_param_0[1]", "value", 1, 1, None),
        (".param .align 128 .b8 k_param_0[128]", "value", 128, 128, None),
    ],
)
def test_ptx_types_tell_what_they_tell(
    declared: str, kind: str | None, nbytes: int, align: int, floating: bool | None
) -> None:
    """PTX tells sizes always, floats by .f, pointers by .ptr, and no sign: nvcc writes .u32 for int as well."""
    parameter = _only(_ptx(declared))
    assert (parameter.kind, parameter.nbytes, parameter.align, parameter.floating) == (kind, nbytes, align, floating)
    assert (parameter.signed, parameter.name, parameter.source) == (None, None, "PTX")


def test_ptx_scalars_and_spaces() -> None:
    """.f32 and .f64 are exact types; .ptr may name a space."""
    signature = _ptx(".param .f32 a, .param .f64 b, .param .u64 .ptr .global .align 4 c, .param .u32 d")
    assert signature.parameters is not None
    assert [each.scalar for each in signature.parameters] == [f32, f64, None, None]
    assert [each.space for each in signature.parameters] == [None, None, "global", None]
    assert [each.offset for each in signature.parameters] == [0, 8, 16, 24]


def test_hand_written_ptx_names_are_names() -> None:
    """A name that is no number of the compiler's is the parameter's name."""
    signature = _ptx(".param .u64 out, .param .u32 k_param_1, .param .f32 scale")
    assert signature.parameters is not None
    assert [each.name for each in signature.parameters] == ["out", None, "scale"]


def test_ptx_offsets_follow_alignment() -> None:
    """A wide parameter behind a narrow one starts at its alignment."""
    signature = _ptx(".param .u8 a, .param .align 64 .b8 b[128], .param .u16 c, .param .f64 d")
    assert signature.parameters is not None
    assert [each.offset for each in signature.parameters] == [0, 64, 192, 200]


def test_an_unknown_kind_is_printed_as_unknown() -> None:
    """What PTX does not tell is said in the printed declaration, not made up."""
    signature = _ptx(
        ".param .u64 k_param_0, .param .b64 k_param_1, .param .u32 k_param_2, .param .f32 k_param_3, "
        ".param .align 8 .b8 k_param_4[24], .param .u64 .ptr .global .align 1 k_param_5, "
        ".param .b32 k_param_6, .param .u8 q"
    )
    assert str(signature) == (
        "void k(b64 param_0 /* pointer or 64-bit integer */, b64 param_1 /* pointer or 64-bit value */, "
        "b32 param_2 /* int or unsigned int */, float param_3, struct(24, 8) param_4, "
        "void* param_5 /* element type unknown */, b32 param_6 /* 4 bytes of unknown kind */, "
        "b8 q /* signed char or unsigned char or bool */)  [PTX]"
    )


def test_a_driver_tells_places_only() -> None:
    """Sizes and offsets from a driver; kinds stay unknown."""
    signature = from_driver("k", [(0, 8), (8, 4), (16, 24)])
    assert signature.parameters is not None
    assert [(each.offset, each.nbytes, each.kind) for each in signature.parameters] == [
        (0, 8, None),
        (8, 4, None),
        (16, 24, None),
    ]
    assert str(signature) == (
        "void k(b64 param_0 /* pointer or 64-bit value */, b32 param_1 /* 4 bytes of unknown kind */, "
        "24 bytes param_2 /* of unknown kind */)  [driver]"
    )


def test_nothing_known_is_said() -> None:
    """A signature without parameters known is not one without parameters."""
    assert str(KernelSignature("k")) == "void k(...)  [nothing known of its parameters]"
    assert str(KernelSignature("k", (), ("PTX",))) == "void k()  [PTX]"


# ---------------------------------------------------------------- merging


def test_the_stronger_speaks_and_the_weaker_fills() -> None:
    """Declared names and types stay; sizes and offsets that only the PTX knows come in; sources are listed."""
    mangled = from_mangled("_Z1kPKf5Thingi")
    assert mangled is not None
    merged = merge(mangled, _ptx(".param .u64 a_param_0, .param .align 4 .b8 a_param_1[12], .param .u32 a_param_2"))
    assert merged.parameters is not None
    x, thing, n = merged.parameters
    assert (x.kind, x.element, x.constant, x.offset) == ("pointer", f32, True, 0)
    assert (thing.c_type, thing.nbytes, thing.align, thing.offset) == ("Thing", 12, 4, 8)
    assert (n.scalar, n.offset) == (i32, 20)
    assert merged.sources == ("mangled name", "PTX")
    assert str(merged) == "void k(const float*, Thing, int)  [mangled name]"


def test_an_unknown_signature_is_filled_whole() -> None:
    """Merging with nothing gives what there is, in both directions."""
    ptx = _ptx(".param .u32 a")
    for merged in (merge(KernelSignature("k"), ptx), merge(ptx, KernelSignature("k"))):
        assert merged.parameters == ptx.parameters
        assert merged.sources == ("PTX",)


@pytest.mark.parametrize(
    ("declared", "ptx", "words"),
    [
        ("float x", ".param .f32 a, .param .u32 b", "has 1 parameters, PTX has 2"),
        ("double x", ".param .f32 a", "size in bytes is 8 by declared.*but 4 by PTX"),
        ("int x", ".param .f32 a", "being a float is False by declared"),
        ("float x", ".param .u32 a", "being a float is True by declared"),
        ("long n", ".param .u64 .ptr .global .align 1 a", "kind is value by declared.*but pointer by PTX"),
        ("float* x", ".param .align 8 .b8 a[8]", "kind is pointer by declared"),
        ("bool x", ".param .u16 a", "size in bytes"),
        ("struct(24, 8) s", ".param .align 4 .b8 a[24]", "alignment is 8 by declared"),
        ("int n, struct(8, 4) s", ".param .u32 a, .param .align 8 .b8 b[16]", r"parameter 1 \(s\): size"),
    ],
)
def test_a_declaration_that_the_code_contradicts_is_refused(declared: str, ptx: str, words: str) -> None:
    """Count, size, alignment, pointer or value and float-ness must agree; the error quotes both sources."""
    with pytest.raises(SignatureError, match=words):
        merge(parse_declaration(declared, "k"), _ptx(ptx))


@pytest.mark.parametrize(
    ("declared", "symbol", "words"),
    [
        ("const double* x", "_Z1kPKf", "element type is f64 by declared.*but f32 by mangled name"),
        ("unsigned n", "_Z1ki", "being signed is False by declared"),
        ("unsigned char flag", "_Z1kb", "type is u8 by declared"),
        ("char c", "_Z1kb", "type is i8 or u8 by declared.*but bool by mangled name"),
        ("half x", "_Z1k13__nv_bfloat16", "type is f16 by declared.*but bf16"),
    ],
)
def test_types_that_disagree_are_refused(declared: str, symbol: str, words: str) -> None:
    """Sign, scalar and element types must agree where both sources know them."""
    mangled = from_mangled(symbol)
    assert mangled is not None
    with pytest.raises(SignatureError, match=words) as caught:
        merge(parse_declaration(declared, "k"), mangled)
    assert caught.value.index == 0


@pytest.mark.parametrize(
    ("declared", "symbol"),
    [
        ("long n", "_Z1kx"),
        ("uint8_t* x", "_Z1kPa"),
        ("char* x", "_Z1kPh"),
        ("void* x", "_Z1kPKf"),
        ("float2* x", "_Z1kPN4cuda3std7complexIfEE"),
        ("float* x", "_Z1kP6float4"),
        ("unsigned long long* x", "_Z1kPPf"),
    ],
)
def test_spellings_of_the_same_type_agree(declared: str, symbol: str) -> None:
    """long and long long, char types as bytes, void, vectors of a component: no contradiction."""
    mangled = from_mangled(symbol)
    assert mangled is not None
    assert merge(parse_declaration(declared, "k"), mangled).sources == ("declared", "mangled name")


@pytest.mark.parametrize(("align", "last"), [(64, 192), (128, 256)])
def test_a_tensor_map_is_aligned_as_its_toolkit_did(align: int, last: int) -> None:
    """A declared tensor map follows code compiled with alignment 64 or 128, and so does what is behind it."""
    declared = parse_declaration("unsigned char lead, const CUtensorMap map, int n", "k")
    merged = merge(declared, _ptx(f".param .u8 a, .param .align {align} .b8 b[128], .param .u32 c"))
    assert merged.parameters is not None
    assert [(each.align, each.offset) for each in merged.parameters] == [(1, 0), (align, align), (4, last)]
    assert merged.parameters[2].scalar == i32


def test_over_aligned_code_moves_what_is_behind() -> None:
    """A structure that the code aligns more strictly than declared takes the code's place, and so does the next."""
    declared = parse_declaration("unsigned char lead, struct(16, 4) s, int n", "k")
    merged = merge(declared, _ptx(".param .u8 a, .param .align 16 .b8 b[16], .param .u32 c"))
    assert merged.parameters is not None
    assert [(each.align, each.offset) for each in merged.parameters] == [(1, 0), (16, 16), (4, 32)]


def test_a_half_agrees_with_two_opaque_bytes() -> None:
    """nvcc passes __half as a structure of two bytes; that is no contradiction."""
    merged = merge(parse_declaration("half x, unsigned n", "k"), _ptx(".param .align 2 .b8 a[2], .param .u32 b"))
    assert merged.parameters is not None
    assert [each.scalar for each in merged.parameters] == [f16, u32]
    assert [each.offset for each in merged.parameters] == [0, 4]


def test_merging_three_sources_keeps_their_order() -> None:
    """Sources are listed strongest first, each once."""
    mangled = from_mangled("_Z1kf")
    assert mangled is not None
    merged = merge(
        merge(parse_declaration("float eps", "k"), mangled), merge(_ptx(".param .f32 a"), from_driver("k", [(0, 4)]))
    )
    assert merged.sources == ("declared", "mangled name", "PTX", "driver")
    assert str(merged) == "void k(float eps)  [declared]"
