"""Opening backends: names, the environment, what auto does without a GPU, plug-ins, and honest refusals."""

from __future__ import annotations

import importlib.metadata
import warnings

import pytest

from metrale_gpu_runtime import available_backends, discovery, doctor, open_backend
from metrale_gpu_runtime.capabilities import Capabilities
from metrale_gpu_runtime.driver import DeviceListing, DriverFactory
from metrale_gpu_runtime.errors import BackendUnavailable, GpuWarning, NotSupported
from metrale_gpu_runtime.testing import MockDriver


@pytest.fixture(autouse=True)
def _no_setting_and_no_vendor(monkeypatch):
    """The same release on every machine, GPU or not: one that has the CPU and the mock."""
    monkeypatch.delenv("METRALE_BACKEND", raising=False)
    kept = {name: discovery.BUILT_IN[name] for name in ("cpu", "mock")}
    monkeypatch.setattr(discovery, "BUILT_IN", kept)


class TwoDevices(DriverFactory):
    """A plug-in with two devices that load PTX."""

    name = "cuda"
    opened: list[object] = []  # noqa: RUF012

    def devices(self):
        return [DeviceListing("cuda", index, f"card {index}") for index in range(2)]

    def open(self, index, options):
        self.opened.append((index, options))
        return MockDriver(Capabilities(backend="cuda", device=f"card {index}", code_formats=("ptx",)))


@pytest.fixture
def cuda(monkeypatch):
    """A plug-in that supplies cuda, found as an installed package's would be."""
    point = importlib.metadata.EntryPoint("cuda", f"{__name__}:TwoDevices", discovery.ENTRY_POINTS)
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: TwoDevices)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    TwoDevices.opened = []
    return TwoDevices


def test_a_backend_is_opened_by_name():
    """A name opens that backend, upper case and blanks aside; its options reach the driver."""
    with open_backend(" Mock ", strict=True) as gpu:
        assert gpu.capabilities.backend == "mock"
        assert gpu.driver.strict
    with open_backend("mock", profile="M2", redzone=32, debug_sync=True) as gpu:
        assert "M2" in gpu.capabilities.device
        assert gpu.debug_sync_kernels()


def test_an_unknown_name_lists_the_names():
    """A name that nobody has raises with all that there are, and how others come."""
    with pytest.raises(BackendUnavailable, match=r"'nvidia'.*cuda.*cpu.*mock.*metrale_gpu_runtime\.drivers"):
        open_backend("nvidia")


@pytest.mark.parametrize("spec", ["cpu:x", "cpu:-1", "cpu:0:1", "auto:1", "gpu:0"])
def test_what_is_no_spec_is_refused(spec):
    """Device numbers that are none, or do not belong there, raise ValueError with the right forms."""
    with pytest.raises(ValueError, match="backend"):
        open_backend(spec)


def test_gpu_means_a_gpu():
    """ "gpu" never falls back: it raises and names each backend that was tried with its reason."""
    with pytest.raises(BackendUnavailable, match=r"(?s)no GPU.*cuda.*hip.*metal.*opencl.*webgpu"):
        open_backend("gpu")


def test_auto_without_a_gpu_takes_the_cpu_and_says_why():
    """auto gives the CPU and exactly one warning with the reasons; naming the backend gives none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_backend() as gpu:
            assert gpu.capabilities.backend == "cpu"
    (warning,) = [each for each in caught if issubclass(each.category, GpuWarning)]
    assert all(name in str(warning.message) for name in ("cuda", "hip", "metal", "METRALE_BACKEND"))
    assert warning.filename == __file__
    with open_backend("cpu") as gpu:
        assert gpu.capabilities.memory_check


def test_the_environment_overrides_auto_only(monkeypatch):
    """METRALE_BACKEND is what auto means; a named backend stays what was named."""
    monkeypatch.setenv("METRALE_BACKEND", "mock")
    with open_backend() as gpu:
        assert gpu.capabilities.backend == "mock"
    with open_backend("cpu") as gpu:
        assert gpu.capabilities.backend == "cpu"
    monkeypatch.setenv("METRALE_BACKEND", "nonsense")
    with pytest.raises(BackendUnavailable, match="nonsense"):
        open_backend()
    assert "'nonsense'" in str(doctor())


def test_a_plug_in_gpu_wins_auto_if_it_can_load_the_code(cuda):
    """auto takes the best GPU that loads one of the suffixes, without a warning; else it says what that GPU loads."""
    with open_backend(loads=[".metal", ".ptx"]) as gpu:
        assert gpu.capabilities.device == "card 0"
    with pytest.raises(BackendUnavailable, match=r"none of \.cl") as info:
        open_backend(loads=".cl")
    assert "card 0 loads ptx, none of .cl" in "".join(info.value.__notes__)
    with open_backend("cuda:1") as gpu:
        assert gpu.capabilities.device == "card 1"
    assert [index for index, _ in cuda.opened] == [0, 0, 1]


def test_checks_and_profiles_where_there_are_none(cuda):
    """check="memory" and a profile are refused where the backend has no such thing; nothing stays open."""
    with pytest.raises(NotSupported, match="check=None"):
        open_backend("cuda", check="memory")
    with pytest.raises(NotSupported, match="only the mock"):
        open_backend("cpu", profile="M2")
    with pytest.raises(ValueError, match="check='all'"):
        open_backend("mock", check="all")


def test_available_backends_never_raises(monkeypatch):
    """Each backend is listed with devices or a reason; a plug-in that breaks is a reason like any other."""

    class Broken(DriverFactory):
        name = "broken"

        def devices(self):
            raise RuntimeError("no luck")

        def open(self, index, options):
            raise AssertionError

    class Point:
        name = "broken"

        def load(self):
            return Broken

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Point()])
    states = available_backends()
    assert states["broken"].reason == "RuntimeError: no luck"
    assert states["cpu"].is_usable
    assert states["mock"].devices[0].index == 0
    assert not states["cuda"].is_usable
    assert "not in this release" in states["cuda"].reason
    assert "cuda: not usable" in str(doctor())


def test_no_plug_in_takes_the_place_of_a_backend_of_ours(monkeypatch):
    """A built-in name is opened without looking at plug-ins, so that one of the same name cannot stand for it."""

    def ask(**_):
        raise AssertionError("plug-ins were looked for")

    monkeypatch.setattr("importlib.metadata.entry_points", ask)
    with open_backend("mock") as gpu:
        assert gpu.capabilities.backend == "mock"
