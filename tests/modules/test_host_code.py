"""Telling host code in CUDA C from device code."""

from __future__ import annotations

from metrale_gpu_runtime.modules.host_code import find_host_code, host_code_in

MIXED = r"""#include <iostream>
// int commented() { }
/* void also_commented() {} */
#define DEV __device__ inline
const char* s = "int in_a_string() {"; const char* r = R"x(void raw() {})x";
namespace a { namespace b {
DEV int dev(int x) { return x; }
template <typename T, int N = 3> __global__ void __launch_bounds__(256, 2) k(T* x) { if (x) { *x = N; } }
struct P { int f; };
static inline float plain(float v)
{
  return v;
}
int table[] = {1, 2, 3};
} }
extern "C" {
__global__ void kk(int* p) { auto l = [](int q) { return q; }; *p = l(1); }
void run() {
  a::b::k<float, 7><<<1, 2>>>(nullptr);
}
}
#include "local.h"
int main(int argc, char** argv) try { kk <<< 1, 1 >>> (0); } catch (...) {}
bool operator==(const P& a, const P& b) { return true; }
"""


def test_functions_launches_and_headers_are_found_with_their_lines() -> None:
    """Host code is named by kind, name and line; comments, strings and device code are not taken for it."""
    assert [(each.kind, each.name, each.line) for each in find_host_code(MIXED)] == [
        ("header", "<iostream>", 1),
        ("function", "plain", 10),
        ("function", "run", 18),
        ("launch", "a::b::k", 19),
        ("function", "main", 23),
        ("launch", "kk", 23),
        ("function", "operator==", 24),
    ]


def test_device_code_alone_holds_none() -> None:
    """A file of kernels and device functions has no host code."""
    source = """
    #include <stdint.h>
    #include "shared.h"
    __constant__ float weights[3] = {1, 2, 3};
    enum class Mode { fast, slow };
    template <class T> struct Box { T value; __device__ T get() const { return value; } };
    __host__ __device__ float both(float x) { return x < 1 ? x : 1 << 3; }
    extern "C" __global__ void k(float* x) { for (int i = 0; i < 3; ++i) { x[i] = both(x[i]); } }
    """
    assert find_host_code(source) == ()


def test_the_compilers_word_counts() -> None:
    """Diagnostics about host functions and variables are turned into names; those in headers keep their file."""
    source = "int total = 3;\nint twice(int x) { return 2 * x; }\n"
    host = "error: A function without execution space annotations is considered a host function, and so on"
    variable = "error: A namespace scope variable is considered a host variable, and host variables are not allowed"
    found = host_code_in(
        source, "k.cu", [("k.cu", 1, variable), ("k.cu", 2, host), ("h.h", 7, host), ("k.cu", 2, "error: other")]
    )
    assert [(each.kind, each.name, each.line, each.file) for each in found] == [
        ("variable", "total", 1, ""),
        ("function", "twice", 2, ""),
        ("function", "", 7, "h.h"),
    ]


def test_unfinished_text_does_not_trip_the_scan() -> None:
    """Unbalanced braces and quotes end the scan, no more."""
    for text in ("void f() {", '"open', "}}}}", "/* open", "k<<<", "namespace {", "int g(", 'R"x(', "#define X \\"):
        find_host_code(text)
