"""Declared signatures: C parameter lists and prototypes to what each parameter is."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.errors import GpuError
from metrale_gpu_runtime.scalars import (
    ScalarType,
    bf16,
    boolean,
    c64,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from metrale_gpu_runtime.signature import KernelSignature, Parameter, SignatureError, parse_declaration


def _parameters(text: str, kernel: str = "k") -> tuple[Parameter, ...]:
    signature = parse_declaration(text, kernel)
    assert signature.parameters is not None
    return signature.parameters


def test_a_parameter_list_says_names_kinds_and_places() -> None:
    """Each parameter has its name, kind, element, constness, size and C offset."""
    x, n, y, eps = _parameters("const float* x, int n, double *y, float eps")
    assert (x.name, x.kind, x.element, x.constant, x.nbytes, x.offset) == ("x", "pointer", f32, True, 8, 0)
    assert (n.name, n.kind, n.scalar, n.signed, n.floating, n.offset) == ("n", "value", i32, True, False, 8)
    assert (y.name, y.element, y.constant, y.offset) == ("y", f64, False, 16)
    assert (eps.name, eps.scalar, eps.floating, eps.signed, eps.offset) == ("eps", f32, True, None, 24)
    assert {each.source for each in (x, n, y, eps)} == {"declared"}


@pytest.mark.parametrize(
    ("text", "scalar"),
    [
        ("int", i32),
        ("signed", i32),
        ("unsigned", u32),
        ("unsigned int", u32),
        ("int unsigned", u32),
        ("long", i64),
        ("long int", i64),
        ("unsigned long", u64),
        ("unsigned long long", u64),
        ("long unsigned int long", u64),
        ("long long int", i64),
        ("short", i16),
        ("short int", i16),
        ("unsigned short int", u16),
        ("signed char", i8),
        ("unsigned char", u8),
        ("int8_t", i8),
        ("uint8_t", u8),
        ("int64_t", i64),
        ("std::uint16_t", u16),
        ("::size_t", u64),
        ("cuda::std::int32_t", i32),
        ("size_t", u64),
        ("ptrdiff_t", i64),
        ("uint", u32),
        ("uchar", u8),
        ("half", f16),
        ("__half", f16),
        ("__nv_bfloat16", bf16),
        ("nv_bfloat16", bf16),
        ("float", f32),
        ("double", f64),
        ("bool", boolean),
        ("_Bool", boolean),
        ("cudaTextureObject_t", u64),
        ("CUdeviceptr", u64),
        ("cuComplex", c64),
        ("thrust::complex<float>", c64),
        ("cuda::std::complex< float >", c64),
    ],
)
@pytest.mark.parametrize("form", ["{}", "{} n", "const {} n", "{} const n", "{} volatile n"])
def test_every_spelling_of_a_scalar_is_its_type(text: str, scalar: ScalarType, form: str) -> None:
    """All spellings of a fundamental or CUDA type, with or without a name and qualifiers, are one scalar type."""
    (parameter,) = _parameters(form.format(text))
    assert (parameter.scalar, parameter.kind, parameter.nbytes) == (scalar, "value", scalar.nbytes)
    assert parameter.name == (None if form == "{}" else "n")


@pytest.mark.parametrize(
    ("text", "nbytes", "align"),
    [
        ("float2", 8, 8),
        ("float3", 12, 4),
        ("float4", 16, 16),
        ("int3", 12, 4),
        ("uint2", 8, 8),
        ("double2", 16, 16),
        ("double3", 24, 8),
        ("double4", 32, 16),
        ("longlong2", 16, 16),
        ("char4", 4, 4),
        ("uchar3", 3, 1),
        ("short4", 8, 8),
        ("half2", 4, 4),
        ("__nv_bfloat162", 4, 4),
        ("dim3", 12, 4),
        ("CUtensorMap", 128, 128),
        ("__nv_fp8_e4m3", 1, 1),
        ("struct(24, 8)", 24, 8),
        ("struct Particle(20, 4)", 20, 4),
        ("char", 1, 1),
    ],
)
def test_values_that_are_no_scalars_have_size_and_alignment(text: str, nbytes: int, align: int) -> None:
    """Vectors, tensor maps, fp8 and sized structures are values of CUDA's size and alignment, without a scalar type."""
    first, second = _parameters(f"char lead, {text} value")
    assert (second.kind, second.nbytes, second.align, second.scalar, second.offset) == (
        "value",
        nbytes,
        align,
        None,
        align,
    )
    assert first.offset == 0


@pytest.mark.parametrize(
    ("text", "element", "element_name", "constant", "printed"),
    [
        ("float* x", f32, "float", False, "float* x"),
        ("float const *x", f32, "float", True, "const float* x"),
        ("const float* const __restrict__ x", f32, "float", True, "const float* x"),
        ("float x[]", f32, "float", False, "float* x"),
        ("const unsigned long long int x[16]", u64, "unsigned long long", True, "const unsigned long long* x"),
        ("void* x", None, "void", False, "void* x"),
        ("const void* x", None, "void", True, "const void* x"),
        ("float4* x", f32, "float4", False, "float4* x"),
        ("char* x", i8, "char", False, "char* x"),
        ("float** x", u64, "float*", False, "float** x"),
        ("const float* const* x", u64, "const float*", True, "const float* const* x"),
        ("float* const* x", u64, "float*", True, "float* const* x"),
        ("struct Particle* x", None, "Particle", False, "Particle* x"),
        ("const Particle* x", None, "Particle", True, "const Particle* x"),
        ("ns::Table<float, 3>* x", None, "ns::Table<float, 3>", False, "ns::Table<float, 3>* x"),
        ("half *x", f16, "half", False, "half* x"),
        ("const half2* x", f16, "half2", True, "const half2* x"),
        ("struct Table<float, 3>* x", None, "Table<float, 3>", False, "Table<float, 3>* x"),
        ("[[maybe_unused]] float* x", f32, "float", False, "float* x"),
        ("struct(24, 8)* x", None, "struct(24, 8)", False, "struct(24, 8)* x"),
    ],
)
def test_pointers_know_their_pointee(
    text: str, element: ScalarType | None, element_name: str, constant: bool, printed: str
) -> None:
    """A pointer has 8 bytes, its pointee's C name and constness, and the element type where a buffer can have it."""
    (pointer,) = _parameters(text)
    assert (pointer.kind, pointer.nbytes, pointer.align, pointer.scalar) == ("pointer", 8, 8, None)
    assert (pointer.element, pointer.element_name, pointer.constant) == (element, element_name, constant)
    assert (pointer.name, str(pointer)) == ("x", printed)


@pytest.mark.parametrize("text", ["", "   ", "void", " void ", "__global__ void k()", "void k(void);", "/* none */"])
def test_no_parameters(text: str) -> None:
    """An empty list and `void` declare a kernel without parameters, which is not an unknown one."""
    assert parse_declaration(text, "k") == KernelSignature("k", (), ("declared",))


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(const float* __restrict__ x, int n)",
        'extern "C" __global__ void k(const float *x, int n);',
        'extern "C" __global__ void __launch_bounds__(256, 2) k(float const* x, int n) {',
        "static __global__ void ns::k(const float* x,\n  int n // the count, rounded\n)",
        "__kernel void k(__global const float* x, int n)",
        "const float* x /* in, out */, int n",
    ],
)
def test_prototypes_are_read_like_lists(text: str) -> None:
    """A whole prototype, with attributes and comments, declares the same as its list."""
    x, n = _parameters(text)
    assert [(each.name, each.nbytes) for each in (x, n)] == [("x", 8), ("n", 4)]
    assert (x.element, x.constant, n.scalar) == (f32, True, i32)


def test_address_spaces_of_opencl() -> None:
    """__global, __constant and __local name the space of a pointer; nothing behind a local one has an offset."""
    x, table, scratch, n = _parameters("__global float* x, __constant float* table, __local float* scratch, int n")
    assert [each.space for each in (x, table, scratch, n)] == ["global", "constant", "local", None]
    assert [each.offset for each in (x, table, scratch, n)] == [0, 8, None, None]


def test_an_alignment_specifier_raises_the_alignment() -> None:
    """alignas and __align__ move a value to a stricter place."""
    _, value = _parameters("char c, alignas(16) float3 v")
    assert (value.align, value.offset) == (16, 16)


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("flaot x", "did you mean 'float'", 0),
        ("int n, Particle p", r"size of 'Particle' is not known.*struct Particle\(nbytes, align\) p", 7),
        ("int n,", "missing after the last comma", 6),
        ("int n,, int m", "missing before the comma", 6),
        ("int n = 3", "default value", 6),
        ("struct(13, 8) s", "13 bytes with alignment 8", 6),
        ("struct(24) s", "a size and an alignment", 9),
        ("struct(24, x) s", "a size and an alignment", 11),
        ("int x, float x", "'x' is there twice", 13),
        ("float& x", "no references", 5),
        ("float x[3][4]", "array of arrays", 10),
        ("float x[3", "not closed", 9),
        ("int n)", "closes nothing", 5),
        ("void x", "no parameter", 0),
        ("int, void", "no parameter", 5),
        ("long double x", "long double", 0),
        ("long float x", "is no type", 0),
        ("*x", "a type is missing", 0),
        ("const", "a type is missing", 0),
        ("struct", "needs a name", 0),
        ("int n m", "'m' is not expected", 6),
        ("void (*f)(int)", "functions and pointers", 5),
        ("int n, ...", "no variable arguments", 7),
        ("void j(int n)", "declares 'j', not this kernel", 5),
        ("int k(int n)", "returns void", 4),
        ("template <class T> void k(T* x)", "template", 0),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, words: str, column: int) -> None:
    """A declaration that cannot be read raises SignatureError with the kernel, the reason and a caret at the place."""
    with pytest.raises(SignatureError, match=words) as caught:
        parse_declaration(text, "k")
    error = caught.value
    assert (error.kernel, error.text, error.position) == ("k", text, column)
    assert str(error).endswith(f"\n  {text}\n  {' ' * column}^")
    assert isinstance(error, GpuError)
    assert isinstance(error, ValueError)


def test_the_caret_stands_in_its_line() -> None:
    """In a text of several lines the line with the fault is shown."""
    with pytest.raises(SignatureError) as caught:
        parse_declaration("const float* x,\nflaot y,\nint n", "k")
    assert str(caught.value).endswith("\n  flaot y,\n  ^")


def test_a_prototype_of_a_mangled_kernel_is_compared_by_its_readable_name() -> None:
    """The prototype of `add` declares the kernel whose symbol is _Z3addPfi."""
    assert len(_parameters("__global__ void add(float* x, int n)", "_Z3addPfi")) == 2
    with pytest.raises(SignatureError, match="declares 'sub'"):
        parse_declaration("__global__ void sub(float* x, int n)", "_Z3addPfi")


def test_a_declaration_prints_as_c_and_reads_back() -> None:
    """str() is a C prototype with its source; its parameters read back to the same signature."""
    text = "const float* x, float* const* y, unsigned int hidden, float eps, struct P(24, 8) p, half2 h, char c, bool b"
    signature = parse_declaration(text, "rms_norm_f32")
    printed = str(signature)
    assert printed == f"void rms_norm_f32({text})  [declared]"
    assert parse_declaration(printed.removesuffix("  [declared]"), "rms_norm_f32") == signature


_CTYPES = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "unsigned short": ctypes.c_ushort,
    "int": ctypes.c_int,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "const float*": ctypes.c_void_p,
}


@given(st.lists(st.sampled_from(sorted(_CTYPES)), min_size=1, max_size=12))
def test_offsets_are_those_of_c(types: list[str]) -> None:
    """The offsets of any list of parameters are those that C gives the fields of a structure of them."""
    parameters = _parameters(", ".join(f"{each} p{index}" for index, each in enumerate(types)))
    fields = [(f"p{index}", _CTYPES[each]) for index, each in enumerate(types)]
    oracle = type("Block", (ctypes.Structure,), {"_fields_": fields})
    assert [each.offset for each in parameters] == [getattr(oracle, name).offset for name, _ in fields]
    assert [each.name for each in parameters] == [name for name, _ in fields]


# fmt: off
_PIECES = st.sampled_from([
    "const", "float", "int", "*", "&", "[", "]", "(", ")", ",", "struct", "24", "8", "name", "x", "void",
    "unsigned", "long", "<", ">", "::", "=", "...", "char", '"', "\n", "//",
])
# fmt: on


@given(st.lists(_PIECES, max_size=14))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    """No text makes the reader fail in another way than SignatureError, and what is read prints and reads back."""
    try:
        signature = parse_declaration(" ".join(pieces), "k")
    except SignatureError:
        return
    printed = str(signature).removesuffix("  [declared]")
    assert [str(each) for each in parse_declaration(printed, "k").parameters or ()] == [
        str(each) for each in signature.parameters or ()
    ]
