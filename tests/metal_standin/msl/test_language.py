"""The language: types and their sizes, conversions, literals, templates, constants, numbering, reflection."""

from __future__ import annotations

import itertools
import math
import struct

import numpy as np
import pytest
from rungs import require_rung

from . import Binding, CompiledFunction, FunctionConstant, compile_library
from .launched import launch

require_rung("clang-19")

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
u32 = np.uint32


def kernel(text: str, name: str = "k") -> CompiledFunction:
    return compile_library(HEAD + text).function(name)


def computed(
    body: str, dtype: type[np.generic] = np.float32, kind: str = "float", count: int = 4, *x: float
) -> list[float]:
    """What a kernel's body puts into out, given x."""
    values = np.array(x or (0,), dtype)
    out = np.zeros(count, dtype)
    text = f"kernel void k(const device {kind} *x, device {kind} *out) {{ {body} }}"
    assert launch(kernel(text), values, out) is None
    return [float(value) for value in out]


# ------------------------------------------------ types


@pytest.mark.parametrize(
    ("kind", "size", "alignment"),
    [
        ("bool", 1, 1), ("char", 1, 1), ("uchar", 1, 1), ("short", 2, 2), ("ushort", 2, 2), ("int", 4, 4), ("uint", 4, 4),
        ("long", 8, 8), ("ulong", 8, 8), ("half", 2, 2), ("bfloat", 2, 2), ("float", 4, 4), ("size_t", 8, 8),
        ("float2", 8, 8), ("float3", 16, 16), ("float4", 16, 16), ("half2", 4, 4), ("half3", 8, 8), ("char3", 4, 4),
        ("uchar4", 4, 4), ("ushort3", 8, 8), ("long3", 32, 32), ("packed_float2", 8, 4), ("packed_float3", 12, 4),
        ("packed_float4", 16, 4), ("packed_half3", 6, 2), ("packed_uchar3", 3, 1), ("atomic_uint", 4, 4), ("uint8_t", 1, 1),
    ],
)  # fmt: skip
def test_sizes_and_alignments(kind: str, size: int, alignment: int) -> None:
    """Each type has the size and alignment of the specification's tables, for the kernel and in reflection."""
    function = kernel(
        f"kernel void k(device uint *out, device {kind} *x) {{ out[0] = sizeof({kind}); out[1] = alignof({kind}); }}"
    )
    out = np.zeros(3, u32)
    assert function.run({0: out.ctypes.data, 1: 0}, {}, (1,), (1,)) is None
    assert out.tolist() == [size, alignment, 0]
    assert (function.bindings[1].data_size, function.bindings[1].alignment) == (size, alignment)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("float", 3), ("float4", 6), ("half", 16), ("half2", 17), ("int", 29), ("int3", 31), ("uint", 33), ("uint2", 34),
        ("short", 37), ("ushort4", 44), ("char", 45), ("uchar", 49), ("bool", 53), ("long", 81), ("ulong2", 86),
        ("bfloat", 121), ("packed_float3", 5), ("S", 1), ("atomic_int", 29), ("void", 0), ("int32_t", 29), ("uint64_t", 85),
    ],
)  # fmt: skip
def test_data_types(kind: str, code: int) -> None:
    """Reflection says a binding's element by its MTLDataType."""
    function = kernel(f"struct S {{ float a; }}; kernel void k(device {kind} *x) {{}}")
    assert function.bindings[0].data_type == code


def test_reflection() -> None:
    """Kind, index, name, access, type, size and alignment of every parameter, values and pointers, buffers and threadgroup."""
    function = kernel(
        """struct S { char a; float4 b; short c; };
        [[max_total_threads_per_threadgroup(96)]] kernel void k(device float2 *out [[buffer(7)]], const device half *x [[buffer(2)]],
            constant S &s [[buffer(30)]], constant uint *n [[buffer(0)]], threadgroup uint *b [[threadgroup(3)]],
            threadgroup S *a [[threadgroup(1)]], uint i [[thread_position_in_grid]]) { out[i] = x[i] + n[0]; a[0] = s; }"""
    )
    assert function.bindings == (
        Binding("buffer", 7, "out", "readwrite", 4, 8, 8, True),
        Binding("buffer", 2, "x", "read", 16, 2, 2, True),
        Binding("buffer", 30, "s", "read", 1, 48, 16, True),
        Binding("buffer", 0, "n", "read", 33, 4, 4, True),
        Binding("threadgroup", 3, "b", "readwrite", 33, 4, 4, False),
        Binding("threadgroup", 1, "a", "readwrite", 1, 48, 16, True),
    )
    assert function.max_total_threads == 96
    assert kernel("kernel void k(device uint *x) {}").max_total_threads == 0


def test_buffers_without_a_number_take_the_lowest_free_one() -> None:
    """Parameters are numbered in their order, around the numbers that are given."""
    function = kernel(
        """kernel void k(device uint *a, device uint *b [[buffer(1)]], constant uint &c, threadgroup uint *d, device uint *e [[buffer(0)]],
            threadgroup uint *f, device uint *g) {}"""
    )
    assert {b.name: (b.kind, b.index) for b in function.bindings} == {
        "a": ("buffer", 2), "b": ("buffer", 1), "c": ("buffer", 3), "d": ("threadgroup", 0), "e": ("buffer", 0),
        "f": ("threadgroup", 1), "g": ("buffer", 4),
    }  # fmt: skip


# ------------------------------------------------ values


def test_making_vectors() -> None:
    """Vectors are made of scalars, of vectors and of both, in order; one scalar fills all components."""
    body = """float2 a = float2(1, 2); float3 b(a, 3); float4 c = float4(x[0], a, 4); packed_float3 p = float3(5, 6, 7);
        float4 d = vec<float, 4>(b.zy, float2(p[0], p.y)); int4 i = int4(float4(1.9f, -1.9f, 2.5f, 3.0f));
        out[0] = b.x + 10 * b.y + 100 * b.z; out[1] = c.x + 10 * c.y + 100 * c.z + 1000 * c.w;
        out[2] = d.x + 10 * d.y + 100 * d.z + 1000 * d.w; out[3] = i.x + 10 * i.y + 100 * i.z + 1000 * i.w;
        float4 e = float4(3); e.xz = float2(8, 9); out[4] = e.x + 10 * e.y + 100 * e.z + 1000 * e.w;
        float4 f = float4(p, 1.0f).wzyx; out[5] = f.x + 10 * f.y + 100 * f.z + 1000 * f.w;
        half4 h = half4(uchar4(1, 2, 3, 250)); out[6] = h.w; out[7] = float3()[2];"""
    # (float4)(int4) and static_cast convert as well; to C++ alone they would keep the bits.
    more = """out[8] = ((float4)i).z; out[9] = static_cast<float4>(i).x + float((half)x[0]); out[10] = as_type<float>(0x40490fdbu);
        out[11] = as_type<uint2>(float2(1, 2)).y == as_type<uint>(2.0f);"""
    assert computed(body + more, np.float32, "float", 12, 9.0) == [
        321, 4219, 6523, 3191, 3938, 5671, 250, 0, 2, 10, struct.unpack("f", struct.pack("I", 0x40490FDB))[0], 1,
    ]  # fmt: skip


def test_threadgroup_variables_lie_as_their_types_ask() -> None:
    """Behind a variable of three bytes the next starts at a multiple of its own alignment, and no two share a byte."""
    text = """kernel void k(device ulong *out) {
        threadgroup uchar a[3]; threadgroup float4 b[2]; threadgroup uchar c; threadgroup long4 d; threadgroup uchar e[7];
        out[0] = (ulong)a; out[1] = (ulong)b; out[2] = (ulong)&c; out[3] = (ulong)&d; out[4] = (ulong)e; }"""
    out = np.zeros(5, np.uint64)
    function = kernel(text)
    assert launch(function, out) is None
    places = sorted(zip(map(int, out), (3, 32, 1, 32, 7), (1, 16, 1, 32, 1), strict=True))
    assert all(at % alignment == 0 for at, _, alignment in places)
    assert all(at + nbytes <= after for (at, nbytes, _), (after, _, _) in itertools.pairwise(places))
    assert function.static_threadgroup_nbytes == places[-1][0] + places[-1][1] - places[0][0]
    given = kernel(
        "kernel void k(device ulong *out, threadgroup long4 *x) { x[0] = long4(5); out[0] = (ulong)x % 32 + x[0].w; }"
    )
    assert launch(given, out, lengths=(48,)) is None
    assert out[0] == 5


def test_arrays_are_values() -> None:
    """An array of the library is copied and handed back whole."""
    body = """array<float, 3> a = {1, 2, 3}; array<float, 3> b = a; b[1] = x[0]; out[0] = a[1]; out[1] = b[1]; out[2] = b.size(); out[3] = b[2];"""
    assert computed(body, np.float32, "float", 4, 9.0) == [2, 9, 3, 3]


def test_literals_have_metals_types() -> None:
    """1.0 is a float, 1.0h a half, 1.0bf a bfloat, 1 an int, 1ul eight bytes."""
    text = """kernel void k(device uint *out) { out[0] = sizeof(1.0); out[1] = sizeof(1.0h); out[2] = sizeof(1.5bf); out[3] = sizeof(1ul);
        out[4] = is_same_v<decltype(0.1), float>; out[5] = is_same_v<decltype(2.0H), half>; out[6] = is_same_v<decltype(1bf), bfloat>; }"""
    out = np.zeros(8, u32)
    text = text.replace("decltype(1bf)", "decltype(1.0bf)")
    assert launch(kernel(text), out) is None
    assert out.tolist() == [4, 2, 2, 8, 1, 1, 1, 0]


def test_half_arithmetic_is_rounded_each_time() -> None:
    """A product of halves is rounded to a half before it is added; a fma is rounded once."""
    a, b, c = np.float16(1.001), np.float16(1.002), np.float16(-1.003)
    out = np.zeros(2, np.float16)
    text = "kernel void k(const device half *x, device half *out) { out[0] = x[0] * x[1] + x[2]; out[1] = fma(x[0], x[1], x[2]); }"
    assert launch(kernel(text), np.array([a, b, c]), out) is None
    assert out[0] == np.float16(a * b) + c
    assert out[1] == np.float16(np.float64(a) * np.float64(b) + np.float64(c))
    assert out[0] != out[1]


def test_no_contraction_unless_it_is_written() -> None:
    """With fast math off a * b + c is two roundings, for scalars and vectors; fma is one."""
    a, b, c = np.float32(1.0000001), np.float32(1.0000002), np.float32(-1.0000004)
    body = "out[0] = x[0] * x[1] + x[2]; float4 v = float4(x[0]) * x[1] + x[2]; out[1] = v.z; out[2] = fma(x[0], x[1], x[2]); out[3] = fma(float2(x[0]), float2(x[1]), float2(x[2])).y;"
    once = float(np.float32(np.float64(a) * np.float64(b) + np.float64(c)))
    twice = float(np.float32(a * b) + c)
    assert once != twice
    assert computed(body, np.float32, "float", 4, a, b, c) == [twice, twice, once, once]


def test_mathematics() -> None:
    """Functions of numbers are right to a few units in the last place, in all three namespaces."""
    x = 0.7
    names = {
        "exp": math.exp, "exp2": lambda v: 2**v, "log": math.log, "log2": math.log2, "log10": math.log10, "sqrt": math.sqrt,
        "sin": math.sin, "cos": math.cos, "tan": math.tan, "tanh": math.tanh, "sinh": math.sinh, "cosh": math.cosh, "asin": math.asin,
        "acos": math.acos, "atan": math.atan, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round,
        "fabs": abs, "fract": lambda v: v % 1, "rsqrt": lambda v: v**-0.5, "precise::exp": math.exp, "metal::fast::tanh": math.tanh,
        "saturate": lambda v: v, "sign": lambda v: 1.0, "exp10": lambda v: 10**v, "sinpi": lambda v: math.sin(math.pi * v),
    }  # fmt: skip
    body = " ".join(f"out[{i}] = {name}(x[0]);" for i, name in enumerate(names))
    got = computed(body, np.float32, "float", len(names), x)
    np.testing.assert_allclose(got, [function(float(np.float32(x))) for function in names.values()], rtol=3e-7)


def test_functions_of_several_numbers() -> None:
    """min, max, clamp, select, mix, pow and their like, for scalars and by component."""
    body = """out[0] = min(x[0], x[1]); out[1] = max(x[0], x[1]); out[2] = clamp(9.0f, x[0], x[1]); out[3] = select(1.0f, 2.0f, x[0] < x[1]);
        out[4] = mix(2.0f, 6.0f, 0.25f); out[5] = pow(x[1], 2); out[6] = atan2(1.0f, -1.0f); out[7] = fmod(7.5f, x[0]); out[8] = copysign(3.0f, -0.0f);
        float4 a = float4(1, -2, 3, -4), b = float4(2); bool4 less = a < b;
        float4 s = select(a, b, less); out[9] = s.x + s.y + s.z + s.w; out[10] = all(less) + 2 * any(less); out[11] = dot(a, b);
        out[12] = length(float2(3, 4)); float3 c = cross(float3(1, 0, 0), float3(0, 1, 0)); out[13] = c.z; out[14] = abs(a).w;
        out[15] = max(a, 0.5f).y; out[16] = clamp(a, -1.0f, 1.0f).w; out[17] = normalize(float2(0, 5)).y; float w; out[18] = modf(2.75f, w) + 10 * w;
        out[19] = isnan(NAN) + 2 * isinf(-INFINITY) + 4 * isfinite(FLT_MAX); out[20] = max3(1, 9, 4) + median3(1, 9, 4); out[21] = step(x[0], x[1]);"""
    got = computed(body, np.float32, "float", 22, 2.0, 5.0)
    expected = [2, 5, 5, 2, 3, 25, 3 * math.pi / 4, 1.5, -3, 2 + 2 + 3 + 2, 2, -4, 5, 1, 4, 0.5, -1, 1, 20.75, 7, 13, 1]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_whole_numbers() -> None:
    """Bit counts, high products, saturation and rotation of signed and unsigned numbers of every width."""
    text = """kernel void k(device long *o) {
        o[0] = clz(1u); o[1] = clz((uchar)1); o[2] = ctz(8u); o[3] = popcount((short)-1); o[4] = mulhi(0x80000000u, 6u); o[5] = mulhi(-3, 5);
        o[6] = addsat((uchar)250, (uchar)10); o[7] = subsat(INT_MIN, 1); o[8] = rotate(0x80000001u, 4u); o[9] = reverse_bits(1u); o[10] = abs(-7);
        o[11] = absdiff(3, 10); o[12] = hadd(7u, 10u); o[13] = extract_bits(0xABCDu, 4, 8); o[14] = insert_bits(0xFFFFu, 0u, 4, 8);
        o[15] = min(short(3), short(-4)); o[16] = UINT_MAX; o[17] = numeric_limits<short>::max(); o[18] = ctz(0); o[19] = extract_bits(0xF0, 4, 4);
        o[20] = clz(ushort4(1, 2, 256, 0)).z; o[21] = 1 << 4 | 3; o[22] = (uchar)300; o[23] = (int)-2.9f; o[24] = madhi(0x40000000, 8, 3); }"""
    out = np.zeros(25, np.int64)
    assert launch(kernel(text), out) is None
    assert out.tolist() == [
        31, 7, 3, 16, 3, -1, 255, -(2**31), 24, 2**31, 7, 7, 8, 0xBC, 0xF00F, -4, 2**32 - 1, 32767, 32, -1, 7, 19, 44, -2, 5,
    ]  # fmt: skip


def test_structures_from_every_memory() -> None:
    """A structure is copied whole from constant, device and threadgroup memory, and back."""
    text = """struct Inner { packed_float3 p; uchar tag; }; struct S { char a; Inner inner[2]; ulong b; };
        static S changed(S s) { s.b += 1; s.inner[1].tag = 9; return s; }
        kernel void k(constant S &c, device S *d, threadgroup S *t) { t[0] = c; S mine = d[0]; mine.b += t->b; d[1] = changed(mine); d[0] = t[0]; }"""
    function = kernel(text)
    record = np.dtype([("a", "i1"), ("inner", [("p", "f4", 3), ("tag", "u1")], 2), ("b", "u8")], align=True)
    assert function.bindings[0].data_size == record.itemsize == 48
    c, d = np.zeros(1, record), np.zeros(3, record)
    c["a"], c["b"], c["inner"]["p"][0, 1] = -5, 100, (1, 2, 3)
    d["a"], d["b"], d["inner"]["tag"] = 7, 1000, 4
    assert launch(function, c, d, lengths=(48,)) is None
    assert d[0] == c[0]
    assert (d[1]["a"], d[1]["b"], d[1]["inner"]["tag"].tolist()) == (7, 1101, [4, 9])
    assert d[2]["b"] == 1000


def test_pointers_in_memory() -> None:
    """A table of pointers is followed, as a pointer to pointers and as a structure's members."""
    text = """struct R { device uint *to; constant float *factor; };
        kernel void k(const device R *table, device uint *const device *rows, uint i [[thread_position_in_grid]])
        { table[i].to[1] = 10 * table[i].factor[0] + i; rows[i][0] = i + 5; }"""
    targets, factors = [np.zeros(2, u32) for _ in range(3)], np.array([2, 3, 4], np.float32)
    table = np.array([[t.ctypes.data, factors.ctypes.data + 4 * i] for i, t in enumerate(targets)], np.uint64)
    rows = np.array([t.ctypes.data for t in reversed(targets)], np.uint64)
    assert launch(kernel(text), table, rows, block=(3,)) is None
    assert [t.tolist() for t in targets] == [[7, 20], [6, 31], [5, 42]]


def test_atomics() -> None:
    """Every atomic operation on device and threadgroup memory, from all threads of several threadgroups."""
    text = """kernel void k(device atomic_uint *u, device atomic_int *s, device atomic_float *f, uint i [[thread_position_in_grid]],
                            uint t [[thread_position_in_threadgroup]]) {
        threadgroup atomic_uint local;
        if (t == 0) atomic_store_explicit(&local, 0, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        atomic_fetch_add_explicit(&local, 2, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t == 0) atomic_fetch_add_explicit(u, atomic_load_explicit(&local, memory_order_relaxed), memory_order_relaxed);
        atomic_fetch_max_explicit(&u[1], i * 3, memory_order_relaxed);
        atomic_fetch_or_explicit(&u[2], 1u << (i % 5), memory_order_relaxed);
        atomic_fetch_xor_explicit(&u[3], i, memory_order_relaxed);
        atomic_fetch_and_explicit(&u[4], ~(1u << (i % 7)), memory_order_relaxed);
        atomic_fetch_min_explicit(&s[0], -(int)i, memory_order_relaxed);
        atomic_fetch_sub_explicit(&s[1], 4, memory_order_relaxed);
        atomic_fetch_add_explicit(f, 0.5f, memory_order_relaxed);
        float seen = atomic_load_explicit(f + 1, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(f + 1, &seen, seen + 2, memory_order_relaxed, memory_order_relaxed)) {}
        if (i == 3) atomic_exchange_explicit(&s[2], 77, memory_order_relaxed); }"""
    u, s, f = np.zeros(5, u32), np.zeros(3, np.int32), np.zeros(2, np.float32)
    u[4] = 0xFFFF
    assert launch(kernel(text), u, s, f, grid=(3,), block=(40,)) is None
    xor = 0
    for i in range(120):
        xor ^= i
    assert u.tolist() == [240, 357, 31, xor, 0xFF80]
    assert s.tolist() == [-119, -480, 77]
    assert f.tolist() == [60.0, 240.0]


# ------------------------------------------------ declarations


def test_constants_of_the_program() -> None:
    """Arrays and values in the constant address space are there for every kernel."""
    text = """constant uint table[3] = {301, 302, 303}; constant float4 colour = float4(1, 2, 3, 4); constexpr constant int N = 3;
        static uint look(constant uint *t, uint i) { return t[i]; }
        kernel void k(device uint *out, uint i [[thread_position_in_grid]]) { uint mine[N] = {}; mine[i] = look(table, i); out[i] = mine[i] + (uint)colour[i]; }"""
    out = np.zeros(4, u32)
    assert launch(kernel(text), out, block=(3,)) is None
    assert out.tolist() == [302, 304, 306, 0]


def test_templates_by_their_host_names() -> None:
    """Each explicit instantiation is a kernel under its own name, with its own threadgroup memory; the template is none."""
    text = """
        template <typename T, int N> [[kernel]] void fill(device T *out [[buffer(0)]], constant T &value [[buffer(1)]], uint i [[thread_position_in_grid]]) {
            threadgroup T room[N];
            room[i] = value;
            out[i] = room[i] * N; }
        #define MAKE(NAME, ...) template [[host_name(NAME)]] [[kernel]] decltype(fill<__VA_ARGS__>) fill<__VA_ARGS__>;
        template [[host_name("fill_f32")]] kernel void fill<float, 5>(device float *, constant float &, uint);
        MAKE("fill" "_u8", uchar, 3)"""
    library = compile_library(HEAD + text)
    assert set(library.function_names) == {"fill_f32", "fill_u8"}
    floats, small = library.function("fill_f32"), library.function("fill_u8")
    assert (floats.static_threadgroup_nbytes, small.static_threadgroup_nbytes) == (20, 3)
    assert (floats.bindings[0].data_type, small.bindings[0].data_type) == (3, 49)
    out = np.zeros(6, np.float32)
    assert launch(floats, out, np.float32(1.5), block=(5,)) is None
    assert out.tolist() == [7.5] * 5 + [0]
    with pytest.raises(KeyError):
        library.function("fill")


CONSTANTS = """
constant uint count [[function_constant(2)]];
constant float factor [[function_constant(0)]];
constant bool is_fast [[function_constant(9)]];
constant half4 colour [[function_constant(11)]];
constant float scale = is_function_constant_defined(factor) ? factor : 0.5f;
static float scaled(float x) { return x * scale; }
kernel void k(device float *out, uint i [[thread_position_in_grid]]) { if (i < count) out[i] = scaled(8); }
kernel void tinted(device float *out) { out[0] = colour.z + (is_fast ? 100 : 0); }
kernel void plain(device float *out) { out[0] = 1; }
"""


def test_function_constants_are_told_per_kernel() -> None:
    """A kernel has the constants that it reads itself or through others; one that is asked for first is not required."""
    library = compile_library(HEAD + CONSTANTS)
    assert library.constants("k") == (FunctionConstant("count", 33, 2, True), FunctionConstant("factor", 3, 0, False))
    assert library.constants("tinted") == (
        FunctionConstant("is_fast", 53, 9, True),
        FunctionConstant("colour", 19, 11, True),
    )
    assert library.constants("plain") == ()


def test_each_specialisation_has_its_own_values() -> None:
    """Functions of one library with different constants live side by side, those that were not given take their default."""
    library = compile_library(HEAD + CONSTANTS)
    three = library.function("k", {2: struct.pack("I", 3), 0: struct.pack("f", 2.0)})
    one = library.function("k", {2: struct.pack("I", 1)})
    for function, expected in ((three, [16, 16, 16, 0]), (one, [4, 0, 0, 0]), (three, [16, 16, 16, 0])):
        out = np.zeros(4, np.float32)
        assert launch(function, out, block=(4,)) is None
        assert out.tolist() == expected
    tinted = library.function("tinted", {9: b"\x01", 11: np.array([1, 2, 3, 4], np.float16).tobytes()})
    out = np.zeros(1, np.float32)
    assert launch(tinted, out) is None
    assert out.tolist() == [103]


def test_macros_from_options() -> None:
    """A macro of the options is there in the text, and its name may be one that the library uses for itself."""
    library = compile_library(
        HEAD + "kernel void k(device T *out) { out[0] = N + V; }", macros={"N": "41", "T": "uint", "V": "1"}
    )
    out = np.zeros(1, u32)
    assert launch(library.function("k"), out) is None
    assert out.tolist() == [42]


def test_namespaces_and_references_to_arrays() -> None:
    """Kernels inside of namespaces are found by their plain name; an array of vectors is handed on by reference."""
    text = """namespace mine { namespace inner {
        static float total(threadgroup float4 (&tile)[2]) { return tile[0].x + tile[1].w; }
        kernel void k(device float *out) { threadgroup float4 tile[2]; tile[0] = float4(1); tile[1] = float4(0, 0, 0, 5); out[0] = total(tile); } } }"""
    out = np.zeros(1, np.float32)
    assert launch(kernel(text), out) is None
    assert out.tolist() == [6]


def test_fast_math_is_what_is_asked_for() -> None:
    """With fast math on, a sum may be taken in another order than it is written; off, it may not. Denormals stay in both."""
    text = "kernel void k(device float *x) { x[0] = (x[0] + x[1]) - x[0]; x[2] = x[2] * 0.5f; }"
    results = []
    for fast_math in (False, True):
        x = np.array([1e8, 1, 1e-40], np.float32)
        assert launch(compile_library(HEAD + text, fast_math=fast_math).function("k"), x) is None
        results.append(float(x[0]))
        assert np.float32(1e-40) * np.float32(0.5) != 0
    assert results == [0.0, 1.0]
