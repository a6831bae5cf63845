"""CUDA over the small stub driver beside the repository: an independent reading of the launch interface.

The stub copies parameters by the sizes that the kernel declares, so what it holds is what a device would have seen.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest
from rungs import require_rung
from small_stub import Stub, library_folder

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.testing import run_isolated
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.target import OpenTarget

require_rung("small stub")

PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry vector_add(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 b,
    .param .u64 .ptr .global .align 4 c, .param .u32 n) { ret; }
.visible .entry mixed(.param .u8 a, .param .f64 b, .param .u16 c, .param .u64 d, .param .f32 e) { ret; }
.visible .entry tensor(.param .u8 a, .param .align 128 .b8 b[128], .param .u8 c) { ret; }
.visible .entry old_tensor(.param .u8 a, .param .align 64 .b8 b[128], .param .u8 c) { ret; }
.visible .entry nothing() { ret; }
"""

# The laws that look only at what was accepted, refused or launched, and at memory that no kernel has to write.
LAWS = (
    "a_bare_host_array_is_refused",
    "a_block_over_the_limit_is_refused",
    "a_closed_backend_is_refused",
    "a_dead_or_inner_pointer_is_refused",
    "a_failed_load_leaves_nothing",
    "a_grid_over_the_limit_is_refused",
    "a_missing_kernel_is_explained",
    "a_second_lookup_costs_nothing",
    "a_structure_of_the_wrong_size_is_refused",
    "a_trace_tells_what_became_of_each_launch",
    "a_value_of_the_wrong_kind_is_refused",
    "an_empty_block_and_negative_extents_raise",
    "an_empty_grid_is_a_checked_no_op",
    "an_event_is_reached_when_waited_for",
    "bytes_go_round",
    "copies_past_the_end_are_refused",
    "elapsed_time_means_something_or_raises",
    "empty_buffers_are_buffers",
    "fills_have_three_widths",
    "memory_that_does_not_fit_is_refused",
    "numbers_of_the_wrong_kind_are_refused",
    "numbers_out_of_range_are_refused",
    "numpy_scalars_fit_by_value",
    "numpy_values_that_do_not_survive_are_refused",
    "pinned_memory_is_copied_from_and_to",
    "the_ledger_says_who_made_what",
    "views_with_gaps_are_refused",
)


def in_child(function: str, *arguments: object, **environment: str) -> object:
    """What a function of this file returns in a process that has the stub as its driver."""
    return run_isolated(
        f"test_small_stub:{function}",
        *arguments,
        environment={"LD_LIBRARY_PATH": str(library_folder()), **environment},
    ).check()


@pytest.fixture(scope="module")
def laws() -> dict[str, str | None]:
    return in_child("run_laws")  # type: ignore[misc]


def run_laws() -> dict[str, str | None]:
    """Each law with what broke it, or None."""
    target = OpenTarget("cuda")
    by_name = {case.name: case for case in cases()}
    broken: dict[str, str | None] = {}
    for name in LAWS:
        try:
            reason = by_name[name].run(target)
            broken[name] = None if reason is None else f"did not apply: {reason}"
        except Exception as error:
            broken[name] = f"{type(error).__name__}: {error}"
    return broken


@pytest.mark.parametrize("law", LAWS)
def test_the_suites_launch_laws_hold_on_the_small_stub(laws: dict[str, str | None], law: str) -> None:
    """Each law that needs no running kernel holds over a driver that we did not write for these tests."""
    assert laws[law] is None


def all_forms() -> list[dict[str, object]]:
    gpu = mg.open_backend("cuda")
    stub = Stub()
    kernel = gpu.load_module("m", source={".ptx": PTX})["vector_add"]
    a, b, c = (gpu.empty(71, mg.f32) for _ in range(3))
    seen = []

    def look() -> None:
        launch = stub.last_launch()
        assert launch.pop("parameters") == struct.pack("<QQQI", *(each.ptr.address for each in (a, b, c)), 71)
        assert launch.pop("stream") == gpu.driver.native_stream(0)
        seen.append(launch)

    builder = mg.KernelLaunch(gpu, kernel).grid([3, 2, 5]).block([31, 2, 1]).shared_mem(49)
    builder.arg_ptr(a).arg_ptr(b).arg_ptr(c).arg_u32(71).launch()
    look()
    kernel[(3, 2, 5), (31, 2), 49](a, b, c, mg.u32(71))
    look()
    prepared = kernel[(3, 2, 5), (31, 2), 49].prepare(a, b, c, mg.u32(5))
    prepared(a, b, c, mg.u32(71))
    look()
    with gpu.sequence() as sequence:
        kernel[(3, 2, 5), (31, 2), 49](a, b, c, mg.u32(71))
    sequence()
    look()
    assert stub.launch_count == 4
    gpu.close()
    return seen


def test_every_form_of_launch_reaches_the_driver_alike() -> None:
    """Builder, short form, prepared launch and sequence give the driver the same kernel, shape and parameters."""
    expected = {"kernel": "vector_add", "grid": (3, 2, 5), "block": (31, 2, 1), "shared": 49}
    assert in_child("all_forms") == [expected] * 4


def mixed_parameters() -> dict[str, bytes]:
    with mg.open_backend("cuda") as gpu:
        stub, module = Stub(), gpu.load_module("m", source={".ptx": PTX})
        mixed = mg.KernelLaunch(gpu, module["mixed"]).arg_u8(0xA1).arg_f64(-2.5).arg_u16(0xB2C3)
        mixed.arg_u64(0x0123456789ABCDEF).arg_f32(0.75).launch()
        seen = {"mixed": bytes(stub.last_launch()["parameters"])}  # type: ignore[call-overload]
        for name in ("tensor", "old_tensor"):
            launch = mg.KernelLaunch(gpu, module[name])
            launch.arg_u8(7).arg_bytes(bytes(range(100, 228))).arg_u8(9)
            launch.launch()
            seen[name] = bytes(stub.last_launch()["parameters"])  # type: ignore[call-overload]
        mg.KernelLaunch(gpu, module["nothing"]).launch()
        seen["nothing"] = bytes(stub.last_launch()["parameters"])  # type: ignore[call-overload]
        return seen


def test_parameters_lie_where_c_puts_them() -> None:
    """Values of mixed widths and 128-byte values arrive at the offsets that the kernel declares, bit for bit."""
    seen = in_child("mixed_parameters")
    assert isinstance(seen, dict)
    mixed = seen["mixed"]
    assert (mixed[0], struct.unpack_from("<d", mixed, 8)[0]) == (0xA1, -2.5)
    assert struct.unpack_from("<H", mixed, 16)[0] == 0xB2C3
    assert struct.unpack_from("<Qf", mixed, 24) == (0x0123456789ABCDEF, 0.75)
    for name, at in (("tensor", 128), ("old_tensor", 64)):
        block = seen[name]
        assert (block[0], block[at : at + 128], block[at + 128]) == (7, bytes(range(100, 228)), 9)
    assert seen["nothing"] == b""


def added() -> list[float]:
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("m", source={".ptx": PTX})["vector_add"]
        a, b = (gpu.array(np.arange(71, dtype=np.float32) * factor) for factor in (1, 10))
        c = gpu.empty(71, mg.f32)
        kernel.over(71, block=32)(a, b, c, mg.u32(71))
        return [float(each) for each in c.numpy()]


def test_results_come_back() -> None:
    """What the stub's one real kernel computes from uploaded arrays is what is downloaded."""
    assert in_child("added", STUB_CUDA_EXEC="1") == [11.0 * i for i in range(71)]
