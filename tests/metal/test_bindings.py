"""The bindings: imported late, missing with a reason, and corrected once per process where PyObjC keeps too much."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime import open_backend
from metrale_gpu_runtime.drivers.metal import MetalFactory
from metrale_gpu_runtime.drivers.metal import bindings as room
from metrale_gpu_runtime.drivers.metal.bindings import OWNED, load_bindings
from metrale_gpu_runtime.errors import BackendUnavailable

__all__ = ["metal_standin"]


def test_importing_the_room_imports_no_bindings() -> None:
    """The factory's module, and every module of the room, import none of Apple's frameworks."""
    code = (
        "import importlib, pkgutil, sys, metrale_gpu_runtime.drivers.metal as room\n"
        "names = [each.name for each in pkgutil.iter_modules(room.__path__)]\n"
        "[importlib.import_module(f'{room.__name__}.{name}') for name in names]\n"
        "sys.exit(len(names) < 10 or any(name in sys.modules for name in ('Metal', 'objc', 'Foundation')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def _without(monkeypatch: pytest.MonkeyPatch, *missing: str, platform: str) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in missing else found(name))
    monkeypatch.setattr(sys, "platform", platform)


@pytest.mark.parametrize(
    ("platform", "reason"),
    [
        ("linux", "Metal is there on macOS only, and this is linux"),
        ("darwin", r"not installed; pip install 'metrale-gpu-runtime\[metal\]'"),
    ],
)
def test_no_bindings_are_a_reason(platform: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing and opening say where Metal is at all, and on a Mac the command that installs what is missing."""
    _without(monkeypatch, "Metal", "objc", platform=platform)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("a child was started"))
    for call in (lambda: open_backend("metal"), MetalFactory().devices):
        with pytest.raises(BackendUnavailable, match=reason) as refused:
            call()
        assert refused.value.backend == "metal"


def test_bindings_that_cannot_be_imported_are_a_reason(
    metal_standin: MetalStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyObjC that is there and broken is told with what it said."""
    monkeypatch.setitem(sys.modules, "Foundation", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    with pytest.raises(BackendUnavailable, match=r"cannot be imported: .*Foundation"):
        load_bindings()


def test_the_correction_is_made_once(metal_standin: MetalStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads that want the bindings at once register each method once, one of them for all, after the import.

    Around it PyObjC is told that more is coming, and then that it was all.
    """
    import objc

    monkeypatch.setattr(room, "_registered", None)
    registered: list[tuple[bytes, bytes] | bool] = []
    register = objc.registerMetaDataForSelector

    def noting(owner: bytes, selector: bytes, metadata: object) -> None:
        assert "Metal" in sys.modules
        assert room._lock.locked()
        registered.append((owner, selector))
        register(owner, selector, metadata)

    monkeypatch.setattr(objc, "registerMetaDataForSelector", noting)
    monkeypatch.setattr(objc, "_updatingMetadata", registered.append)
    with ThreadPoolExecutor(8) as pool:
        found = [each.result() for each in [pool.submit(load_bindings) for _ in range(24)]]
    assert len({id(each.objc) for each in found}) == 1
    assert registered == [True, *((b"NSObject", selector) for selector in OWNED), False]


def test_what_new_methods_return_is_freed_with_its_last_reference(metal_standin: MetalStandIn) -> None:
    """As shipped a buffer outlives its last reference; corrected, it does not, and neither do queue and event."""
    bindings = load_bindings()
    with bindings.pool():
        device = bindings.metal.MTLCreateSystemDefaultDevice()
        with metal_standin.shipped_metadata():
            leaked = device.newBufferWithLength_options_(48, 0)
            assert metal_standin.live() == {"MTLBuffer": [2]}
            del leaked
            assert metal_standin.live() == {"MTLBuffer": [1]}
        kept = [device.newBufferWithLength_options_(32, 0), device.newCommandQueue(), device.newSharedEvent()]
        assert metal_standin.live() == {"MTLBuffer": [1, 1], "MTLCommandQueue": [1], "MTLSharedEvent": [1]}
        kept.clear()
    assert metal_standin.live() == {"MTLBuffer": [1]}


def test_a_pool_empties_what_was_autoreleased(metal_standin: MetalStandIn) -> None:
    """What a plain method returns is gone at the end of the pool, unless somebody holds it."""
    bindings = load_bindings()
    with bindings.pool():
        queue = bindings.metal.MTLCreateSystemDefaultDevice().newCommandQueue()
        first = queue.commandBuffer()
        queue.commandBuffer()
        assert metal_standin.live()["MTLCommandBuffer"] == [1, 2]
    assert metal_standin.live()["MTLCommandBuffer"] == [1]
    del first
    assert "MTLCommandBuffer" not in metal_standin.live()
