"""Code that the driver does not take, and names that it does not have (field cases 42, 43)."""

from __future__ import annotations

import pytest

import metrale_gpu_runtime as mg

# ------------------------------------------------ 42: PTX newer than the driver

NEWER = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"
LOG = "ptxas application ptx input, line 1; fatal   : Unsupported .version 8.7; current version is '8.4'"


def test_a_refusal_for_the_ptx_version_explains_itself(standin) -> None:
    """Code 222: PTX version, target, driver version, device architecture, the remedy, and the driver's log in full."""
    standin.set(compute_capability=90, driver_version=13000, code_version=84)
    with mg.open_backend("cuda") as gpu:
        with pytest.raises(mg.IncompatibleCode) as refused:
            gpu.load_module("norm", source={".ptx": NEWER})
        error, text = refused.value, str(refused.value)
        for word in (
            "module 'norm'",
            "PTX 8.7",
            "sm_90a",
            "driver of CUDA 13.0",
            "compute capability 9.0 (sm_90)",
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "Update the driver",
            "compile with an earlier toolkit",
        ):
            assert word in text, (word, text)
        assert text.endswith(LOG)
        assert (error.module, error.needs, error.device_architecture) == ("norm", "PTX 8.7 for sm_90a", "sm_90")
        assert (error.driver_version, error.ptx_version, error.log) == (13000, (8, 7), LOG)
        assert not gpu.has_module("norm")
        assert standin.count("module") == 0


@pytest.mark.parametrize("code", [222, 209])
def test_a_scripted_refusal_names_the_versions_too(standin, code: int) -> None:
    """A code that comes without a log has the same facts, and the name is free for another try."""
    standin.set(compute_capability=90, driver_version=13000)
    with mg.open_backend("cuda") as gpu:
        standin.fail_call("cuModuleLoadDataEx", code)
        with pytest.raises(mg.IncompatibleCode) as refused:
            gpu.load_module("norm", source={".ptx": NEWER})
        for word in ("PTX 8.7", "sm_90a", "CUDA 13.0", "sm_90", "CUDA_ERROR_"):
            assert word in str(refused.value), (word, str(refused.value))
        assert refused.value.log == ""
        assert list(gpu.load_module("norm", source={".ptx": NEWER})) == ["k"]


def test_ptx_that_no_such_driver_takes_is_refused_without_it(standin) -> None:
    """Newer than the driver by the tables, or for another architecture: refused before the driver is asked."""
    standin.set(compute_capability=90, driver_version=13000)
    with mg.open_backend("cuda") as gpu:
        for text, words in (
            (NEWER.replace("8.7", "9.2"), ("PTX 9.2", "sm_90a", "CUDA 13.0", "sm_90", "driver", "toolkit")),
            (NEWER.replace("sm_90a", "sm_80a"), ("sm_80a", "sm_90")),
            (NEWER.replace("sm_90a", "sm_100"), ("sm_100", "sm_90")),
        ):
            with pytest.raises(mg.ModuleLoadError) as refused:
                gpu.load_module("norm", source={".ptx": text})
            for word in words:
                assert word in str(refused.value), (word, str(refused.value))
        assert standin.call_count("cuModuleLoadDataEx") == 0


# ------------------------------------------------ 43: a symbol that is not found

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"
ADD = ".visible .entry _Z3addPfS_i(.param .u64 a, .param .u64 b, .param .u32 n) { ret; }\n"
ADD_DOUBLE = ".visible .entry _Z3addPdS_i(.param .u64 a, .param .u64 b, .param .u32 n) { ret; }\n"
OTHER = ".visible .entry total(.param .u64 a) { ret; }\n"


def test_a_mangled_kernel_is_what_its_plain_name_means(standin) -> None:
    """`_Z3addPfS_i` is found as `add` as well, and is the same kernel."""
    with mg.open_backend("cuda") as gpu:
        module = gpu.load_module("sums", source={".ptx": HEAD + ADD + OTHER})
        assert module["add"].handle == module["_Z3addPfS_i"].handle
        assert standin.call_count("cuModuleGetFunction") == 1


def test_a_plain_name_that_means_two_kernels_is_refused(standin) -> None:
    """`add` of two overloads names both, by what their author wrote and by their symbols."""
    with mg.open_backend("cuda") as gpu:
        gpu.load_module("sums", source={".ptx": HEAD + ADD + ADD_DOUBLE})
        with pytest.raises(mg.KernelNotFound) as refused:
            gpu.kernel("sums", "add")
        assert (refused.value.module, refused.value.function) == ("sums", "add")
        assert set(refused.value.close) == {"_Z3addPfS_i", "_Z3addPdS_i"}
        for word in ("'sums'", "'add'", "add(float*, float*, int) [_Z3addPfS_i]", "[_Z3addPdS_i]"):
            assert word in str(refused.value), (word, str(refused.value))


@pytest.mark.parametrize("asked", ["addd", "Add", "_Z3addPfS_", "ad"])
def test_a_name_that_is_not_there_is_explained(standin, asked: str) -> None:
    """Module, name asked for, names there are, the close one, and the hint at extern "C"."""
    with mg.open_backend("cuda") as gpu:
        gpu.load_module("sums", source={".ptx": HEAD + ADD + OTHER})
        with pytest.raises(mg.KernelNotFound) as refused:
            gpu.kernel("sums", asked)
        error = refused.value
        assert (error.module, error.function) == ("sums", asked)
        assert set(error.available) == {"_Z3addPfS_i", "total"}
        assert error.close == ("_Z3addPfS_i",)
        for word in (
            "'sums'",
            repr(asked),
            "did you mean add(float*, float*, int) [_Z3addPfS_i]?",
            "total",
            'extern "C"',
        ):
            assert word in str(error), (word, str(error))


def test_names_that_only_the_driver_can_list_are_listed(standin) -> None:
    """A cubin's kernels are in the error too."""
    from pathlib import Path

    code = (Path(__file__).parents[1] / "cuda_code" / "data" / "one.sm_90.cubin").read_bytes()
    with mg.open_backend("cuda") as gpu:
        gpu.load_module("one", binary=code)
        with pytest.raises(mg.KernelNotFound) as refused:
            gpu.kernel("one", "marc")
        assert (refused.value.available, refused.value.close) == (("mark",), ("mark",))
        assert "did you mean mark?" in str(refused.value)
