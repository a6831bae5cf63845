"""Choosing a device of OpenCL by words, and what opening one refuses."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from opencl_room import open_pocl
from pocl import pocl_spec
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime import discovery
from metrale_gpu_runtime.drivers.opencl import OpenclFactory
from metrale_gpu_runtime.drivers.opencl.devices import Found, choose_device, find_devices
from metrale_gpu_runtime.errors import BackendUnavailable

CPU, GPU = 2, 4


def found(index: int, platform_index: int, device_index: int, platform: str, device: str, type: int) -> Found:
    at = SimpleNamespace(
        name=platform, version=f"OpenCL 3.{platform_index} {platform}  built somehow", vendor="someone"
    )
    what = SimpleNamespace(name=device, vendor="maker", version="OpenCL 3.0", type=type)
    return Found(index, platform_index, device_index, at, what)


HERE = [
    found(0, 0, 0, "Portable Computing", "pthread-zen", CPU),
    found(1, 1, 0, "Big Vendor", "Iris Xe", GPU),
    found(2, 1, 1, "Big Vendor", "Arc 770", GPU),
    found(3, 2, 0, "Other Vendor", "Arc 770", GPU),
]


@pytest.mark.parametrize(
    ("words", "index"),
    [
        ((), 1),
        (("0",), 0),
        (("3",), 3),
        (("1", "1"), 2),
        (("portable",), 0),
        (("ARC",), 2),
        (("arc", "1"), 3),
        (("other", "arc"), 3),
        (("big vendor",), 1),
    ],
)
def test_words_choose_a_device(words: tuple[str, ...], index: int) -> None:
    """Numbers count devices, or devices of a platform; names fit in any case of letters; without words a GPU is first."""
    assert choose_device(HERE, words) == index


def test_without_a_gpu_the_first_device_is_taken() -> None:
    """Where all are the host's own processor, no words mean the first."""
    assert choose_device(HERE[:1], ()) == 0


@pytest.mark.parametrize("words", [("4",), ("1", "2"), ("3", "0"), ("nvidia",), ("arc", "2"), ("portable", "arc")])
def test_what_is_not_there_lists_what_is(words: tuple[str, ...]) -> None:
    """A device that is not there is refused with all that are, and the words that would choose each."""
    with pytest.raises(BackendUnavailable) as refused:
        choose_device(HERE, words)
    message = str(refused.value)
    assert f"no opencl:{':'.join(words)}" in message
    assert "opencl:0:0 is pthread-zen on Portable Computing" in message
    assert "opencl:2:0 is Arc 770 on Other Vendor (OpenCL 3.2 Other Vendor)" in message


@pytest.mark.parametrize("words", [("0", "arc"), ("1", "2", "3"), ("",), ("arc", "")])
def test_what_is_no_device_shows_the_forms(words: tuple[str, ...]) -> None:
    """Words in no known form raise ValueError with the forms."""
    with pytest.raises(ValueError, match=r"'opencl:0:1' \(platform and device\)"):
        choose_device(HERE, words)


def test_pocl_is_opened_by_name() -> None:
    """Field case 45: with PoCL present its CPU device is chosen by name."""
    require_rung("pocl")
    with mg.open_backend("opencl:PoCL") as gpu:
        assert gpu.capabilities.backend == "opencl"
        assert "PoCL" in gpu.capabilities.device
        assert gpu.capabilities.software


def test_listed_devices_open_under_their_numbers() -> None:
    """What `devices()` lists has the numbers under which it opens, and the words for it."""
    require_rung("pocl")
    for listing in OpenclFactory().devices():
        words = str(listing.details["spec"]).split(":")[1:]
        assert OpenclFactory().index_of(words) == listing.index
        assert OpenclFactory().index_of([str(listing.index)]) == listing.index


def test_gpu_means_no_software(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "gpu" takes no CPU device of OpenCL's, and says that it was there; by name it opens."""
    with open_pocl() as gpu:
        device = gpu.capabilities.device
    monkeypatch.setattr(OpenclFactory, "index_of", lambda self, words: _index_of_pocl())
    monkeypatch.setattr(discovery, "GPUS", ("opencl",))
    with pytest.raises(BackendUnavailable) as refused:
        mg.open_backend("gpu")
    assert f"{device}, which is software" in str(refused.value)


def _index_of_pocl() -> int:
    from metrale_gpu_runtime.drivers.opencl.bindings import load_bindings

    return choose_device(find_devices(load_bindings()), str(pocl_spec()).split(":")[1:])


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"memory": "images"}, ValueError, "'svm', 'buffers' or None"),
        ({"storage": "shared"}, TypeError, "unknown options storage; it takes memory"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, str], error: type[Exception], said: str) -> None:
    """An option or a memory that does not exist is refused with those that do."""
    require_rung("pocl")
    with pytest.raises(error, match=said):
        mg.open_backend(str(pocl_spec()), **options)


def test_shared_virtual_memory_is_taken_where_it_is() -> None:
    """Without the option a device with shared virtual memory is opened with it: addresses are kernels' own."""
    require_rung("pocl")
    with mg.open_backend(str(pocl_spec())) as gpu:
        assert gpu.capabilities.raw_addresses
    with open_pocl("buffers") as gpu:
        assert not gpu.capabilities.raw_addresses


def test_importing_the_room_imports_no_bindings() -> None:
    """The factory is known without pyopencl or NumPy being loaded."""
    program = (
        "import sys, metrale_gpu_runtime.drivers.opencl\n"
        "print(sorted({'pyopencl', 'numpy', 'pytools'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
