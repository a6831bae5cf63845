"""docs/opencl.md: its Python runs on PoCL, and its numbers and names are the code's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.capabilities import Capabilities
from metrale_gpu_runtime.drivers.opencl import devices, streams

PAGE = Path(__file__).parents[2] / "docs" / "opencl.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python opencl\n(.*?)^```\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_pages_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Each block prints what stands below it."""
    require_rung("pocl")
    namespace: dict[str, object] = {"__name__": "opencl"}
    found = BLOCK.findall(TEXT)
    assert len(found) == TEXT.count("```python opencl") >= 1
    for code, output in found:
        exec(compile(code, str(PAGE), "exec"), namespace)
        assert capsys.readouterr().out.strip() == output.strip()
    gpu = namespace["gpu"]
    assert isinstance(gpu, mg.GpuBackend)
    gpu.close()


def test_every_name_in_the_page_is_there() -> None:
    """Capabilities and errors that the page names exist; the number of launches between flushes is the code's."""
    fields = set(re.findall(r"`Capabilities\.(\w+)`", TEXT))
    assert len(fields) >= 5
    assert fields <= set(Capabilities.__dataclass_fields__)
    errors = set(re.findall(r"`(\w+(?:Error|Fault|Lost|Unavailable)|NotSupported)`", TEXT))
    assert all(issubclass(getattr(mg, name), mg.GpuError) for name in errors)
    assert f"after every {streams.FLUSH_EVERY}nd" in TEXT


def test_the_pages_specs_are_forms_that_are_read() -> None:
    """Each spec of the table is read as a device's words: none of them is no form at all."""
    specs = re.findall(r'`"(opencl[^"]*)"`', TEXT.split("| spec |")[1].split("\n\n")[0])
    assert len(specs) == 7
    for spec in specs:
        with pytest.raises(mg.BackendUnavailable, match="here "):
            devices.choose_device([], spec.split(":")[1:] or ["0"])
