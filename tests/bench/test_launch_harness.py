"""The launch benchmark's harness: it refuses to time what does not launch as it says, pairs what it times, and tells."""

from __future__ import annotations

import argparse
import ast
import copy
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from rungs import require_rung

from bench.launch import command, contenders, plot, report, rows, stub
from bench.launch.contenders import Contender, Measured, measure_all
from bench.launch.peers.catalogue import OPENCL, PEERS
from bench.launch.shapes import POINTER, POINTERS, SHAPES
from bench.parts import Table, into_page, markdown

ROOT = Path(stub.__file__).parents[2]
PEERS_FOLDER = Path(stub.__file__).with_name("peers")


# ------------------------------------------------ what is launched


def test_the_values_of_a_shape_can_be_told_apart() -> None:
    """No two arguments of a launch are alike, no argument is the same in two variants, and each fits its type."""
    addresses = [0x7000_0000_0000 + 256 * at for at in range(POINTERS)]
    for shape in SHAPES.values():
        images = [shape.image(shape.values(variant, addresses)) for variant in range(200)]
        for image in images:
            assert len({data for _, data in image}) == shape.count
        for first, second in pairwise(images):
            assert all(one != other for (_, one), (_, other) in zip(first, second, strict=True))
    kinds = [(sum(kind is POINTER for kind in shape.kinds), shape.count) for shape in SHAPES.values()]
    assert kinds == [(1, 3), (4, 8), (6, 16)]


def in_stub(function: str, *arguments: object) -> Any:
    """What a function of this file returns in a process that has the stand-in as its driver."""
    from metrale_gpu_runtime.testing import run_isolated

    require_rung("small stub")
    environment = {"LD_LIBRARY_PATH": str(stub.stub_folder())}
    return run_isolated(f"test_launch_harness:{function}", *arguments, environment=environment).check()


def check_all() -> dict[str, object]:
    from bench.launch.floor import Floor
    from bench.launch.ours import PREPARED_ALL, PREPARED_NONE, opened

    floor = Floor(stub.Stub(), str(stub.floor_library()))
    told: dict[str, object] = {"floor": 0, "rows": 0}

    def refused(row: rows.Row) -> str:
        try:
            row.check(floor.stub)
        except RuntimeError as error:
            return str(error)
        return "not refused"

    with opened() as ours:
        for shape in SHAPES.values():
            before = floor.stub.launch_count
            floor.check(shape)
            floor.run(shape, 17)
            told["floor"] += floor.stub.launch_count - before  # type: ignore[operator]
            for row in ours.rows(shape):
                row.check(floor.stub)
                told["rows"] += 1  # type: ignore[operator]
        none, both = (ours.rows(SHAPES[8], [name])[0] for name in (PREPARED_NONE, PREPARED_ALL))
        told["swapped"] = refused(rows.Row("swapped", both.statements, both.names, both.expected[::-1]))
        told["nothing"] = refused(rows.Row("nothing", ("pass",), none.names, none.expected))
        twice = ("prepared(); prepared()",)
        told["twice"] = refused(rows.Row("twice", twice, none.names, none.expected))
        other = rows.Sent(none.expected[0].image, kernel="k3")
        told["other kernel"] = refused(rows.Row("other", none.statements, none.names, (other,)))
    return told


def test_nothing_is_timed_that_does_not_launch_as_it_says() -> None:
    """All rows arrive as sent over the stand-in; another argument, kernel or number of launches is refused."""
    told = in_stub("check_all")
    assert (told.pop("floor"), told.pop("rows")) == (3 * 18, 18)
    assert re.fullmatch(r"swapped: the argument at byte 0 did not arrive as sent.*", told.pop("swapped"))
    assert told.pop("nothing") == "nothing: pass made 0 launches, not 1"
    assert told.pop("twice") == "twice: prepared(); prepared() made 2 launches, not 1"
    assert told.pop("other kernel") == "other launched k8, not k3; nothing is timed"
    assert told == {}


def test_every_timing_stands_behind_one_of_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair is a timing of the floor and then one of the row, rows in turn, and ns are those of one launch."""
    order: list[str] = []
    monkeypatch.setattr(rows, "times_for", lambda run: 5)
    monkeypatch.setattr(rows, "timed", lambda run, times: run(times) or 2_000_000 * times)

    class Floor:
        def run(self, shape: object, times: int) -> int:
            order.append("floor")
            return 1_000_000 * times

    made = [
        rows.Row(name, (f"log({name!r})",) * count, {"log": order.append}, ())
        for name, count in (("one", 1), ("two", 2))
    ]
    found = rows.measure(Floor(), SHAPES[3], made, 2)  # type: ignore[arg-type]
    assert order == ["floor", *["one"] * 5, "floor", *["two"] * 10] * 2
    assert [(each.name, each.ns, each.floor_ns) for each in found] == [
        ("one", [2_000_000] * 2, [1_000_000] * 2),
        ("two", [1_000_000] * 2, [1_000_000] * 2),
    ]


# ------------------------------------------------ what is told


def _measured() -> Measured:
    """Three runs of one row, whose pairs have the ratios 2 3 4, 4 5 6 and 9 9 9; the floor's own speed changes."""
    runs = []
    for ratios, floor in (((2, 3, 4), 10.0), ((4, 5, 6), 20.0), ((9, 9, 9), 5.0)):
        runs.append({("prepared", 3): ([ratio * floor for ratio in ratios], [floor] * 3)})
    return Measured(Contender("ours", "Ours"), versions={"x": "1"}, other_threads_ms=[0.0], runs=runs)


def test_a_ratio_is_the_median_of_pairs_and_the_spread_that_of_runs() -> None:
    """A change of the host's speed cancels in each pair; runs that differ are seen."""
    measured = _measured()
    assert measured.ratio("prepared", 3) == 5
    assert measured.ratios_of_runs("prepared", 3) == [3, 5, 9]


def _figures() -> dict[str, Any]:
    bars = {"prepared": {3: 4.0}}
    ours = command._figures("ours", _measured(), bars)
    peer = command._figures("peer", _measured(), {}) | {"title": "a peer"}
    absent = Measured(Contender("peer-x", "X", install="pip install x"), missing="ImportError: no x")
    return {
        "is_met": False,
        "machine": "a processor",
        "python": "3.11.0",
        "runs": 3,
        "pairs": 3,
        "arguments": [3],
        "empty_call_ns": 1.25,
        "floor_ns": {3: report.median([5.0, 10.0, 20.0])},
        "contenders": [ours, peer, command._figures("peer", absent, {})],
    }


def test_the_tables_say_what_was_missed_and_what_is_missing() -> None:
    """A cell shows median and range; a bar says met or missed; a peer that is not here comes with its command."""
    text = markdown(report.parts(_figures()))
    assert "| prepared | 5.00x (3.00x–9.00x) | 4x missed |" in text
    assert "An empty C call: 1.25 ns. The floor, median (least and most): 3 arguments 10.0 ns (5.0 to 20.0)." in text
    assert "Not measured: X: ImportError: no x. To have it: pip install x" in text
    low = copy.deepcopy(_figures())
    low["contenders"][0]["rows"][0] |= {"is_met": True, "ratio": 3.5}
    assert "| prepared | 3.50x (3.00x–9.00x) | 4x met |" in markdown(report.parts(low))


def test_a_page_is_renewed_between_its_marks_alone() -> None:
    """What stands outside of the marks stays, byte for byte; a page without them is refused."""
    page = "before\n<!-- measured: launch -->\nold\n<!-- end: launch -->\nafter \\1\n"
    table = Table(["a", "b"], [["1|2", "3"]])
    new = into_page(page, "launch", ["text", table])
    assert new.startswith("before\n<!-- measured: launch -->\n\ntext\n\n| a | b |\n| --- | --: |\n| 1\\|2 | 3 |\n")
    assert new.endswith("<!-- end: launch -->\nafter \\1\n")
    assert "old" not in new
    with pytest.raises(ValueError, match="0 places marked <!-- measured: flat -->"):
        into_page(page, "flat", [])


def test_the_page_of_figures_has_its_marks() -> None:
    """docs/performance.md has one place for each benchmark that it shows, and a call in a table is no link."""
    page = (ROOT / "docs/performance.md").read_text()
    for name in ("launch", "flat", "start"):
        page = into_page(page, name, [Table(["kernel[grid](*args)"], [])])
    assert page.count("| kernel[grid&#93;(\\*args) |") == 3


def test_the_drawing_has_a_dot_for_every_figure() -> None:
    """The SVG is well-formed and has one dot for each ratio of ours and the peers, beside the legend's."""
    root = ElementTree.fromstring(plot.draw(_figures()))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 2 + 1


# ------------------------------------------------ what is missing


def _options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    return parser.parse_args(words)


def test_without_the_stand_in_the_benchmark_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the stand-in is not beside the repository, nothing is measured and the answer names its place."""
    monkeypatch.setattr(stub, "SOURCES", tmp_path / "stub_driver")
    stub.stub_folder.cache_clear()
    try:
        figures = command.run(_options("--quick"), Console())
    finally:
        stub.stub_folder.cache_clear()
    assert figures["is_met"] is False
    assert str(tmp_path / "stub_driver") in markdown(command.parts(figures))


def test_a_peer_that_cannot_be_imported_is_missing_and_the_others_run() -> None:
    """A contender that is not there, or whose core is not, is told as missing with the reason, and asked once."""
    require_rung("small stub")
    absent = Contender("peer-nobody", "nobody")
    core = Contender("ours", "ours", environment=(("METRALE_LAUNCH_CORE", "python"),))
    asked: list[str] = []
    nobody, ours = measure_all([absent, core], runs=2, pairs=2, shapes=[3], told=asked.append)
    assert nobody.missing is not None
    assert "nobody" in nobody.missing
    assert len(ours.runs) == 2
    assert [line.split(": ")[1] for line in asked] == ["nobody", "ours", "ours"]


def test_every_peer_has_its_file_and_a_line_in_the_requirements() -> None:
    """The catalogue, the files and peers.txt name the same peers; no peer's file imports this package."""
    files = {path.stem for path in PEERS_FOLDER.glob("*.py")} - {"__init__", "catalogue"}
    assert files == {peer.name for peer in PEERS if peer is not OPENCL}
    lines = [line for line in (ROOT / "bench/peers.txt").read_text().splitlines() if not line.startswith("#")]
    required = {re.split(r"[\[<>=]", line)[0] for line in lines}
    packages: set[str] = set()
    for path in (*(PEERS_FOLDER / f"{name}.py" for name in files), PEERS_FOLDER.with_name("opencl.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PACKAGES":
                packages |= set(ast.literal_eval(node.value))
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not any(name.startswith("metrale") for name in names), path
    # PyCUDA is built from its source, and numba-cuda brings numba.
    assert packages - {"pycuda", "numba"} | {"pyopencl"} == required


def test_a_child_that_fails_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contender whose process ends badly is missing with what it wrote last; the run goes on."""

    def failing(*given: object) -> dict[str, object]:
        raise RuntimeError("ours ended with 1: boom")

    monkeypatch.setattr(contenders, "run_child", failing)
    (found,) = measure_all([Contender("ours", "ours")], runs=3, pairs=1, shapes=[3])
    assert (found.missing, found.runs) == ("ours ended with 1: boom", [])
