"""The README tells the truth: its Python runs, and every wrong launch of its table is refused in its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
DEMO_PTX = Path(mg.__file__).parent / "cli" / "kernels" / "demo.ptx"
DECLARATION = "const float* x, float* y, unsigned int count, float factor"
COUNT = 1000


def _python_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def _table() -> list[tuple[str, str, str, str]]:
    """(mistake, launch, error class, message) of each row."""
    rows = re.findall(r"^\| ([a-z ]+) \| `(kernel\[.*?)` \| `(\w+)`: (.*) \|$", README, re.MULTILINE)
    return [(mistake, launch, error, message) for mistake, launch, error, message in rows]


def _source() -> str:
    found = re.search(r'source = r"""\n(.*?)"""', README, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The README's launch runs as printed and computes 0.5 x + (2 x + (2 x + 1)) after its three launches."""
    require_rung("nvrtc")
    (block,) = _python_blocks()
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "void scale_add(const float* x, float* y, unsigned int count, float factor)" in printed
    assert "[1.  5.5 10. ]".replace(" ", "") in printed.replace(" ", "")


@pytest.fixture(params=["cu source", "PTX, declared"])
def names(request: pytest.FixtureRequest) -> Iterator[dict[str, object]]:
    """What the table's launches refer to; the kernel from source or from PTX with a declaration."""
    with mg.open_backend("cpu") as gpu, mg.open_backend("cpu") as other:
        if request.param == "cu source":
            require_rung("nvrtc")
            require_rung("debug information")
            kernel = gpu.load_module("scale", source=_source())["scale_add"]
        else:
            gpu.load_module("scale", path=DEMO_PTX)
            kernel = gpu.kernel("scale", "scale_add", signature=DECLARATION)
        dead = gpu.alloc(4 * COUNT)
        gpu.free(dead)
        yield {
            "mg": mg,
            "kernel": kernel,
            "x": gpu.array(np.arange(COUNT, dtype=np.float32)),
            "y": gpu.array(np.full(COUNT, 7, np.float32)),
            "ints": gpu.array(np.zeros(COUNT, np.int32)),
            "dead": dead,
            "foreign": other.empty(COUNT, np.float32),
        }


@pytest.mark.parametrize(("mistake", "launch", "error", "message"), _table(), ids=lambda text: str(text)[:24])
def test_wrong_launches_are_refused_in_these_words(
    names: dict[str, object], mistake: str, launch: str, error: str, message: str
) -> None:
    """Each row's launch raises the row's error with the row's words in order, and the kernel never ran."""
    with pytest.raises(getattr(mg, error)) as refused:
        eval(launch, dict(names))
    text = str(refused.value)
    for fragment in message.split("…"):
        words = fragment.strip().strip(",;")
        if not words:
            continue
        assert words in text, f"{mistake}: {words!r} is not in {text!r}"
        text = text.split(words, 1)[1]
    y = names["y"]
    assert isinstance(y, mg.DeviceBuffer)
    assert (y.numpy() == 7).all()


PTX_ALONE = [
    ("kernel[4, 256](x, y, 1000)", mg.ArgumentCountError, "expects 4 arguments"),
    ("kernel[4, 256](x, y, 1000, mg.f64(2.0))", mg.ArgumentSizeError, "4 bytes expected, 8 given"),
    ("kernel[4, 256](x, y, 1000, mg.i32(2))", mg.ArgumentKindError, "it is a float, not an integer"),
    ("kernel[4, 256](x, 7, 1000, 2.0)", mg.ArgumentKindError, "PTX does not tell a pointer from a value"),
    ("kernel[4, 256](x, y, -1, 2.0)", mg.ArgumentRangeError, "PTX does not tell its sign"),
    ("kernel[4, 2048](x, y, 1000, 2.0)", mg.LimitExceeded, "block.x is 2048"),
    ("kernel[4, 256](x, dead, 1000, 2.0)", mg.InvalidPointer, "which is gone"),
    ("kernel[4, 256](x, foreign, 1000, 2.0)", mg.ForeignHandle, "was allocated on"),
]


@pytest.mark.parametrize(("launch", "error", "words"), PTX_ALONE, ids=[row[0] for row in PTX_ALONE])
def test_ptx_alone_refuses_what_it_can_tell(launch: str, error: type[Exception], words: str) -> None:
    """With nothing but PTX, what PTX tells is still checked, and what it does not tell has to be said."""
    with mg.open_backend("cpu") as gpu, mg.open_backend("cpu") as other:
        kernel = gpu.load_module("scale", path=DEMO_PTX)["scale_add"]
        x, y = gpu.empty(COUNT, np.float32), gpu.empty(COUNT, np.float32)
        dead = gpu.alloc(16)
        gpu.free(dead)
        scope = {"mg": mg, "kernel": kernel, "x": x, "y": y, "dead": dead, "foreign": other.empty(COUNT, np.float32)}
        with pytest.raises(error, match=re.escape(words)):
            eval(launch, scope)


def test_the_table_names_every_kind_of_mistake() -> None:
    """The README's table has a row for every kind of wrong launch that is promised to be refused."""
    kinds = {mistake for mistake, *_ in _table()}
    assert kinds >= {
        "count", "width", "kind", "sign", "element type", "range", "geometry", "dead pointer", "foreign handle",
    }  # fmt: skip
