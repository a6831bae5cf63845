"""Names: a kernel is found by what its author wrote."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.errors import KernelNotFound
from metrale_gpu_runtime.modules.kernel_names import close_names, kernel_not_found, resolve_symbol

SYMBOLS = (
    "_Z3addPfS_i",  # add(float*, float*, int)
    "_ZN4norm5scaleIfLi3EEEvPT_",  # void norm::scale<float, 3>(float*)
    "_Z4fillPdi",  # fill(double*, int)
    "_Z4fillPfi",  # fill(float*, int)
    "plain",
)


@pytest.mark.parametrize(
    ("written", "symbol"),
    [
        ("plain", "plain"),
        ("add", "_Z3addPfS_i"),
        ("add(float*, float*, int)", "_Z3addPfS_i"),
        ("add(float *,float *,int)", "_Z3addPfS_i"),
        ("_Z3addPfS_i", "_Z3addPfS_i"),
        ("scale", "_ZN4norm5scaleIfLi3EEEvPT_"),
        ("norm::scale", "_ZN4norm5scaleIfLi3EEEvPT_"),
        ("scale<float,3>", "_ZN4norm5scaleIfLi3EEEvPT_"),
        ("norm::scale<float, 3>", "_ZN4norm5scaleIfLi3EEEvPT_"),
        ("fill(double*, int)", "_Z4fillPdi"),
        ("fill(float*, int)", "_Z4fillPfi"),
        ("ad", None),
        ("scale<float, 4>", None),
        ("other::scale", None),
    ],
)
def test_a_name_means_the_one_kernel_it_can_be(written: str, symbol: str | None) -> None:
    """A C++ name finds its symbol with or without namespaces, template arguments and parameters."""
    assert resolve_symbol("m", written, SYMBOLS) == symbol


def test_an_ambiguous_name_lists_the_overloads() -> None:
    """A name of several kernels is refused, listing them with their parameters."""
    with pytest.raises(KernelNotFound) as caught:
        resolve_symbol("m", "fill", SYMBOLS)
    assert caught.value.close == ("_Z4fillPdi", "_Z4fillPfi")
    assert "fill(double*, int) [_Z4fillPdi]" in str(caught.value)
    assert "fill(float*, int) [_Z4fillPfi]" in str(caught.value)


def test_a_lowered_name_wins_over_guessing() -> None:
    """A name expression that was compiled means the symbol the compiler gave it."""
    assert resolve_symbol("m", "fill< double >", SYMBOLS, {"fill<double>": "_Z4fillPdi"}) == "_Z4fillPdi"


def test_a_miss_names_module_request_choice_and_reason() -> None:
    """The error carries module, request, what there is and what comes near, and the extern "C" hint where it helps."""
    error = kernel_not_found("norm", "Plian", SYMBOLS)
    assert (error.module, error.function, error.available) == ("norm", "Plian", SYMBOLS)
    assert error.close == ("plain",)
    text = str(error)
    assert "did you mean plain?" in text
    assert "add(float*, float*, int) [_Z3addPfS_i]" in text
    assert 'extern "C"' in text
    assert 'extern "C"' not in str(kernel_not_found("norm", "sun", ("sum", "max")))
    assert "cannot be listed" in str(kernel_not_found("norm", "sun", None))
    assert "no kernels at all" in str(kernel_not_found("norm", "sun", ()))
    assert "is a device function" in str(kernel_not_found("norm", "dev", ("sum",), device_functions=("dev",)))


def test_near_names_look_through_mangling() -> None:
    """Near matches compare what was written, not the mangled text, and letter case does not matter."""
    assert close_names("sclae", SYMBOLS) == ["_ZN4norm5scaleIfLi3EEEvPT_"]
    assert close_names("ADD", SYMBOLS) == ["_Z3addPfS_i"]
    assert close_names("zzzzzz", SYMBOLS) == []


def test_a_long_list_is_cut() -> None:
    """A module of a thousand kernels does not fill the screen."""
    names = tuple(f"kernel_{number:04}" for number in range(1000))
    error = kernel_not_found("big", "other", names)
    assert error.available == names
    assert "and 970 more" in str(error)
    assert len(str(error)) < 1000
