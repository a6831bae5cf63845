"""Where each case of the field is tested over the stand-in drivers, and that none is forgotten.

The cases are those of `field-cases.md`, kept beside the repository: what users of kernel launchers suffer from, each
with a way to reproduce it and the right outcome. `WHERE` names the tests of those that a stand-in driver can show.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CASES = TESTS.parents[1] / "shared" / "field-cases.md"

WHERE: dict[int, tuple[str, ...]] = {
    1: (
        "cuda/test_field_cases_arguments.py::test_a_double_for_a_float_is_refused_before_the_launch",
        "cuda/test_field_cases_arguments.py::test_a_double_is_refused_where_only_the_driver_knows_the_size",
        "cuda/test_field_cases_arguments.py::test_a_float_gives_exactly_two",
        "cuda/test_field_cases_arguments.py::test_a_bare_float_is_refused_where_the_kind_is_not_known",
        "cuda/test_field_cases_arguments.py::test_a_code_objects_metadata_knows_no_floats",
    ),
    2: (
        "cuda/test_field_cases_faults.py::test_debug_sync_names_the_launch_that_was_waited_for",
        "cuda/test_field_cases_faults.py::test_a_fault_that_was_pending_is_not_charged_to_a_launch",
        "cuda/test_field_cases_faults.py::test_a_pending_fault_of_a_launch_accuses_that_one",
        "cuda/test_field_cases_faults.py::test_outside_of_debug_mode_the_suspects_are_listed",
    ),
    3: (
        "cuda/test_field_cases_arguments.py::test_a_wrong_count_is_refused_each_time",
        "cuda/test_field_cases_arguments.py::test_a_prepared_launch_takes_no_other_count",
    ),
    8: (
        "cuda/test_refused_launches.py::test_a_refused_launch_raises_in_every_mode",
        "cuda/test_field_cases_faults.py::test_a_refused_launch_raises_and_the_next_wait_is_good",
    ),
    10: (
        "hip/test_hip_driver.py::test_work_items_are_never_cut_to_32_bits",
        "hip/test_hip_driver.py::test_the_standin_wraps_as_hip_does",
        "cuda/test_field_cases_limits.py::test_a_grid_past_32_bits_never_wraps",
    ),
    14: (
        "cuda/test_field_cases_arguments.py::test_every_order_of_sizes_is_aligned",
        "cuda/test_field_cases_arguments.py::test_the_packed_block_has_no_padding_at_its_end",
        "cuda/test_argument_block.py::test_every_argument_lies_at_its_alignment",
    ),
    19: (
        "cuda/test_lost_contexts.py::test_the_third_launch_takes_the_context",
        "cuda/test_field_cases_faults.py::test_everything_fails_at_once_with_the_first_cause",
        "cuda/test_field_cases_faults.py::test_a_session_goes_on_beside_a_case_in_a_child",
    ),
    20: (
        "cuda/test_contexts.py::test_every_call_runs_in_the_owning_context",
        "cuda/test_contexts.py::test_the_threads_own_context_is_restored",
        "cuda/test_contexts.py::test_destruction_from_any_thread_works",
    ),
    21: (
        "cuda/test_field_cases_arguments.py::test_an_empty_grid_is_a_checked_no_op",
        "cuda/test_field_cases_arguments.py::test_events_and_waits_stand_around_an_empty_grid",
        "cuda/test_field_cases_arguments.py::test_an_empty_block_and_a_negative_extent_always_raise",
    ),
    22: ("cuda/test_field_cases_arguments.py::test_an_empty_buffer_is_a_buffer",),
    23: (
        "cuda/test_refused_launches.py::test_dynamic_shared_memory_is_opted_in_once_per_level",
        "cuda/test_refused_launches.py::test_the_devices_limit_is_named",
        "cuda/test_refused_launches.py::test_the_limit_is_the_devices_own",
        "cuda/test_field_cases_limits.py::test_two_threads_raise_the_limit_once",
    ),
    24: (
        "cuda/test_field_cases_limits.py::test_grid_y_and_z_end_at_65535",
        "cuda/test_field_cases_limits.py::test_blocks_end_at_1024_threads",
        "cuda/test_field_cases_limits.py::test_an_unforeseen_refusal_prints_the_whole_launch",
    ),
    25: (
        "cuda/test_field_cases_limits.py::test_registers_are_named_when_a_kernel_takes_fewer_threads",
        "cuda/test_refused_launches.py::test_registers_and_shared_memory_explain_a_refusal",
        "cuda/test_refused_launches.py::test_a_good_launch_asks_nothing",
    ),
    26: (
        "cuda/test_field_cases_captures.py::test_what_is_dropped_inside_is_held_back_until_the_end",
        "cuda/test_field_cases_captures.py::test_a_forbidden_call_itself_raises_and_spoils_nothing",
        "cuda/test_field_cases_captures.py::test_after_a_failed_capture_nothing_stays_latched",
        "cuda/test_captures.py::test_a_ruined_capture_says_why_and_the_stream_works",
    ),
    27: (
        "cuda/test_field_cases_captures.py::test_values_change_exactly_at_the_next_replay",
        "cuda/test_field_cases_captures.py::test_a_graph_holds_the_buffers_of_its_last_replay",
    ),
    28: (
        "cuda/test_field_cases_limits.py::test_a_cooperative_grid_ends_where_the_device_is_full",
        "cuda/test_field_cases_limits.py::test_a_cluster_has_to_divide_the_grid",
        "cuda/test_field_cases_limits.py::test_a_device_without_them_says_not_supported",
        "cuda/test_field_cases_limits.py::test_amd_has_no_clusters",
    ),
    29: (
        "cuda/test_field_cases_processes.py::test_a_process_ends_quietly",
        "cuda/test_opening.py::test_a_driver_that_shuts_down_first_is_no_trouble",
    ),
    38: (
        "cuda/test_field_cases_alike.py::test_a_refusal_is_the_same_everywhere",
        "cuda/test_field_cases_alike.py::test_what_is_accepted_is_accepted_everywhere",
        "conformance/test_cuda.py::test_the_law_holds_on_cuda",
        "conformance/test_hip.py::test_the_law_holds_on_hip",
        "conformance/test_mock.py::test_the_law_holds_on_the_mock",
    ),
    39: (
        "cuda/test_field_cases_counts.py::test_every_form_makes_the_same_driver_calls",
        "cuda/test_field_cases_counts.py::test_every_form_is_as_many_calls_on_hip",
        "cuda/test_field_cases_counts.py::test_launches_leave_nothing_in_memory",
    ),
    40: ("cuda/test_field_cases_processes.py::test_no_compiler_and_no_home_are_needed",),
    42: (
        "cuda/test_field_cases_code.py::test_a_refusal_for_the_ptx_version_explains_itself",
        "cuda/test_field_cases_code.py::test_a_scripted_refusal_names_the_versions_too",
        "cuda/test_field_cases_code.py::test_ptx_that_no_such_driver_takes_is_refused_without_it",
    ),
    43: (
        "cuda/test_field_cases_code.py::test_a_mangled_kernel_is_what_its_plain_name_means",
        "cuda/test_field_cases_code.py::test_a_plain_name_that_means_two_kernels_is_refused",
        "cuda/test_field_cases_code.py::test_a_name_that_is_not_there_is_explained",
        "cuda/test_field_cases_code.py::test_names_that_only_the_driver_can_list_are_listed",
    ),
    44: (
        "cuda/test_opening.py::test_a_missing_library_is_the_reason",
        "cuda/test_opening.py::test_no_device_is_the_reason",
        "cuda/test_missing_entry_points.py::test_one_missing_entry_point_costs_one_feature",
        "cuda/test_missing_entry_points.py::test_an_older_driver_cannot_tell_of_parameters",
    ),
    47: (
        "cuda/test_field_cases_counts.py::test_many_rounds_leave_the_books_as_they_were",
        "cuda/test_field_cases_counts.py::test_a_hundred_devices_are_opened_and_closed",
        "cuda/test_field_cases_counts.py::test_a_report_lists_what_is_alive",
    ),
    48: (
        "cuda/test_field_cases_counts.py::test_a_time_is_a_number_only_when_it_means_something",
        "cuda/test_field_cases_counts.py::test_a_device_without_timing_says_so",
    ),
}


@cache
def named_in(path: str) -> frozenset[str]:
    """The names of a file's test functions."""
    tree = ast.parse((TESTS / path).read_text())
    return frozenset(
        each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    )


@pytest.mark.parametrize("case", WHERE)
def test_every_test_that_is_named_exists(case: int) -> None:
    """A case's tests are there under the names that the table gives, each once."""
    named = WHERE[case]
    assert len(set(named)) == len(named) > 0
    missing = [each for each in named if each.partition("::")[2] not in named_in(each.partition("::")[0])]
    assert missing == []


@pytest.mark.skipif(not CASES.is_file(), reason="field-cases.md is not kept beside this checkout")
def test_every_case_that_names_the_stub_has_its_tests() -> None:
    """Each case whose way to reproduce it speaks of the stub, and each that speaks of a driver library, is in the table."""
    text = CASES.read_text()
    found = {
        int(number): body
        for number, body in re.findall(r"^## (\d+)\. (.*?)(?=^## |^# )", text, flags=re.MULTILINE | re.DOTALL)
    }
    assert len(found) == 48
    reproduce = {
        number: next(line for line in body.splitlines() if line.startswith("- Reproduce:"))
        for number, body in found.items()
    }
    of_the_stub = {
        number for number, line in reproduce.items() if re.search(r"\bstubs?\b|driver library", line, re.IGNORECASE)
    }
    assert len(of_the_stub) >= 23
    assert of_the_stub <= set(WHERE)
    assert set(WHERE) <= set(found)
