"""OpenCL's argument info as a signature: kinds, types, what no argument fills, shared memory as the last parameter."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.driver import CodeImage, KernelBinding
from metrale_gpu_runtime.errors import (
    ArgumentCountError,
    ArgumentKindError,
    ArgumentRangeError,
    ArgumentSizeError,
    ElementTypeError,
    SignatureError,
)
from metrale_gpu_runtime.modules.described import Described, describe
from metrale_gpu_runtime.scalars import bf16, boolean, c64, f16, f32, f64, i8, i32, i64, u8, u16, u32, u64
from metrale_gpu_runtime.signature import ArgumentDescription, KernelSignature, merge, parse_declaration
from metrale_gpu_runtime.signature.local_memory import refuse_both_ways, without_shared_memory
from metrale_gpu_runtime.signature.opencl_info import from_argument_info
from metrale_gpu_runtime.signature.opencl_types import find_opencl_type

POINTER, SCALAR = ArgumentDescription.of_pointer, ArgumentDescription.of_scalar
LOCAL = ArgumentDescription("local", nbytes=64, align=1)

Y = KernelBinding("pointer", 0, "y", "read-write", 4, 4, "float", "global")
X = KernelBinding("pointer", 1, "x", "read", 16, 16, "float4", "global")
TABLE = KernelBinding("pointer", 2, "table", "read", 2, 2, "ushort", "constant")
TILE = KernelBinding("local", 3, "tile", "read-write", 8, 8, "double", "local")
N = KernelBinding("value", 4, "n", "read", 4, 4, "uint")
REAL = KernelBinding("value", 5, "factor", "read", 4, 4, "real")
PAIR = KernelBinding("value", 6, "pair", "read", 24, 8, "struct Pair")
LAST = KernelBinding("local", 7, "scratch", "read-write", None, None, "int", "local")
ALL = (Y, X, TABLE, TILE, N, REAL, PAIR, LAST)


def opaque(nbytes, align=None, structured=False):
    return ArgumentDescription("value", nbytes=nbytes, align=align, opaque=True, structured=structured)


def of(type_name, nbytes=None, align=None):
    return from_argument_info("k", [KernelBinding("value", 0, "v", "read", nbytes, align, type_name)])


def test_argument_info_as_a_signature():
    """Pointers, values and local memory are told apart, in the order of the kernel."""
    found = from_argument_info("k", ALL[::-1])
    assert found.sources == ("OpenCL argument info",)
    assert [(each.name, each.kind, each.space, each.constant, each.element) for each in found.parameters] == [
        ("y", "pointer", "global", False, f32),
        ("x", "pointer", "global", True, f32),
        ("table", "pointer", "constant", True, u16),
        ("tile", "pointer", "local", None, f64),
        ("n", "value", None, None, None),
        ("factor", "value", None, None, None),
        ("pair", "value", None, None, None),
        ("scratch", "pointer", "local", None, i32),
    ]
    assert str(found) == (
        "void k(global float* y, global const float4* x, constant ushort* table, local double* tile, uint n, "
        "real factor, struct Pair pair, local int* scratch)  [OpenCL argument info]"
    )


@pytest.mark.parametrize(
    ("name", "nbytes", "align", "scalar"),
    [
        ("char", 1, 1, i8),
        ("unsigned char", 1, 1, u8),
        ("unsignedlong", 8, 8, u64),
        ("long", 8, 8, i64),
        ("half", 2, 2, f16),
        ("float3", 16, 16, None),
        ("double16", 128, 128, None),
        ("uchar3", 4, 4, None),
        ("char2", 2, 2, None),
        ("ulong8", 64, 64, None),
        ("half4", 8, 8, None),
    ],
)
def test_types_of_the_language(name, nbytes, align, scalar):
    """A vector is aligned to its size, three components take the room of four, and char is signed."""
    found = find_opencl_type(name)
    assert (found.nbytes, found.align, found.scalar) == (nbytes, align, scalar)
    parameter = of(name).parameters[0]
    assert (parameter.nbytes, parameter.align, parameter.scalar, parameter.kind) == (nbytes, align, scalar, "value")


def test_sizes_of_structures_are_the_probes():
    """A structure or typedef has the size that it was found to have; the packed one is refused with both sizes."""
    found = of("struct Gap", 24, 8)
    assert found.check((opaque(24),)).nbytes == 24
    assert found.check((opaque(24, 4, structured=True),)).alignments == (8,)
    with pytest.raises(ArgumentSizeError, match=r"v.*24 bytes expected, 13 given"):
        found.check((opaque(13),))
    with pytest.raises(ArgumentSizeError, match=r"fields want alignment 16, the parameter has 8"):
        found.check((opaque(24, 16, structured=True),))
    with pytest.raises(ArgumentSizeError, match="4 bytes expected, 8 given"):
        of("real", 4, 4).check((SCALAR(f64),))
    # Of a type whose size nobody found out, nothing is checked.
    assert of("real").check((SCALAR(f64),)).sizes == (8,)


def test_a_type_of_the_programs_own_goes_by_what_was_found():
    """Where the size found is not that of the language's type of the name, only the size counts."""
    found = of("float3", 12, 4).parameters[0]
    assert (found.nbytes, found.align, found.element) == (12, 4, None)


@pytest.mark.parametrize(
    ("type_name", "argument", "words"),
    [
        ("int", SCALAR(u32), ("int v", "u32", "signed", "arg_i32")),
        ("float", SCALAR(i32), ("float v", "arg_f32")),
        ("float4", SCALAR(f32), ("16 bytes expected",)),
        ("float2", SCALAR(u64), ("2 f32", "arg_c64")),
        ("uint2", SCALAR(u64), ("2 u32", "8 bytes")),
        ("float", POINTER(f32), ("it is a value", "arg_f32")),
        ("long", POINTER(), ("it is a value", "ptr.address")),
        ("uint", LOCAL, ("no local memory",)),
    ],
)
def test_values_that_do_not_fit(type_name, argument, words):
    """A value of the wrong kind, sign or size is refused by the parameter's name, with what is wanted."""
    with pytest.raises((ArgumentKindError, ArgumentSizeError)) as info:
        of(type_name).check((argument,))
    assert all(word in str(info.value) for word in words), str(info.value)
    assert info.value.name == "v"


def test_values_that_fit():
    """Typed values of the parameter's type, the complex number of two floats, and a vector's bytes go through."""
    for type_name, argument in (
        ("ulong", SCALAR(u64)),
        ("float2", SCALAR(c64)),
        ("float3", opaque(16)),
        ("char", SCALAR(i8)),
    ):
        of(type_name).check((argument,))
    data, _ = of("char").encode(0, -3)
    assert data == b"\xfd"
    with pytest.raises(ArgumentRangeError):
        of("char").encode(0, 200)


def test_bfloat16_goes_as_the_ushort_that_carries_it():
    """OpenCL C has no bfloat16, so its bits are a ushort's; a half is none, nor is what the caller declares."""
    info = from_argument_info("k", [KernelBinding("value", 0, "b", type_name="ushort"), TABLE])
    info.check((SCALAR(bf16), POINTER(bf16)))
    with pytest.raises(ArgumentKindError, match="b"):
        info.check((SCALAR(f16), POINTER(u16)))
    with pytest.raises(ElementTypeError, match="table"):
        info.check((SCALAR(u16), POINTER(f16)))
    declared = merge(parse_declaration("ushort b, const ushort* table", "k"), info)
    with pytest.raises(ArgumentKindError):
        declared.check((SCALAR(bf16), POINTER(u16)))
    with pytest.raises(ArgumentKindError):
        from_argument_info("k", [KernelBinding("value", 0, "b", type_name="short")]).check((SCALAR(bf16),))


@pytest.mark.parametrize(
    ("type_name", "words"),
    [
        ("image2d_t", ("image2d_t", "buffer")),
        ("read_only image3d_t", ("image3d_t", "buffer")),
        ("sampler_t", ("sampler_t",)),
        ("queue_t", ("queue_t",)),
        ("size_t", ("size_t", "ulong")),
        ("bool", ("bool", "uint")),
    ],
)
def test_what_no_argument_fills_is_refused(type_name, words):
    """Images and what has no size that both sides agree on is refused whatever is given, and named."""
    for argument in (opaque(8), POINTER(f32), SCALAR(u64), LOCAL):
        with pytest.raises(ArgumentKindError) as info:
            of(type_name).check((argument,))
        assert all(word in str(info.value) for word in ("argument 0 (v)", *words)), str(info.value)


# ------------------------------------------------ shared memory


def test_shared_memory_is_the_last_local_parameter():
    """`.shared_mem` takes the place of the last local parameter where the device says so, of the first elsewhere."""
    info = from_argument_info("k", ALL)
    assert [each.name for each in without_shared_memory(info, last=True).parameters][-1] == "pair"
    first = without_shared_memory(info).parameters
    assert [each.name for each in first] == ["y", "x", "table", "n", "factor", "pair", "scratch"]
    assert [each.index for each in first] == list(range(7))
    assert without_shared_memory(from_argument_info("k", [N])) is None
    with pytest.raises(ArgumentCountError, match="scratch is given twice"):
        refuse_both_ways(info, 8, last=True)
    with pytest.raises(ArgumentCountError, match="tile is given twice"):
        refuse_both_ways(info, 8)


def test_advice_about_local_memory_names_the_right_one():
    """Too few arguments are told which local parameter dynamic shared memory stands for."""
    with pytest.raises(ArgumentCountError, match=r"stands for scratch"):
        from_argument_info("k", ALL).check((POINTER(), POINTER()))
    with pytest.raises(ArgumentCountError, match=r"leave it out and use .shared_mem"):
        from_argument_info("k", [Y, TILE]).check((POINTER(),))


# ------------------------------------------------ beside other sources


def test_a_declaration_names_what_argument_info_leaves_open():
    """What the caller declares fills in a typedef's type; what argument info contradicts is refused."""
    info = from_argument_info("k", [Y, REAL])
    merged = merge(parse_declaration("float* out, float by", "k"), info)
    assert (merged.parameters[1].scalar, merged.parameters[1].nbytes, merged.parameters[0].name) == (f32, 4, "out")
    for text in ("float* out, double by", "int* out, float by", "float out, float by", "float* out"):
        with pytest.raises(SignatureError):
            merge(parse_declaration(text, "k"), info)


def test_which_source_reads_bindings_is_the_codes_to_say():
    """Bindings are argument info for OpenCL's forms of code and reflection elsewhere, even where all are local."""
    local = [KernelBinding("local", 0, "t", type_name="float")]
    for code_format, source in (("opencl-c", "OpenCL argument info"), ("msl", "Metal reflection")):
        image = CodeImage("m", code_format, b"")
        (found,) = describe("m", [], image, None, []).signatures("k", local)
        assert found.sources == (source,)
    assert Described("opencl-c").signatures("k", None) == []
    assert isinstance(found, KernelSignature)


def test_a_bool_is_refused_for_any_parameter():
    """No OpenCL parameter is a bool: one is refused with what the parameter is."""
    with pytest.raises(ArgumentKindError, match="uchar v"):
        of("uchar").check((SCALAR(boolean),))
