"""Metal's reflection as a signature: order, what is taken by reference, and how it goes with declarations and text."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.driver import KernelBinding
from metrale_gpu_runtime.errors import (
    ArgumentCountError,
    ArgumentError,
    ArgumentKindError,
    ArgumentRangeError,
    ArgumentSizeError,
    ElementTypeError,
    SignatureError,
)
from metrale_gpu_runtime.modules.described import bound_signatures, merged_signature
from metrale_gpu_runtime.scalars import c64, f32, f64, i32, u8, u16, u32
from metrale_gpu_runtime.signature import (
    ArgumentDescription,
    KernelSignature,
    from_bindings,
    kernels_of_msl,
    merge,
    parse_declaration,
)

WRITTEN = KernelBinding("buffer", 0, "y", "read-write", 4, 4, "float")
COUNT = KernelBinding("buffer", 1, "n", "read", 4, 4, "uint")
TABLE = KernelBinding("buffer", 2, "table", "read", 16, 16, "float4")
LINE = KernelBinding("buffer", 3, "line", "read", 24, 8, None)
SCRATCH = KernelBinding("local", 0, "scratch", nbytes=4, align=4)


def reflected(*bindings):
    return from_bindings("k", bindings)


def declared(text, *bindings):
    return merge(parse_declaration(text, "k"), reflected(*bindings))


def value(nbytes, align=None):
    return ArgumentDescription("value", nbytes=nbytes, align=align, opaque=True)


POINTER, SCALAR = ArgumentDescription.of_pointer, ArgumentDescription.of_scalar


def test_arguments_stand_in_reflections_order_by_index():
    """Buffers take the places of buffers by rising index, threadgroup memory those of threadgroup memory."""
    second = KernelBinding("local", 1, "other")
    signature = reflected(TABLE, second, WRITTEN, SCRATCH, COUNT)
    assert [each.name for each in signature.parameters] == ["y", "scratch", "n", "other", "table"]
    assert [each.index for each in signature.parameters] == [0, 1, 2, 3, 4]
    assert signature.sources == ("Metal reflection",)


def test_what_reflection_tells():
    """What is written is a pointer, what is read a value or a pointer, threadgroup memory a size; types are Metal's."""
    signature = reflected(WRITTEN, COUNT, TABLE, LINE, SCRATCH)
    y, n, table, line, scratch = signature.parameters
    assert (y.kind, y.nbytes, y.element, y.by_reference) == ("pointer", 8, f32, None)
    assert (n.kind, n.nbytes, n.align, n.scalar, n.by_reference) == (None, 4, 4, u32, "many")
    assert (table.nbytes, table.scalar, table.element) == (16, None, f32)
    assert (line.nbytes, line.align, line.element) == (24, 8, None)
    assert (scratch.space, scratch.kind) == ("local", "pointer")
    assert str(signature) == (
        "void k(device float* y, const uint* n /* a value or a buffer */, const float4* table /* a value or a buffer */, "
        "const void* line /* a value or a buffer */, threadgroup void* scratch)  [Metal reflection]"
    )


@pytest.mark.parametrize(
    ("binding", "argument"),
    [
        (COUNT, SCALAR(u32)),
        (COUNT, POINTER()),
        (COUNT, POINTER(u32)),
        (COUNT, value(4)),
        (COUNT, value(12)),
        (TABLE, value(16)),
        (TABLE, value(48, 16)),
        (TABLE, POINTER(f32)),
        (LINE, value(24, 8)),
        (LINE, POINTER(f64)),
        (WRITTEN, POINTER(f32)),
        (WRITTEN, POINTER()),
        (SCRATCH, ArgumentDescription("local", nbytes=33)),
    ],
)
def test_what_fits_by_reference(binding, argument):
    """A value of one element or several, or memory of the element type, is taken; a pointer to it has 8 bytes."""
    layout = reflected(binding).check((argument,))
    assert layout.sizes == (argument.nbytes,)
    assert layout.alignments[0] in (1, 4, 8, 16)
    if argument.kind == "pointer":
        assert layout.alignments == (8,)


@pytest.mark.parametrize(
    ("binding", "argument", "error", "words"),
    [
        (COUNT, SCALAR(i32), ArgumentKindError, ("unsigned", "arg_u32", "arg_ptr")),
        (COUNT, SCALAR(f32), ArgumentKindError, ("n", "uint")),
        (COUNT, SCALAR(u16), ArgumentSizeError, ("4 bytes", "2 given")),
        (COUNT, SCALAR(f64), ArgumentSizeError, ("4 bytes", "8 given")),
        (COUNT, value(6), ArgumentSizeError, ("whole multiple", "6 given")),
        (COUNT, POINTER(f32), ElementTypeError, ("u32", "f32")),
        (TABLE, value(24), ArgumentSizeError, ("16 bytes", "24 given")),
        (TABLE, value(16, 4), ArgumentSizeError, ("alignment 16",)),
        (TABLE, SCALAR(c64), ArgumentSizeError, ("8 given",)),
        (LINE, value(23), ArgumentSizeError, ("24 bytes", "23 given")),
        (LINE, SCALAR(u8), ArgumentSizeError, ("24 bytes", "1 given")),
        (WRITTEN, value(4), ArgumentKindError, ("pointer",)),
        (WRITTEN, SCALAR(f32), ArgumentKindError, ("pointer", "arg_ptr")),
        (SCRATCH, POINTER(), ArgumentKindError, ("arg_local",)),
        (SCRATCH, value(4), ArgumentKindError, ("arg_local",)),
        (COUNT, ArgumentDescription("local", nbytes=4), ArgumentKindError, ("no local memory",)),
    ],
)
def test_what_does_not_fit(binding, argument, error, words):
    """A value of another size or type, and memory of other elements, are refused with what would do."""
    with pytest.raises(error) as info:
        reflected(binding).check((argument,))
    assert all(word in str(info.value) for word in words), str(info.value)
    assert info.value.name == binding.name


def test_a_vector_by_reference_takes_no_number():
    """A number of a vector's size is not its components; the complex number of two is."""
    pair = reflected(KernelBinding("buffer", 0, "pair", "read", 8, 8, "float2"))
    pair.check((SCALAR(c64),))
    for scalar in (f64, f32):
        with pytest.raises(ArgumentError):
            pair.check((SCALAR(scalar),))


def test_bare_numbers_are_encoded_by_what_is_behind_the_reference():
    """A Python number becomes the element's type or is refused, as a value parameter has it."""
    signature = reflected(COUNT, TABLE, KernelBinding("buffer", 4, "eps", "read", 4, 4, "float"))
    data, description = signature.encode(0, 3_000_000_000)
    assert (data.hex(), description.scalar) == ("005ed0b2", u32)
    assert signature.encode(2, 1e-6)[0].hex() == "bd378635"
    for index, wrong, error in (
        (0, -1, ArgumentRangeError),
        (0, 2.0, ArgumentKindError),
        (0, True, ArgumentKindError),
        (1, 2.0, ArgumentKindError),
    ):
        with pytest.raises(error):
            signature.encode(index, wrong)


def test_a_declaration_says_which():
    """A declared value stays a value, a declared pointer a pointer; names fill in what reflection tells."""
    signature = declared(
        "float*, unsigned, const float* points, struct(24, 8), float* room", WRITTEN, COUNT, TABLE, LINE, SCRATCH
    )
    y, n, points, line, room = signature.parameters
    assert [each.name for each in signature.parameters] == ["y", "n", "points", "line", "room"]
    assert (y.kind, n.kind, points.kind, line.kind) == ("pointer", "value", "pointer", "value")
    assert all(each.by_reference is None for each in signature.parameters)
    assert (n.scalar, points.element, line.nbytes, room.space) == (u32, f32, 24, "local")
    with pytest.raises(ArgumentKindError):
        signature.check((POINTER(), POINTER(), POINTER(), value(24), ArgumentDescription("local", nbytes=4)))
    with pytest.raises(ArgumentKindError):
        signature.check((POINTER(), SCALAR(u32), value(16), value(24), ArgumentDescription("local", nbytes=4)))
    signature.check((POINTER(), SCALAR(u32), POINTER(f32), value(24, 8), ArgumentDescription("local", nbytes=4)))
    assert declared("struct(48, 16) many", TABLE).parameters[0].nbytes == 48
    assert declared("const void* line", LINE).parameters[0].kind == "pointer"
    assert declared("char*", COUNT.__class__("buffer", 0, "c", "read", 1, 1, "char")).parameters[0].kind == "pointer"


@pytest.mark.parametrize(
    ("text", "binding", "words"),
    [
        ("int n", COUNT, ("being signed", "True", "False")),
        ("float n", COUNT, ("float",)),
        ("unsigned long long n", COUNT, ("u64", "u32", "type")),
        ("const float* n", COUNT, ("f32", "u32", "element type")),
        ("float3 table", TABLE, ("12", "16", "size in bytes")),
        ("struct(40, 8) table", TABLE, ("40", "16")),
        ("float y", WRITTEN, ("kind is value", "pointer")),
        ("float scratch", SCRATCH, ("kind is value", "pointer")),
        ("__local float* n", COUNT, ("threadgroup memory", "a buffer or a value")),
        ("const int* y", WRITTEN, ("i32", "f32")),
    ],
)
def test_contradictions_are_named(text, binding, words):
    """A declaration that reflection contradicts is refused with what each says."""
    with pytest.raises(SignatureError) as info:
        declared(text, binding)
    assert all(word in str(info.value) for word in words), str(info.value)
    assert info.value.index == 0


def described(text, *bindings):
    notes: list[str] = []
    sources = bound_signatures("k", kernels_of_msl(text).get("k"), bindings, notes)
    return merged_signature("k", sources, notes), notes


def test_the_text_speaks_before_reflection():
    """Text tells a reference from a pointer and the order; sizes of structures come from reflection."""
    signature, notes = described(
        "struct Line { float a; }; kernel void k(threadgroup float* scratch, constant Line& line [[buffer(3)]],"
        " const device float4* table [[buffer(2)]], device float* y [[buffer(0)]], constant uint* n [[buffer(1)]]) {}",
        WRITTEN,
        COUNT,
        TABLE,
        LINE,
        SCRATCH,
    )
    assert notes == []
    assert signature.sources == ("MSL text", "Metal reflection")
    assert [(each.name, each.kind, each.by_reference, each.nbytes) for each in signature.parameters] == [
        ("scratch", "pointer", None, None),
        ("y", "pointer", None, 8),
        ("n", None, "many", 4),
        ("table", "pointer", None, 8),
        ("line", None, "one", 24),
    ]
    with pytest.raises(ArgumentSizeError):
        signature.check((ArgumentDescription("local", nbytes=4), POINTER(), SCALAR(u32), POINTER(), value(48)))
    with pytest.raises(ArgumentKindError):
        signature.check((ArgumentDescription("local", nbytes=4), POINTER(), SCALAR(u32), value(16), value(24)))


@pytest.mark.parametrize(
    "parameters",
    [
        "device float* y [[buffer(0)]]",
        "device float* y [[buffer(0)]], constant uint& n [[buffer(2)]]",
        "device float* y [[buffer(0)]], constant uint& m [[buffer(1)]]",
        "device float* y [[buffer(0)]], constant uint& n [[buffer(1)]], threadgroup float* s",
    ],
)
def test_a_text_that_does_not_agree_is_set_aside(parameters):
    """Where places or names are not those of reflection, reflection alone speaks, and a note says so."""
    signature, notes = described(f"kernel void k({parameters}) {{}}", WRITTEN, COUNT)
    assert signature.sources == ("Metal reflection",)
    assert len(notes) == 1
    assert "set aside" in notes[0]


def test_a_type_that_does_not_agree_is_set_aside():
    """Where the text's type is not reflection's, reflection alone speaks."""
    signature, notes = described(
        "kernel void k(device float* y [[buffer(0)]], constant int& n [[buffer(1)]]) {}", WRITTEN, COUNT
    )
    assert signature.parameters[1].scalar == u32
    assert "set aside" in notes[0]


@pytest.mark.parametrize("align", [32, 256])
def test_where_a_buffer_may_be_bound_is_no_alignment_of_its_type(align):
    """A device that binds constant memory at wide multiples alone does not contradict the text, and values fit as before."""
    count = KernelBinding("buffer", 1, "n", "read", 4, align, "uint")
    point = KernelBinding("buffer", 2, "point", "read", 16, align, "float3")
    text = "kernel void k(device float* y [[buffer(0)]], constant uint& n [[buffer(1)]], constant float3& point [[buffer(2)]]) {}"
    signature, notes = described(text, WRITTEN, count, point)
    assert (signature.sources, notes) == (("MSL text", "Metal reflection"), [])
    assert [each.align for each in signature.parameters[1:]] == [4, 16]
    signature.check((POINTER(), SCALAR(u32), value(16, 16)))


def test_missing_local_memory_is_explained():
    """An argument list without the local memory names both ways of giving it."""
    signature = KernelSignature("k", reflected(WRITTEN, SCRATCH).parameters, ("Metal reflection",))
    with pytest.raises(ArgumentCountError, match=r"scratch.*arg_local\(nbytes\), or leave it out and use .shared_mem"):
        signature.check((POINTER(),))
