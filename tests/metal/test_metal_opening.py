"""Which Metal devices there are, asked in a child process; opening one, and every reason why none can be opened."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import DriverOptions
from metrale_gpu_runtime.drivers.metal import MetalFactory, listing
from metrale_gpu_runtime.drivers.metal.bindings import load_bindings
from metrale_gpu_runtime.drivers.metal.devices import usable_devices
from metrale_gpu_runtime.errors import BackendUnavailable, NotSupported

__all__ = ["metal_standin"]

WITHOUT_METAL_3 = (1001, 1002, 1003, 2001, 3001)


def test_devices_are_listed_by_another_process(metal_standin: MetalStandIn) -> None:
    """Each device has its number, its name and what tells devices apart; this process has not imported Metal."""
    metal_standin.reset(3, name="M7", working_set=22 << 30, low_power=True)
    first, second, third = MetalFactory().devices()
    assert [(each.backend, each.index, each.name) for each in (first, second, third)] == [
        ("metal", index, "M7") for index in range(3)
    ]
    assert dict(second.details) == {
        "unified_memory": True,
        "registry_id": first.details["registry_id"] + 1,
        "low_power": True,
        "removable": False,
        "recommended_working_set": 22 << 30,
    }
    assert "Metal" not in sys.modules
    metal_standin.reset(1, unified=False, removable=True)
    (only,) = MetalFactory().devices()
    assert (only.details["unified_memory"], only.details["removable"], only.details["low_power"]) == (
        False,
        True,
        False,
    )


def test_the_default_device_is_number_0(metal_standin: MetalStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's default comes first whatever place Metal lists it at; the others keep their order."""
    metal_standin.reset(3)
    bindings = load_bindings()
    with bindings.pool():
        listed = list(bindings.metal.MTLCopyAllDevices())
        monkeypatch.setattr(bindings.metal, "MTLCreateSystemDefaultDevice", lambda: listed[2], raising=False)
        found = [device.registryID() for device in usable_devices(bindings)]
        assert found == [listed[index].registryID() for index in (2, 0, 1)]


def _reason() -> str:
    """What opening says, and listing too."""
    told = []
    for call in (lambda: mg.open_backend("metal"), MetalFactory().devices):
        with pytest.raises(BackendUnavailable) as refused:
            call()
        told.append(str(refused.value).removeprefix("metal: "))
    assert told[0] == told[1]
    return told[0]


def test_no_device_is_a_reason(metal_standin: MetalStandIn) -> None:
    """A Mac without a GPU in sight, as a virtual machine may be, says so."""
    metal_standin.reset(0)
    assert _reason().startswith("Metal is here but sees no GPU")


def test_no_metal_3_is_a_reason(metal_standin: MetalStandIn) -> None:
    """Without GPU addresses nothing can be launched: the reason names the device and the macOS that is needed."""
    metal_standin.reset(1, name="Intel HD 4000", families=WITHOUT_METAL_3)
    reason = _reason()
    assert reason.startswith("Intel HD 4000 on macOS")
    assert "macOS 13" in reason


def test_a_child_that_fails_is_the_reason(metal_standin: MetalStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends the child while it lists devices costs a child; its last words are told."""
    monkeypatch.setattr(listing, "_PROGRAM", "import sys; sys.exit('the window server is gone')")
    with pytest.raises(BackendUnavailable, match="ended with status 1 and said: the window server is gone"):
        MetalFactory().devices()


def test_a_device_past_the_last_is_refused(metal_standin: MetalStandIn) -> None:
    """The index names a device that is there, or all that are."""
    metal_standin.reset(2)
    with mg.open_backend("metal:1") as gpu:
        assert gpu.capabilities.device_index == 1
        assert gpu.capabilities.dlpack_device == (8, 1)
    with pytest.raises(BackendUnavailable, match=r"no device 2; this machine has 2 \(0 to 1\)"):
        mg.open_backend("metal:2")


def test_options_that_are_none_are_refused(metal_standin: MetalStandIn) -> None:
    """An unknown option and a storage that is none name what there is; memory checks are not claimed."""
    with pytest.raises(TypeError, match="unknown options speed, warp; it takes storage"):
        MetalFactory().open(0, DriverOptions(extra={"warp": 1, "speed": 2}))
    with pytest.raises(ValueError, match="storage='managed'; it is 'shared', 'private' or None"):
        mg.open_backend("metal", storage="managed")
    with pytest.raises(NotSupported, match="check=None"):
        mg.open_backend("metal", check="memory")


@pytest.mark.parametrize(
    ("is_unified", "asked", "storage_mode"),
    [(True, None, 0), (False, None, 2), (True, "private", 2), (False, "shared", 0)],
)
def test_device_memory_lies_where_it_is_asked_for(
    metal_standin: MetalStandIn, is_unified: bool, asked: str | None, storage_mode: int
) -> None:
    """Unless told, memory is shared where there is only one (MTLStorageMode 0), else private (2)."""
    metal_standin.reset(1, unified=is_unified)
    extra: dict[str, Any] = {} if asked is None else {"storage": asked}
    with mg.open_backend("metal", **extra) as gpu:
        assert gpu.capabilities.unified_memory is is_unified
        buffer = gpu.empty(13, "u1")
        made = [each for each in metal_standin.world.natives if each.protocol == "MTLBuffer"]
        assert [each.do_storageMode() for each in made] == [storage_mode]
        buffer.free()


def test_capabilities_are_what_the_device_says(metal_standin: MetalStandIn) -> None:
    """Limits come from the device; what Metal does not tell is not made up."""
    metal_standin.reset(
        1,
        name="M7",
        max_threads=(896, 640, 48),
        threadgroup_memory=31 << 10,
        max_buffer_length=5 << 30,
    )
    with mg.open_backend("metal") as gpu:
        can = gpu.capabilities
        assert (can.backend, can.device, can.code_formats) == ("metal", "M7", ("metallib", "msl"))
        assert (can.max_block, can.max_threads_per_block) == ((896, 640, 48), 896)
        assert can.max_grid == (2**32 - 1,) * 3
        assert (can.max_static_and_dynamic_shared_mem, can.shared_mem_granularity) == (31 << 10, 16)
        assert (can.max_buffer_arguments, can.max_inline_argument_nbytes) == (31, 4096)
        assert can.max_allocation_nbytes == 5 << 30
        assert can.warp_size == 32
        assert can.driver_version is None
        assert can.unsupported_scalars == {"f64", "c128"}
        claims = ("local_arguments", "explicit_residency", "function_constants", "unified_memory", "raw_addresses")
        denials = ("null_pointers", "module_variables", "mangled_names", "graphs", "usable_after_fork")
        assert all(getattr(can, name) for name in claims)
        assert not any(getattr(can, name) for name in (*denials, "untracked_pointers", "cooperative"))
        with pytest.raises(NotSupported, match="how many multiprocessors M7 has is not told"):
            gpu.sm_count()


def test_the_width_of_a_simd_group_is_asked_of_other_makers_gpus(metal_standin: MetalStandIn) -> None:
    """A GPU that is not Apple's tells it with a compiled kernel, of which nothing stays."""
    metal_standin.reset(1, families=(2001, 2002, 3001, 3002, 3003, 5001), thread_execution_width=64, unified=False)
    with mg.open_backend("metal") as gpu:
        assert gpu.capabilities.warp_size == 64
        assert "MTLLibrary" not in metal_standin.live()
        assert "MTLComputePipelineState" not in metal_standin.live()
