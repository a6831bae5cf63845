"""Lists missing rungs at the end of a run, and fails on them where METRALE_REQUIRE_RUNGS=1 asks for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Before NumPy is imported: every worker would start a BLAS thread per core, and they would spin against each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What a test compiles, it compiles: the compile cache has tests of its own, which turn it on.
os.environ.setdefault("METRALE_CACHE", "off")
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))

from rungs import MARK, RUNGS

# The same examples on every run and every worker, and no clock: a busy machine is not a failing test.
settings.register_profile("metrale", deadline=None, derandomize=True, database=None)
settings.load_profile("metrale")


def _missing(reporter: pytest.TerminalReporter) -> dict[str, int]:
    counts: dict[str, int] = {}
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if MARK in reason:
            name = reason.split(MARK, 1)[1].strip()
            counts[name] = counts.get(name, 0) + 1
    return counts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    missing = _missing(terminalreporter)
    if not missing:
        return
    terminalreporter.section("missing rungs")
    for name, count in sorted(missing.items()):
        remedy = RUNGS[name].remedy if name in RUNGS else "?"
        terminalreporter.line(f"{name}: {count} test(s) or file(s) did not run; to have it: {remedy}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if hasattr(session.config, "workerinput") or os.environ.get("METRALE_REQUIRE_RUNGS") != "1":
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and _missing(reporter) and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
