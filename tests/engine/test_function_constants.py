"""Kernels that are specialised when they are looked up: strict values, one kernel per set, and who has none."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import FunctionConstant
from metrale_gpu_runtime.drivers.mock.log import AskConstants, SpecialisedLookup
from metrale_gpu_runtime.function_constants import read_constants
from metrale_gpu_runtime.testing import FaultPlan, MockGpuBackend

CONSTANTS = (
    FunctionConstant("N", "uint", 7, required=True),
    FunctionConstant("USE_BIAS", "bool", 3, required=False),
)


def constant(type_name):
    return (FunctionConstant("C", type_name, 5, required=True),)


@pytest.fixture
def gpu():
    with MockGpuBackend("M2") as gpu:
        gpu.define_kernel("m", "k", constants=CONSTANTS)
        gpu.load_module("m", source="any text")
        yield gpu
        assert not gpu.mock.violations


@pytest.mark.parametrize(
    ("type_name", "value", "data"),
    [
        ("bool", True, "01"),
        ("bool", np.bool_(False), "00"),
        ("char", -128, "80"),
        ("uchar", 255, "ff"),
        ("short", -2, "feff"),
        ("ushort", 65535, "ffff"),
        ("int", -3, "fdffffff"),
        ("uint", 4_000_000_000, "00286bee"),
        ("uint", mg.u32(5), "05000000"),
        ("long", -(2**63), "0000000000000080"),
        ("ulong", 2**64 - 1, "ffffffffffffffff"),
        ("half", 1.5, "003e"),
        ("half", 1e9, "007c"),
        ("bfloat", 1.5, "c03f"),
        ("float", 0.1, "cdcccc3d"),
        ("float", 3, "00004040"),
        ("int2", (1, -1), "01000000ffffffff"),
        ("uchar3", [1, 2, 3], "01020300"),
        ("bool4", (True, False, True, True), "01000101"),
        ("float3", np.array([1, 2, 3], np.float32), struct.pack("<4f", 1, 2, 3, 0).hex()),
        ("half4", (1, 2, 3, 4), struct.pack("<4e", 1, 2, 3, 4).hex()),
        ("u32", 9, "09000000"),
    ],
)
def test_each_type_has_its_bytes(type_name, value, data):
    """A value becomes exactly the bytes of the constant's type; a vector of three takes the room of four."""
    given = read_constants({"C": value}, constant(type_name), "k")
    assert given.encoded == (("C", bytes.fromhex(data)),)
    assert read_constants({5: value}, constant(type_name), "k") == given


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("bool", 1),
        ("bool", None),
        ("char", 128),
        ("uchar", -1),
        ("uint", 2**32),
        ("uint", True),
        ("uint", 1.0),
        ("uint", mg.i32(1)),
        ("uint", "1"),
        ("int", -(2**31) - 1),
        ("half", np.float32(0.1)),
        ("float", "1.0"),
        ("float", 1j),
        ("float2", 1.0),
        ("float2", (1.0,)),
        ("float2", "ab"),
        ("float3", (1, 2, 3, 4)),
        ("int2", (1, 1.5)),
        ("int2", {1: 2, 2: 3}),
        ("Params", 1),
    ],
)
def test_what_does_not_fit_is_refused_by_name(type_name, value):
    """A value of another kind, out of range, or of another number of components names kernel, constant and type."""
    with pytest.raises(mg.FunctionConstantError, match=f"^k: .*C \\({type_name}, index 5\\)") as info:
        read_constants({"C": value}, constant(type_name), "k")
    assert (info.value.kernel, info.value.name) == ("k", "C")


@pytest.mark.parametrize(
    ("given", "name", "words"),
    [
        (None, "N", "N \\(uint, index 7\\), USE_BIAS \\(bool, index 3\\), may be left out"),
        ({}, "N", "made only with N"),
        ({"USE_BIAS": True}, "N", 'constants=\\{"N": …\\}'),
        ({"N": 1, "USE_BIA": True}, "USE_BIA", "did you mean 'USE_BIAS'"),
        ({"N": 1, 4: True}, None, "no constant of index 4"),
        ({"N": 1, 7: 1}, "N", "given twice"),
        ({True: 1}, None, "by its name or its index"),
    ],
)
def test_missing_and_unknown_ones_are_refused(gpu, given, name, words):
    """One left out that has to be there, and one that is not there, are refused with all that there is."""
    with pytest.raises(mg.FunctionConstantError, match=words) as info:
        gpu.kernel("m", "k", constants=given)
    assert info.value.name == name
    assert not gpu.log.of(SpecialisedLookup)


def test_one_kernel_for_one_set(gpu):
    """The same values, however they are given, are the same kernel without a second driver call; others are another."""
    first = gpu.kernel("m", "k", constants={"N": 4, "USE_BIAS": True})
    calls = gpu.log.transcript()
    assert gpu.kernel("m", "k", constants={3: True, 7: mg.u32(4)}) is first
    assert gpu.module("m").kernel("k", constants={"USE_BIAS": np.bool_(True), "N": 4}) is first
    declared = gpu.kernel("m", "k", signature="float* x", constants={"N": 4, "USE_BIAS": True})
    assert declared.handle == first.handle
    without = gpu.kernel("m", "k", constants={"N": 4})
    assert without.handle != first.handle
    assert gpu.log.transcript()[len(calls) :].count("function_constants") == 0
    assert len(gpu.log.of(AskConstants)) == 1
    assert [dict(each.constants) for each in gpu.log.of(SpecialisedLookup)] == [
        {"N": b"\4\0\0\0", "USE_BIAS": b"\1"},
        {"N": b"\4\0\0\0", "USE_BIAS": b"\1"},
        {"N": b"\4\0\0\0"},
    ]


def test_a_kernel_shows_its_constants(gpu):
    """Title, repr, errors and trace of a specialised kernel say by what; others have no constants."""
    kernel = gpu.kernel("m", "k", constants={"N": 4, "USE_BIAS": True}, signature="unsigned n")
    assert dict(kernel.constants) == {"N": 4, "USE_BIAS": True}
    assert kernel.title == "k[N=4, USE_BIAS=True]"
    assert kernel.function == "k"
    assert "k[N=4, USE_BIAS=True](unsigned int n)" in repr(kernel)
    with pytest.raises(mg.ArgumentRangeError, match=r"k\[N=4, USE_BIAS=True\]: argument 0 \(n\)"):
        kernel[1, 1](-1)
    with pytest.raises(TypeError):
        kernel.constants["N"] = 5
    plain = gpu.kernel("m", "plain")
    assert (dict(plain.constants), plain.title) == ({}, "plain")


def test_a_body_reads_its_constants(gpu):
    """A Python body gets the values that its kernel was made with, and a default for one that was left out."""
    seen = []

    def body(launch):
        seen.append((launch.constant("N", "u32"), launch.constant("USE_BIAS", "bool", "left out")))

    gpu.define_kernel("n", "k", body, constants=CONSTANTS)
    gpu.kernel("n", "k", constants={"N": 4})[1, 1](mg.u32(1))
    gpu.kernel("n", "k", constants={"N": 5, "USE_BIAS": True})[1, 1](mg.u32(1))
    gpu.synchronize()
    assert seen == [(4, "left out"), (5, True)]


def test_a_module_loaded_anew_is_asked_anew(gpu):
    """A module that was replaced has constants of its own."""
    gpu.kernel("m", "k", constants={"N": 4})
    gpu.define_kernel("m", "k", constants={"M": "float"})
    gpu.load_module("m", source="other text", replace=True)
    assert dict(gpu.kernel("m", "k", constants={"M": 0.5}).constants) == {"M": 0.5}
    with pytest.raises(mg.FunctionConstantError, match="M \\(float, index 0\\)"):
        gpu.kernel("m", "k", constants={"N": 4})


@pytest.mark.parametrize("profile", ["generic", "H100", "OpenCL"])
def test_a_device_without_them_says_so(profile):
    """Where a device has no function constants, giving some is not supported, and giving none is nothing."""
    with MockGpuBackend(profile) as gpu:
        with pytest.raises(mg.NotSupported, match="function constants") as info:
            gpu.kernel("m", "k", constants={"N": 4})
        assert info.value.feature == "function constants"
        assert gpu.kernel("m", "k", constants={}) is gpu.kernel("m", "k", constants=None)


def test_missing_kernels_and_modules_are_explained(gpu):
    """With constants too, a kernel that is not there is explained as ever; so is a module."""
    gpu.deny_kernel("m", "gone")
    with pytest.raises(mg.KernelNotFound, match="gone"):
        gpu.kernel("m", "gone", constants={"N": 4})
    with pytest.raises(mg.KernelNotFound, match="nowhere"):
        super(MockGpuBackend, gpu).kernel("nowhere", "k", constants={"N": 4})
    with pytest.raises(mg.FunctionConstantError, match="mapping"):
        gpu.kernel("m", "k", constants=[4])


def test_a_refusal_of_the_driver_leaves_nothing(gpu):
    """A look-up that the driver refuses once goes through the next time."""
    gpu.inject(FaultPlan().fail("specialised_function"))
    with pytest.raises(mg.KernelNotFound):
        gpu.kernel("m", "k", constants={"N": 4})
    assert gpu.kernel("m", "k", constants={"N": 4}).title == "k[N=4]"
