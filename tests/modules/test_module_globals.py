"""The variables of a module as a mapping: those that its code lists and its driver finds."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.cuda_images import read_cubin
from metrale_gpu_runtime.modules.nvrtc import compile_ptx

PTX = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .b8 table[12];
.extern .global .align 4 .u32 elsewhere;
.global .align 1 .b8 $str[2] = {120, 0};
.shared .align 4 .b8 scratch[64];
.visible .entry k() { ret; }
"""


def test_the_variables_are_listed_on_a_backend_that_finds_them() -> None:
    """In the code's order, without the compiler's own and what lies elsewhere; asking for one is asking the driver."""
    with mg.open_backend("cpu") as gpu:
        variables = gpu.load_module("m", source=PTX.replace(".extern .global .align 4 .u32 elsewhere;\n", "")).globals
        assert isinstance(variables, Mapping)
        assert (list(variables), len(variables)) == (["counter", "table"], 2)
        assert {name: buffer.nbytes for name, buffer in variables.items()} == {"counter": 4, "table": 12}
        assert "counter" in variables
        assert "countre" not in variables
        assert 0 not in variables
        assert variables.get("countre") is None
        assert variables.get("table").nbytes == 12
        assert repr(variables) == "<ModuleGlobals of 'm': counter, table>"
        with pytest.raises(TypeError, match="a variable's name is a string, not int"):
            variables[0]  # type: ignore[index]


def test_only_what_the_driver_finds_is_listed() -> None:
    """The mock finds what it was given, whatever the code declares."""
    with mg.MockGpuBackend() as gpu:
        gpu.mock.define_global("m", "table", b"0123456789ab")
        variables = gpu.load_module("m", source=PTX).globals
        assert (list(variables), len(variables)) == (["table"], 1)
        assert bytes(variables["table"].numpy()) == b"0123456789ab"


def test_code_that_lists_none_is_asked_by_name() -> None:
    """Iterating and counting say so; looking one up works."""
    with mg.MockGpuBackend() as gpu:
        gpu.mock.define_global("m", "table", b"0123")
        variables = gpu.load_module("m", binary=b"code of some kind").globals
        assert "table" in variables
        for call in (lambda: list(variables), lambda: len(variables)):
            with pytest.raises(mg.KernelNotFound, match=r"variables of module 'm' cannot be listed.*ask by name"):
                call()
        assert repr(variables) == "<ModuleGlobals of 'm': names not known>"


def test_a_cubin_lists_its_variables() -> None:
    """Read from its symbols: those of one file alone too, without the compiler's string constants."""
    require_rung("nvrtc")
    source = (
        "__device__ int counter = 5; __constant__ float table[3]; static __device__ int own;\n"
        'extern "C" __global__ void k(int* x) { *x = counter + own++ + table[*x]; printf("text"); }\n'
    )
    compiled = compile_ptx(source, name="k.cu", architecture="sm_90", with_cubin=True)
    assert compiled.cubin is not None
    assert set(read_cubin(compiled.cubin, "m").variables) == {"counter", "table", "own"}
