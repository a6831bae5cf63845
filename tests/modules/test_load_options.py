"""Options and names as they are given to load_module: sequences of strings, for code that something compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock.log import LoadModule
from metrale_gpu_runtime.testing import MockGpuBackend

PTX = Path(mg.__file__).parent / "cli" / "kernels" / "demo.ptx"
CODE = Path(__file__).parents[1] / "cuda_code" / "data"


@pytest.mark.parametrize("keyword", ["options", "names", "link_options"])
@pytest.mark.parametrize(
    ("given", "told"),
    [("-lto", "not str"), (b"-lto", "not bytes"), (7, "not int"), (("-O3", 3), "3 among them is int")],
)
def test_a_bare_string_is_not_taken_letter_by_letter(keyword: str, given: object, told: str) -> None:
    """One string, or what is none, is a TypeError that names the keyword; nothing is loaded."""
    with MockGpuBackend() as gpu:
        with pytest.raises(TypeError, match=rf"^{keyword}= takes a sequence of strings.*{told}"):
            gpu.load_module("m", path=PTX, **{keyword: given})  # type: ignore[arg-type]
        assert not gpu.has_module("m")


def test_raw_kernels_take_no_bare_string_either() -> None:
    """The options of raw_kernel are those of load_module."""
    with MockGpuBackend() as gpu, pytest.raises(TypeError, match=r"^options= takes a sequence of strings, not str"):
        gpu.raw_kernel('extern "C" __global__ void k() {}', "k", options="-O3")  # type: ignore[arg-type]


def test_options_for_machine_code_are_refused() -> None:
    """A cubin is compiled already: nobody would take them, and the message says what does."""
    with (
        MockGpuBackend() as gpu,
        pytest.raises(mg.ModuleLoadError, match="-lineinfo were given for a cubin") as refused,
    ):
        gpu.load_module("m", path=CODE / "kernels.cubin", options=("-lineinfo",))
    assert "options= are for source, which is compiled, and on CUDA for PTX" in str(refused.value)


def test_the_cpu_takes_no_options_for_ptx() -> None:
    """Its compiler has none; the message says what takes them."""
    with mg.open_backend("cpu") as gpu, pytest.raises(mg.NotSupported, match="-lineinfo were given for PTX") as refused:
        gpu.load_module("m", path=PTX, options=("-lineinfo",))
    assert "give CUDA C source" in str(refused.value)


def test_the_mock_records_the_options_of_ptx() -> None:
    """It stands for drivers that take some: they are in the log as they would reach one."""
    with MockGpuBackend() as gpu:
        gpu.load_module("m", path=PTX, options=("-lineinfo",))
        assert [call.options for call in gpu.log.of(LoadModule)] == [("-lineinfo",)]
