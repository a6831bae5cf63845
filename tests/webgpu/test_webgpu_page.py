"""docs/webgpu.md: its numbers and names are the code's, and its Python runs over software Vulkan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.webgpu import pace
from metrale_gpu_runtime.drivers.webgpu.capabilities import _WORDS_ONLY

PAGE = Path(__file__).parents[2] / "docs" / "webgpu.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python webgpu\n(.*?)^```\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_pages_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each block prints what stands below it."""
    require_rung("software vulkan")
    namespace: dict[str, object] = {"__name__": "webgpu"}
    found = BLOCK.findall(TEXT)
    assert len(found) == TEXT.count("```python webgpu") >= 2
    for code, output in found:
        exec(compile(code, str(PAGE), "exec"), namespace)
        assert capsys.readouterr().out.strip() == output.strip()
    gpu = namespace["gpu"]
    assert isinstance(gpu, mg.GpuBackend)
    gpu.close()


def test_the_policys_numbers_are_the_codes() -> None:
    """Each constant of the policy stands in the page with its value, and there is no other in that table."""
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", TEXT, re.MULTILINE))
    assert told == {name: str(getattr(pace, name)) for name in ("BUSY_COUNT", "MAX_OPERATIONS", "MAX_IN_FLIGHT")}


def test_every_exception_in_the_table_is_one_of_the_package() -> None:
    """The table of what is raised names classes that there are."""
    table = TEXT.split("| what happened | what is raised |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.rpartition(" | ")[2])}
    assert len(named) >= 10
    assert all(issubclass(getattr(mg, name), mg.GpuError) for name in named)


def test_every_scalar_that_is_refused_has_its_substitute_in_the_page() -> None:
    """What the capabilities deny stands in the table of substitutes; complex numbers go as structures."""
    table = TEXT.split("| not in WGSL | pass instead |")[1].split("\n\n")[0]
    listed = set(re.findall(r"`([a-z]+\d*)`", "\n".join(row.split(" | ")[0] for row in table.splitlines())))
    assert _WORDS_ONLY - {"c64", "c128"} <= listed
