"""Metal text as a signature: what is read of a kernel, what is left unknown, and that no text makes it stumble."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.scalars import bf16, boolean, f16, f32, i8, i64, u8, u32, u64
from metrale_gpu_runtime.signature import from_msl, kernels_of_msl
from metrale_gpu_runtime.signature.msl_types import find_msl_type

KERNELS = Path(__file__).parent.parent / "src/metrale_gpu_runtime/testing/conformance/kernels"


def read(parameters, before="", options=()):
    """The parameters of one kernel `k`, None where it is not read."""
    return kernels_of_msl(f"{before}\nkernel void k({parameters}) {{ }}", options).get("k")


def places(parameters, before=""):
    found = read(parameters, before)
    return None if found is None else [(each.kind, each.index, each.name) for each in found]


@pytest.mark.parametrize(
    ("name", "nbytes", "align", "scalar", "element", "lanes"),
    [
        ("bool", 1, 1, boolean, boolean, 1),
        ("char", 1, 1, i8, i8, 1),
        ("unsigned char", 1, 1, u8, u8, 1),
        ("uint", 4, 4, u32, u32, 1),
        ("long", 8, 8, i64, i64, 1),
        ("size_t", 8, 8, u64, u64, 1),
        ("half", 2, 2, f16, f16, 1),
        ("bfloat", 2, 2, bf16, bf16, 1),
        ("float2", 8, 8, None, f32, 2),
        ("float3", 16, 16, None, f32, 3),
        ("packed_float3", 12, 4, None, f32, 3),
        ("half4", 8, 8, None, f16, 4),
        ("packed_char3", 3, 1, None, i8, 3),
        ("float3x3", 48, 16, None, f32, 9),
        ("half2x4", 16, 8, None, f16, 8),
        ("metal::vec<float, 3>", 16, 16, None, f32, 3),
        ("vec<unsigned char,4>", 4, 4, None, u8, 4),
        ("metal::atomic<uint>", 4, 4, None, u32, 1),
        ("atomic_bool", 1, 1, None, boolean, 1),
    ],
)
def test_metals_types(name, nbytes, align, scalar, element, lanes):
    """Each type has Metal's size and alignment, not CUDA's of the same name."""
    found = find_msl_type(name)
    assert found is not None
    assert (found.nbytes, found.align, found.scalar, found.element, found.lanes) == (
        nbytes,
        align,
        scalar,
        element,
        lanes,
    )


@pytest.mark.parametrize("name", ["double", "float5", "vec<float,5>", "vec<Line,2>", "vec<float>", "", "packed_bool2"])
def test_what_is_no_type_of_metals(name):
    """A name that Metal does not have is no type."""
    assert find_msl_type(name) is None


def test_a_kernel_is_read():
    """Address space, reference or pointer, const, type, name and place are told, in the order in which they are given."""
    (kernel,) = kernels_of_msl(
        """
        // kernel void not_this(device float* x [[buffer(0)]]) {}
        kernel void norm(const device half *restrict x [[buffer(1)]],   /* , device int* no */
                         device atomic_uint& hits [[ buffer(0x2) ]],
                         constant Params &params [[buffer(0)]],
                         constant packed_float3 * table [[buffer(30u)]],
                         threadgroup float4 *scratch [[threadgroup(0)]],
                         uint2 at [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]])
        { if (at.x > 1) { x[0]; } }
        """
    ).items()
    name, parameters = kernel
    assert name == "norm"
    signature = from_msl(name, parameters)
    assert str(signature) == (
        "void norm(constant Params& params, const device half* x, device atomic_uint& hits, "
        "constant packed_float3* table, threadgroup float4* scratch)  [MSL text]"
    )
    params, x, hits, table, scratch = signature.parameters
    assert (params.kind, params.by_reference, params.nbytes, params.scalar) == (None, "one", None, None)
    assert (x.kind, x.constant, x.element, x.nbytes) == ("pointer", True, f16, 8)
    assert (hits.kind, hits.constant, hits.element) == ("pointer", False, u32)
    assert (table.by_reference, table.nbytes, table.align, table.element) == ("many", 12, 4, f32)
    assert (scratch.kind, scratch.space, scratch.element) == ("pointer", "local", f32)


def test_without_numbers_they_are_counted_in_order():
    """Where no place is stated, buffers and threadgroup memory are counted each for itself."""
    assert places("device float* a, threadgroup int* b, constant uint& c, threadgroup int* d, device int* e") == [
        ("buffer", 0, "a"),
        ("local", 0, "b"),
        ("buffer", 1, "c"),
        ("local", 1, "d"),
        ("buffer", 2, "e"),
    ]


@pytest.mark.parametrize(
    "parameters",
    [
        "device float* x [[buffer(0)]], device float* y",
        "device float* x [[buffer(N)]]",
        "device float* x [[buffer(0)]], device float* y [[buffer(0)]]",
        "device float* x [[threadgroup(0)]]",
        "threadgroup float* x [[buffer(0)]]",
        "texture2d<float> t [[texture(0)]]",
        "sampler s [[sampler(0)]], device float* x [[buffer(0)]]",
        "device float* x [[buffer(0), function_constant(ON)]]",
        "float x [[stage_in]]",
        "device float** x",
        "device float&& x",
        "device float x",
        "float* x",
        "thread float* x",
        "device constant float* x",
        "constant float (&x)[4] [[buffer(0)]]",
        "device float x[4]",
        "device OUT float* x",
        "device float* x y",
        "array<device float*, 4> x [[buffer(0)]]",
        "device float* x [[unheard_of]]",
        "device float* x,",
        "uint x",
        "device float* x [[buffer(123456789012345678901234567890)]]",
    ],
)
def test_what_is_not_read(parameters):
    """A parameter in a form that cannot be read surely leaves the whole kernel unknown."""
    assert read(parameters) is None


@pytest.mark.parametrize(
    ("before", "parameters", "options"),
    [
        ("#define N 3", "device float* x [[buffer(N)]]", ()),
        ("#define device constant", "device float* x", ()),
        ("#define kernel", "device float* x", ()),
        ("#undef x", "device float* x", ()),
        ("", "device float* x", ("-Dx=y",)),
        ("#define A(x) x \\\n  y\n#define k(z) q", "device float* x", ()),
    ],
)
def test_macros_leave_a_kernel_unknown(before, parameters, options):
    """A kernel whose declaration has a macro in it, of the text or of the options, is not read."""
    text = f"{before}\nkernel void k({parameters}) {{ }}"
    assert kernels_of_msl(text, options).get("k") is None
    assert kernels_of_msl("kernel void k(device float* x) { }")["k"] is not None


def test_conditions_leave_a_kernel_unknown():
    """What stands between `#if` and `#endif` is not read, what stands beside it is; open brackets there end the reading."""
    found = kernels_of_msl(
        "#ifdef A\nkernel void a(device int* x) {}\n#else\nkernel void b(device int* x) {}\n#endif\n"
        "kernel void c(device int* x) {}\nkernel void d(\n#if B\ndevice int* x\n#endif\n) {}"
    )
    assert {name: parameters is not None for name, parameters in found.items()} == {
        "a": False,
        "b": False,
        "c": True,
        "d": False,
    }
    assert kernels_of_msl("#if A\nkernel void a() {\n#else\nkernel void a(device int* x) {\n#endif\n}") == {}
    assert kernels_of_msl("#if A\nkernel void c(device int* x) {}") == {}


def test_names_are_those_of_the_library():
    """Namespaces are part of a name, `host_name` takes its place, a template has none until it is instantiated."""
    found = kernels_of_msl(
        """
        namespace a { namespace b::c { kernel void k(device int* x) {} } struct S { int kernel; }; }
        namespace { kernel void hidden(device int* x) {} }
        extern "C" { kernel void plain(device int* x) {} }
        [[host_name("given")]] kernel void own(device int* x) {}
        [[kernel]] void marked(device int* x) {}
        template <typename T> kernel void scale(device T* x [[buffer(0)]]) {}
        template [[host_name("scale_f")]] kernel void scale<float>(device float* x [[buffer(3)]]);
        template [[host_name("scale_h")]] kernel void scale<half>(device half* x);
        float use(constant float* kernel, int n) { return kernel[n]; }
        constant float kernel_weights[2] = {1, 2};
        kernel void twice(device int* x) {}
        kernel void twice(device float* x) {}
        """
    )
    assert {name: parameters and parameters[0].index for name, parameters in found.items()} == {
        "a::b::c::k": 0,
        "hidden": None,
        "plain": 0,
        "given": 0,
        "marked": 0,
        "scale_f": 3,
        "scale_h": None,
        "use": None,
        "twice": None,
    }


def test_a_type_of_the_texts_own_is_not_metals():
    """A type that the text names as one of Metal's is not taken for it."""
    for own in (
        "struct float3 { float x; };",
        "typedef half float3;",
        "using float3 = half;",
        "using mine::float3;",
        "template <typename float3> struct X {};",
    ):
        (parameter,) = from_msl("k", read("constant float3& v", own)).parameters
        assert (parameter.nbytes, parameter.element, parameter.scalar) == (None, None, None), own
    for others in ("using namespace metal;", "using metal::float3;", "struct Line { float3 from; };"):
        (parameter,) = from_msl("k", read("constant float3& v", others)).parameters
        assert parameter.nbytes == 16, others


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.metal")), ids=lambda path: path.stem)
def test_every_kernel_of_the_suite_is_read(path):
    """Every kernel of the conformance suite's Metal files is read whole."""
    text = path.read_text()
    found = kernels_of_msl(text)
    assert len(found) == text.count("kernel void")
    assert all(parameters for parameters in found.values())


_PIECES = (
    "kernel void k(device float* x [[buffer(0)]])",
    "kernel",
    "[[kernel]]",
    "void",
    "template",
    "<",
    ">",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    ";",
    ",",
    "::",
    "&",
    "*",
    "buffer(1)",
    "threadgroup(0)",
    "device",
    "constant",
    "threadgroup",
    "float3",
    "x",
    "namespace n",
    "using",
    "typedef",
    "struct S",
    '"',
    "'",
    "\\",
    "\n#if 1\n",
    "\n#endif\n",
    "\n#else\n",
    "\n#define x y\n",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    'host_name("k")',
    'R"(',
    "1'000",
    "0x",
    "𝒻",
    "\0",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=60))
def test_no_text_makes_it_stumble(pieces):
    """Any order of Metal's words gives kernels or none, and those it gives make a signature."""
    for name, parameters in kernels_of_msl(" ".join(pieces)).items():
        if parameters is not None:
            str(from_msl(name, parameters))


@given(st.text(max_size=300))
def test_no_characters_make_it_stumble(text):
    """Any text at all is taken."""
    kernels_of_msl(text)
    kernels_of_msl(f"kernel void k({text}) {{}}")


@pytest.mark.parametrize(
    "piece",
    [
        "/*",
        '"',
        "'",
        '"\\"',
        "\\",
        "{",
        "}",
        "[[",
        "<",
        "using ",
        "typedef x",
        "#if\n",
        "kernel void k(",
        "//",
        "1'",
        "::",
        'R"',
    ],
)
def test_a_long_text_takes_no_long_time(piece):
    """The time goes with the length of the text, whatever is repeated in it."""
    start = time.monotonic()
    kernels_of_msl(piece * 20_000)
    assert time.monotonic() - start < 10
