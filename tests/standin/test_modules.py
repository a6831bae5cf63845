"""Code in the stand-in CUDA driver: what fits a device and a driver, what is found in it, and what is refused how."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rungs import require_rung

from standin import StandIn
from standin.calls import bindings, code, kernel, launch, module, no_violations, ok, opened, text
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]

SUITE = Path(__file__).parents[2] / "src/metrale_gpu_runtime/testing/conformance/kernels/suite.ptx"
SOURCE = """
__device__ float scale_table[37];
__constant__ int limits[5] = {3, 1, 4, 1, 5};
extern "C" __global__ void a(float* p, int n, unsigned char c) {
    __shared__ float s[33];
    s[threadIdx.x] = p[n];
    __syncthreads();
    p[c] = s[5] * scale_table[n] + limits[2];
}
extern "C" __global__ __launch_bounds__(96) void b(double x, char y, long long* z) { *z = (long long)(x + y); }
"""


def _attribute(function: Any, name: str) -> int:
    driver = bindings()
    attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    return int(ok(driver.cuFuncGetAttribute(attribute, function)))


def _parameters(function: Any) -> list[tuple[int, int]]:
    found = []
    while code(result := bindings().cuFuncGetParamInfo(function, len(found))) == 0:
        found.append((result[1], result[2]))
    return found


def _load(ptx: str) -> tuple[int, str]:
    """The code of cuModuleLoadDataEx and the compiler's log."""
    driver = bindings()
    log = bytearray(300)
    options = [driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    returned = code(driver.cuModuleLoadDataEx(ptx.encode() + b"\0", 2, options, [log, len(log)]))
    return returned, log.split(b"\0")[0].decode()


def test_parameters_of_a_text_lie_at_their_alignment(standin_cuda: StandIn) -> None:
    """Sizes, offsets, bounds, shared memory and variables are read from PTX as the compiler lays them out."""
    opened()
    driver = bindings()
    loaded = module(
        text(
            ".param .u8 a, .param .align 64 .b8 map[128], .param .u16 b, .param .u64 .ptr .global .align 4 c,\n"
            "\t.param .align 4 .b8 rgb[12] /* , .param .u32 no */",
            bounds=".maxntid 40, 3 // .reqntid 7",
            body=".shared .align 16 .b8 tile[100];\n.shared .f32 one;\n.reg .b32 %r<2>;\nld.shared.f32 %r1, [one];\nret;",
            before=".global .align 8 .u64 counters[3];\n.const .f32 table[] = {0f3F800000, 0f40000000};\n.extern .global .b8 x[4];",
        )
    )
    function = ok(driver.cuModuleGetFunction(loaded, b"k"))
    assert _parameters(function) == [(0, 1), (64, 128), (192, 2), (200, 8), (208, 12)]
    assert (_attribute(function, "MAX_THREADS_PER_BLOCK"), _attribute(function, "SHARED_SIZE_BYTES")) == (120, 104)
    assert _attribute(function, "PTX_VERSION") == 80
    address, nbytes = ok(driver.cuModuleGetGlobal(loaded, b"counters"))
    assert (int(address) % 8, nbytes) == (0, 24)
    assert ok(driver.cuModuleGetGlobal(loaded, b"table"))[1] == 8
    assert code(driver.cuModuleGetGlobal(loaded, b"x")) == 500


def test_the_suite_of_kernels_loads(standin_cuda: StandIn) -> None:
    """All kernels of the conformance suite are there, by their names."""
    driver = bindings()
    opened()
    loaded = module(SUITE.read_text())
    count = ok(driver.cuModuleGetFunctionCount(loaded))
    functions = ok(driver.cuModuleEnumerateFunctions(count, loaded))
    names = [ok(driver.cuFuncGetName(function)).decode() for function in functions]
    assert (len(names), names[0], "_Z7mangledPji" in names) == (21, "affine", True)
    mixed = ok(driver.cuModuleGetFunction(loaded, b"mixed"))
    assert _parameters(mixed) == [(0, 8), (8, 1), (16, 8), (24, 2), (32, 8), (40, 4)]
    assert int(ok(driver.cuFuncGetModule(mixed))) == int(loaded)
    assert code(driver.cuModuleGetFunction(loaded, b"mangled")) == 500


@pytest.mark.parametrize(
    ("driver_version", "ptx", "returned", "logged"),
    [
        (12020, "8.2", 0, ""),
        (12020, "8.3", 222, "Unsupported .version 8.3; current version is '8.2'"),
        (12080, "8.7", 0, ""),
        (12080, "8.8", 222, "current version is '8.7'"),
        (13000, "9.0", 0, ""),
        (13000, "9.1", 222, "current version is '9.0'"),
        (11080, "7.8", 0, ""),
    ],
)
def test_text_newer_than_the_driver(
    standin_cuda: StandIn, driver_version: int, ptx: str, returned: int, logged: str
) -> None:
    """A .version that came after the driver is 222, with the compiler's line in the log."""
    standin_cuda.set(driver_version=driver_version)
    opened()
    found, log = _load(text(version=ptx))
    assert found == returned
    assert logged in log
    assert bool(log) == bool(returned)


@pytest.mark.parametrize(
    ("target", "capability", "returned"),
    [
        ("sm_80", 90, 0),
        ("sm_90", 90, 0),
        ("sm_100", 90, 209),
        ("sm_90a", 90, 0),
        ("sm_90a", 100, 209),
        ("sm_100f", 103, 0),
        ("sm_100f", 120, 209),
    ],
)
def test_text_for_another_device(standin_cuda: StandIn, target: str, capability: int, returned: int) -> None:
    """Plain targets run on the same and newer devices, "a" on exactly one, "f" on its family."""
    standin_cuda.set(compute_capability=capability)
    opened()
    found, log = _load(text(target=target, version="8.8"))
    assert found == returned
    assert (f"specified by .target is {target}" in log) == (returned != 0)


def test_what_is_no_code(standin_cuda: StandIn) -> None:
    """Text that is no PTX, 32-bit PTX and a kernel without its end are 218 with a log; a missing file is 301."""
    driver = bindings()
    opened()
    for damaged in (
        "int main() {}",
        text().replace("_size 64", "_size 32"),
        text().rstrip("}\n"),
        text().split(".target")[0],
    ):
        returned, log = _load(damaged)
        assert returned == 218
        assert log.startswith("ptxas")
    assert code(driver.cuModuleLoad(b"/no/such/file.cubin")) == 301
    assert standin_cuda.live() == {}


def test_a_log_fits_its_buffer(standin_cuda: StandIn) -> None:
    """A short buffer takes the beginning of the log and its end mark; the size tells what was written."""
    opened()
    driver = bindings()
    log = bytearray(b"\xff" * 40)
    options = [driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    assert code(driver.cuModuleLoadDataEx(b"nonsense\0", 2, options, [log, 21])) == 218
    assert log[:21] == b"ptxas application pt\0"
    assert set(log[21:]) == {0xFF}


def test_an_unloaded_module_is_gone(standin_cuda: StandIn) -> None:
    """Its functions are refused, its variables are no memory; unloaded twice or elsewhere is refused."""
    driver = bindings()
    opened(0)
    loaded = module(text(before=".global .u32 x[7];"))
    function = ok(driver.cuModuleGetFunction(loaded, b"k"))
    address, _ = ok(driver.cuModuleGetGlobal(loaded, b"x"))
    ok(driver.cuMemsetD32(address, 3, 7))
    ok(driver.cuCtxSynchronize())
    ok(driver.cuCtxPushCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    assert code(driver.cuModuleUnload(loaded)) == 201
    ok(driver.cuCtxPopCurrent())
    ok(driver.cuModuleUnload(loaded))
    assert code(driver.cuModuleUnload(loaded)) == 400
    assert launch(function) == 400
    assert code(driver.cuMemsetD32(address, 3, 7)) == 1
    assert standin_cuda.live() == {}


def test_unloading_under_a_queued_launch_is_noted(standin_cuda: StandIn) -> None:
    """The kernel's code may not go while it waits its turn."""
    driver = bindings()
    opened()
    function = kernel()
    assert launch(function) == 0
    ok(driver.cuModuleUnload(ok(driver.cuFuncGetModule(function))))
    assert [violation.call for violation in standin_cuda.violations("free-in-use")] == ["cuModuleUnload"]


def test_an_older_driver_cannot_tell(standin_cuda: StandIn) -> None:
    """The switches play a driver that neither lists kernels nor knows their parameters."""
    driver = bindings()
    standin_cuda.set(parameter_info=0, enumerate_functions=0)
    opened()
    loaded = module(text())
    assert code(driver.cuModuleGetFunctionCount(loaded)) == 801
    assert code(driver.cuFuncGetParamInfo(ok(driver.cuModuleGetFunction(loaded, b"k")), 0)) == 801


def test_libraries(standin_cuda: StandIn) -> None:
    """cuLibrary and cuKernel calls find the same kernels."""
    driver = bindings()
    opened()
    library = ok(driver.cuLibraryLoadData(text().encode() + b"\0", [], [], 0, [], [], 0))
    found = ok(driver.cuLibraryGetKernel(library, b"k"))
    assert ok(driver.cuKernelGetName(found)) == b"k"
    assert ok(driver.cuKernelGetParamInfo(found, 1)) == (8, 4)
    assert launch(ok(driver.cuKernelGetFunction(found))) == 0
    assert code(driver.cuLibraryGetKernel(library, b"q")) == 500
    ok(driver.cuCtxSynchronize())
    ok(driver.cuLibraryUnload(library))
    no_violations(standin_cuda)


# ------------------------------------------------ binaries


def _nvcc(folder: Path, *options: str) -> bytes:
    require_rung("nvcc")
    source, made = folder / "code.cu", folder / "code.out"
    source.write_text(SOURCE)
    subprocess.run(["nvcc", *options, str(source), "-o", str(made)], check=True, capture_output=True)
    return made.read_bytes()


@pytest.mark.parametrize(("capability", "returned"), [(80, 0), (86, 0), (87, 0), (75, 209), (90, 209)])
def test_cubins_run_within_their_major_version(
    standin_cuda: StandIn, tmp_path: Path, capability: int, returned: int
) -> None:
    """A cubin needs the same major version and at least its minor one; its kernels are as the compiler made them."""
    image = _nvcc(tmp_path, "-cubin", "-arch=sm_80")
    driver = bindings()
    standin_cuda.set(compute_capability=capability)
    opened()
    result = driver.cuModuleLoadData(image)
    assert code(result) == returned
    if returned:
        return
    a, b = (ok(driver.cuModuleGetFunction(result[1], name)) for name in (b"a", b"b"))
    assert (_parameters(a), _parameters(b)) == ([(0, 8), (8, 4), (12, 1)], [(0, 8), (8, 1), (16, 8)])
    assert (_attribute(a, "SHARED_SIZE_BYTES"), _attribute(b, "MAX_THREADS_PER_BLOCK")) == (132, 96)
    assert 4 <= _attribute(a, "NUM_REGS") <= 64
    assert _attribute(a, "BINARY_VERSION") == 80
    limits, nbytes = ok(driver.cuModuleGetGlobal(result[1], b"limits"))
    back = (ctypes.c_int * 5)()
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), limits, nbytes))
    assert list(back) == [3, 1, 4, 1, 5]


@pytest.mark.parametrize(
    ("capability", "returned", "binary"), [(80, 0, 80), (90, 0, 90), (100, 0, 100), (75, 209, None)]
)
def test_a_fatbin_gives_the_image_that_fits(
    standin_cuda: StandIn, tmp_path: Path, capability: int, returned: int, binary: int | None
) -> None:
    """The newest binary of the device's major version, else the text, which is compiled; none is 209."""
    options = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]"]
    image = _nvcc(tmp_path, "-fatbin", "--no-compress", *options)
    driver = bindings()
    standin_cuda.set(compute_capability=capability)
    opened()
    result = driver.cuModuleLoadData(image)
    assert code(result) == returned
    if not returned:
        function = ok(driver.cuModuleGetFunction(result[1], b"b"))
        assert _attribute(function, "BINARY_VERSION") == binary
        assert _parameters(function) == [(0, 8), (8, 1), (16, 8)]


def test_a_wrapped_fatbin_loads(standin_cuda: StandIn, tmp_path: Path) -> None:
    """The structure that host programs register, with a pointer to the container, is followed."""
    image = ctypes.create_string_buffer(_nvcc(tmp_path, "-fatbin", "--no-compress", "-arch=sm_90"))
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, ctypes.addressof(image), 0)
    opened()
    loaded = ok(bindings().cuModuleLoadData(wrapper))
    assert ok(bindings().cuModuleGetFunctionCount(loaded)) == 2
