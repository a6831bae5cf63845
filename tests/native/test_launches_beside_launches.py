"""A launch under way keeps its values and its memory, whatever is launched beside it: by its target, or by another thread."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from native_process import in_native_process

IS_BUILT = importlib.util.find_spec("metrale_gpu_runtime.native._core") is not None
pytestmark = pytest.mark.skipif(not IS_BUILT, reason="the native launch core is not built here")

FORMS = ("short form", "prepared, changed", "prepared, by name", "slots", "builder", "builder, any", "sequence")


native = partial(in_native_process, "test_launches_beside_launches")


def _form(world: Any, name: str, x: Any) -> Callable[..., object]:
    """A launch of scale(x, n, 0.5) in a form, made natively before; it is called with n, and a stream by name."""
    import metrale_gpu_runtime as mg

    gpu, kernel = world.gpu, world.kernels["scale"]
    n_slot = mg.slot("n", mg.u32)
    streams = {stream: kernel[3, 32, 0, stream] for stream in (None, *world.streams)}
    prepared, slotted = kernel[3, 32].prepare(x, 7, 0.5), kernel[3, 32].prepare(mg.slot("x", "ptr"), n_slot, 0.5)
    with gpu.sequence() as sequence:
        kernel[3, 32](mg.slot("x", "ptr"), n_slot, 0.5)

    def builder() -> Any:
        return mg.KernelLaunch(gpu, kernel).grid(3).block(32)

    forms: dict[str, Callable[[int, Any, Any], object]] = {
        "short form": lambda n, stream, x: streams[stream](x, n, 0.5),
        "prepared, changed": lambda n, stream, x: prepared(x, n, 0.5, stream=stream),
        "prepared, by name": lambda n, stream, x: prepared(x=x, count=n, stream=stream),
        "slots": lambda n, stream, x: slotted(x=x, n=n, stream=stream),
        "builder": lambda n, stream, x: builder().arg_ptr(x).arg_u32(n).arg_f32(0.5).launch(stream),
        "builder, any": lambda n, stream, x: builder().arg(x).arg(n).arg(0.5).launch(stream),
        "sequence": lambda n, stream, x: sequence(x=x, n=n, stream=stream),
    }

    def found(n: int, stream: Any = None, x: Any = x) -> object:
        return forms[name](n, stream, x)

    for _ in range(2):
        found(0)
    return found


def _last(buffer: Any) -> str:
    """The number of the launch that used a buffer last."""
    return str(buffer.allocation.block.last_use).partition(" of")[0]


# ---------------------------------------------------------------- by the target


def within(name: str) -> tuple[list[tuple[object, ...]], list[str], list[str], int]:
    """The target launches the same kernel with another value and other memory, twice within one another."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["MockWorld"]()
    launched: list[tuple[object, ...]] = []
    try:
        buffers = [world.gpu.empty(4, mg.f32) for _ in range(3)]
        form = _form(world, name, buffers[0])
        world.gpu.synchronize()
        count, depth, begun = world.gpu._gate.native_count, [0], len(world.gpu.log)

        def do_within() -> None:
            if depth[0] < 2:
                depth[0] += 1
                form(depth[0] + 1, stream=world.streams[depth[0] - 1], x=buffers[depth[0]])

        world.do_within = do_within
        form(1)
        made = world.gpu._gate.native_count - count
        places = {buffer.address: number for number, buffer in enumerate(buffers)}
        for entry in list(world.gpu.log)[begun:]:
            if entry.call == "launch":
                image = entry.image
                launched.append((places[int.from_bytes(image[:8], "little")], int.from_bytes(image[8:12], "little")))
        uses = [sorted(str(stream) for stream, _ in each.allocation.block.uses.items()) for each in buffers]
        return launched, [_last(each) for each in buffers], ["".join(each) for each in uses], made
    finally:
        world.close()
        gc.collect()


@pytest.mark.parametrize("name", FORMS)
def test_a_target_may_launch_the_same_kernel_again(name: str) -> None:
    """Each of three launches, the later two made within the one before, has its own values, memory and stream."""
    launched, last, streams, made = native("within", name)
    # The innermost reaches the driver first.
    assert launched == [(2, 3), (1, 2), (0, 1)]
    assert last == ["launch 3", "launch 4", "launch 5"]
    assert streams == ["0", "101", "102"]
    # What is busy is Python's to make beside itself: the first of all is the core's.
    assert made >= 1


# ---------------------------------------------------------------- by another thread, while the driver has the first


class _Config(ctypes.Structure):
    _fields_ = (("extents", ctypes.c_uint32 * 7), ("stream", ctypes.c_void_p))


@contextlib.contextmanager
def _blocking_cuda(world: Any) -> Iterator[tuple[list[Any], threading.Event, threading.Event]]:
    """The driver's launch call notes its arguments, and the first one waits: what it was given is noted before and after."""
    noted: list[Any] = []
    entered, go = threading.Event(), threading.Event()
    calls = world.gpu._driver.native_calls()
    assert calls.is_extended
    shape = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Config), *(ctypes.c_void_p,) * 3)
    real = shape(calls.launch)

    def read(parameters: int) -> tuple[int, int]:
        places = (ctypes.c_void_p * 2).from_address(parameters)
        return ctypes.c_uint64.from_address(places[0] or 0).value, ctypes.c_uint32.from_address(places[1] or 0).value

    def launch(config: Any, function: int, parameters: int, extra: int) -> int:
        before = read(parameters)
        if not entered.is_set():
            entered.set()
            assert go.wait(60)
        noted.append((before, read(parameters)))
        return int(real(config, function, parameters, extra))

    ours = shape(launch)
    others = (calls.query, calls.enter, calls.leave, calls.context, calls.context_nbytes, calls.leave_takes_place)
    world.gpu._gate.call(ctypes.cast(ours, ctypes.c_void_p).value, True, *others)
    try:
        yield noted, entered, go
    finally:
        go.set()
        world.gpu._gate.call(calls.launch, True, *others)


@contextlib.contextmanager
def _waiting_in_cuda(world: Any, act: Callable[[], object], errors: list[str]) -> Iterator[list[Any]]:
    """Another thread's launch waits in the driver meanwhile; what it read before and after, and what was raised there."""

    def first() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(repr(error))

    with _blocking_cuda(world) as (noted, entered, go):
        thread = threading.Thread(target=first)
        thread.start()
        assert entered.wait(60)
        yield noted
        go.set()
        thread.join()


def beside(name: str) -> tuple[list[Any], list[Any], list[str], list[str]]:
    """A launch waits in the driver while this thread makes another one of the same kernel, with another value."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["World"]()
    errors: list[str] = []
    try:
        x, y = (world._named(world.gpu.empty(4, mg.f32), each) for each in "xy")
        form = _form(world, name, x)
        places = {x.address: "x", y.address: "y"}
        world._launched()

        with _waiting_in_cuda(world, lambda: form(1, stream=world.streams[0]), errors) as noted:
            form(2, stream=world.streams[1], x=y)
            form(3, stream=world.streams[1], x=y)
        read = [[(places[address], n) for address, n in each] for each in noted]
        return read, [each[6][:2] for each in world._launched()], [_last(x), _last(y)], errors
    finally:
        world.close()


@pytest.mark.parametrize("name", FORMS)
def test_a_launch_that_waits_in_the_driver_keeps_its_values(name: str) -> None:
    """What the driver reads for a launch stays as it was given, whatever another thread launches meanwhile."""
    read, launched, last, errors = native("beside", name)
    assert errors == []
    # Before and after the wait. A sequence that is busy is made by Python, whose calls are others.
    others = [] if name == "sequence" else [[("y", 2)] * 2, [("y", 3)] * 2]
    assert read == [*others, [("x", 1)] * 2]
    assert launched == [("<y+0>", "02000000"), ("<y+0>", "03000000"), ("<x+0>", "01000000")]
    assert last == ["launch 3", "launch 5"]


def beside_kernel_objects(name: str) -> tuple[list[Any], list[str], str]:
    """The same where kernel objects hold the arguments."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["OpenclLikeWorld"]()
    standin = world.standin
    try:
        x, y = (world._named(world.gpu.empty(4, mg.f32), each) for each in "xy")
        form = _form(world, name, x)
        world._launched()
        standin.library.standin_hold()
        thread = threading.Thread(target=form, args=(1,), kwargs={"stream": world.streams[0]})
        thread.start()
        assert standin.library.standin_wait_held()
        form(2, stream=world.streams[1], x=y)
        standin.library.standin_let_go()
        thread.join()
        seen = [(each[2], each[9:11]) for each in world._launched() if each[0] == "launch"]
        return seen, [_last(x), _last(y)], standin.violation
    finally:
        world.close()


@pytest.mark.parametrize("name", FORMS)
def test_a_launch_that_waits_with_its_kernel_object_keeps_its_values(name: str) -> None:
    """A kernel object belongs to one thread: another one's launch of the same kernel leaves it alone."""
    seen, last, violation = native("beside_kernel_objects", name)
    assert violation == ""
    assert seen == [("scale", ("<y+0>", "02000000")), ("scale", ("<x+0>", "01000000"))]
    assert last == ["launch 3", "launch 4"]


# ---------------------------------------------------------------- while former values of slots go


def set_while_former_memory_goes() -> tuple[list[tuple[str, str]], list[str]]:
    """Slots that Python has set are read anew; what they named before goes then, and other threads launch meanwhile."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["World"]()
    errors: list[str] = []
    try:
        gpu = world.gpu
        former, other = gpu.empty(4, mg.f32), gpu.empty(4, mg.f32)
        x, y, z = (world._named(gpu.empty(4, mg.f32), each) for each in "xyz")
        prepared = world.kernels["pair"][1, 32].prepare(mg.slot("a", "ptr"), mg.slot("b", "ptr"))
        # Python reads the slots' first values, and the core what Python has set.
        prepared(a=former, b=other)
        prepared()
        prepared(b=z)
        prepared(a=x, b=y, grid=2)
        gpu.synchronize()
        world._launched()
        count = gpu._gate.native_count

        with _blocking_cuda(world) as (_, entered, go):

            def first() -> None:
                try:
                    prepared(stream=world.streams[0])
                except BaseException as error:
                    errors.append(repr(error))

            def meanwhile(_: object) -> None:
                gpu.synchronize()  # memory that waits to be given back makes launches Python's
                thread = threading.Thread(target=first)
                thread.start()
                assert entered.wait(60)
                prepared(b=z, stream=world.streams[1])
                go.set()
                thread.join()

            reference = weakref.ref(former.allocation, meanwhile)
            del former
            prepared()
            del reference
        assert gpu._gate.native_count == count + 3
        return [each[6] for each in world._launched()], errors
    finally:
        world.close()


def test_slots_may_be_set_while_what_they_named_before_goes() -> None:
    """Each launch has what the slots were set to when it began, where letting go of former memory makes others."""
    launched, errors = native("set_while_former_memory_goes")
    assert errors == []
    assert launched == [("<x+0>", "<z+0>"), ("<x+0>", "<y+0>"), ("<x+0>", "<z+0>")]


def sequence_within_its_call(count: int) -> tuple[list[tuple[tuple[Any, ...], int]], int]:
    """Whenever a sequence is called, the collector finds who calls that very sequence on another stream, with other memory."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["World"]()
    gpu, found, made = world.gpu, [], [0]
    x, y, w = (world._named(gpu.empty(4, mg.f32), each) for each in "xyw")
    with gpu.sequence() as sequence:
        world.kernels["scale"][1, 32](mg.slot("x", "ptr"), mg.slot("n", mg.u32), 0.5)
        world.kernels["scale"][1, 32](w, 9, 0.5)
    streams = dict(zip("ab", world.streams, strict=True))

    class Last:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            made[0] += 1
            sequence(x=y, n=2, stream=streams["b"])

    def call() -> None:
        sequence(x=x, n=1, stream=streams["a"])
        sequence(x=x, n=3)

    call()
    gpu.synchronize()
    world._launched()
    threshold, before = gc.get_threshold(), gpu._gate.native_count
    gc.disable()
    try:
        for at in range(count):
            gc.collect()
            Last()
            # At each of the objects that the call makes in turn.
            gc.set_threshold(1 + at % 8)
            gc.enable()
            call()
            gc.disable()
            gpu.synchronize()
            found += [[each[5], *each[6][:2]] for each in world._launched()]
        gc.collect()
        found += [[each[5], *each[6][:2]] for each in world._launched()]
    finally:
        gc.set_threshold(*threshold)
        gc.enable()
    assert gpu._gate.native_count - before >= count
    world.close()
    return sorted(Counter(map(tuple, found)).items()), made[0]


def test_a_sequence_may_be_called_while_it_is_called() -> None:
    """What the collector finalises in the middle of a sequence's call may call it: each call has its own stream and values."""
    found, made = native("sequence_within_its_call", 100)
    assert made == 100
    assert found == [
        (("default", "<w+0>", "09000000"), 100),
        (("default", "<x+0>", "03000000"), 100),
        (("stream 0", "<w+0>", "09000000"), 100),
        (("stream 0", "<x+0>", "01000000"), 100),
        (("stream 1", "<w+0>", "09000000"), 100),
        (("stream 1", "<y+0>", "02000000"), 100),
    ]


# ---------------------------------------------------------------- one builder in two threads


def one_builder(act: str) -> tuple[list[Any], str, list[str]]:
    """While a builder's launch waits in the driver, another thread goes on with the very same builder."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["World"]()
    errors: list[str] = []
    try:
        x = world.gpu.empty(4, mg.f32)
        form = _form(world, "builder", x)
        form(0)
        builder = (
            mg.KernelLaunch(world.gpu, world.kernels["scale"]).grid(3).block(32).arg_ptr(x).arg_u32(1).arg_f32(0.5)
        )

        with _waiting_in_cuda(world, lambda: builder.launch(world.streams[0]), errors) as noted:
            acts: dict[str, Callable[[], object]] = {
                "launch": lambda: builder.launch(world.streams[1]),
                "argument": lambda: builder.arg_u32(9),
                "spill": lambda: builder.cluster(1),
                "grid": lambda: builder.grid(2).block(16),
                "others": lambda: [form(at) for at in range(40)],
            }
            try:
                acts[act]()
                ended = "returned"
            except mg.GpuError as error:
                ended = type(error).__name__
        seen = [[(address == x.address, n) for address, n in each] for each in noted]
        assert isinstance(builder.kernel_args, tuple)  # read by Python, whatever state it is in
        return seen, ended, errors
    finally:
        world.close()


@pytest.mark.parametrize("act", ["launch", "argument", "spill", "grid", "others"])
def test_a_builder_may_be_touched_while_its_launch_waits_in_the_driver(act: str) -> None:
    """The launch under way has its values to its end, whatever another thread does with its builder."""
    seen, ended, errors = native("one_builder", act)
    assert (errors, ended) == ([], "returned")
    assert seen[-1] == [(True, 1)] * 2
    assert all(before == after for before, after in seen)


def collected_within(act: str, count: int) -> list[str]:
    """Whenever a builder hands what it has to Python, the collector runs, and finds who goes on with the very same builder."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["World"]()
    gpu, kernel, x = world.gpu, world.kernels["many"], world.buffers[1]
    ended: list[str] = []

    class Last:
        def __init__(self, builder: Any) -> None:
            self.own, self.builder = self, builder

        def __del__(self) -> None:
            try:
                acts = {"spill": lambda: self.builder.cluster(1), "argument": lambda: self.builder.arg_u32(7)}
                acts[act]()
                ended.append("returned")
            except (mg.GpuError, AttributeError) as error:
                ended.append(type(error).__name__)

    threshold = gc.get_threshold()
    try:
        for at in range(count):
            builder = mg.KernelLaunch(gpu, kernel).arg_ptr(x)
            for number in range(at % 24):
                builder.arg_u32(number)
            Last(builder)
            gc.set_threshold(1 + at % 5)
            try:
                builder.arg_bytes(bytes(4))
            except AttributeError as error:
                ended.append(type(error).__name__)
            gc.set_threshold(0)
            del builder
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    world.close()
    return sorted(set(ended))


@pytest.mark.parametrize("act", ["spill", "argument"])
def test_a_finaliser_may_go_on_with_a_builder_that_is_handed_to_python(act: str) -> None:
    """Where the collector runs between what a builder hands over, its finalisers may use that builder."""
    assert "returned" in native("collected_within", act, 200)


def calls_of_one_builder(count: int) -> tuple[int, list[str]]:
    """Two threads call methods of the same builders at once, as nobody should."""
    from worlds import WORLDS

    import metrale_gpu_runtime as mg

    world: Any = WORLDS["World"]()
    gpu, kernel, x = world.gpu, world.kernels["scale"], world.buffers[0]
    _form(world, "builder", x)
    shared: list[Any] = [mg.KernelLaunch(gpu, kernel)]
    wrong: list[str] = []
    stop, launched = threading.Event(), [0]
    is_known = (mg.GpuError, TypeError)

    def work(number: int) -> None:
        while not stop.is_set():
            builder = shared[0]
            try:
                builder.arg_ptr(x)
                builder.arg_u32(number)
                builder.arg_f32(0.5)
                if number == 1 and launched[0] % 7 == 0:
                    builder.arg_bytes(bytes(4))
                builder.launch()
                builder.launch(world.streams[number])
            except is_known:
                pass
            except BaseException as error:
                if "described by one thread at a time" not in str(error):
                    wrong.append(repr(error))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()
    for _ in range(count):
        shared[0] = mg.KernelLaunch(gpu, kernel)
        launched[0] += 1
        gpu.synchronize()
    stop.set()
    for each in threads:
        each.join()
    sys.setswitchinterval(interval)
    gpu.synchronize()
    shared.clear()
    world.close()
    gc.collect()
    return len(world.open), wrong


def test_two_threads_may_call_one_builder_without_harm() -> None:
    """A builder belongs to one thread at a time; two that do not keep to that are refused or get odd launches, and no more."""
    assert native("calls_of_one_builder", 400) == (0, [])
