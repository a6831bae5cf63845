"""The benchmarks beside pyopencl and wgpu: what they launch arrives, and what they say of it."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console
from rungs import require_rung

import metrale_gpu_runtime as mg
from bench import beside, opencl_table, webgpu_table
from bench.launch.ours import BUILDER, PREPARED_ALL
from bench.parts import markdown

OPTIONS = argparse.Namespace(pairs=2, shapes=[3])


@pytest.fixture(autouse=True)
def _unpinned() -> Iterator[None]:
    """A benchmark binds its thread to one processor."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.parametrize(("word", "table"), [("opencl", opencl_table), ("webgpu", webgpu_table)])
def test_every_form_launches_on_the_device(word: str, table: Any) -> None:
    """Each form's launch arrives as it was sent before it is timed, and has a figure beside the peer's."""
    require_rung({"opencl": "pocl", "webgpu": "software vulkan"}[word])
    figures = table.run(OPTIONS, Console())
    assert "missing" not in figures
    by_count = figures["memory"]["buffers"] if word == "opencl" else figures["by_count"]
    named = {each["name"]: each for each in by_count[3]}
    assert set(beside.FORMS) < set(named)
    assert all(each["ns"] > 0 and each["peer_ns"] > 0 for each in named.values())
    told = markdown(table.parts(figures))
    assert "builder chain" in told
    if word == "opencl":
        assert ("in a command buffer" in told) == ("missing" not in figures["recorded"])


def test_a_bar_is_met_by_every_number_of_arguments_or_missed() -> None:
    """A form over its bar with one number of arguments has missed it; a form without a bar misses nothing."""
    fast = beside._figure(BUILDER, [100.0, 200.0, 100.0], [50.0, 120.0, 70.0])
    slow = beside._figure(BUILDER, [100.0, 200.0, 100.0], [150.0, 320.0, 140.0])
    free = beside._figure("another", [100.0, 100.0], [900.0, 900.0])
    assert (fast["ratio"], slow["ratio"]) == (0.6, 1.5)
    assert beside.is_met({3: [fast, free]})
    assert not beside.is_met({3: [fast], 8: [slow]})
    told = markdown([beside.table("Ours", {3: [fast], 8: [slow]})])
    assert "1.3x missed" in told
    assert "0.60x" in told


def test_a_launch_that_does_not_arrive_is_not_timed() -> None:
    """A row whose launch leaves another value behind than it was given is refused before any timing."""
    require_rung("pocl")
    from bench.launch import opencl
    from bench.launch.shapes import SHAPES

    shape = SHAPES[3]
    with mg.open_backend("opencl") as gpu:
        ours = beside.OursOn(gpu, "k", {".cl": opencl.source(shape)})
        (row,) = ours.rows(shape, [PREPARED_ALL])
        ours.check(shape, row)
        with pytest.raises(RuntimeError, match="did not arrive"):
            ours.check(shape, dataclasses.replace(row, statements=tuple(reversed(row.statements))))
