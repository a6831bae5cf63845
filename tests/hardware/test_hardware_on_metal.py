"""`python -m hardware --backend metal`, and the benchmark of it, on the Metal driver room over the stand-in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from metal_standin.control import environment
from rungs import require_rung

ROOT = Path(__file__).parents[2]


def run(tmp_path: Path, *words: str, **facts: Any) -> tuple[int, str, dict[str, Any]]:
    """The exit code, everything that was printed, and the report."""
    report = tmp_path / "reports" / "metal.json"
    done = subprocess.run(
        [sys.executable, "-m", "hardware", "--backend", "metal", "--report", str(report), *words],
        cwd=ROOT,
        env=environment(**facts),
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr, json.loads(report.read_text()) if report.exists() else {}


def test_the_report_of_a_mac_has_every_section(tmp_path: Path) -> None:
    """Conformance, faults, the model and the launch costs are run and judged; each fault is named as Metal names it."""
    for rung in ("metal stand-in", "weights", "tokenizers"):
        require_rung(rung)
    # Laws that need processes, faults, another stream and function constants; all of them: tests/conformance/test_metal.py.
    laws = (
        *("a_graph_replays_what_was_captured", "leaving_the_interpreter_is_silent", "null_is_a_pointer"),
        *("closing_after_a_fault_neither_raises_nor_hangs", "nothing_but_python_is_needed"),
    )
    code, told, report = run(tmp_path, "--rounds", "2", *(word for law in laws for word in ("--case", law)))
    assert code == 0, told
    assert report["passed"] is True
    sections = {section["name"]: section for section in report["sections"]}
    assert list(sections) == ["conformance", "faults", "embed", "launches"]
    assert sections["conformance"]["facts"]["counts"] == {"passed": 4, "declared": 1, "failed": 0}
    for how in ("on", "off"):
        fault = sections["faults"]["facts"][f"illegal_address, debug sync {how}"]
        # An encoder for each launch, labelled: a fault is attributed without debug sync, too.
        assert (fault["code"], fault["blamed"]) == ("MTLCommandBufferErrorPageFault", "illegal_address")
    assert sections["faults"]["facts"]["afterwards, another process"]["value"] == [7, 8, 9]
    assert sections["embed"]["facts"]["largest difference"] < 1e-4
    costs = sections["launches"]["facts"]
    assert {"0 arguments", "4 arguments", "16 arguments", "31 arguments"} <= set(costs)
    assert costs["31 arguments"]["bare driver call"]["ratio"] == 1
    assert report["device"]["capabilities"]["device"] == "Apple M2 stand-in"
    assert report["device"]["listing"][0]["details"]["unified_memory"] is True


def test_without_a_metal_device_it_says_so(tmp_path: Path) -> None:
    """No device: the reason and exit code 2, and no report."""
    code, told, report = run(tmp_path, devices=0)
    assert (code, report) == (2, {})
    assert "metal cannot be used here" in told
    assert "sees no GPU" in told


def test_the_benchmark_tells_the_policies_apart(tmp_path: Path) -> None:
    """Each launch by itself is a command buffer each, at the end is one, and ours is few and starts with the first."""
    require_rung("metal stand-in")
    program = (
        "from bench import metal; import json\n"
        "rows = metal.commit_policies('metal', 1)\n"
        "print(json.dumps([[r.kernel, r.policy, r.command_buffers, r.commit_s, r.done_s] for r in rows]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = {
        (kernel, policy): (count, commit, whole) for kernel, policy, count, commit, whole in json.loads(done.stdout)
    }
    assert {policy for _, policy in rows} == {"the backend's", "each launch by itself", "only at the end"}
    for (_, policy), (count, commit, whole) in rows.items():
        if policy == "each launch by itself":
            assert count == [1000]
        elif policy == "only at the end":
            assert count == [1]
        else:
            # 1000 launches are 16 command buffers of 64, and those that were committed early.
            assert all(16 <= each < 1000 for each in count)
            assert all(first < all_s * 1000 / 2 for first, all_s in zip(commit, whole, strict=True))
