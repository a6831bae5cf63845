"""The mock as a Mac: inline data, threadgroup memory, buffer slots and dropped launches, as the case collection has them."""

from __future__ import annotations

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock.log import TemporaryAlloc, TemporaryFree
from metrale_gpu_runtime.testing import FaultPlan, Launch, LaunchFault, MockGpuBackend, OutOfMemory


@pytest.fixture
def gpu():
    with MockGpuBackend("M2") as gpu:
        yield gpu
        assert not gpu.mock.violations
    assert not any(gpu.mock.books.values())


def built(gpu, *sizes):
    launch = mg.KernelLaunch(gpu, gpu.kernel("m", "k"))
    for number, nbytes in enumerate(sizes):
        launch.arg_bytes(bytes((number + at) % 251 for at in range(nbytes)))
    return launch


def test_what_a_mac_can():
    """The profile states what Metal's driver states."""
    with MockGpuBackend("M2") as gpu:
        can = gpu.capabilities
        assert can.explicit_residency
        assert can.function_constants
        assert can.local_arguments
        for cannot in ("null_pointers", "module_variables", "mangled_names", "untracked_pointers"):
            assert not getattr(can, cannot), cannot
        assert (can.max_inline_argument_nbytes, can.max_buffer_arguments) == (4096, 31)
        assert can.shared_mem_granularity == 16
        with pytest.raises(mg.NotSupported, match="no caller reaches"):
            gpu.load_module("m", source="any text").globals["table"]


def test_large_values_go_through_memory_of_the_drivers_own(gpu):
    """4096 bytes go inline; 4097 through a temporary buffer, which is there until the launch is over and then given back."""
    free = gpu.device_free_memory()
    built(gpu, 128, 4096).launch()
    assert gpu.log.of(TemporaryAlloc) == []
    built(gpu, 4097, 4096, 5000).launch()
    made = gpu.log.of(TemporaryAlloc)
    assert [(each.ordinal, each.argument, each.nbytes) for each in made] == [(2, 0, 4097), (2, 2, 5000)]
    assert gpu.device_free_memory() == free - 4097 - 5000
    assert gpu.mock.peek(made[0].address, 4097) == bytes(at % 251 for at in range(4097))
    assert gpu.log.of(TemporaryFree) == []
    assert gpu.live_bytes() == 0
    gpu.synchronize()
    assert [each.address for each in gpu.log.of(TemporaryFree)] == [each.address for each in made]
    assert gpu.device_free_memory() == free
    assert [each.arguments[0].nbytes for each in gpu.log.of(Launch)] == [128, 4097]


def test_a_temporary_buffer_outlives_no_launch(gpu):
    """It is given back when its launch faults and when it is dropped behind one that does; one that cannot be had leaves
    nothing."""
    free = gpu.device_free_memory()
    fault = LaunchFault(context_lost=False, drops_later=True)
    gpu.inject(FaultPlan().fail("launch", failure=fault).fail("temporary_alloc", nth=4, failure=OutOfMemory()))
    built(gpu, 5000).launch()
    built(gpu, 6000).launch()
    with pytest.raises(mg.OutOfDeviceMemory):
        built(gpu, 7000, 8000).launch()
    assert gpu.device_free_memory() == free - 5000 - 6000
    with pytest.raises(mg.KernelFault) as info:
        gpu.synchronize()
    assert info.value.launch.ordinal == 1
    assert [each.ordinal for each in info.value.dropped] == [2]
    assert gpu.device_free_memory() == free
    assert len(gpu.log.of(TemporaryFree)) == 3


@pytest.mark.parametrize(
    ("nbytes", "lengths"),
    [(0, ()), (1, (16,)), (4, (16,)), (15, (16,)), (16, (16,)), (140, (144,)), (32760, (32768,)), (32768, (32768,))],
)
def test_threadgroup_memory_is_rounded_up(gpu, nbytes, lengths):
    """The length that is set is the next multiple of 16, and none is set for 0."""
    mg.KernelLaunch(gpu, gpu.kernel("m", "k")).shared_mem(nbytes).arg_u32(1).launch()
    (launch,) = gpu.log.of(Launch)
    assert (launch.shared_mem, launch.threadgroup_memory) == (nbytes, lengths)


def test_the_limit_is_checked_after_rounding(gpu):
    """32769 bytes are refused with the limit; so is what several local arguments make together, each rounded."""
    with pytest.raises(mg.LimitExceeded) as info:
        mg.KernelLaunch(gpu, gpu.kernel("m", "k")).shared_mem(32769).arg_u32(1).launch()
    assert (info.value.asked, info.value.limit) == (32784, 32768)
    mg.KernelLaunch(gpu, gpu.kernel("m", "k")).arg_local(16384).arg_local(16369).launch()
    with pytest.raises(mg.LimitExceeded):
        mg.KernelLaunch(gpu, gpu.kernel("m", "k")).arg_local(16385).arg_local(16369).launch()


def test_values_take_buffer_slots_too(gpu):
    """31 values and pointers together have slots, one more has not; local memory takes none."""
    kernel = gpu.kernel("m", "k")
    buffer = gpu.empty(4, mg.f32)
    for pointers, values, is_refused in ((31, 0, False), (16, 15, False), (16, 16, True), (0, 32, True)):
        launch = mg.KernelLaunch(gpu, kernel).arg_local(16)
        for _ in range(pointers):
            launch.arg_ptr(buffer)
        for number in range(values):
            launch.arg_u32(number)
        if is_refused:
            with pytest.raises(mg.LimitExceeded) as info:
                launch.launch()
            assert (info.value.asked, info.value.limit) == (pointers + values, 31)
        else:
            launch.launch()
