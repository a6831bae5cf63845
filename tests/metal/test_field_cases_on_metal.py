"""The cases of the field on Metal: what each asks of such a backend, shown over the stand-in, and where.

The cases are those of `field-cases.md`, kept beside the repository. `WHERE` names the tests of each that a Metal backend
has to pass; those that are laws of the conformance suite run on Metal in both kinds of storage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from metal_standin.compute_encoders import ComputeEncoder
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from metal_standin.libraries import make_metallib
from programs_on_metal import MSL
from test_metal_rules import TESTS, is_there

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import (
    CompileError,
    ContextLost,
    EventError,
    GpuError,
    InvalidPointer,
    KernelFault,
    KernelNotFound,
    LimitExceeded,
    NotSupported,
)

__all__ = ["metal_standin"]

CASES = TESTS.parents[1] / "shared" / "field-cases.md"

_HERE = "metal/test_field_cases_on_metal.py::"
_LAUNCH = "metal/test_launching.py::"
_FAULT = "metal/test_metal_faults.py::"
_CODE = "metal/test_libraries.py::"
_RULE = "metal/test_metal_rules.py::"
_OPEN = "metal/test_metal_opening.py::"


def laws(*names: str) -> tuple[str, ...]:
    return tuple(f"conformance/test_metal.py::test_the_law_holds_on_metal[{name}]" for name in names)


WHERE: dict[int, tuple[str, ...]] = {
    1: laws(
        "a_scalar_of_the_wrong_width_is_refused",
        "a_value_of_the_wrong_kind_is_refused",
        "a_declared_signature_names_the_parameter",
        "a_bare_number_needs_a_known_kind",
    ),
    2: laws(
        "debug_sync_blames_the_launch",
        "an_older_fault_is_not_charged_to_a_launch",
        "an_undebugged_fault_comes_with_the_next_wait",
    ),
    3: laws("too_few_or_too_many_arguments_are_refused", "a_prepared_launch_checks_new_values"),
    4: (
        *laws(
            "dropped_memory_outlives_its_launch",
            "a_graph_holds_its_memory",
            "prepared_launches_and_sequences_hold_their_memory",
            "freeing_memory_in_use_raises",
        ),
        _RULE + "test_memory_that_is_freed_lives_until_queued_work_is_done",
    ),
    5: laws("elements_of_the_wrong_type_are_refused"),
    6: laws(
        "guard_bands_tell_who_wrote_past_the_end",
        "guard_bands_raise_no_false_alarm",
        "without_guard_bands_there_is_nothing_to_scan",
    ),
    7: (
        _HERE + "test_7_a_failed_launch_is_the_cause_and_those_behind_it_are_named",
        _HERE + "test_7_what_is_refused_for_an_older_fault_does_not_hide_it",
        _FAULT + "test_a_fault_names_its_launch_and_those_behind_it",
        *laws("what_a_faulted_launch_wrote_is_not_read_as_good", "what_a_faulted_launch_wrote_is_not_copied_as_good"),
    ),
    8: (
        *laws("a_trace_tells_what_became_of_each_launch"),
        _LAUNCH + "test_an_argument_that_is_refused_leaves_everything_usable",
    ),
    9: (
        *laws("a_prepared_launch_keeps_each_calls_values", "threads_never_see_each_others_values"),
        _LAUNCH + "test_two_threads_do_not_see_each_others_values",
    ),
    10: (*laws("a_grid_over_the_limit_is_refused"), _HERE + "test_10_a_grid_never_wraps"),
    11: laws(
        "two_modules_with_one_kernel_name_never_mix",
        "a_module_outlives_its_launches",
        "a_module_replaced_runs_the_new_code",
    ),
    12: (_HERE + "test_12_a_changed_option_is_seen", _HERE + "test_12_a_header_that_cannot_be_found_is_explained"),
    13: laws("structures_keep_every_field", "a_structure_of_the_wrong_size_is_refused"),
    14: laws("arguments_of_mixed_widths_keep_their_places", "a_tensor_map_is_one_argument"),
    15: laws("numbers_out_of_range_are_refused", "scalars_arrive_bit_for_bit"),
    16: laws("a_bool_is_one_byte", "halves_arrive_by_their_bits"),
    17: laws("pointers_inside_memory_are_exact", "views_start_where_they_start", "views_with_gaps_are_refused"),
    18: (
        *laws("a_host_source_lives_until_it_was_read"),
        "metal/test_metal_copies.py::test_the_source_may_change_once_the_copy_is_queued",
    ),
    19: (
        _HERE + "test_19_after_a_device_is_gone_every_call_says_so",
        *laws("closing_after_a_fault_neither_raises_nor_hangs"),
    ),
    20: laws("any_thread_may_use_and_close"),
    21: laws("an_empty_grid_is_a_checked_no_op", "an_empty_block_and_negative_extents_raise"),
    22: (
        _HERE + "test_22_null_and_empty_buffers_are_refused_by_name",
        *laws("empty_buffers_are_buffers", "null_is_refused_where_it_is_no_pointer"),
    ),
    23: laws("shared_memory_of_any_size_works"),
    24: (
        *laws("a_block_over_the_limit_is_refused"),
        _HERE + "test_24_the_refusal_of_a_block_names_axis_value_and_limit",
    ),
    25: (*laws("a_block_over_the_kernels_own_limit_is_refused"), _HERE + "test_25_a_kernels_own_limit_is_named"),
    26: laws(
        "what_is_dropped_in_a_capture_waits_for_its_end",
        "calls_that_would_wait_are_refused_in_a_capture",
        "an_abandoned_recording_leaves_nothing",
    ),
    27: laws("a_graphs_slots_are_set_at_each_replay", "a_slot_holds_its_last_memory_only", "slots_are_set_by_name"),
    28: laws("a_cooperative_grid_fits_the_device", "clusters_divide_the_grid_and_have_a_limit"),
    29: (
        "metal/test_metal_exit.py::test_a_process_with_metal_ends_quietly",
        *laws("leaving_the_interpreter_is_silent", "a_users_exception_is_the_only_output"),
    ),
    30: laws("numpy_scalars_fit_by_value", "numpy_values_that_do_not_survive_are_refused", "extents_take_any_integer"),
    31: laws("over_rounds_the_grid_up"),
    32: (
        _HERE + "test_32_4096_bytes_go_inline_and_4097_through_a_buffer",
        _LAUNCH + "test_a_large_value_lives_in_a_buffer_until_its_launch_is_done",
        _LAUNCH + "test_a_tensor_map_arrives_unchanged",
        *laws("a_large_value_arrives_whole"),
    ),
    33: (
        _HERE + "test_33_threadgroup_memory_is_set_in_multiples_of_16",
        _HERE + "test_33_threadgroup_memory_is_checked_after_rounding",
        *laws("local_memory_is_an_argument"),
    ),
    34: (
        _HERE + "test_34_a_kernel_has_31_buffer_arguments",
        _LAUNCH + "test_arguments_that_have_no_place_are_refused",
    ),
    36: (_HERE + "test_36_doubles_are_refused_by_name",),
    37: (
        _CODE + "test_a_refused_source_names_the_callers_file_and_lines",
        _FAULT + "test_whatever_comes_next_finds_the_fault",
    ),
    38: (
        "conformance/test_metal.py::test_the_law_holds_on_metal",
        "metal/test_interface.py::test_every_selector_is_in_the_real_bindings",
        "metal/test_interface.py::test_what_the_stand_in_saw_is_what_the_source_sends",
        "metal_standin/test_rules.py::test_a_broken_rule_is_refused_and_entered",
    ),
    39: (
        _HERE + "test_39_every_form_sends_the_same_messages",
        "metal/test_metal_rounds.py::test_a_launch_costs_the_same_with_many_live_buffers",
        _LAUNCH + "test_a_launch_is_these_messages",
    ),
    40: laws("nothing_but_python_is_needed", "a_failed_load_leaves_nothing"),
    41: (_HERE + "test_41_no_block_size_compiles_again", *laws("a_second_lookup_costs_nothing")),
    42: (_CODE + "test_a_bad_metallib_is_refused", _CODE + "test_options_without_a_word_in_metal_are_refused"),
    43: (_HERE + "test_43_a_name_that_is_not_there_is_explained", *laws("a_missing_kernel_is_explained")),
    44: (
        "metal/test_bindings.py::test_importing_the_room_imports_no_bindings",
        "metal/test_bindings.py::test_no_bindings_are_a_reason",
        "metal/test_bindings.py::test_bindings_that_cannot_be_imported_are_a_reason",
        _OPEN + "test_no_device_is_a_reason",
        *laws("importing_loads_no_library"),
    ),
    46: (_OPEN + "test_no_device_is_a_reason", _OPEN + "test_no_metal_3_is_a_reason"),
    47: (
        "metal/test_metal_rounds.py::test_rounds_of_memory_and_launches_end_as_they_began",
        _HERE + "test_47_a_hundred_devices_are_opened_and_closed",
        _HERE + "test_47_a_report_lists_what_is_alive",
        _HERE + "test_47_what_raises_in_the_middle_leaves_nothing",
        *laws("the_ledger_returns_to_its_start", "the_ledger_says_who_made_what"),
    ),
    48: (
        _HERE + "test_48_a_time_is_a_number_only_when_it_means_something",
        "metal/test_events.py::test_elapsed_time_is_the_gpus",
        "metal/test_events.py::test_events_without_timing_have_no_time",
        *laws("elapsed_time_means_something_or_raises"),
    ),
}

NOT_METALS = {
    35: "a WebGPU adapter has two sets of limits; an MTLDevice has one",
    45: "OpenCL's loaders; Metal is a part of the system",
}


@pytest.mark.parametrize("case", WHERE)
def test_every_test_that_is_named_exists(case: int) -> None:
    """A case's tests are there under the names that the table gives, each once."""
    named = WHERE[case]
    assert len(set(named)) == len(named) > 0
    assert [each for each in named if not is_there(each)] == []


@pytest.mark.skipif(not CASES.is_file(), reason="field-cases.md is not kept beside this checkout")
def test_no_case_is_forgotten() -> None:
    """Every case is in the table, or stands beside it with the reason why it is none of Metal's."""
    numbers = {int(number) for number in re.findall(r"^## (\d+)\. ", CASES.read_text(), flags=re.MULTILINE)}
    assert numbers == set(range(1, 49))
    assert WHERE.keys() | NOT_METALS.keys() == numbers
    assert not WHERE.keys() & NOT_METALS.keys()


# ------------------------------------------------ what the tests share

KERNELS = """
#include <metal_stdlib>
using namespace metal;

kernel void sum(device uint* x [[buffer(0)]], constant uint& by [[buffer(1)]], uint at [[thread_position_in_grid]]) {
    x[at] += by;
}

[[max_total_threads_per_threadgroup(64)]]
kernel void few(device uint* x [[buffer(0)]], uint at [[thread_position_in_grid]]) {
    x[at] = FILL;
}

kernel void stray(device uint* x [[buffer(0)]]) {
    x[1ul << 35] = 7u;
}

kernel void last_byte(device uint* out [[buffer(0)]], constant uchar* bytes [[buffer(1)]],
                      constant uint& count [[buffer(2)]]) {
    out[0] = bytes[count - 1];
}

kernel void turned(device uint* x [[buffer(0)]], threadgroup uint* room [[threadgroup(0)]],
                   uint at [[thread_position_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    room[at] = x[at];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[at] = room[width - 1 - at];
}

"""

EIGHT_BYTES = """
#include <metal_stdlib>
using namespace metal;

struct Eight {
    uint low;
    uint high;
};

kernel void eight(device uint* x [[buffer(0)]], constant Eight& value [[buffer(1)]]) {
    x[0] = value.high;
}
"""

ENCODER = "MTLComputeCommandEncoder"


@pytest.fixture
def gpu(metal_standin: MetalStandIn) -> Iterator[GpuBackend]:
    with mg.open_backend("metal") as gpu:
        gpu.load_module("cases", source={".metal": KERNELS}, options=("-DFILL=3",))
        yield gpu
        metal_standin.release()


def words(gpu: GpuBackend, *values: int) -> mg.DeviceBuffer:
    return gpu.array(np.array(values, dtype=np.uint32))


# ------------------------------------------------ the cases


@pytest.mark.parametrize("way", ["synchronize", "numpy", "event", "query"])
def test_7_a_failed_launch_is_the_cause_and_those_behind_it_are_named(
    gpu: GpuBackend, metal_standin: MetalStandIn, way: str
):
    """However a failure is found, it names the launch that failed and the later ones that did not run because of it."""
    kernel, stray = gpu.kernel("cases", "sum"), gpu.kernel("cases", "stray")
    x, event = words(gpu, 5, 6), gpu.create_event()
    metal_standin.hold()
    kernel[2, 1](x, 10)
    stray[1, 1](x)
    for by in (100, 1000):
        kernel[2, 1](x, by)
    event.record()
    metal_standin.release()
    metal_standin.wait_idle()
    ways: dict[str, Callable[[], object]] = {
        "synchronize": gpu.synchronize,
        "numpy": x.numpy,
        "event": event.synchronize,
        "query": event.query,
    }
    with pytest.raises(KernelFault) as told:
        ways[way]()
    fault = told.value
    assert fault.code_name == "MTLCommandBufferErrorPageFault"
    assert fault.launch is not None
    assert fault.launch.kernel == "stray"
    assert [each.kernel for each in fault.dropped] == ["sum", "sum"]
    with pytest.raises(GpuError):
        x.numpy()


@pytest.mark.parametrize("way", ["launch", "fill", "upload", "download"])
def test_7_what_is_refused_for_an_older_fault_does_not_hide_it(gpu: GpuBackend, metal_standin: MetalStandIn, way: str):
    """An operation that finds an older fault is not queued, and what the failed launches left is refused still."""
    kernel, stray = gpu.kernel("cases", "sum"), gpu.kernel("cases", "stray")
    x, host = words(gpu, 5, 6), np.zeros(2, np.uint32)
    metal_standin.hold()
    stray[1, 1](x)
    kernel[2, 1](x, 100)
    metal_standin.release()
    metal_standin.wait_idle()
    ways: dict[str, Callable[[], object]] = {
        "launch": lambda: kernel[2, 1](x, 1),
        "fill": lambda: gpu.memset(x, 0, 8),
        "upload": lambda: gpu.copy_h2d(host, x),
        "download": lambda: gpu.copy_d2h(x, host),
    }
    with pytest.raises(KernelFault) as told:
        ways[way]()
    assert [each.kernel for each in told.value.dropped] == ["sum"]
    for read in (x.numpy, lambda: gpu.copy_d2h(x, host)):
        with pytest.raises(KernelFault, match=r"does not hold what it should.*launch 2 of sum.*did not run because of"):
            read()
    x.copy_from(np.array([1, 2], np.uint32))
    assert x.numpy().tolist() == [1, 2]


def test_10_a_grid_never_wraps(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch):
    """The last grid that fits arrives as it was asked for; one more, and what wraps to 1, are refused with the limit."""
    seen: list[tuple[object, object]] = []

    def note(self: ComputeEncoder, grid: object, block: object) -> None:
        seen.append((grid, block))

    monkeypatch.setattr(ComputeEncoder, "do_dispatchThreadgroups_threadsPerThreadgroup_", note)
    kernel, x = gpu.kernel("cases", "sum"), words(gpu, 5)
    for extent in (2**31, 2**32 - 1):
        kernel[(1, extent, 1), 256](x, 1)
    assert [tuple(grid) for grid, _ in seen] == [(1, 2**31, 1), (1, 2**32 - 1, 1)]
    for axis, grid in (("x", (2**32, 1, 1)), ("y", (1, 2**32 + 1, 1)), ("z", (1, 1, 2**40 + 1))):
        with pytest.raises(LimitExceeded) as refused:
            kernel[grid, 256](x, 1)
        assert (refused.value.axis, refused.value.asked, refused.value.limit) == (axis, max(grid), 2**32 - 1)
    assert len(seen) == 2


def test_12_a_changed_option_is_seen(gpu: GpuBackend):
    """The same text with another option is other code, in one process, loaded over the old one or beside it."""
    x = words(gpu, 0)
    for name, value in (("cases", 4), ("other", 5), ("cases", 6)):
        gpu.load_module(name, source={".metal": KERNELS}, options=(f"-DFILL={value}",), replace=True)
        gpu.kernel(name, "few")[1, 1](x)
        assert x.numpy().tolist() == [value]


def test_12_a_header_that_cannot_be_found_is_explained(gpu: GpuBackend):
    """Text has no folder to include from: the error says so, and the way around."""
    with pytest.raises(CompileError, match=r"(?s)c\.metal:2: error: 'c\.h' file not found.*xcrun metal -I") as refused:
        gpu.load_module("c", source={".metal": '\n#include "c.h"\n'})
    assert [(file, line) for file, line, _ in refused.value.diagnostics] == [("c.metal", 2)]


def test_19_after_a_device_is_gone_every_call_says_so(gpu: GpuBackend, metal_standin: MetalStandIn):
    """The first failure stays the cause: later calls fail at once with it, Metal is asked no more, closing is quiet."""
    kernel, x = gpu.kernel("cases", "sum"), words(gpu, 5)
    kernel[1, 1](x, 1)
    gpu.synchronize()
    metal_standin.fail_next("command buffer", 11, encoder=0)
    kernel[1, 1](x, 1)
    with pytest.raises(KernelFault, match="MTLCommandBufferErrorDeviceRemoved"):
        gpu.synchronize()
    assert gpu.is_lost
    before = metal_standin.sent()
    for call in (lambda: kernel[1, 1](x, 1), gpu.synchronize, x.numpy, lambda: gpu.alloc(10)):
        with pytest.raises(ContextLost, match=r"sum|DeviceRemoved"):
            call()
    assert metal_standin.sent() == before


def test_22_null_and_empty_buffers_are_refused_by_name(gpu: GpuBackend, metal_standin: MetalStandIn):
    """A null pointer and memory of 0 bytes end the process under API validation; both are refused with the remedy."""
    kernel, before = gpu.kernel("cases", "sum"), metal_standin.sent()
    for given in (None, mg.DevicePtr(0), gpu.empty(0, mg.u32)):
        with pytest.raises(NotSupported, match=r"sum: argument 0 \(x\).*function constant"):
            kernel[1, 1](given, 1)
    # Past the engine, at the driver's own door.
    with pytest.raises(NotSupported, match="null"):
        kernel[1, 1].prepare(None, 1)
    assert metal_standin.sent() == before


def test_24_the_refusal_of_a_block_names_axis_value_and_limit(gpu: GpuBackend):
    """A block over a limit is refused with axis, value, limit and device."""
    kernel, x = gpu.kernel("cases", "sum"), words(gpu, *range(1024))
    kernel[1, 1024](x, 1)
    for block, axis, asked in ((1025, "x", 1025), ((32, 33), None, 1056), ((1, 1, 1025), "z", 1025)):
        with pytest.raises(LimitExceeded, match="Apple M2 stand-in") as refused:
            kernel[1, block](x, 1)
        assert (refused.value.axis, refused.value.asked, refused.value.limit) == (axis, asked, 1024)
    assert x.numpy()[-1] == 1024


def test_25_a_kernels_own_limit_is_named(gpu: GpuBackend):
    """A block that the device allows and the kernel does not is refused in Metal's words."""
    kernel, x = gpu.kernel("cases", "few"), words(gpu, *range(65))
    kernel[1, 64](x)
    with pytest.raises(LimitExceeded, match="max_total_threads_per_threadgroup") as refused:
        kernel[1, 65](x)
    assert (refused.value.asked, refused.value.limit) == (65, 64)
    assert x.numpy().tolist() == [3] * 64 + [64]


@pytest.mark.parametrize(("nbytes", "inline", "buffers"), [(128, 2, 1), (4096, 2, 1), (4097, 1, 2), (9001, 1, 2)])
def test_32_4096_bytes_go_inline_and_4097_through_a_buffer(
    gpu: GpuBackend, metal_standin: MetalStandIn, nbytes: int, inline: int, buffers: int
):
    """Where a value goes depends on its size; the buffer of a large one is there until the work is done, and no longer."""
    value = bytes((3 * at + nbytes) % 251 for at in range(nbytes))
    out, temporaries = words(gpu, 0), gpu._driver._temporaries
    metal_standin.hold()
    before = metal_standin.sent()
    launch = mg.KernelLaunch(gpu, gpu.kernel("cases", "last_byte")).arg_ptr(out).arg_bytes(value).arg_u32(nbytes)
    launch.launch()
    sent = metal_standin.sent() - before
    assert sent[ENCODER, "setBytes:length:atIndex:"] == inline
    assert sent[ENCODER, "setBuffer:offset:atIndex:"] == buffers
    assert temporaries.live_count == buffers - 1
    metal_standin.release()
    gpu.synchronize()
    assert temporaries.live_count == 0
    assert out.numpy().tolist() == [value[-1]]


@pytest.fixture
def lengths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threadgroup memory lengths that are set."""
    seen: list[int] = []
    real = ComputeEncoder.do_setThreadgroupMemoryLength_atIndex_

    def note(self: ComputeEncoder, length: int, index: int) -> None:
        seen.append(length)
        real(self, length, index)

    monkeypatch.setattr(ComputeEncoder, "do_setThreadgroupMemoryLength_atIndex_", note)
    return seen


@pytest.mark.parametrize(
    ("nbytes", "length"), [(4, 16), (15, 16), (16, 16), (140, 144), (32760, 32768), (32768, 32768)]
)
@pytest.mark.parametrize("is_argument", [False, True])
def test_33_threadgroup_memory_is_set_in_multiples_of_16(
    gpu: GpuBackend, lengths: list[int], nbytes: int, length: int, is_argument: bool
):
    """The length that Metal is given is the next multiple of 16, as dynamic shared memory and as an argument."""
    x, width = words(gpu, *range(35)), min(nbytes // 4, 35)
    launch = mg.KernelLaunch(gpu, gpu.kernel("cases", "turned")).block(width).arg_ptr(x)
    (launch.arg_local(nbytes) if is_argument else launch.shared_mem(nbytes)).launch()
    assert x.numpy().tolist() == [*reversed(range(width)), *range(width, 35)]
    assert lengths == [length]


@pytest.mark.parametrize(
    ("nbytes", "length"), [(0, []), (1, [16]), (4, [16]), (15, [16]), (140, [144]), (32760, [32768])]
)
def test_33_a_kernel_without_threadgroup_memory_may_be_given_some(
    gpu: GpuBackend, lengths: list[int], nbytes: int, length: list[int]
):
    """No bytes are no message; any other count is rounded, also where the kernel leaves it alone."""
    x = words(gpu, 5)
    gpu.kernel("cases", "sum")[1, 1, nbytes](x, 2)
    assert x.numpy().tolist() == [7]
    assert lengths == length


def test_33_threadgroup_memory_is_checked_after_rounding(gpu: GpuBackend, lengths: list[int]):
    """32769 bytes become 32784 and are refused before the driver is asked; both numbers and the limit are told."""
    x = words(gpu, 5)
    with pytest.raises(LimitExceeded, match="32769 were asked for") as refused:
        gpu.kernel("cases", "sum")[1, 1, 32769](x, 2)
    assert (refused.value.asked, refused.value.limit) == (32784, 32768)
    with pytest.raises(LimitExceeded) as refused:
        mg.KernelLaunch(gpu, gpu.kernel("cases", "turned")).arg_ptr(x).arg_local(32769).launch()
    assert (refused.value.asked, refused.value.limit) == (32784, 32768)
    assert lengths == []


def of_pointers(count: int) -> str:
    parameters = ", ".join(f"device uint* x{at} [[buffer({at})]]" for at in range(count))
    body = " ".join(f"x{at}[0] = {at + 1};" for at in range(count))
    return f"#include <metal_stdlib>\nusing namespace metal;\nkernel void many({parameters}) {{ {body} }}\n"


def test_34_a_kernel_has_31_buffer_arguments(gpu: GpuBackend):
    """31 pointers arrive, each at its place; 32 are refused by the compiler, and at a launch with count and limit."""
    places = [words(gpu, 0) for _ in range(32)]
    kernel = gpu.load_module("31", source={".metal": of_pointers(31)})["many"]
    kernel[1, 1](*places[:31])
    assert [int(place.numpy()[0]) for place in places] == [*range(1, 32), 0]
    with pytest.raises(CompileError, match="between 0 and 30"):
        gpu.load_module("32", source={".metal": of_pointers(32)})
    assert gpu.capabilities.max_buffer_arguments == 31
    undeclared = gpu.load_module("lib", binary=make_metallib(of_pointers(31)))["many"]
    with pytest.raises((LimitExceeded, mg.ArgumentCountError), match=r"31.*32|32.*31"):
        undeclared[1, 1](*places)


def test_36_doubles_are_refused_by_name(gpu: GpuBackend):
    """Metal has no doubles: the argument is refused with what to give, and so is the source."""
    # Where the size is right, so that nothing else is wrong with it.
    kernel = gpu.load_module("any", source={".metal": EIGHT_BYTES})["eight"]
    with pytest.raises(NotSupported, match=r"eight: argument 1: .*no f64") as refused:
        mg.KernelLaunch(gpu, kernel).arg_ptr(words(gpu, 1)).arg_f64(1.0).launch()
    assert refused.value.feature == "f64"
    with pytest.raises(CompileError, match=r"d\.metal:1: error: 'double' is not supported"):
        gpu.load_module("d", source={".metal": "kernel void d(device double* x [[buffer(0)]]) { x[0] = 1; }"})


@pytest.mark.parametrize("is_traced", [False, True])
def test_39_every_form_sends_the_same_messages(gpu: GpuBackend, metal_standin: MetalStandIn, is_traced: bool):
    """However a launch is made, and traced or not, it is the same messages to Metal."""
    kernel, x = gpu.kernel("cases", "sum"), words(gpu, 5)
    prepared, by_name = kernel[1, 1].prepare(x, 1), kernel[1, 1].prepare(x, mg.slot("by", mg.u32))
    builder = mg.KernelLaunch(gpu, kernel).args(x, 1)
    with gpu.sequence() as sequence:
        kernel[1, 1](x, 1)
    seen: dict[str, Counter[tuple[str, str]]] = {}
    ways: dict[str, Callable[[], object]] = {
        "short": lambda: kernel[1, 1](x, 1),
        "builder": builder.launch,
        "prepared": prepared,
        "prepared, other values": lambda: prepared(x, 2),
        "prepared, a slot": lambda: by_name(by=3),
        "sequence": sequence,
    }
    for name, launch in ways.items():
        launch()
        gpu.synchronize()
        metal_standin.hold()
        metal_standin.clear_calls()
        if is_traced:
            with gpu.trace():
                launch()
        else:
            launch()
        seen[name] = metal_standin.sent()
        metal_standin.release()
        gpu.synchronize()
    assert all(sent == seen["short"] for sent in seen.values()), seen
    assert sum(seen["short"].values()) == 10


def test_41_no_block_size_compiles_again(gpu: GpuBackend, metal_standin: MetalStandIn):
    """A kernel is compiled when it is looked up, and by no launch: ten block sizes compile nothing."""
    kernel, x = gpu.kernel("cases", "few"), words(gpu, *[0] * 64)
    before = metal_standin.sent()
    for block in range(1, 64, 7):
        kernel[1, block](x)
        gpu.kernel("cases", "few")[1, (block, 1)](x)
    gpu.synchronize()
    sent = metal_standin.sent() - before
    assert not [selector for _, selector in sent if selector.startswith("new")]
    assert sent["MTLComputeCommandEncoder", "dispatchThreadgroups:threadsPerThreadgroup:"] == 18


@pytest.mark.parametrize("is_binary", [False, True])
def test_43_a_name_that_is_not_there_is_explained(gpu: GpuBackend, is_binary: bool):
    """The error has the module, what was asked for, what is there and what comes near, for text and for a metallib."""
    given: dict[str, object] = {"source": {".metal": KERNELS}, "options": ("-DFILL=1",)}
    if is_binary:
        given = {"binary": make_metallib(KERNELS, {"FILL": "1"})}
    gpu.load_module("sums", **given)  # type: ignore[arg-type]
    with pytest.raises(KernelNotFound, match=r"module 'sums' has no kernel 'sun'; did you mean sum\?") as refused:
        gpu.kernel("sums", "sun")
    error = refused.value
    assert (error.module, error.function, error.close) == ("sums", "sun", ("sum",))
    assert set(error.available or ()) == {"sum", "few", "stray", "last_byte", "turned"}


def test_47_a_hundred_devices_are_opened_and_closed(metal_standin: MetalStandIn):
    """A hundred times opened, used and closed leaves no object of Metal's alive, and no thread."""
    import threading

    threads = set(threading.enumerate())
    for number in range(100):
        with mg.open_backend("metal", storage="private" if number % 2 else "shared") as gpu:
            assert gpu.array(np.array([number], np.uint32)).numpy().tolist() == [number]
    assert metal_standin.live() == {}
    left = [each.name for each in set(threading.enumerate()) - threads if each.name.startswith("metrale-metal-stream")]
    assert left == []


def test_47_a_report_lists_what_is_alive(gpu: GpuBackend):
    """The report names label, size, place and the last launch of each allocation."""
    x = gpu.empty(7, mg.u32, label="weights")
    gpu.kernel("cases", "sum")[7, 1](x, 1)
    gpu.synchronize()
    report = gpu.alloc_report()
    assert "weights" in report
    assert "28" in report
    assert "sum" in report
    assert "test_field_cases_on_metal.py" in report


def test_47_what_raises_in_the_middle_leaves_nothing(gpu: GpuBackend, metal_standin: MetalStandIn):
    """Rounds that end in an exception leave retain counts and ledger as they were."""
    kernel = gpu.kernel("cases", "last_byte")

    def one(number: int) -> None:
        x = words(gpu, number)
        wrong: dict[int, Callable[[], object]] = {
            0: lambda: kernel[1, 1](x, None, 1),
            1: lambda: kernel[1, 2000](x, x, 1),
            2: lambda: kernel[1, 1](mg.DevicePtr(0x40), x, 1),
            3: lambda: kernel[1, 1](x),
        }
        mg.KernelLaunch(gpu, kernel).arg_ptr(x).arg_bytes(bytes(5000)).arg_u32(5000).launch()
        with pytest.raises(GpuError):
            wrong[number % 4]()

    def after(count: int) -> tuple[dict[str, list[int]], int]:
        for number in range(count):
            one(number)
        gpu.synchronize()
        gpu._driver._temporaries.drain()
        return metal_standin.live_at_rest(), gpu.live_bytes()

    assert after(4) == after(200)


def test_48_a_time_is_a_number_only_when_it_means_something(gpu: GpuBackend, metal_standin: MetalStandIn):
    """Between events that were not recorded, not reached or made without timing there is an error that says which."""
    kernel, x = gpu.kernel("cases", "sum"), words(gpu, 5)
    start, end = gpu.create_event(), gpu.create_event()
    with pytest.raises(EventError, match=r"never recorded|not recorded"):
        gpu.event_elapsed_ms(start, end)
    start.record()
    metal_standin.hold()
    kernel[1, 1](x, 1)
    end.record()
    with pytest.raises(EventError):
        gpu.event_elapsed_ms(start, end)
    metal_standin.release()
    gpu.synchronize()
    assert gpu.event_elapsed_ms(start, end) > 0
    untimed = gpu.create_event(timing=False)
    untimed.record()
    gpu.synchronize()
    with pytest.raises((EventError, NotSupported), match="timing"):
        gpu.event_elapsed_ms(start, untimed)


def test_a_pointer_into_another_device_is_refused(metal_standin: MetalStandIn):
    """Memory of another device, as a buffer, a pointer or a bare address, is refused by the argument's name."""
    metal_standin.reset(devices=2)
    with mg.open_backend("metal") as gpu, mg.open_backend("metal:1") as other:
        kernel = gpu.load_module("m", source={".metal": MSL})["affine"]
        there = words(other, 5)
        for given in (there, there.ptr, mg.DevicePtr(there.ptr.address)):
            with pytest.raises((mg.ForeignHandle, InvalidPointer), match=r"affine: argument 0 \(values\)"):
                kernel[1, 1](given, 1, 1, 1)
