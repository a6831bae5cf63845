"""The cases of the field that speak of OpenCL or PoCL: where each is shown on PoCL.

The cases are those of `field-cases.md`, kept beside the repository.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from metrale_gpu_runtime.testing.conformance import cases

TESTS = Path(__file__).parents[1]
CASES = TESTS.parents[1] / "shared" / "field-cases.md"

_ARGUMENT = "opencl/test_opencl_arguments.py::"
_CODE = "opencl/test_opencl_programs.py::"
_MEMORY = "opencl/test_opencl_memory.py::"
_PROCESS = "opencl/test_opencl_processes.py::"
_CACHE = "cache/test_cache_backends.py::"
_DOCTOR = "doctor/test_doctor_opencl.py::"


def laws(*names: str) -> tuple[str, ...]:
    return tuple(f"conformance/test_opencl.py::test_the_law_holds_on_opencl[{name}]" for name in names)


WHERE: dict[int, tuple[str, ...]] = {
    1: (_ARGUMENT + "test_1_a_float_is_four_bytes", *laws("a_bare_number_needs_a_known_kind")),
    3: (_ARGUMENT + "test_3_an_argument_left_out_is_never_the_last_ones",),
    5: (_ARGUMENT + "test_5_elements_have_the_declared_type", *laws("elements_of_the_wrong_type_are_refused")),
    6: laws("guard_bands_tell_who_wrote_past_the_end", "guard_bands_raise_no_false_alarm"),
    9: (
        "opencl/test_opencl_threads.py::test_9_eight_threads_write_their_own_ids",
        *laws("threads_never_see_each_others_values"),
    ),
    11: (_CODE + "test_11_two_modules_with_one_kernel_name", *laws("a_module_outlives_its_launches")),
    12: (
        _CODE + "test_12_a_changed_header_is_seen",
        _CACHE + "test_a_changed_header_or_option_is_seen",
        _CACHE + "test_unchanged_input_is_a_hit",
    ),
    13: (
        _ARGUMENT + "test_13_structures_keep_every_field",
        _ARGUMENT + "test_13_packed_structures_are_refused",
        _CODE + "test_types_are_the_compilers_own",
    ),
    14: laws("arguments_of_mixed_widths_keep_their_places"),
    15: (_ARGUMENT + "test_15_integers_arrive_or_are_refused", *laws("numbers_out_of_range_are_refused")),
    16: (_ARGUMENT + "test_16_halves_go_by_their_bits",),
    17: (
        _ARGUMENT + "test_17_views_start_where_they_start",
        _ARGUMENT + "test_17_views_with_gaps_are_refused",
        _MEMORY + "test_copies_honour_offsets_on_both_sides",
    ),
    21: (_ARGUMENT + "test_21_an_empty_grid_is_a_checked_no_op", *laws("an_empty_grid_is_a_checked_no_op")),
    22: (_ARGUMENT + "test_22_null_and_empty_buffers", *laws("empty_buffers_are_buffers")),
    25: (_ARGUMENT + "test_25_a_kernels_own_work_group_size_is_checked",),
    29: (
        _PROCESS + "test_29_a_process_with_everything_open_ends_quietly",
        *laws("leaving_the_interpreter_is_silent", "a_users_exception_is_the_only_output"),
    ),
    31: (
        _ARGUMENT + "test_31_every_group_is_whole",
        _ARGUMENT + "test_31_local_memory_is_given_by_argument_or_as_shared",
        _ARGUMENT + "test_31_local_memory_left_out_is_refused",
    ),
    34: (_ARGUMENT + "test_34_argument_bytes_have_the_devices_limit",),
    38: ("conformance/test_opencl.py::test_the_law_holds_on_opencl",),
    41: (
        _PROCESS + "test_41_a_second_process_builds_no_source",
        _CACHE + "test_new_block_sizes_build_no_source",
    ),
    43: (_CODE + "test_43_a_name_that_is_not_there", *laws("a_missing_kernel_is_explained")),
    45: (
        "opencl/test_opencl_opening.py::test_pocl_is_opened_by_name",
        _DOCTOR + "test_an_empty_vendor_folder",
        _DOCTOR + "test_an_entry_that_names_a_missing_library",
        _DOCTOR + "test_pocls_device_is_chosen_by_name",
    ),
    47: (
        _PROCESS + "test_47_rounds_end_as_they_began",
        _PROCESS + "test_47_many_devices_are_opened_and_closed",
        *laws("the_ledger_returns_to_its_start", "the_ledger_says_who_made_what"),
    ),
    48: (
        "opencl/test_opencl_streams.py::test_48_a_time_is_that_of_the_device",
        *laws("elapsed_time_means_something_or_raises"),
    ),
}


@cache
def _named_in(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("case", WHERE)
def test_every_case_has_its_tests(case: int) -> None:
    """A case's tests are there under the names that the table gives, each once."""
    named = WHERE[case]
    assert len(set(named)) == len(named) > 0
    known = {str(each) for each in cases()}
    for each in named:
        path, _, name = each.partition("::")
        function, _, law = name.partition("[")
        assert function in _named_in(path), each
        assert not law or law.rstrip("]") in known, each


@pytest.mark.skipif(not CASES.is_file(), reason="field-cases.md is not kept beside this checkout")
def test_no_case_is_forgotten() -> None:
    """Every case whose reproduction is on PoCL is in the table."""
    texts = re.split(r"^## (\d+)\. ", CASES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    numbered = zip(texts[::2], texts[1::2], strict=True)
    wanted = {int(number) for number, text in numbered if re.search(r"^- Reproduce:.*PoCL", text, re.MULTILINE)}
    assert len(wanted) > 20
    assert wanted <= WHERE.keys()
