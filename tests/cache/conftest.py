"""A cache folder of its own for each test, with the cache turned on."""

from __future__ import annotations

from pathlib import Path

import pytest

from metrale_gpu_runtime.modules import cache
from metrale_gpu_runtime.modules.cache import store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's cache is; nothing is there yet, nothing is remembered, and no warning was given."""
    place = tmp_path / "of-this-test" / "cache"
    monkeypatch.setenv("METRALE_CACHE", "on")
    monkeypatch.setenv("METRALE_CACHE_DIR", str(place))
    monkeypatch.delenv("METRALE_CACHE_MAX_MIB", raising=False)
    monkeypatch.setattr(cache, "COMPILED", cache.CompileMemo())
    monkeypatch.setattr(cache, "COMPILED_BY_DRIVERS", cache.CompileMemo())
    monkeypatch.setattr(store, "_told", set())
    return place
