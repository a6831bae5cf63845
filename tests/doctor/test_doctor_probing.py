"""Children that try what may crash: what they told, how they ended, what they said last."""

from __future__ import annotations

import os
import sys

import pytest

from metrale_gpu_runtime.drivers.probing import run_probe

TELL = "from metrale_gpu_runtime.drivers.probing import tell; "


def test_the_last_that_was_told_counts() -> None:
    """Facts told before a crash stay; output of libraries around them is no part of them."""
    end = run_probe(TELL + "tell(a=1); print('noise', end=''); tell(a=2, b='x'); import os; os.abort()")
    assert dict(end.told) == {"a": 2, "b": "x"}
    assert end.ended == "crashed with SIGABRT"


def test_exit_codes_and_last_words() -> None:
    """An exit code is told with the last lines of standard error; a good end says nothing."""
    end = run_probe("import sys; print('one\\ntwo\\n\\nthree\\nfour', file=sys.stderr); sys.exit(7)")
    assert end.ended == "ended with exit code 7"
    assert end.said == ("two", "three", "four")
    assert end.problem == "ended with exit code 7, and said: two | three | four"
    assert end.problem_when("it began") == "ended with exit code 7 when it began, and said: two | three | four"
    good = run_probe(TELL + "import sys; print('chatter', file=sys.stderr); tell(fine=True)")
    assert (good.ended, good.said, good.problem, dict(good.told)) == ("", (), "", {"fine": True})


def test_a_hanging_child_ends_with_what_it_started() -> None:
    """At the limit the child ends with its own children, which would keep the pipes open."""
    program = (
        "import subprocess, sys, signal\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "from metrale_gpu_runtime.drivers.probing import tell; tell(before=3)\n"
        "signal.pause()"
    )
    end = run_probe(program, timeout_s=1.5)
    assert end.ended == "did not end within 1.5 s"
    assert dict(end.told) == {"before": 3}


def test_the_environment_is_laid_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables are set or taken out for the child alone; arguments arrive as they are."""
    monkeypatch.setenv("DOCTOR_TEST_OUT", "1")
    program = (
        TELL + "import os, sys; tell(there=os.environ.get('DOCTOR_TEST_OUT'), new=os.environ['NEW'], at=sys.argv[1])"
    )
    end = run_probe(program, "an argument", environment={"DOCTOR_TEST_OUT": None, "NEW": "n"})
    assert dict(end.told) == {"there": None, "new": "n", "at": "an argument"}
    assert os.environ["DOCTOR_TEST_OUT"] == "1"


def test_without_a_program_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that does not know its program, or that cannot start one, is told and no error."""
    monkeypatch.setattr(sys, "executable", "")
    assert "sys.executable is empty" in run_probe("pass").ended
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "no child process can be started" in run_probe("pass").ended
