"""The process around a backend: importing, threads, leaving without a word."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading

import numpy as np

from ....scalars import u32
from ...isolation import run_isolated
from ..case import case
from ..cells import Cells
from ..imported import what_importing_loads
from ..target import ConformanceTarget


def _leave_everything_open(pickled: bytes) -> None:
    """The child's part: objects of every kind in a cycle, in module globals, and a thread that still runs."""
    target: ConformanceTarget = pickle.loads(pickled)
    gpu = target.open_backend()
    kernel = target.kernel(gpu, "affine")
    values, stream, event = gpu.array(np.arange(5, dtype=np.uint32)), gpu.create_stream(), gpu.create_event()
    prepared = kernel[3, 2].prepare(values, u32(5), u32(10), u32(1))
    with gpu.capture(stream) as capture:
        kernel[3, 2, 0, stream](values, u32(5), u32(10), u32(1))
    prepared()
    capture.graph.launch(stream)
    event.record(stream)
    kept: list[object] = [gpu, kernel, values, stream, event, prepared, capture.graph, gpu.alloc(77)]
    kept.append(kept)
    globals()["kept"] = kept
    threading.Thread(target=threading.Event().wait, daemon=True).start()


def _leave_by_an_exception(pickled: bytes) -> None:
    _leave_everything_open(pickled)
    raise LookupError("the user's own")


@case(invariants=(8,), field=(29,))
def leaving_the_interpreter_is_silent(target: ConformanceTarget) -> None:
    """A process that ends with everything still open, queued work too, exits with 0 and says nothing."""
    run_isolated(_leave_everything_open, pickle.dumps(target)).check()


@case(invariants=(8,), field=(29,))
def a_users_exception_is_the_only_output(target: ConformanceTarget) -> None:
    """After an uncaught exception the user's traceback is all that is printed."""
    result = run_isolated(_leave_by_an_exception, pickle.dumps(target))
    assert result.exit_code == 1, result
    assert result.stderr.startswith("Traceback"), result.stderr
    assert result.stderr.rstrip().endswith("LookupError: the user's own"), result.stderr
    assert result.stderr.count("Traceback") == 1, result.stderr


@case(invariants=(5, 8), field=(20,))
def any_thread_may_use_and_close(target: ConformanceTarget) -> None:
    """What one thread made another may use, wait for and destroy, without a word about contexts."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_32")
        cells, stream = Cells(gpu, 4), gpu.create_stream()
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                kernel[1, 1, 0, stream](cells[number], u32(60 + number))
                event = stream.record_event()
                event.synchronize()
                assert cells.values()[number] == 60 + number
                event.close()
                if number == 3:
                    stream.close()
            except BaseException as error:
                failures.append(error)

        for number in range(4):
            thread = threading.Thread(target=work, args=(number,))
            thread.start()
            thread.join()
        assert not failures, failures
        assert cells.values() == [60, 61, 62, 63]
        assert not stream.is_open


@case(invariants=(11,), field=(44,))
def importing_loads_no_library(target: ConformanceTarget) -> None:
    """Importing the package loads neither NumPy, a compiler nor a GPU library; each backend is listed with a reason."""
    loaded, libraries, unexplained = run_isolated(what_importing_loads).check()
    assert (loaded, libraries, unexplained) == ([], [], [])


def _launch_once(pickled: bytes) -> list[int]:
    target: ConformanceTarget = pickle.loads(pickled)
    with target.opened() as gpu:
        cells = Cells(gpu, 3)
        target.kernel(gpu, "echo_32")[1, 1](cells[1], u32(7))
        return cells.values()


def _fork_after_listing(pickled: bytes) -> int:
    """The child's part: list what there is, fork, and let the grandchild use a device."""
    from ....discovery import available_backends

    available_backends()
    process = os.fork()
    if process == 0:
        os._exit(0 if _launch_once(pickled) == [0, 7, 0] else 3)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@case(invariants=(11,), field=(44,))
def listing_devices_survives_a_fork(target: ConformanceTarget) -> None:
    """A process that has listed the backends may fork, and its child opens the backend and launches."""
    assert run_isolated(_fork_after_listing, pickle.dumps(target)).check() == 0


@case(field=(40,))
def nothing_but_python_is_needed(target: ConformanceTarget) -> None:
    """With no compiler on PATH and no writable home a backend opens, loads and launches; it warns at most."""
    with tempfile.TemporaryDirectory(prefix="only-") as folder:
        for program in target.programs:
            os.symlink(shutil.which(program) or program, os.path.join(folder, program))
        bare = {"PATH": folder, "HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/nonexistent"}
        result = run_isolated(_launch_once, pickle.dumps(target), environment=bare)
    assert (result.exit_code, result.value) == (0, [0, 7, 0]), result
    assert "Error" not in result.stderr, result.stderr
