"""Signatures from debug information: names and C types as the source has them."""

from __future__ import annotations

import pytest
from rungs import require_rung

from metrale_gpu_runtime.modules.debug_signatures import signatures_from_debug_information
from metrale_gpu_runtime.modules.debug_types import section_bytes
from metrale_gpu_runtime.modules.nvrtc import compile_ptx
from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.ptx.syntax import PtxModule, Section
from metrale_gpu_runtime.scalars import bf16, boolean, f16, f32, f64, i16, i32, i64, u8, u16, u32, u64
from metrale_gpu_runtime.signature import KernelSignature, Parameter, from_ptx, merge

SOURCE = """
#include <stdint.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda.h>
typedef float real;
using index_t = unsigned long long;
struct Mixed { char a; double b; int c; };
struct Empty {};
struct alignas(32) Wide { float v[3]; };
struct Node { Node* next; float value; };
enum Mode : unsigned short { fast, slow };
enum class Kind { one };
union Either { int i; float f[3]; };
namespace n { template <class T> struct Span { T* data; int count; }; }
extern "C" __global__ void numbers(bool b, char c, signed char sc, unsigned char uc, short s, unsigned short us, int i,
    unsigned u, long l, unsigned long ul, long long ll, index_t q, size_t n, float f, double d, real r, const int ci) {}
extern "C" __global__ void halves(__half h, __nv_bfloat16 w, half2 h2, float4 f4, int3 i3) {}
extern "C" __global__ void pointers(const float* __restrict__ x, uint8_t* y, void* v, const void* cv, real* rp,
    const __half* h, float3* f3, const Mixed* const* pp, int (*fn)(int), volatile int* vi, int (*rows)[4],
    const __nv_bfloat162* w2, int& ref, Node* node, index_t* q, Mode* modes) {}
extern "C" __global__ void records(char a, Mixed m, Empty e, Mode mode, Kind kind, Either either, n::Span<float> span,
    Wide w, const __grid_constant__ CUtensorMap map, char z) {}
template <class T, int N> __global__ void scale(T* values, int, int count) {}
template __global__ void scale<double, 7>(double*, int, int);
"""


@pytest.fixture(scope="module")
def modules() -> tuple[PtxModule, PtxModule]:
    """The source compiled plainly and for debugging."""
    require_rung("nvrtc")
    require_rung("debug information")
    return tuple(parse(compile_ptx(SOURCE, name="k.cu", debug=debug).ptx) for debug in (False, True))  # type: ignore[return-value]


@pytest.fixture(scope="module")
def signatures(modules: tuple[PtxModule, PtxModule]) -> dict[str, KernelSignature]:
    """Each kernel's debug signature, filled in from its PTX, as a load does it."""
    plain, debug = modules
    found = signatures_from_debug_information(debug)
    return {symbol: merge(signature, from_ptx(plain.functions[symbol])) for symbol, signature in found.items()}


def parameters(signatures: dict[str, KernelSignature], kernel: str) -> dict[str | None, Parameter]:
    return {each.name: each for each in signatures[kernel].parameters or ()}


def test_every_kernel_is_described(
    modules: tuple[PtxModule, PtxModule], signatures: dict[str, KernelSignature]
) -> None:
    """Each kernel has its signature, and none contradicts its PTX."""
    assert set(signatures) == {kernel.name for kernel in modules[0].kernels()}
    assert all(each.sources == ("debug information", "PTX") for each in signatures.values())


def test_numbers_have_their_exact_types(signatures: dict[str, KernelSignature]) -> None:
    """Every C integer and float is known exactly, typedefs and const looked through; plain char has no sign."""
    known = {name: each.scalar for name, each in parameters(signatures, "numbers").items()}
    assert known == {
        "b": boolean, "c": None, "sc": known["sc"], "uc": u8, "s": i16, "us": u16, "i": i32, "u": u32, "l": i64,
        "ul": u64, "ll": i64, "q": u64, "n": u64, "f": f32, "d": f64, "r": f32, "ci": i32,
    }  # fmt: skip
    assert known["sc"] is not None
    assert (known["sc"].nbytes, known["sc"].kind) == (1, "signed")
    char = parameters(signatures, "numbers")["c"]
    assert (char.nbytes, char.signed, char.floating, char.kind) == (1, None, False, "value")


def test_halves_and_vectors_are_told_apart(signatures: dict[str, KernelSignature]) -> None:
    """Half and bfloat16, which PTX cannot tell apart, are known; vector types keep size and alignment."""
    found = parameters(signatures, "halves")
    assert (found["h"].scalar, found["w"].scalar) == (f16, bf16)
    assert [(found[name].nbytes, found[name].align) for name in ("h2", "f4", "i3")] == [(4, 4), (16, 16), (12, 4)]
    assert [found[name].offset for name in ("h", "w", "h2", "f4", "i3")] == [0, 2, 4, 16, 32]


def test_pointers_know_their_elements(signatures: dict[str, KernelSignature]) -> None:
    """A pointer knows its element type and const; what has no element type, and arrays and references, is a pointer."""
    found = parameters(signatures, "pointers")
    assert all((each.kind, each.nbytes) == ("pointer", 8) for each in found.values())
    elements = {name: each.element for name, each in found.items()}
    assert elements == {
        "x": f32, "y": u8, "v": None, "cv": None, "rp": f32, "h": f16, "f3": f32, "pp": u64, "fn": None, "vi": i32,
        "rows": i32, "w2": bf16, "ref": i32, "node": None, "q": u64, "modes": None,
    }  # fmt: skip
    assert {name for name, each in found.items() if each.constant} == {"x", "cv", "h", "pp", "w2"}


def test_records_are_values_of_their_size(signatures: dict[str, KernelSignature]) -> None:
    """Structures, unions and enumerations by value have their size; alignment and offset are the compiled code's."""
    found = parameters(signatures, "records")
    assert {name: (each.nbytes, each.align, each.offset) for name, each in found.items()} == {
        "a": (1, 1, 0), "m": (24, 8, 8), "e": (1, 1, 32), "mode": (2, 2, 34), "kind": (4, 4, 36), "either": (12, 4, 40),
        "span": (16, 8, 56), "w": (32, 32, 96), "map": (128, 128, 128), "z": (1, 1, 256),
    }  # fmt: skip
    assert all(each.kind == "value" for each in found.values())
    assert found["mode"].floating is False


def test_templates_and_nameless_parameters(signatures: dict[str, KernelSignature]) -> None:
    """A template's instance is described under its symbol; a parameter without a name keeps its place."""
    signature = signatures["_Z5scaleIdLi7EEvPT_ii"]
    assert [each.name for each in signature.parameters or ()] == ["values", None, "count"]
    assert [each.scalar or each.element for each in signature.parameters or ()] == [f64, i32, i32]


def test_it_prints_as_the_source_has_it(signatures: dict[str, KernelSignature]) -> None:
    """Typedefs keep their spelling, qualifiers their place."""
    text = str(signatures["pointers"])
    for piece in (
        "const float* x",
        "uint8_t* y",
        "real* rp",
        "const Mixed* const* pp",
        "int& ref",
        "index_t* q",
        "int (*fn)(int)",
        "int (*rows)[4]",
    ):
        assert piece in text
    assert "Span<float> span" in str(signatures["records"])
    assert text.endswith("[debug information]")


def test_labels_become_offsets() -> None:
    """A label of a section is its offset there, a section's own name 0, a label of code 0, and addends count."""
    info = Section(".debug_info", ((4, ("far", 2)), (8, ("$code", 0)), (4, (".debug_abbrev", 0)), (1, -1)), {"near": 4})
    other = Section(".debug_str", ((2, 0x0102), (1, 3)), {"far": 2})
    module = PtxModule((8, 0), "sm_80", (), 64, {}, {}, {".debug_info": info, ".debug_str": other}, {})
    assert section_bytes(module) == {
        ".debug_info": b"\x04\0\0\0" + bytes(8) + bytes(4) + b"\xff",
        ".debug_str": b"\x02\x01\x03",
    }
