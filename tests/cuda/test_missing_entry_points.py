"""A driver that lacks a newer entry point loses the one feature that needs it (field case 44)."""

from __future__ import annotations

import numpy as np
import pytest
from kernels_for_launch import PTX
from standin_in_child import in_child

import metrale_gpu_runtime as mg

# The bindings look all entry points up once, when the first is called: each case has a process of its own.
FEATURES = {
    "cuMemAllocAsync": "stream_ordered_memory",
    "cuMemCreate": "lazy_memory",
    "cuTensorMapEncodeTiled": "tensor_map_encoding",
    "cuGraphNodeSetEnabled": "graphs",
    "cuThreadExchangeStreamCaptureMode": "graphs",
    "cuLaunchKernelEx": "clusters",
}
OPTIONAL = ("cuModuleGetFunctionCount", "cuModuleEnumerateFunctions", "cuFuncGetName", "cuFuncGetParamInfo")


def features() -> dict[str, object]:
    """What the device can do, after the ordinary things have been seen to work."""
    with mg.open_backend("cuda") as gpu:
        capabilities = gpu.capabilities
        kernel = gpu.load_module("m", source={".ptx": PTX})["scale"]
        x = gpu.array(np.arange(37, dtype=np.float32))
        kernel[3, 32](x, mg.u32(37), 2.0)
        gpu.memset(x, 5, 8)
        assert x.numpy().view(np.uint8)[:9].tolist() == [5] * 8 + [0]
        with gpu.create_stream() as stream:
            with gpu.capture(stream) as capture:
                kernel[3, 32, 0, stream](x, mg.u32(37), 2.0)
            capture.graph.launch(stream)
            stream.synchronize()
            capture.graph.close()
        return {
            "parameters": kernel.attributes.parameters,
            "programmatic": capabilities.programmatic_launches,
            "launch_priorities": capabilities.launch_priorities,
            **{name: getattr(capabilities, name) for name in set(FEATURES.values())},
        }


@pytest.mark.parametrize("entry_point", FEATURES)
def test_one_missing_entry_point_costs_one_feature(entry_point: str) -> None:
    """The feature that needs it is declared away; every other is there, and launches, copies and captures work."""
    everything = in_child("test_missing_entry_points:features")
    assert isinstance(everything, dict)
    lost = FEATURES[entry_point]
    assert everything[lost]
    without = in_child("test_missing_entry_points:features", absent=entry_point)
    assert isinstance(without, dict)
    assert not without.pop(lost)
    del everything[lost]
    if entry_point == "cuLaunchKernelEx":
        # All three are its attributes.
        assert not without.pop("programmatic")
        assert without.pop("launch_priorities") is None
        del everything["programmatic"], everything["launch_priorities"]
    assert without == everything


def test_an_older_driver_cannot_tell_of_parameters() -> None:
    """Before CUDA 12.4 the driver lists neither kernels nor parameters: both are unknown then, and launches work."""
    found = in_child("test_missing_entry_points:features", absent=",".join(OPTIONAL), driver_version=13000)
    assert isinstance(found, dict)
    assert found["parameters"] is None


def cooperative_without_extended() -> list[str]:
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("m", source={".ptx": PTX})["nothing"]
        mg.KernelLaunch(gpu, kernel).grid([3]).cooperative().launch()
        kernel[2, 32]()
        refused = []
        for launch in (
            mg.KernelLaunch(gpu, kernel).grid([4]).cluster([2]),
            mg.KernelLaunch(gpu, kernel).grid([4]).priority(-1),
        ):
            try:
                launch.launch()
            except mg.NotSupported as error:
                refused.append(error.feature)
        return refused


def test_without_the_extended_launch_the_plain_ones_are_used() -> None:
    """A cooperative launch works as before; what needs attributes is NotSupported."""
    assert in_child("test_missing_entry_points:cooperative_without_extended", absent="cuLaunchKernelEx") == [
        "clusters",
        "launch priorities",
    ]
