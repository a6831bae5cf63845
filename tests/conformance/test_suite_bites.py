"""The suite can tell: a driver with one defect is caught by the case that is about it."""

from __future__ import annotations

import gc
import sys
import warnings
from dataclasses import replace

import pytest

from metrale_gpu_runtime.driver import LaunchTarget, MemoryKind
from metrale_gpu_runtime.drivers.mock import MockDriver
from metrale_gpu_runtime.geometry import Dim3
from metrale_gpu_runtime.testing import MockGpuBackend
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.mock_target import MockTarget

CASES = {case.name: case for case in cases()}


class LosesTheLastByte(MockDriver):
    def copy_h2d(self, dst, src, stream):
        kept = self.__dict__.setdefault("kept", [])
        kept.append(src[:-1])
        if len(src) > 1:
            super().copy_h2d(dst, kept[-1], stream)


class IgnoresOffsetsOfCopies(MockDriver):
    def copy_d2d(self, dst, src, nbytes, stream):
        super().copy_d2d(dst & ~0xFF, src & ~0xFF, nbytes, stream)


class FillsBytesOnly(MockDriver):
    def memset(self, dst, value, width, count, stream):
        super().memset(dst, value & 0xFF, 1, width * count, stream)


class ForgetsWaits(MockDriver):
    def wait_event(self, stream, event):
        return None


class NeverWaits(MockDriver):
    def synchronize(self, stream):
        return None

    def synchronize_event(self, event):
        return None


class SharesModules(MockDriver):
    """One kernel table for all modules, as a cache keyed by the name alone."""

    def function(self, module, name):
        table = self.__dict__.setdefault("table", {})
        if name not in table:
            table[name] = super().function(module, name)
        return table[name]


class LooksUpEveryTime(MockDriver):
    def unload_module(self, module):
        return None


class AnswersAnyLookup(MockDriver):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **{**options, "strict": False})


class RunsAfterFaults(MockDriver):
    """Swallows what a kernel's body raised, as a backend that never reads completion status."""

    def _run_body(self, body, context):
        try:
            super()._run_body(body, context)
        except Exception:
            return


class ChangedTarget(LaunchTarget):
    def __init__(self, target, change):
        self.target, self.change = target, change

    def submit(self, image, geometry, stream, ordinal):
        self.target.submit(*self.change(image, geometry, stream), ordinal)


def changing(change):
    class Changed(MockDriver):
        def prepare_launch(self, kernel, layout):
            return ChangedTarget(super().prepare_launch(kernel, layout), change)

    return Changed


def swap_axes(image, geometry, stream):
    grid = geometry.grid
    return image, replace(geometry, grid=Dim3(grid.y, grid.x, grid.z)), stream


def skip_last_block(image, geometry, stream):
    grid = geometry.grid
    return image, replace(geometry, grid=Dim3(max(grid.x - 1, 1), grid.y, grid.z)), stream


def drop_shared_memory(image, geometry, stream):
    return image, replace(geometry, shared_mem=0), stream


def zero_last_byte(image, geometry, stream):
    return bytes(image[:-1]) + b"\0", geometry, stream


def cut_inline_data(image, geometry, stream):
    """Only what goes inline arrives of a large value."""
    if len(image) > 8192:
        image = image[:4100] + bytes(len(image) - 4104) + image[-4:]
    return image, geometry, stream


def one_stream_for_all(image, geometry, stream):
    return image, geometry, 0


class KeepsOneImage(MockDriver):
    """One argument block per kernel, read when the launch runs: the second launch overwrites the first one's."""

    def prepare_launch(self, kernel, layout):
        shared = bytearray(layout.nbytes)
        driver = self

        class Target(LaunchTarget):
            def submit(self, image, geometry, stream, ordinal):
                shared[:] = image
                real.submit(image, geometry, stream, ordinal)
                driver.log[-1].image = memoryview(shared)

        real = super().prepare_launch(kernel, layout)
        return Target()


class NamesNoMemory(MockDriver):
    """What a launch names beside its arguments is not handed on."""

    def prepare_launch(self, kernel, layout):
        real = super().prepare_launch(kernel, layout)

        class Target(LaunchTarget):
            def submit(self, image, geometry, stream, ordinal):
                real.submit(image, geometry, stream, ordinal)

        return Target()


class MakesOneKernel(MockDriver):
    """The first set of constants is taken for all."""

    def specialised_function(self, module, name, constants):
        made = self.__dict__.setdefault("made", {})
        if name not in made:
            made[name] = super().specialised_function(module, name, constants)
        return made[name]


class LeaksMemory(MockDriver):
    def free(self, address, kind=MemoryKind.DEVICE):
        return None


class MapsNothing(MockDriver):
    def map_memory(self, address, nbytes):
        return None

    def unmap_memory(self, address, nbytes):
        return None


class LeaksMappings(MockDriver):
    def unmap_memory(self, address, nbytes):
        return None

    def release_addresses(self, base, nbytes):
        return None


class MovesWhatGrows(MockDriver):
    """Hands out fresh memory for the whole buffer with every growth, as realloc does."""

    def map_memory(self, address, nbytes):
        super().map_memory(address, nbytes)
        region = self._memory.find(address)[0]
        region.data[:] = bytes(len(region.data))


class FreesNothingInOrder(MockDriver):
    def free_async(self, address, stream):
        return None


class FreesAtOnce(MockDriver):
    """Takes memory of a stream's order back at once, under the feet of what is queued."""

    def free_async(self, address, stream):
        region = self._memory.release(address, MemoryKind.DEVICE)
        region.data[:] = bytes(len(region.data))


class EncodesOneMap(MockDriver):
    def encode_tensor_map(self, description):
        return bytes(128)


DEFECTS = [
    (LosesTheLastByte, "bytes_go_round"),
    (IgnoresOffsetsOfCopies, "bytes_go_round"),
    (FillsBytesOnly, "fills_have_three_widths"),
    (ForgetsWaits, "an_event_orders_two_streams"),
    (NeverWaits, "a_stream_runs_in_order"),
    (SharesModules, "two_modules_with_one_kernel_name_never_mix"),
    (LooksUpEveryTime, "a_module_replaced_runs_the_new_code"),
    (AnswersAnyLookup, "a_missing_kernel_is_explained"),
    (RunsAfterFaults, "debug_sync_blames_the_launch"),
    (RunsAfterFaults, "an_undebugged_fault_comes_with_the_next_wait"),
    (changing(swap_axes), "every_thread_of_every_block_runs_once"),
    (changing(skip_last_block), "over_rounds_the_grid_up"),
    (changing(drop_shared_memory), "dynamic_shared_memory_reaches_the_block"),
    (changing(zero_last_byte), "arguments_of_mixed_widths_keep_their_places"),
    (changing(zero_last_byte), "a_tensor_map_is_one_argument"),
    (changing(one_stream_for_all), "a_stream_runs_in_order"),
    (KeepsOneImage, "a_prepared_launch_keeps_each_calls_values"),
    (LeaksMemory, "the_ledger_returns_to_its_start"),
]

# Of abilities that the generic device has not.
H100_DEFECTS = [
    (MapsNothing, "a_lazy_buffer_grows_in_place"),
    (MovesWhatGrows, "a_lazy_buffer_grows_in_place"),
    (LeaksMappings, "a_mapping_budget_is_shared"),
    (FreesNothingInOrder, "memory_in_a_streams_order"),
    (FreesAtOnce, "memory_in_a_streams_order"),
    (ForgetsWaits, "other_streams_wait_for_an_allocation"),
    (EncodesOneMap, "an_encoded_tensor_map_arrives_unchanged"),
    (changing(zero_last_byte), "an_encoded_tensor_map_arrives_unchanged"),
]


# Of a device that binds arguments one by one.
M2_DEFECTS = [
    (NamesNoMemory, "memory_that_a_launch_uses_is_reached"),
    (NamesNoMemory, "memory_reached_through_memory_is_kept"),
    (MakesOneKernel, "function_constants_make_the_kernel"),
    (changing(cut_inline_data), "a_large_value_arrives_whole"),
    (changing(zero_last_byte), "pointers_inside_memory_are_exact"),
]


@pytest.fixture(autouse=True)
def _end_here(monkeypatch):
    """What a broken driver leaves behind raises in finalisers: let that happen now, and to nobody."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


class DefectiveTarget(MockTarget):
    def __init__(self, driver, profile):
        super().__init__(profile)
        self.driver = driver

    def open_backend(self, **options):
        options.pop("check", None)
        return MockGpuBackend(driver=self.driver(self.profile, strict=True, fill=0xC7), **options)


@pytest.mark.parametrize(
    ("driver", "name", "profile"),
    [
        pytest.param(driver, name, profile, id=f"{driver.__name__}-{name}")
        for profile, defects in (("generic", DEFECTS), ("H100", H100_DEFECTS), ("M2", M2_DEFECTS))
        for driver, name in defects
    ],
)
def test_a_defect_is_caught(driver, name, profile):
    """A driver with one defect fails the case that states the broken law, and passes it without the defect."""
    case = CASES[name]
    assert case.run(MockTarget(profile)) is None
    try:
        reason = case.run(DefectiveTarget(driver, profile))
    except Exception:
        return
    raise AssertionError(f"{driver.__name__} passed {name}{f', which says: {reason}' if reason else ''}")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("checked.refuse_aliased", "memory_may_be_given_twice"),
        ("checked.refuse_aliased", "memory_given_twice_is_refused_where_it_is_written"),
        ("kernel.check_arguments", "scalars_that_the_device_has_not_are_refused"),
    ],
)
def test_a_stated_gap_that_is_not_refused_is_caught(place, name, monkeypatch):
    """A device that states a gap and lets it through fails the case of that gap."""
    monkeypatch.setattr(f"metrale_gpu_runtime.{place}", lambda *given, **more: None)
    with pytest.raises(AssertionError, match=r"went through|a refusal made \d+ - \d+ driver calls"):
        CASES[name].run(MockTarget("WebGPU"))


@pytest.mark.parametrize("bounds", [False, True])
def test_a_fault_that_is_told_against_the_statement_is_caught(bounds):
    """A device that states that it tells no faults fails the suite when it tells one, whether it bounds accesses or not."""
    target = MockTarget()
    target.__dict__["_capabilities"] = replace(target.capabilities, kernel_faults=False, bounded_accesses=bounds)
    with pytest.raises(AssertionError, match="declares that it has no kernel_faults"):
        CASES["without_faults_a_kernel_does_no_harm_or_ends_the_process"].run(target)
