"""How kernels run: barriers that really order, memory that nobody wrote, faults that end a run and nothing else."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from rungs import require_rung

from . import CompiledFunction, compile_library
from .launched import launch

require_rung("clang-19")

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
u32 = np.uint32
POISON = 0xA7A7A7A7


def kernel(text: str, name: str = "k", **macros: str) -> CompiledFunction:
    return compile_library(HEAD + text, macros=macros).function(name)


def test_every_position_and_extent() -> None:
    """Each thread of a grid in three dimensions learns its own place, its group's and the extents, each in its own field."""
    function = kernel(
        """kernel void k(device uint *out, uint3 g [[thread_position_in_grid]], uint3 t [[thread_position_in_threadgroup]],
            uint3 p [[threadgroup_position_in_grid]], uint3 n [[threads_per_threadgroup]], uint3 m [[threadgroups_per_grid]],
            uint3 a [[threads_per_grid]], uint i [[thread_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]],
            uint s [[simdgroup_index_in_threadgroup]], uint w [[threads_per_simdgroup]], uint c [[simdgroups_per_threadgroup]]) {
            device uint *o = out + 23 * (g.x + a.x * (g.y + a.y * g.z));
            o[0] = g.x; o[1] = g.y; o[2] = g.z; o[3] = t.x; o[4] = t.y; o[5] = t.z; o[6] = p.x; o[7] = p.y; o[8] = p.z;
            o[9] = n.x; o[10] = n.y; o[11] = n.z; o[12] = m.x; o[13] = m.y; o[14] = m.z; o[15] = a.x; o[16] = a.y; o[17] = a.z;
            o[18] = i; o[19] = lane; o[20] = s; o[21] = w; o[22] = c; }"""
    )
    grid, block = (2, 3, 4), (7, 5, 3)
    extent = tuple(a * b for a, b in zip(grid, block, strict=True))
    out = np.full((extent[2], extent[1], extent[0], 23), 99, u32)
    assert launch(function, out, grid=grid, block=block) is None
    for z, y, x in np.ndindex(*out.shape[:3]):
        place, group = (x % 7, y % 5, z % 3), (x // 7, y // 5, z // 3)
        index = place[0] + 7 * (place[1] + 5 * place[2])
        expected = [x, y, z, *place, *group, *block, *grid, *extent, index, index % 32, index // 32, 32, 4]
        assert out[z, y, x].tolist() == expected


def test_a_barrier_orders_what_threads_write() -> None:
    """With a barrier each thread reads what its opposite wrote; without one the first of them reads what nobody wrote."""
    text = """kernel void k(device uint *out, uint i [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
        threadgroup uint part[100];
        part[i] = 1000 * g + i;
        BARRIER
        out[100 * g + i] = part[99 - i]; }"""
    out = np.zeros(300, u32)
    with_barrier = kernel(text, BARRIER="threadgroup_barrier(mem_flags::mem_threadgroup);")
    assert launch(with_barrier, out, grid=(3,), block=(100,)) is None
    assert out.tolist() == [1000 * g + 99 - i for g in range(3) for i in range(100)]
    assert launch(kernel(text, BARRIER=""), out, grid=(3,), block=(100,)) is None
    assert out.reshape(3, 100)[:, 0].tolist() == [POISON] * 3


def test_threadgroup_memory_is_each_threadgroups_own() -> None:
    """A threadgroup finds neither its own declared nor its given memory as the one before it left them."""
    function = kernel(
        """kernel void k(device uint *out, threadgroup uint *given, uint g [[threadgroup_position_in_grid]]) {
            threadgroup uint own[3];
            out[2 * g] = own[2]; out[2 * g + 1] = given[1];
            own[2] = 5; given[1] = 6; }"""
    )
    assert function.static_threadgroup_nbytes == 12
    out = np.zeros(6, u32)
    assert launch(function, out, grid=(3,), lengths=(16,)) is None
    assert out.tolist() == [POISON] * 6


@pytest.mark.parametrize("index", [4, -1])
def test_threadgroup_memory_ends_where_it_ends(index: int) -> None:
    """The first element behind the memory that a launch gave is a page fault of the thread that wrote it."""
    function = kernel(
        """kernel void k(device uint *out, threadgroup uint *given, uint i [[thread_position_in_threadgroup]],
            uint g [[threadgroup_position_in_grid]]) {
            given[i] = 1; if (i == 2 && g == 1) given[INDEX] = i; out[g] = 7; }""",
        INDEX=str(index) if index > 0 else "-2000",
    )
    out = np.zeros(3, u32)
    crash = launch(function, out, grid=(3,), block=(4,), lengths=(16,))
    assert crash is not None
    assert (crash.kind, crash.threadgroup, crash.thread) == ("page fault", (1, 0, 0), (2, 0, 0))
    assert out[0] == 7
    assert out[2] == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("if (i < 40) threadgroup_barrier(mem_flags::mem_none);", "thread 0 waits at the threadgroup_barrier of line 5; thread 40 has returned"),
        ("if (i < 40) threadgroup_barrier(mem_flags::mem_none); else\nthreadgroup_barrier(mem_flags::mem_none);", "thread 40 at that of line 6"),
        ("if (i == 3) simdgroup_barrier(mem_flags::mem_none);", "lane 3 waits at the simdgroup_barrier of line 5; lane 0 has returned"),
    ],
)  # fmt: skip
def test_threads_that_part_at_a_barrier_are_a_crash(body: str, words: str) -> None:
    """A barrier that not all threads reach ends the run and names the threads; it does not hang."""
    function = kernel(
        "kernel void k(device uint *out, uint i [[thread_position_in_threadgroup]]) {\n out[i] = i;\n" + body + "\n}"
    )
    out = np.zeros(64, u32)
    crash = launch(function, out, block=(64,))
    assert crash is not None
    assert (crash.kind, crash.address) == ("barrier", None)
    assert words in crash.detail


def test_barriers_in_loops_and_in_functions() -> None:
    """A sum by halving steps, its barrier in a function that a loop calls, is right for every group."""
    function = kernel(
        """static void wait() { threadgroup_barrier(mem_flags::mem_threadgroup); }
        kernel void k(const device float *x, device float *out, uint i [[thread_index_in_threadgroup]],
                      uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]]) {
            threadgroup float sums[128];
            sums[i] = x[g * n + i];
            for (uint step = n / 2; step > 0; step /= 2) { wait(); if (i < step) sums[i] += sums[i + step]; }
            if (i == 0) out[g] = sums[0]; }"""
    )
    x = np.arange(384, dtype=np.float32)
    out = np.zeros(3, np.float32)
    assert launch(function, x, out, grid=(3,), block=(128,)) is None
    assert out.tolist() == [x[128 * g : 128 * g + 128].sum() for g in range(3)]


def test_a_page_fault_is_returned_with_its_address() -> None:
    """A write to memory that nobody has ends this run, not the process; what was written before stays."""
    function = kernel(
        "kernel void k(volatile device uint *out, device uint *far) { out[1] = 4; far[2] = 5; out[1] = 6; }"
    )
    out = np.zeros(3, u32)
    crash = function.run({0: out.ctypes.data, 1: 0x5000}, {}, (2,), (3,))
    assert crash is not None
    assert (crash.kind, crash.address, crash.threadgroup, crash.thread) == ("page fault", 0x5008, (0, 0, 0), (0, 0, 0))
    assert out[1] == 4
    assert function.run({0: out.ctypes.data, 1: out.ctypes.data}, {}, (1,), (1,)) is None
    assert out.tolist() == [0, 6, 5]


def test_an_unbound_buffer_is_address_zero() -> None:
    """A kernel that reads a buffer nobody bound faults there."""
    crash = kernel("kernel void k(device uint *out [[buffer(3)]]) { out[1] = 4; }").run({}, {}, (1,), (1,))
    assert crash is not None
    assert (crash.kind, crash.address) == ("page fault", 4)


def test_a_stack_that_is_full_is_told() -> None:
    """A thread that needs more stack than it has ends its run."""
    function = kernel(
        """kernel void k(device uint *out, uint i [[thread_position_in_grid]]) {
            volatile uint room[1 << 20]; room[i] = 1; room[0] = 2; out[0] = room[i]; }"""
    )
    crash = launch(function, np.zeros(1, u32))
    assert crash is not None
    assert crash.kind == "stack overflow"


@pytest.mark.parametrize("kind", ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"])
def test_division_by_zero_goes_on(kind: str) -> None:
    """Dividing by zero and the least number by -1 gives some number, the rest of the kernel runs, other quotients are right."""
    function = kernel(
        "kernel void k(device T *x, uint i [[thread_position_in_grid]]) { T a = x[2 * i], b = x[2 * i + 1];"
        " x[2 * i] = a / b; x[2 * i + 1] = a % b; }",
        T=kind,
    )
    dtype = np.dtype({"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8"}[kind])  # fmt: skip
    least = np.iinfo(dtype).min
    x = np.array([100, 0, 100, 7, least, -1 if least else 3, 55, 10], dtype)
    assert launch(function, x, block=(4,)) is None
    assert x[2:4].tolist() == [14, 2]
    assert x[6:8].tolist() == [5, 5]


def test_many_threads_run_kernels_at_once() -> None:
    """Eight Python threads run one library's kernel, each on its own memory; one that faults stops only itself."""
    function = kernel(
        """kernel void k(device uint *x, uint i [[thread_position_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {
            threadgroup uint part[64];
            part[i] = x[64 * g + i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            x[64 * g + i] = part[63 - i] + 1; }"""
    )
    ready, results = threading.Barrier(8), {}

    def work(number: int) -> None:
        x = np.arange(number, 64 * 20 + number, dtype=u32)
        expected = (x.reshape(20, 64)[:, ::-1] + 1).ravel()
        ready.wait()
        if number == 5:
            crash = function.run({0: 0x5000}, {}, (20,), (64,))
            results[number] = crash is not None and crash.kind == "page fault"
        else:
            results[number] = launch(function, x, grid=(20,), block=(64,)) is None and bool((x == expected).all())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(8), True)


def test_other_threads_of_python_run_meanwhile() -> None:
    """A kernel that waits for a number in memory gets it from another thread of this Python process."""
    function = kernel(
        """kernel void k(device atomic_uint *x) {
            while (atomic_load_explicit(x, memory_order_relaxed) == 0) {}
            atomic_store_explicit(x + 1, 9, memory_order_relaxed); }"""
    )
    x = np.zeros(2, u32)
    thread = threading.Thread(target=launch, args=(function, x))
    thread.start()
    x[0] = 1
    thread.join()
    assert x[1] == 9


@pytest.mark.parametrize("with_faulthandler", [True, False])
def test_a_fault_outside_of_kernels_is_the_earlier_handlers(with_faulthandler: bool) -> None:
    """After kernels have run and faulted, a fault of the process itself ends it by its signal, and is told as before."""
    code = (
        "import ctypes, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2])]!r}\n"
        "from metal_standin.msl import compile_library\n"
        "f = compile_library('kernel void k(device uint *x) { x[0] = 1; }').function('k')\n"
        "assert f.run({0: 0x5000}, {}, (1,), (1,)).kind == 'page fault'\n"
        "print('still here', flush=True)\n"
        "ctypes.string_at(0x6000)\n"
    )
    options = ["-X", "faulthandler"] if with_faulthandler else []
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "still here\n"
    assert done.returncode == -11
    assert ("Fatal Python error: Segmentation fault" in done.stderr) == with_faulthandler


def test_a_handler_that_came_later_is_put_behind() -> None:
    """A library that takes the signal for itself after kernels have run does not take the kernels' faults."""
    function = kernel("kernel void k(device uint *x) { x[0] = 1; }")
    assert function.run({0: 0x5000}, {}, (1,), (1,)) is not None
    was_enabled = faulthandler.is_enabled()
    faulthandler.disable()
    faulthandler.enable()
    try:
        crash = function.run({0: 0x5000}, {}, (1,), (1,))
        assert crash is not None
    finally:
        if not was_enabled:
            faulthandler.disable()


def test_a_threadgroup_has_at_most_1024_threads() -> None:
    """More threads than a threadgroup can have are refused before anything runs."""
    function = kernel("kernel void k(device uint *x) { x[0] = 1; }")
    with pytest.raises(ValueError, match="1 to 1024 threads, not 1025"):
        launch(function, np.zeros(1, u32), block=(1025,))
