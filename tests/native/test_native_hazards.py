"""The native core where memory goes wrong first: finalisers in its midst, threads, forks, ends of processes, counts."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from core_worker import environment
from native_process import in_native_process
from rungs import require_rung

IS_BUILT = importlib.util.find_spec("metrale_gpu_runtime.native._core") is not None
pytestmark = pytest.mark.skipif(not IS_BUILT, reason="the native launch core is not built here")


native = partial(in_native_process, "test_native_hazards")


def _forms(world: Any) -> dict[str, Callable[[int], object]]:
    import metrale_gpu_runtime as mg

    gpu, kernel, x = world.gpu, world.kernels["scale"], world.buffers[0]
    prepared = kernel[3, 32].prepare(x, 7, 0.5)
    slotted = kernel[3, 32].prepare(x, mg.slot("count", mg.u32), 0.5)
    with gpu.sequence() as sequence:
        kernel[3, 32](x, mg.slot("count", mg.u32), 0.5)
        kernel[3, 32](x, 1, 0.5)
    with gpu.sequence() as fixed:  # one that a driver may record
        kernel[3, 32](x, 1, 0.5)
    slotted(count=1)
    return {
        "builder": lambda n: mg.KernelLaunch(gpu, kernel).grid(3).block(32).arg_ptr(x).arg_u32(n).arg_f32(0.5).launch(),
        "builder, any": lambda n: mg.KernelLaunch(gpu, kernel).grid(3).block(32).arg(x).arg(n).arg(0.5).launch(),
        "short form": lambda n: kernel[3, 32](x, n, 0.5),
        "prepared": lambda n: prepared(),
        "prepared, changed": lambda n: prepared(x, n, 0.5),
        "prepared, by name": lambda n: prepared(count=n),
        "slots": lambda n: slotted(count=n),
        "sequence": lambda n: sequence(count=n),
        "sequence without slots": lambda n: fixed(),
    }


def _world(kind: str = "cuda") -> Any:
    from worlds import WORLDS

    kinds = {"cuda": "World", "mock": "QuietMockWorld", "cpu": "CpuWorld", "opencl": "OpenclWorld"}
    kinds |= {"addresses": "OpenclLikeRecordedWorld", "memory-objects": "OpenclLikeRecordedBuffersWorld"}
    world = WORLDS[kinds[kind]]()
    if kind in ("cpu", "opencl"):
        world.noted = deque(maxlen=1)  # nobody reads it
    return world


# ---------------------------------------------------------------- what is kept


def leaks(count: int, kind: str = "cuda") -> dict[str, tuple[int, int]]:
    """Blocks that the interpreter has more of, and bytes more resident, after so many launches in each form."""
    world = _world(kind)
    found = {}
    for name, launch in _forms(world).items():
        # As many as wait at once below: queues have grown to that then.
        for at in range(1000):
            launch(at)
        world.gpu.synchronize()
        gc.collect()
        before, resident = sys.getallocatedblocks(), _resident()
        for at in range(count):
            launch(at)
            if at % 1000 == 999:
                world.gpu.synchronize()
        world.gpu.synchronize()
        gc.collect()
        found[name] = (sys.getallocatedblocks() - before, _resident() - resident)
    world.close()
    return found


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("cuda", 5_000),
        ("mock", 2_000),
        ("cpu", 1_000),
        ("opencl", 2_000),
        ("addresses", 2_000),
        ("memory-objects", 2_000),
    ],
)
def test_launches_keep_no_blocks(kind: str, count: int) -> None:
    """After thousands of launches of each form the interpreter holds as many blocks as before them."""
    if kind == "opencl":
        require_rung("pocl")
    for name, (blocks, _) in native("leaks", count, kind).items():
        assert blocks < 100, name


def references(count: int) -> dict[str, list[int]]:
    """By how much the reference counts of what launches name have changed after many of them."""
    import metrale_gpu_runtime as mg

    world = _world()
    forms = _forms(world)
    for launch in forms.values():
        for _ in range(200):
            launch(1)
    buffer = world.buffers[0]
    watched = {
        "None": None,
        "True": True,
        "1": 1,
        "0.5": 0.5,
        "kernel": world.kernels["scale"],
        "buffer": buffer,
        "allocation": buffer.allocation,
        "block": buffer.allocation.block,
        "stream": world.streams[0],
        "lane": world.gpu._default_lane,
        "backend": world.gpu,
    }
    found = {}
    for name, launch in forms.items():
        gc.collect()
        before = [sys.getrefcount(each) for each in watched.values()]
        for _ in range(count):
            launch(1)
            with contextlib.suppress(mg.ArgumentError):
                launch(True)  # refused, or not looked at
        gc.collect()
        found[name] = [sys.getrefcount(each) - was for each, was in zip(watched.values(), before, strict=True)]
    world.close()
    return found


def test_reference_counts_stay() -> None:
    """No, True, small numbers, kernels, memory and streams have as many references after launches as before."""
    for name, changes in native("references", 500).items():
        assert all(abs(change) < 100 for change in changes), (name, changes)


# ---------------------------------------------------------------- finalisers


def closed_by_a_finaliser() -> tuple[int, str]:
    """A sequence is closed while its call lets go of the value that a slot had."""
    import metrale_gpu_runtime as mg

    world = _world()
    gpu, kernel, x = world.gpu, world.kernels["pair"], world.buffers[0]
    with gpu.sequence() as sequence:
        kernel[1, 32](x, mg.slot("y", "ptr"))
    former = gpu.empty(8, mg.f32)
    sequence(y=former)
    closed: list[int] = []
    reference = weakref.ref(former, lambda _: (sequence.close(), closed.append(1)))
    del former
    sequence(y=x)
    del reference
    try:
        sequence(y=x)
        ended = "returned"
    except mg.HandleClosed as error:
        ended = type(error).__name__
    world.close()
    return len(closed), ended


def test_a_sequence_may_be_closed_while_a_slots_former_value_goes() -> None:
    """What runs when a former value is let go of may close the very sequence that is being called."""
    assert native("closed_by_a_finaliser") == (1, "HandleClosed")


def called_by_a_finaliser() -> list[str]:
    """A prepared launch is called again while its call lets go of the value that a slot had."""
    import metrale_gpu_runtime as mg

    world = _world()
    gpu, kernel, x, z = world.gpu, world.kernels["pair"], world.buffers[0], world.buffers[2]
    prepared = kernel[1, 32].prepare(x, mg.slot("y", "ptr"))
    former = gpu.empty(8, mg.f32)
    prepared(y=former)
    prepared(y=former)
    gpu.synchronize()

    def again(_: object) -> None:
        gpu.synchronize()
        prepared()

    reference = weakref.ref(former, again)
    del former
    prepared(y=z)
    del reference
    uses = [str(z.allocation.block.last_use).partition(" of")[0], str(z.allocation.block.uses[0]).partition(" of")[0]]
    world.close()
    return uses


def test_a_prepared_launch_may_be_called_while_a_slots_former_value_goes() -> None:
    """What runs when a former value is let go of may call the launch: it has the new value, whose memory is in use."""
    assert native("called_by_a_finaliser") == ["launch 4", "launch 4"]


def free_in_the_midst(which: int) -> tuple[list[str], list[str]]:
    """A launch that names three buffers, and the end of what the first remembers as its last use frees one of the others."""
    import metrale_gpu_runtime as mg
    from metrale_gpu_runtime.trace.operations import QueuedOperation

    world = _world()
    gpu, pair = world.gpu, world.kernels["pair"]
    buffers = [gpu.empty(16, mg.f32) for _ in range(3)]
    launch = mg.KernelLaunch(gpu, pair).grid(1).block(32).arg_ptr(buffers[0]).arg_ptr(buffers[1]).uses(buffers[2])
    prepared = launch.prepare()
    for _ in range(3):
        prepared()
    gpu.synchronize()
    told: list[str] = []

    class Work:
        def __call__(self) -> str:
            return "work"

        def __del__(self) -> None:
            try:
                gpu.free(buffers[which])
                told.append("freed")
            except mg.AllocationInUse:
                told.append("in use")

    lane = gpu._default_lane
    buffers[0].allocation.block.uses[lane.handle] = QueuedOperation(lane.handle, lane.issued, Work())
    try:
        prepared()
        told.append("launched")
    except mg.InvalidPointer:
        told.append("refused")
    pair[1, 32](buffers[0], gpu.empty(16, mg.f32))
    gpu.synchronize()
    violations = [str(each) for each in world.driver.violations()]
    world.close()
    return told, violations


@pytest.mark.parametrize(("which", "told"), [(1, ["in use", "launched"]), (2, ["freed", "refused"])])
def test_memory_that_goes_in_the_midst_of_a_launch_is_not_launched_with(which: int, told: list[str]) -> None:
    """What a finaliser frees while a launch is noted is refused by the one or the other, whichever looks last."""
    assert native("free_in_the_midst", which) == (told, [])


# ---------------------------------------------------------------- threads, forks, ends


def many_threads(thread_count: int, calls: int, kind: str = "cuda") -> tuple[list[str], int]:
    """Every form from each of so many threads at once, on streams of their own and on the default one."""
    import metrale_gpu_runtime as mg

    world = _world(kind)
    gpu, kernel = world.gpu, world.kernels["scale"]
    forms = _forms(world)
    with gpu.sequence() as sequence:
        kernel[1, 32](mg.slot("x", "ptr"), mg.slot("n", mg.u32), 0.5)
    prepared = kernel[1, 32].prepare(mg.slot("x", "ptr"), mg.slot("n", mg.u32), 0.5)
    start, errors = threading.Barrier(thread_count), []

    def work(number: int) -> None:
        try:
            with gpu.create_stream() as stream:
                start.wait()
                for at in range(calls):
                    for launch in forms.values():
                        launch(at)
                    own = gpu.empty(4, mg.f32)
                    sequence(x=own, n=at, stream=stream)
                    prepared(x=own, n=at, stream=stream)
                    prepared(x=own, n=at)
                    kernel[1, 32, 0, stream](own, at, 0.5)
                    mg.KernelLaunch(gpu, kernel).args(own, at, 0.5).launch(stream)
                    if at % 16 == 0:
                        stream.synchronize()
        except BaseException as error:
            errors.append(repr(error))

    before = gpu._gate.__next__()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(thread_count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    sys.setswitchinterval(interval)
    gpu.synchronize()
    made = gpu._gate.__next__() - before - 1
    forms.clear()
    if kind in ("addresses", "memory-objects"):
        errors += [each for each in world.violations() if each]
    world.close()
    return errors, made


@pytest.mark.parametrize(
    ("kind", "calls"),
    [("cuda", 60), ("mock", 25), ("cpu", 10), ("opencl", 25), ("addresses", 25), ("memory-objects", 25)],
)
def test_eight_threads_launch_in_every_form_at_once(kind: str, calls: int) -> None:
    """Nothing is lost or raised when eight threads launch in all forms at once, and every launch has a number."""
    if kind == "opencl":
        require_rung("pocl")
    errors, made = native("many_threads", 8, calls, kind)
    # A sequence of two counts twice; every thread makes eight other forms and five launches with memory of its own.
    assert (errors, made) == ([], 8 * calls * (8 + 2 + 5))


def fork_in_the_middle(count: int) -> list[int]:
    """Children are forked off while other threads launch: how each of them ended."""
    world = _world()
    forms, stop = _forms(world), threading.Event()
    for launch in forms.values():
        launch(0)  # what is imported by the first of its kind is: a lock of the interpreter's own survives no fork

    def work() -> None:
        while not stop.is_set():
            for at in range(50):
                for launch in forms.values():
                    launch(at)
            world.gpu.synchronize()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    statuses = []
    for _ in range(count):
        child = os.fork()
        if not child:
            signal.alarm(30)  # one that waits for ever ends as well
            # The parent's backend is no child's to use: every form says so, or the child leaves it alone.
            status = 0
            for launch in forms.values():
                try:
                    launch(1)
                    status = 7
                except Exception:
                    pass
            os._exit(status)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    for each in threads:
        each.join()
    for launch in forms.values():
        launch(2)
    world.close()
    return statuses


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_in_the_middle_of_launches_leaves_parent_and_child_whole() -> None:
    """A child forked off in the middle of launches is refused every form and ends; the parent launches on."""
    assert native("fork_in_the_middle", 6) == [0] * 6


def _child_of(forms: dict[str, Callable[[int], object]]) -> int:
    """How a child forked off here fares with every form: 0 all work, 1 all are refused for the fork, 7 anything else."""
    import metrale_gpu_runtime as mg

    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(30)  # one that waits for ever ends as well
    fared = set()
    for launch in forms.values():
        try:
            launch(1)
            fared.add("works")
        except mg.HandleClosed as error:
            fared.add("refused" if "forked off" in str(error) else str(error))
        except Exception as error:
            fared.add(str(error))
    os._exit({("works",): 0, ("refused",): 1}.get(tuple(fared), 7))


def forks_of_a_backend_that_survives(kind: str, count: int) -> tuple[set[int], int]:
    """How children fare that are forked off while other threads launch, and how one does when those are done."""
    world = _world(kind)
    forms, stop = _forms(world), threading.Event()
    for launch in forms.values():
        launch(0)

    def work() -> None:
        while not stop.is_set():
            for launch in forms.values():
                launch(1)
            world.gpu.synchronize()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    fared = {_child_of(forms) for _ in range(count)}
    stop.set()
    for each in threads:
        each.join()
    at_rest = _child_of(forms)
    for launch in forms.values():
        launch(2)
    world.close()
    return fared, at_rest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("kind", ["mock", "cpu"])
def test_a_backend_survives_a_fork_unless_another_thread_is_amid_a_call(kind: str) -> None:
    """A child forked off amid other threads' calls is told so instead of waiting for them; one at rest goes on."""
    fared, at_rest = native("forks_of_a_backend_that_survives", kind, 12)
    assert fared <= {0, 1}
    assert at_rest == 0


KEPT: list[Any] = []


def leave_everything_alive() -> int:
    """Worlds, launches, sequences and half described builders that nobody closes before the interpreter ends."""
    import metrale_gpu_runtime as mg

    world = _world()
    forms = _forms(world)
    for launch in forms.values():
        for at in range(70):
            launch(at)
    builder = mg.KernelLaunch(world.gpu, world.kernels["scale"]).arg_ptr(world.buffers[0])
    spilled = mg.KernelLaunch(world.gpu, world.kernels["scale"]).arg_ptr(world.buffers[0]).cluster(1)
    cycle: list[Any] = [world, forms, builder, spilled, list(world.gpu._default_lane.ring)]
    cycle.append(cycle)
    KEPT.append(cycle)
    return len(cycle)


def test_an_interpreter_ends_with_everything_alive() -> None:
    """A process that closes nothing before its end, with cycles through all of it, ends with status 0."""
    assert native("leave_everything_alive") == 6


def _run_in_another_interpreter(text: str, is_isolated: bool) -> None:
    if sys.version_info >= (3, 13):
        import _interpreters

        other = _interpreters.create("isolated" if is_isolated else "legacy")
        failure = _interpreters.run_string(other, text)
        _interpreters.destroy(other)
        assert failure is None, failure.errdisplay
    else:
        import _xxsubinterpreters

        other = _xxsubinterpreters.create(isolated=is_isolated)
        _xxsubinterpreters.run_string(other, text)
        _xxsubinterpreters.destroy(other)


def by_a_subinterpreter(is_isolated: bool) -> str:
    """Another interpreter of the process imports the package; then the first one launches."""
    world = _world()
    launch = _forms(world)["short form"]
    launch(1)
    launch(2)
    text = f"""
import os, sys
os.environ.pop("METRALE_LAUNCH_CORE", None)
sys.path[:] = {sys.path!r}
import metrale_gpu_runtime as mg
assert mg.launch_core == "python"
mg.KernelLaunch, mg.u32(5), mg.DevicePtr(0)
import metrale_gpu_runtime.native._core as core
assert not core.is_usable_here() and not hasattr(core, "Gate")
"""
    _run_in_another_interpreter(text, is_isolated)
    before = world.gpu._gate.native_count
    launch(3)
    made = world.gpu._gate.native_count - before
    world.close()
    return f"{made} made natively"


NO_CTYPES = pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="CPython 3.12 has no ctypes for interpreters with a lock of their own"
)


@pytest.mark.parametrize("is_isolated", [False, pytest.param(True, marks=NO_CTYPES)])
def test_another_interpreter_has_the_plain_core(is_isolated: bool) -> None:
    """In a subinterpreter, with a lock of its own too, the package uses the plain core, and takes nothing away from the first."""
    assert native("by_a_subinterpreter", is_isolated) == "1 made natively"


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="no free-threaded Python")
def test_a_free_threaded_interpreter_has_the_native_core_and_no_lock() -> None:
    """Importing the native core does not take the interpreter lock up."""
    code = "import sys; import metrale_gpu_runtime as mg; print(mg.launch_core, sys._is_gil_enabled())"
    given = {**environment("native"), "PYTHON_GIL": ""}
    ended = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True)
    assert ended.stdout.split() == ["native", "False"], ended.stderr


# ---------------------------------------------------------------- targets that launch


class _Within:
    """A target in whose submit something is done, once."""

    def __init__(self, target: Any, acts: list[Callable[[], object]]) -> None:
        self._target, self._acts = target, acts

    def submit(self, *launch: Any) -> None:
        if self._acts:
            self._acts.pop()()
        self._target.submit(*launch)


def set_within_its_launch() -> tuple[list[int], list[str], int]:
    """A prepared launch's slot is set anew, on another stream, while the target makes the launch as it was."""
    import metrale_gpu_runtime as mg
    from metrale_gpu_runtime.testing import MockGpuBackend

    acts: list[Callable[[], object]] = []
    with MockGpuBackend() as gpu:
        prepare = gpu.mock.prepare_launch
        gpu.mock.prepare_launch = lambda *given: _Within(prepare(*given), acts)  # type: ignore[method-assign,assignment,return-value]
        kernel = gpu.kernel("m", "pair", signature="float* x, const float* y")
        x, y, z = (gpu.empty(4, mg.f32) for _ in range(3))
        prepared = kernel[1, 32].prepare(x, mg.slot("y", "ptr"))
        with gpu.create_stream() as stream:
            prepared(y=y)
            prepared(y=y)
            before = [sys.getrefcount(each.allocation.block) for each in (x, y, z)]
            acts.append(lambda: prepared(y=z, stream=stream))
            prepared()
            gpu.synchronize()
            changes = [
                sys.getrefcount(each.allocation.block) - was for each, was in zip((x, y, z), before, strict=True)
            ]
            uses = [str(each.allocation.block.last_use).partition(" of")[0] for each in (x, y, z)]
            return changes, uses, gpu._gate.native_count


def test_a_slot_may_be_set_while_the_target_makes_the_launch() -> None:
    """A launch under way has the memory that it began with, and lets go of that, whatever its slots are by then."""
    # z stands in the slot now, in the place of y.
    assert native("set_within_its_launch") == ([0, 0, 0], ["launch 3", "launch 3", "launch 4"], 3)
