"""Finding and starting the driver: each way in which it can be missing has its reason, and nothing is opened early."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from standin_in_child import in_child as in_child_with
from standin_in_child import isolated

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import DriverOptions
from metrale_gpu_runtime.drivers import listing as child_listing
from metrale_gpu_runtime.drivers.cuda import listing
from metrale_gpu_runtime.drivers.cuda.factory import CudaFactory
from metrale_gpu_runtime.errors import BackendUnavailable, HandleClosed
from metrale_gpu_runtime.testing import run_isolated


def in_child(function: str, *arguments: object, **settings: object) -> object:
    """What a function of this file returns in a process of its own that has the stand-in as its driver."""
    return in_child_with(f"test_opening:{function}", *arguments, **settings)


def reasons() -> tuple[str, str]:
    """What listing and what opening say."""
    listed = mg.available_backends()["cuda"].reason
    try:
        mg.open_backend("cuda").close()
    except BackendUnavailable as error:
        return listed, str(error).removeprefix("cuda: ")
    return listed, ""


# ------------------------------------------------ what is missing


def modules_after_import() -> list[str]:
    import metrale_gpu_runtime.drivers.cuda  # noqa: F401

    # The package `cuda` itself is imported by the wheels of CUDA 12's bindings when Python starts.
    return [name for name in sys.modules if name.startswith(("cuda.", "numpy", "llvmlite"))]


def test_importing_the_factory_imports_no_bindings() -> None:
    """Neither the package nor CUDA's room loads NVIDIA's bindings before a device is asked for."""
    assert in_child("modules_after_import") == []


def without_bindings() -> tuple[str, str]:
    sys.path[:] = [path for path in sys.path if not path.endswith("site-packages")]
    return reasons()


def test_missing_bindings_are_the_reason() -> None:
    """Without cuda-bindings both listing and opening say so and how to install them."""
    for reason in in_child("without_bindings"):  # type: ignore[attr-defined]
        assert "bindings are not installed" in reason
        assert 'pip install "metrale-gpu-runtime[cuda13]"' in reason


@pytest.mark.parametrize("contents", [b"no library", b"\x7fELF and no more"])
def test_a_library_that_cannot_be_loaded_is_told_from_a_missing_one(contents: bytes, tmp_path: Path) -> None:
    """What lies in libcuda's place is found: the reason says what the system's loader has against it."""
    (tmp_path / "libcuda.so.1").write_bytes(contents)
    for reason in run_isolated("test_opening:reasons", environment={"LD_LIBRARY_PATH": str(tmp_path)}).check():  # type: ignore[attr-defined]
        assert f"libcuda was found but cannot be loaded ({tmp_path}/libcuda.so.1: " in reason
        assert "not found" not in reason


@pytest.mark.skipif(ctypes.util.find_library("cuda") is not None, reason="this machine has a CUDA driver")
def test_a_missing_library_is_the_reason(tmp_path: Path) -> None:
    """Without libcuda both say what was tried and where it comes from; importing and the CPU are not concerned."""
    for reason in run_isolated("test_opening:reasons", environment={"LD_LIBRARY_PATH": str(tmp_path)}).check():  # type: ignore[attr-defined]
        assert "libcuda not found (tried libcuda.so.1" in reason
        assert str(tmp_path) in reason
        assert "display driver" in reason


def test_no_device_is_the_reason() -> None:
    """A driver without a device is told from a missing driver."""
    for reason in in_child("reasons", devices=0):  # type: ignore[attr-defined]
        assert "there is no device" in reason
        assert "CUDA_ERROR_NO_DEVICE, 100" in reason


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_hidden_devices_are_the_reason(hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty CUDA_VISIBLE_DEVICES is named, since nobody thinks of it."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    found = in_child("reasons", devices=0)
    for reason in found:  # type: ignore[attr-defined]
        assert f"CUDA_VISIBLE_DEVICES is {hidden!r}, which hides every device" in reason


OLD_DRIVER = """
int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDriverGetVersion(int *version) { *version = 11080; return 0; }
"""


def test_a_driver_older_than_the_bindings_can_use_is_the_reason(tmp_path: Path) -> None:
    """A library from before CUDA 12 has not what any bindings look their calls up with: a newer driver is the way out."""
    (tmp_path / "old.c").write_text(OLD_DRIVER)
    build = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run([*build, str(tmp_path / "old.c")], check=True)
    for reason in run_isolated("test_opening:reasons", environment={"LD_LIBRARY_PATH": str(tmp_path)}).check():  # type: ignore[attr-defined]
        assert "too old for these bindings" in reason
        assert "install a driver for CUDA 12 or later" in reason
        assert "metrale-gpu-runtime[" not in reason


def test_a_driver_for_which_there_are_no_bindings_is_told() -> None:
    """[cuda12] is too new for CUDA 11 as well, and is not advised."""
    for reason in in_child("reasons", driver_version=11040):  # type: ignore[attr-defined]
        assert "is for CUDA 11.4, too old for these bindings" in reason
        assert "install a driver for CUDA 12 or later" in reason
        assert "metrale-gpu-runtime[" not in reason


def test_a_driver_with_bindings_of_its_own_is_told_which() -> None:
    """For a driver of CUDA 12 there are bindings: the extra that brings them is named."""
    for reason in in_child("reasons", driver_version=12020):  # type: ignore[attr-defined]
        assert 'pip install "metrale-gpu-runtime[cuda12]"' in reason


def test_a_device_past_the_last_is_refused_with_how_many_there_are() -> None:
    """cuda:3 on a machine with one device."""
    assert in_child("opening_index", 3) == "cuda: there is no device 3; this machine has one device, 0"


def opening_index(index: int) -> str:
    with pytest.raises(BackendUnavailable) as refused:
        mg.open_backend(f"cuda:{index}")
    return str(refused.value)


def test_options_it_does_not_know_are_refused_by_name() -> None:
    """A misspelt option is no option."""
    with pytest.raises(TypeError, match="cuda: unknown options workers; it takes none"):
        CudaFactory().open(0, DriverOptions(extra={"workers": 3}))


# ------------------------------------------------ listing


def listed() -> tuple[list[tuple[str, int, str, dict[str, object]]], bool]:
    devices = [(each.backend, each.index, each.name, dict(each.details)) for each in CudaFactory().devices()]
    return devices, "cuda.bindings.driver" in sys.modules


def test_devices_are_listed_by_another_process() -> None:
    """Every device with its facts; this process has not even imported the bindings' driver afterwards."""
    devices, is_imported = in_child("listed", devices=2, compute_capability=86)  # type: ignore[misc]
    assert [device[:3] for device in devices] == [
        ("cuda", 0, "Stand-in GPU 0 (no hardware)"),
        ("cuda", 1, "Stand-in GPU 1 (no hardware)"),
    ]
    assert devices[1][3] == {
        "compute_capability": "8.6",
        "total_memory": 8 << 30,
        "multiprocessors": 10,
        "driver_version": 13000,
    }
    assert not is_imported


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.exit('libfoo is broken')", "ended with status 1 and said: libfoo is broken"),
        ("import os; os.kill(os.getpid(), 11)", "ended with status -11"),
        ("print('[1, 2]')", "answered [1, 2]"),
        ("while True: pass", "took longer than 0.5 s"),
    ],
)
def test_a_lister_that_fails_is_the_reason(program: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that crashes or hangs while devices are listed costs a child process, not this one."""
    monkeypatch.setattr(listing, "_PROGRAM", program)
    monkeypatch.setattr(child_listing, "TIMEOUT_S", 0.5)
    with pytest.raises(BackendUnavailable) as refused:
        listing.list_devices()
    assert reason in str(refused.value)


# ------------------------------------------------ forks


def list_then_fork() -> int:
    assert mg.available_backends()["cuda"].is_usable
    return _in_fork(_use)


def _use() -> None:
    with mg.open_backend("cuda") as gpu:
        buffer = gpu.buffer(100)
        gpu.synchronize()
        buffer.free()


def _in_fork(function: object) -> int:
    child = os.fork()
    if child == 0:
        code = 9
        try:
            function()  # type: ignore[operator]
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_listing_then_forking_then_opening_works() -> None:
    """Import and listing leave nothing behind that a fork would break."""
    assert in_child("list_then_fork") == 0


def open_then_fork() -> tuple[int, list[str]]:
    gpu = mg.open_backend("cuda")
    buffer = gpu.array(b"of the parent")
    reading, writing = os.pipe()

    def use() -> None:
        told = []
        for call in (lambda: gpu.driver.alloc(8), gpu.synchronize, buffer.numpy, lambda: gpu.driver.create_event()):
            try:
                call()
                told.append("went through")
            except HandleClosed as error:
                told.append(str(error))
        gpu.close()
        gpu.driver.close()
        try:
            mg.open_backend("cuda")
        except BackendUnavailable as error:
            told.append(str(error))
        os.write(writing, "\n".join(told).encode())

    code = _in_fork(use)
    os.close(writing)
    told = os.read(reading, 1 << 16).decode().splitlines()
    assert bytes(buffer.numpy()) == b"of the parent"
    gpu.close()
    return code, told


def test_after_a_fork_the_child_is_refused_and_the_parent_goes_on() -> None:
    """Each call in the child raises at once and says why, opening too; closing there takes nothing from the parent."""
    code, told = in_child("open_then_fork")  # type: ignore[misc]
    assert code == 0
    assert len(told) == 5
    assert all("fork" in each for each in told), told


def started_by_another_library_then_fork() -> str:
    from cuda.bindings import driver

    assert driver.cuInit(0)[0] == 0
    reading, writing = os.pipe()

    def use() -> None:
        try:
            mg.open_backend("cuda")
        except BackendUnavailable as error:
            os.write(writing, str(error).encode())

    assert _in_fork(use) == 0
    os.close(writing)
    return os.read(reading, 1 << 16).decode()


def test_a_driver_that_another_library_started_before_the_fork_is_told() -> None:
    """The driver refuses to start again in the child; the reason names the fork and what to do."""
    told = in_child("started_by_another_library_then_fork")
    assert "CUDA_ERROR_NOT_INITIALIZED" in told  # type: ignore[operator]
    assert "forked off one that had started it" in told  # type: ignore[operator]


# ------------------------------------------------ the end of the process


def leave_everything_alive() -> None:
    import threading

    global kept
    gpu = mg.open_backend("cuda")
    kernel = gpu.load_module("m", source={".ptx": LIVE})["k"]
    x, stream = gpu.empty(33, mg.f32), gpu.create_stream()
    kept = [gpu, kernel, x, stream, gpu.create_event(), gpu.alloc(77), gpu.alloc_host_pinned(55)]
    kept.append(kernel[2, 32].prepare(x))
    kept.append(kept)
    stop = threading.Event()

    def run() -> None:
        # It is told when the backend closes under it; what it makes of that is the user's affair.
        with suppress(mg.GpuError):
            while not stop.wait(0.001):
                kernel[2, 32, 0, stream](x)

    threading.Thread(target=run, daemon=True).start()


LIVE = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 a) { ret; }
"""


def leave_to_a_driver_that_has_shut_down() -> None:
    import atexit

    from standin import cuda

    leave_everything_alive()
    # Called before the backend's own clean-up, which was registered earlier.
    atexit.register(cuda().deinitialize)


def test_a_driver_that_shuts_down_first_is_no_trouble() -> None:
    """A driver that answers every call of the clean-up with "deinitialised" leaves the end of the process quiet."""
    result = isolated("test_opening:leave_to_a_driver_that_has_shut_down")
    assert (result.exit_code, result.stderr) == (0, "")


def leave_and_raise() -> None:
    leave_everything_alive()
    raise ValueError("the user's own")


@pytest.mark.parametrize("_round", range(3))
def test_the_interpreter_ends_quietly_with_everything_alive(_round: int) -> None:
    """Exit code 0 and an empty stderr with live objects in globals and in a cycle, and a thread that launches."""
    result = isolated("test_opening:leave_everything_alive")
    assert (result.exit_code, result.stderr) == (0, "")


def test_an_uncaught_exception_is_all_that_is_printed() -> None:
    """The user's traceback is the only output of a process that ends by it."""
    result = isolated("test_opening:leave_and_raise")
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback")
    assert result.stderr.rstrip().endswith("ValueError: the user's own")
    assert result.stderr.count("Traceback") == 1
    assert "Exception ignored" not in result.stderr
