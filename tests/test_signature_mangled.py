"""Mangled names: the parameters and the readable name that a symbol spells."""

from __future__ import annotations

import random

import pytest

from metrale_gpu_runtime.scalars import bf16, boolean, c64, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from metrale_gpu_runtime.signature import Parameter, from_mangled, readable_name

# Symbols as compilers write them, with what the source said.
SYMBOLS = {
    "_Z3addPfPKfi": "add(float*, const float*, int)",
    "_Z4axpyIdEvT_PKS0_PS0_": "axpy<double>(double, const double*, double*)",
    "_Z6kernelIfLi4EEvPT_i": "kernel<float, 4>(float*, int)",
    "_Z1kv": "k()",
    "_ZL6staticPKj": "static(const unsigned int*)",
    "_Z1kPfS_S_": "k(float*, float*, float*)",
    "_Z1kPKfS0_Pf": "k(const float*, const float*, float*)",
    "_Z1kPPKfPKS0_S1_": "k(const float**, const float* const*, const float**)",
    "_ZN2ns5inner1kEPKdx": "ns::inner::k(const double*, long long)",
    "_ZN12_GLOBAL__N_11kEPm": "(anonymous namespace)::k(unsigned long*)",
    "_Z1k6float4P6__half13__nv_bfloat16": "k(float4, __half*, __nv_bfloat16)",
    "_Z1kRKfOi": "k(const float&, int&&)",
    "_Z1kPA4_f": "k(float (*)[4])",
    "_Z1kPFviPfE": "k(void (*)(int, float*))",
    "_Z1kPVfPrKi": "k(float*, const int*)",
    "_Z3addIJfiEEvDpT_": "add<float, int>(float, int)",
    "_Z4packIJifPcEEvDpT_i": "pack<int, float, char*>(int, float, char*, int)",
    "_Z5pack2IJifEEvDpP3ArrIT_Li3EE": "pack2<int, float>(Arr<int, 3>*, Arr<float, 3>*)",
    "_Z4noneIJEEvDpT_i": "none<>(int)",
    "_ZN3FooIfE3barET_": "Foo<float>::bar(float)",
    "_Z3litIL4Mode1ELb1ELy77ELc120EEvS0_": "lit<(Mode)1, true, 77ull, (char)120>(Mode)",
    "_Z3litILin5EEvPf": "lit<-5>(float*)",
    "_ZN2n12ttI3ArrfEEvT_IT0_Li4EEPS3_": "n1::tt<Arr, float>(Arr<float, 4>, float*)",
    "_Z1kN4cuda3std3__47complexIfEEPKS3_": "k(cuda::std::__4::complex<float>, const cuda::std::__4::complex<float>*)",
    "_Z1kP14CUtensorMap_st": "k(CUtensorMap_st*)",
    "_Z1kSt5arrayIfLm3EE": "k(std::array<float, 3ul>)",
    "_Z1kDF16_DhDF16bu6__bf16": "k(_Float16, _Float16, bfloat16_t, __bf16)",
    "_Z1kPU3AS1f": "k(float*)",
    "_ZN2n12fnIZ4mainEUlfE_EEvT_Pf": "n1::fn<main::{lambda(float)#1}>(main::{lambda(float)#1}, float*)",
    "_ZN1SclEPf": "S::operator()(float*)",
    "_Z1kB5abi11Pf": "k(float*)",
    "_ZN1A1kINS_1BEEEvPT_NS1_1CE": "A::k<A::B>(A::B*, A::B::C)",
}


def _spelled(symbol: str) -> str | None:
    signature = from_mangled(symbol)
    if signature is None or signature.parameters is None:
        return None
    return f"{readable_name(symbol)}({', '.join(each.c_type or '?' for each in signature.parameters)})"


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_symbols_say_what_the_source_said(symbol: str) -> None:
    """A symbol's name, template arguments and parameter types come out as the source had them."""
    assert _spelled(symbol) == SYMBOLS[symbol]


def _parameters(symbol: str) -> tuple[Parameter, ...]:
    signature = from_mangled(symbol)
    assert signature is not None
    assert signature.sources == ("mangled name",)
    assert signature.kernel == symbol
    assert signature.parameters is not None
    return signature.parameters


def test_every_builtin_code_is_its_scalar_type() -> None:
    """The one-letter codes are the LP64 types of C, in sign, size and kind."""
    expected = [boolean, i8, u8, i16, u16, i32, u32, i64, u64, i64, u64, f32, f64]
    parameters = _parameters("_Z1kbahstijlmxyfd")
    assert [each.scalar for each in parameters] == expected
    assert [each.nbytes for each in parameters] == [each.nbytes for each in expected]
    assert {each.kind for each in parameters} == {"value"}
    assert [each.index for each in parameters] == list(range(13))


def test_plain_char_has_no_sign() -> None:
    """`char` is a byte whose sign the host decides, so it may be read as either."""
    (parameter,) = _parameters("_Z1kc")
    assert (parameter.nbytes, parameter.signed, parameter.floating) == (1, None, False)
    assert parameter.readings() == (i8, u8)


def test_pointees_carry_type_and_constness() -> None:
    """PK is a pointer to const; the pointee's type is the element type."""
    x, y, half, brain, void, double_pointer, complex_, vector = _parameters(
        "_Z1kPKfPdPK6__halfP13__nv_bfloat16PvPPfPN6thrust7complexIfEEPK6float4"
    )
    assert [(each.element, each.constant) for each in (x, y)] == [(f32, True), (f64, False)]
    assert (half.element, half.constant, brain.element) == (f16, True, bf16)
    assert (void.element, void.element_name) == (None, "void")
    assert (double_pointer.element, double_pointer.element_name) == (u64, "float*")
    assert complex_.element == c64
    assert (vector.element, vector.element_name, vector.constant) == (f32, "float4", True)
    assert {each.kind for each in (x, y, half, brain, void, double_pointer, complex_, vector)} == {"pointer"}


def test_a_class_of_unknown_size_is_a_value_with_a_name() -> None:
    """A class by value is known to be a value; of its size a mangled name says nothing."""
    (parameter,) = _parameters("_Z1kN2ns8ParticleE")
    assert (parameter.kind, parameter.nbytes, parameter.scalar, parameter.c_type) == (
        "value",
        None,
        None,
        "ns::Particle",
    )


def test_signatures_print_readably() -> None:
    """A mangled kernel's signature prints with its readable name and its source."""
    assert str(from_mangled("_Z6kernelIfLi4EEvPT_i")) == "void kernel<float, 4>(float*, int)  [mangled name]"


@pytest.mark.parametrize(
    "symbol",
    ["", "add", "rms_norm_f32", "_Z", "_Z1", "_Z9add", "_Z3add", "_Z1kS_", "_Z1kT_", "_Z1kIiEvT5_", "_Z1kIiEvDpT_",
     "_Z1kDTclfp_E", "_Z1kP", "_Z3addPfq", "_ZN3add", "_ZTV3Foo", "_Z0kv", "__Z1kv"],
)  # fmt: skip
def test_what_is_no_function_symbol_is_none(symbol: str) -> None:
    """Unmangled, cut-off and unreadable symbols are no error: nothing is known, and the name stays as it is."""
    assert from_mangled(symbol) is None
    assert readable_name(symbol) == symbol


def test_symbols_of_hostile_depth_and_growth_end_quickly() -> None:
    """Names that nest without end, or double themselves by substitution, are given up, not expanded."""

    def place(number: int) -> str:
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return (
            "S_" if number == 0 else f"S{digits[(number - 1) // 36] if number > 36 else ''}{digits[(number - 1) % 36]}_"
        )

    doubling = "_Z1k1AIiiE" + "".join(f"S_I{place(n)}{place(n)}E" for n in range(1, 60))
    assert from_mangled(doubling[: len("_Z1k1AIiiES_IS0_S0_E")]) is not None
    for symbol in (
        doubling,
        "_Z" + "Z" * 9000,
        "_Z1k" + "P" * 9000 + "f",
        "_Z1k" + "F" * 9000,
        "_ZN" * 4000,
        "_Z1kM" * 4000,
    ):
        assert from_mangled(symbol) is None


def test_damaged_symbols_never_raise() -> None:
    """Ten thousand damaged symbols give a signature or None each."""
    source = random.Random(20)
    symbols = list(SYMBOLS)
    for _ in range(10_000):
        symbol = list(source.choice(symbols))
        for _ in range(source.randint(1, 3)):
            at = source.randrange(2, len(symbol))
            change = source.random()
            if change < 0.4:
                symbol[at] = source.choice("SPKIEN_ZTDLJ0123456789fivpdxX")
            elif change < 0.7:
                del symbol[at:]
                symbol.append("E")
            else:
                symbol.insert(at, source.choice("SPKIEN_ZTDLJ019fid"))
        signature = from_mangled("".join(symbol))
        assert signature is None or signature.parameters is not None
