"""The stand-in as a library: found by children, without entry points it is told to lack, after exit, after a fork."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap

import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from standin import StandIn, environment
from standin.calls import bindings, code, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]


def _child(program: str, devices: int = 1, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment(devices, **settings),
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_child_finds_it_with_its_settings(standin_cuda: StandIn) -> None:
    """The environment names the library, the devices, the driver's version, attributes and faults."""
    done = _child(
        """
        from cuda.bindings import driver
        driver.cuInit(0)
        context = driver.cuDevicePrimaryCtxRetain(2)[1]
        driver.cuCtxPushCurrent(context)
        print(driver.cuDeviceGetCount()[1], driver.cuDriverGetVersion()[1],
              driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_INTEGRATED, 0)[1],
              driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0)[1],
              [int(driver.cuMemAlloc(7)[0]) for _ in range(4)])
        """,
        devices=3,
        driver_version=12020,
        attribute_integrated=1,
        compute_capability=87,
        faults="cuMemAlloc:2:2:2",
    )
    assert (done.stdout.split(), done.stderr) == (["3", "12020", "1", "8", "[0,", "2,", "2,", "0]"], "")


def test_absent_entry_points_are_not_found(standin_cuda: StandIn) -> None:
    """cuda-bindings says so for what an older driver does not have, and the rest works."""
    done = _child(
        """
        from cuda.bindings import driver
        driver.cuInit(0)
        driver.cuCtxPushCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
        try:
            driver.cuFuncGetParamInfo(0, 0)
        except RuntimeError as error:
            print("cuFuncGetParamInfo" in str(error))
        print(int(driver.cuMemAlloc(8)[0]))
        """,
        absent="cuFuncGetParamInfo,cuFuncGetName",
    )
    assert (done.stdout.split(), done.stderr) == (["True", "0"], "")


def test_once_python_ends_calls_return_4(standin_cuda: StandIn) -> None:
    """With the switch, calls made while the interpreter ends are deinitialised; the exit stays clean."""
    done = _child(
        """
        import sys
        from cuda.bindings import driver
        driver.cuInit(0)
        class Late:
            def __del__(self, get=driver.cuDeviceGetCount, write=sys.__stdout__.write):
                write(str(int(get()[0])))
        late = Late()
        late.itself = late
        """,
        deinitialize_with_interpreter=1,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("4", "", 0)


def test_who_keeps_the_interpreter_lock_in_a_call_hangs(standin_cuda: StandIn) -> None:
    """With both switches a wait without releasing the lock never ends, as on hardware; with it released it does."""
    program = """
        import ctypes, faulthandler, sys
        from cuda.bindings import driver
        faulthandler.dump_traceback_later(3, exit=True)
        # The driver's thread gets the interpreter in a call that lets go of it, not between two calls.
        sys.setswitchinterval(100)
        driver.cuInit(0)
        driver.cuCtxPushCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda argument: print("called", flush=True))
        library = ctypes.{library}("libcuda.so.1")
        library.cuLaunchHostFunc.argtypes = (ctypes.c_void_p, type(function), ctypes.c_void_p)
        library.cuLaunchHostFunc(None, function, None)
        print(library.cuStreamSynchronize(None))
        """
    switches = {"global_mutex": 1, "driver_thread": 1}
    released = _child(program.replace("{library}", "CDLL"), **switches)
    assert (released.stdout.split(), released.returncode) == (["called", "0"], 0)
    kept = _child(program.replace("{library}", "PyDLL"), **switches)
    assert (kept.returncode, "0" in kept.stdout) == (1, False)
    assert "Timeout" in kept.stderr


def test_deinitialised_by_hand(standin_cuda: StandIn) -> None:
    """After standin_deinitialize every call returns 4, until the reset."""
    driver = bindings()
    opened()
    standin_cuda.deinitialize()
    assert [code(call) for call in (driver.cuInit(0), driver.cuMemAlloc(3), driver.cuCtxGetCurrent())] == [4, 4, 4]
    standin_cuda.reset(devices=1)
    ok(driver.cuInit(0))


def test_a_forked_child_has_no_driver(standin_cuda: StandIn) -> None:
    """Initialised in the parent, every call in the child returns 3; forked before, the child can begin."""
    done = _child(
        """
        import os
        from cuda.bindings import driver
        def child():
            pid = os.fork()
            if pid == 0:
                os._exit(int(driver.cuInit(0)[0]) * 10 + int(driver.cuDeviceGetCount()[0]))
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(child(), int(driver.cuInit(0)[0]), child(), int(driver.cuDeviceGetCount()[0]))
        """,
    )
    assert (done.stdout.split(), done.stderr) == (["0", "0", "33", "0"], "")


def test_private_tables_are_unknown_and_that_is_no_violation(standin_cuda: StandIn) -> None:
    """What NVIDIA's libraries look for in a driver is answered as an unknown table: 1, no pointer, before cuInit too."""
    library = ctypes.CDLL("libcuda.so.1")
    table, which = ctypes.c_void_p(7), (ctypes.c_uint8 * 16)(*range(16))
    assert library.cuGetExportTable(ctypes.byref(table), which) == 1
    assert table.value is None
    assert library.cuGetExportTable(None, which) == library.cuGetExportTable(ctypes.byref(table), None) == 1
    assert standin_cuda.violations() == []


def test_compiling_and_linking_leave_no_violation(standin_cuda: StandIn) -> None:
    """CUDA C compiled by NVRTC and linked for a device spoils no test's empty list of violations."""
    require_rung("nvrtc")
    source = 'extern "C" __global__ void k(int *out) { out[0] = 1; }'
    with mg.open_backend("cuda") as gpu:
        gpu.load_module("m", source=source)
        gpu.load_module("linked", link=[("cuda-c", source), ("cuda-c", "__device__ int other;")])
    assert standin_cuda.violations() == []


def test_which_devices_there_are_is_a_setting(standin_cuda: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell's CUDA_VISIBLE_DEVICES hides no device of the stand-in."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    standin_cuda.reset(devices=3)
    with mg.open_backend("cuda:2") as gpu:
        assert gpu.capabilities.device_index == 2


def test_nothing_is_left_unimplemented_in_silence(standin_cuda: StandIn) -> None:
    """An entry point that is not modelled returns 801 and is noted."""
    driver = bindings()
    opened()
    assert code(driver.cuCtxGetCacheConfig()) == 801
    assert [violation.call for violation in standin_cuda.violations("not-modelled")] == ["cuCtxGetCacheConfig"]
