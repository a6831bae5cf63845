"""How much memory could be had: the driver's figure on a discrete GPU, the larger of two on an integrated one."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.drivers.host_memory import host_available_nbytes
from metrale_gpu_runtime.drivers.session.memory import free_bytes

MIB = 1 << 20


@pytest.mark.parametrize(
    ("is_integrated", "host_available", "expected"),
    [
        (False, 900 * MIB, 300 * MIB),
        (False, 100 * MIB, 300 * MIB),
        (False, None, 300 * MIB),
        (True, 900 * MIB, 900 * MIB),
        (True, 100 * MIB, 300 * MIB),
        (True, None, 300 * MIB),
        (None, 900 * MIB, 300 * MIB),
    ],
)
def test_free_memory_by_kind_of_device(is_integrated: bool | None, host_available: int | None, expected: int) -> None:
    """Only an integrated device's figure may be the host's, and only where that is known and larger."""
    assert free_bytes(300 * MIB, is_integrated, host_available) == expected


def test_the_hosts_figure_is_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """MemAvailable is in KiB; a system without /proc/meminfo has no figure."""
    import builtins
    import io

    text = "MemTotal:       16000 kB\nMemFree:         5000 kB\nMemAvailable:    7000 kB\n"
    monkeypatch.setattr(builtins, "open", lambda *_, **__: io.StringIO(text))
    assert host_available_nbytes() == 7000 * 1024

    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(builtins, "open", missing)
    assert host_available_nbytes() is None
