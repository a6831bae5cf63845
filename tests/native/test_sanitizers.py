"""A short run of the native core under AddressSanitizer and UndefinedBehaviourSanitizer; sanitizers.py is the long one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sanitizers
from core_worker import Worker
from fuzz import Fuzz
from rungs import require_rung
from standin import build_cuda

pytestmark = pytest.mark.skipif(
    not sanitizers.can_build(),
    reason="no gcc with sanitizers, no headers of Python, or a Python that is free-threaded",
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    require_rung("stand-in driver")
    build_cuda()
    folder: Path = tmp_path_factory.mktemp("sanitized")
    return sanitizers.build(folder)


def sanitized(environment: dict[str, str], function: str, *arguments: object) -> Any:
    worker = Worker("native", environment)
    worker.ask(function, *arguments)
    try:
        return worker.answer()
    finally:
        assert worker.close() == 0


def test_random_objects_find_nothing(environment: dict[str, str]) -> None:
    """Programs with hostile objects do the same as with the plain core, and no method of the core's types goes wrong."""
    fuzz = Fuzz(environment)
    assert [fuzz.compare(seed) for seed in range(12)] == [""] * 12
    assert sum(fuzz.poke(seed) for seed in range(12)) > 500
    assert fuzz.close() == [0, 0]


@pytest.mark.parametrize("function", ["closed_by_a_finaliser", "called_by_a_finaliser", "leave_everything_alive"])
def test_finalisers_touch_nothing_that_is_gone(environment: dict[str, str], function: str) -> None:
    """Calls in the midst of calls, and an end with everything alive, read and write only what is there."""
    sanitized(environment, f"test_native_hazards:{function}")


def test_threads_touch_nothing_that_is_gone(environment: dict[str, str]) -> None:
    """Four threads that launch in every form at once read and write only what is there."""
    errors, _ = sanitized(environment, "test_native_hazards:many_threads", 4, 12)
    assert errors == []


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("set_while_former_memory_goes", ()),
        ("within", ("prepared, changed",)),
        ("beside", ("slots",)),
        ("beside_kernel_objects", ("short form",)),
        ("one_builder", ("spill",)),
        ("calls_of_one_builder", (60,)),
    ],
)
def test_launches_beside_others_touch_nothing_that_is_gone(
    environment: dict[str, str], function: str, arguments: tuple[object, ...]
) -> None:
    """Launches within launches, and of one kernel or builder in two threads, read and write only what is there."""
    sanitized(environment, f"test_launches_beside_launches:{function}", *arguments)
