"""What Metal's compiler would not take is refused, each error with its line and column and in its form."""

from __future__ import annotations

import pytest
from rungs import require_rung

from . import CompileFailure, compile_library

require_rung("clang-19")

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def errors(text: str, **macros: str) -> list[str]:
    """The errors of a text behind two lines of head, without their lines of text and marks."""
    with pytest.raises(CompileFailure) as refused:
        compile_library(HEAD + text, macros=macros)
    lines = refused.value.log.splitlines()
    found = [
        line.removeprefix("program_source:")
        for line in lines
        if line.startswith("program_source:") and " error: " in line
    ]
    assert lines[-1] == f"{len(found)} error{'s' if len(found) != 1 else ''} generated."
    return found


def in_kernel(body: str) -> list[str]:
    return errors(
        f"kernel void k(device float *x, threadgroup float *t, constant uint &n,\nuint i [[thread_position_in_grid]]) {{\n{body}\n}}"
    )


def test_an_error_is_shown_as_metal_shows_it() -> None:
    """File, line, column and kind, then the line as it was written, then a mark under the column, then the count."""
    text = "kernel void k(device float *x [[buffer(0)]]) {\n    x[0]   =   /* three */ missing + 1;\n}\n"
    with pytest.raises(CompileFailure) as refused:
        compile_library(text)
    assert refused.value.log == (
        "program_source:2:28: error: use of undeclared identifier 'missing'\n"
        "    x[0]   =   /* three */ missing + 1;\n"
        "                           ^\n"
        "1 error generated.\n"
    )


def test_a_refusal_is_remembered_with_its_words() -> None:
    """The second compilation of a wrong text is refused in the same words, from what the first left."""
    logs = []
    for _ in range(2):
        with pytest.raises(CompileFailure) as refused:
            compile_library("kernel void k() { x = 1; }")
        logs.append(refused.value.log)
    assert logs[0] == logs[1] != ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x[0] = 1", "5:9: error: expected ';' after expression"),
        ("double y = 1;", "5:1: error: 'double' is not supported in Metal"),
        ("float y = erf(x[0]);", "5:11: error: use of undeclared identifier 'erf'"),
        ("x[0] = cbrt(x[1]) + lgamma(x[2]);", "5:8: error: use of undeclared identifier 'cbrt'"),
        ("printf(\"%d\", 1);", "5:1: error: use of undeclared identifier 'printf'"),
        ("x = t;", "5:5: error: assigning 'threadgroup float *' to 'device float *' changes address space of pointer"),
        ("thread float *p = x;", "5:15: error: cannot initialize a variable of type 'float *' with an lvalue of type 'device float *'"),
        ("float *p = 0;", "5:7: error: pointer type must have explicit address space qualifier"),
        ("float y = 1; float &z = y;", "5:20: error: reference type must have explicit address space qualifier"),
        ("n = 3;", "5:3: error: cannot assign to variable 'n'"),
        ("float y = max(x[0], 0);", "5:11: error: no matching function for call to 'max'"),
        ("float4 v = int4(1);", "5:8: error: cannot initialize a variable of type 'float4'"),
        ("float4 v = float4(1, 2, 3);", "5:12: error: a vector needs as many components as it has, or one scalar"),
        ("float3 v = float3(1); v.w = 2;", "5:24: error: vector component access exceeds type 'float3'"),
        ("threadgroup float s[4] = {1};", "5:1: error: variable in threadgroup address space cannot have an initializer"),
        ("goto end; end: x[0] = 1;", "5:1: error: goto is not supported in Metal"),
        ("float *p = new float[3];", "5:12: error: operator new is not supported in Metal"),
        ("try { x[0] = 1; } catch (...) {}", "5:1: error: cannot use 'try' with exceptions disabled"),
        ("uint u = as_type<uint>(half(1));", "5:10: error: as_type needs types of one size"),
        ("atomic_fetch_add_explicit(x, 1, memory_order_relaxed);", "5:1: error: no matching function for call to 'atomic_fetch_add_explicit'"),
        ("atomic_fetch_max_explicit((device atomic_float *)x, 1.0f, memory_order_relaxed);", "5:1: error: no matching function for call to 'atomic_fetch_max_explicit'"),
        ("auto y = memory_order_seq_cst;", "5:10: error: use of undeclared identifier 'memory_order_seq_cst'"),
    ],
)  # fmt: skip
def test_statements_that_are_not_metal(body: str, expected: str) -> None:
    """Each of these is legal nowhere in Metal, and the first error stands where it is."""
    assert any(error.startswith(expected) for error in in_kernel(body)), in_kernel(body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernel int k(device float *x) { return 1; }", "3:12: error: kernel must have void return type: 'k'"),
        ("kernel void k(float *x) {}", "3:21: error: pointer type must have explicit address space qualifier"),
        ("struct S { int a; };\nkernel void k(S *x) {}", "4:18: error: pointer type must have explicit address space qualifier"),
        ("kernel void k(device float *x, uint n) {}", "3:37: error: invalid type 'uint' for input declaration in a kernel function"),
        ("kernel void k(uint n [[buffer(0)]]) {}", "3:20: error: invalid type 'uint' for input declaration in a kernel function"),
        ("kernel void k(device float *x [[buffer(31)]]) {}", "3:29: error: 'buffer' attribute parameter is out of bounds: must be between 0 and 30"),
        ("kernel void k(device float *x [[buffer(2)]], device float *y [[buffer(2)]]) {}", "3:60: error: cannot reserve 'buffer' resource location at index 2: 'x' has it"),
        ("kernel void k(threadgroup float *x [[buffer(2)]]) {}", "3:34: error: 'buffer' attribute cannot be applied to a parameter in the threadgroup address space"),
        ("kernel void k(device float *x, float i [[thread_position_in_grid]]) {}", "3:1: error: type of a position or extent in the grid must be ushort, uint or a vector of 2 or 3 of them"),
        ("kernel void k(device float *x, uint2 i [[thread_index_in_simdgroup]]) {}", "3:1: error: type of an index must be ushort or uint"),
        ("kernel void k(uint2 i [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {}", "3:1: error: the vectors among the positions and extents of a kernel must have one number of components"),
        ("kernel void k(device float *x, uint i [[thread_position_in_gird]]) {}", "3:37: error: the stand-in knows no attribute 'thread_position_in_gird' of a kernel's parameter"),
        ("float table[2] = {1, 2};", "3:7: error: program scope variable must reside in constant address space"),
        ("constexpr int N = 3;", "3:15: error: program scope variable must reside in constant address space"),
        ("void f() {\n  threadgroup float s[4];\n}", "4:3: error: variables in the threadgroup address space can only be declared in a kernel function"),
        ("constant float one;", "3:16: error: default initialization of an object of const type 'constant float'"),
        ("static float f(thread float *p) { return *p; }\nkernel void k(device float *x) { x[0] = f(x); }", "4:41: error: no matching function for call to 'f'"),
        ("#include <vector>", "3:10: error: 'vector' file not found"),
        ("kernel void k(device float *x) {", "3:33: error: expected '}'"),
        ("template [[host_name(\"f\")]] kernel void none<float>(device float *);", "3:41: error: explicit instantiation of 'none' does not refer to a function template"),
        ("static_assert(sizeof(float3) == 12, \"three floats\");", "3:15: error: static assertion failed due to requirement"),
        ("#error not for this device", "3:2: error: not for this device"),
    ],
)  # fmt: skip
def test_declarations_that_are_not_metal(text: str, expected: str) -> None:
    """Rules of kernels, their parameters, address spaces and the program's scope, each broken once."""
    assert any(error.startswith(expected) for error in errors(text)), errors(text)


def test_a_macro_that_is_wrong_is_told_in_the_text() -> None:
    """An error that comes from an option's macro stands where the text uses it."""
    assert errors("kernel void k(device float *x) {\n  x[0] = N;\n}", N="absent + 1") == [
        "4:10: error: use of undeclared identifier 'absent'"
    ]


def test_several_errors_stand_in_their_order() -> None:
    """Errors of the language and of Metal's own rules are told together, by line."""
    found = errors("kernel void k(device float *x) {\n  x[0] = a;\n  double d;\n  x[1] = b;\n}")
    assert [error.split(":")[0] for error in found] == ["4", "5", "6"]


@pytest.mark.parametrize(
    "text",
    [
        "kernel void k(device float4 *x, uint i [[thread_position_in_grid]]) { x[i].xz = x[0].yw; x[i][1] = x->w; x[i] += 2; }",
        "static inline void set(device float &r, thread const float &v) { r = v; }\nkernel void k(device float *x) { float v = 2; set(x[0], v); }",
        "struct Pair { float a, b; };\nstatic Pair swapped(Pair p) { return {p.b, p.a}; }\nkernel void k(device Pair *p) { p[0] = swapped(p[1]); Pair q = {1, 2}; p[2] = q; }",
        "template <typename T> T twice(T x) { return x + x; }\nkernel void k(device half2 *x) { x[0] = twice(x[1]); x[1] = twice<half2>(half2(1)); }",
        "enum class Mode : uint { add, multiply };\nconstant Mode mode = Mode::multiply;\nkernel void k(device float *x) { switch (mode) { case Mode::add: x[0] = 1; break; default: x[0] = 2; } }",
        "typedef struct { uint3 size; packed_float3 origin; } Grid;\nstatic_assert(sizeof(Grid) == 32, \"\");\nkernel void k(constant Grid &g [[buffer(0)]], device uint *x [[buffer(1)]]) { x[0] = g.size.y + uint(g.origin[2]); }",
        "#pragma clang fp contract(off)\nkernel void k(device float *x) {\n#pragma unroll\nfor (ushort i = 0; i < 4; ++i) x[i] *= 0.5; }",
        "using scalar = float;\nkernel void k(device scalar *x [[buffer(0)]], constant scalar (&w)[3] [[buffer(1)]]) { x[0] = w[2]; }",
        "kernel void first(device uint *x) { x[0] = 1; }\n[[kernel]] void second(device uint *x) { x[0] = 2; }",
        "kernel void k(device uchar *bytes) { device uint *words = (device uint *)bytes; device uint *more = reinterpret_cast<device uint *>(bytes + 4); words[0] = *more; }",
        "static float area(float2 s) { return s.x * s.y; }\nkernel void k(device float *x) { auto f = area(float2(x[0], 2)); const float2 v = {1, 2}; x[1] = f + v.y; }",
        "#ifdef __METAL_VERSION__\n#if __METAL_VERSION__ >= 300\nkernel void k(device float *x) { x[0] = M_PI_F + FLT_MAX + HALF_MAX; }\n#endif\n#endif",
    ],
)  # fmt: skip
def test_what_is_metal_is_taken(text: str) -> None:
    """Texts of the kind that compute kernels are written in compile without a word."""
    assert compile_library(HEAD + text).function_names
