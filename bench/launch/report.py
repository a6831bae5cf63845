"""The figures of the launch benchmark as sentences and tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from ..parts import Part, Table

Figures = dict[str, Any]


def parts(figures: Figures) -> list[Part]:
    """Everything that the benchmark says."""
    if "missing" in figures:
        return [f"The launch benchmark did not run: {figures['missing']}"]
    counts: list[int] = figures["arguments"]
    by_group: dict[str, list[Figures]] = {}
    for each in figures["contenders"]:
        by_group.setdefault(each["group"], []).append(each)
    found: list[Part] = [_method(figures), _floor(figures)]
    for each in by_group["ours"]:
        found += _ours(each, counts)
    if "bare" in by_group:
        found.append("What nobody can save, in floors: calls from CPython that check nothing and keep nothing:")
        found += _rows(by_group["bare"], counts, lambda each: each["title"])
    if "switch" in by_group:
        found.append("What a launch costs with something switched on, in floors:")
        found += _rows(by_group["switch"], counts, lambda each: each["title"])
    if "peer" in by_group:
        found.append("The peers, in floors:")
        found += _rows(by_group["peer"], counts, _with_versions)
    if "opencl" in by_group:
        found.append(
            "PyOpenCL over PoCL, in floors of its own (a C loop of clSetKernelArg and clEnqueueNDRangeKernel):"
        )
        found += _rows(by_group["opencl"], counts, _with_versions)
    if "unit" in by_group:
        found.append("WebGPU has no launch that takes arguments and so no such floor; as a unit, multiples of CUDA's:")
        found += _rows(by_group["unit"], counts, _with_versions)
    return found


def _method(figures: Figures) -> str:
    return (
        f"{figures['machine']}; Python {figures['python']}. {figures['runs']} process run(s) of every contender, in "
        f"turn, {figures['pairs']} pairs in each; thread CPU time, one pinned processor. A cell is the median over all "
        "pairs, and in brackets the lowest and the highest median of a run."
    )


def _floor(figures: Figures) -> str:
    floors = "; ".join(
        f"{count} arguments {each['median']:.1f} ns ({each['low']:.1f} to {each['high']:.1f})"
        for count, each in figures["floor_ns"].items()
    )
    return f"An empty C call: {figures['empty_call_ns']:.2f} ns. The floor, median (least and most): {floors}."


def _ours(each: Figures, counts: Sequence[int]) -> list[Part]:
    if each["missing"] is not None:
        return [f"{each['title']}: not measured: {each['missing']}"]
    has_bars = all("bar" in row for row in each["rows"])
    columns, rows = [each["title"]], []
    for count in counts:
        columns += [f"{count} arguments", "bar"] if has_bars else [f"{count} arguments"]
    for name in _names(each):
        row = [name]
        for count in counts:
            figure = _figure(each, name, count)
            row.append(_cell(figure))
            if has_bars:
                row.append(f"{figure['bar']:g}x {'met' if figure['is_met'] else 'missed'}")
        rows.append(row)
    other = max(each["other_threads_ms"])
    return [Table(columns, rows), f"Other threads of that process used {other:.1f} ms in a run."]


def _rows(contenders: Sequence[Figures], counts: Sequence[int], title: Callable[[Figures], str]) -> list[Part]:
    rows, missing = [], []
    for each in contenders:
        if each["missing"] is not None:
            remedy = f" To have it: {each['install']}" if each["install"] else ""
            missing.append(f"Not measured: {each['title']}: {each['missing']}.{remedy}")
            continue
        for at, name in enumerate(_names(each)):
            cells = [_cell(_figure(each, name, count)) for count in counts]
            rows.append([title(each) if at == 0 else "", name, *cells])
    table = Table(["", "how", *(f"{count} arguments" for count in counts)], rows)
    return [*([table] if rows else []), *missing]


def _names(each: Figures) -> list[str]:
    return list(dict.fromkeys(row["name"] for row in each["rows"]))


def _figure(each: Figures, name: str, count: int) -> Figures:
    return next(row for row in each["rows"] if (row["name"], row["arguments"]) == (name, count))


def _with_versions(each: Figures) -> str:
    return ", ".join(f"{name} {version}" for name, version in each["versions"].items() if name != "Python")


def _cell(figure: Figures) -> str:
    runs = figure["ratio_of_runs"]
    return f"{shown(figure['ratio'])} ({shown(min(runs))}–{shown(max(runs))})"


def shown(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.1f}x" if ratio >= 10 else f"{ratio:.2f}x"


def median(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}
