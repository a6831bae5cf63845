"""The CPU backend against PoCL and NumPy: vector add, softmax, reduction, tiled matrix multiply.

All contenders work on the same inputs and are checked against NumPy before they are timed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import metrale_gpu_runtime as mg

from .interleave import Job, Timing, interleave, ratio

KERNELS = Path(__file__).with_name("kernels")
Array = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel with its inputs. `scalars` follow the arrays; the last array is the output."""

    title: str
    kernel: str
    has_barrier: bool
    grid: tuple[int, ...]
    block: tuple[int, ...]
    inputs: tuple[Array, ...]
    output_shape: tuple[int, ...]
    scalars: tuple[int, ...]
    numpy: Callable[..., Any]
    expected: Callable[[], Array]
    tolerance: float


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    return e


def cases() -> Iterator[Case]:
    random = np.random.default_rng(7)

    def uniform(*shape: int) -> Array:
        return random.uniform(-1, 1, shape).astype(np.float32)

    count = (1 << 22) + 37
    a, b = uniform(count), uniform(count)
    out = np.empty_like(a)
    yield Case(
        "vector add, 4.2 M", "vector_add", False, (mg.div_ceil(count, 256),), (256,), (a, b), (count,), (count,),
        lambda: np.add(a, b, out=out), lambda: a + b, 0.0,
    )  # fmt: skip
    rows, columns = 4096, 256
    x = uniform(rows, columns)
    yield Case(
        "softmax, a row a thread", "softmax_rows", False, (rows // 64,), (64,), (x,), x.shape, (rows, columns),
        lambda: softmax(x), lambda: softmax(x), 1e-6,
    )  # fmt: skip
    blocks = mg.div_ceil(count, 2048)
    padded = np.zeros(blocks * 2048, np.float32)
    padded[:count] = a
    yield Case(
        "reduction, 4.2 M", "reduce_sum", True, (blocks,), (256,), (a,), (blocks,), (count,),
        lambda: a.sum(), lambda: padded.reshape(blocks, 2048).sum(axis=1), 1e-3,
    )  # fmt: skip
    yield Case(
        "softmax, a row a block", "softmax_blocks", True, (rows,), (128,), (x,), x.shape, (columns,),
        lambda: softmax(x), lambda: softmax(x), 1e-6,
    )  # fmt: skip
    n = 512
    left, right = uniform(n, n), uniform(n, n)
    product = np.empty((n, n), np.float32)
    yield Case(
        "matrix multiply 512, tiles of 16", "matmul_tiled", True, (n // 16, n // 16), (16, 16), (left, right), (n, n),
        (n,), lambda: np.matmul(left, right, out=product), lambda: left @ right, 1e-3,
    )  # fmt: skip


def _check(who: str, case: Case, got: Array) -> None:
    if not np.allclose(got, case.expected(), atol=max(case.tolerance, 0.0), rtol=1e-5):
        raise SystemExit(f"{who} computes {case.title} wrongly; nothing is timed")


def _ours(stack: ExitStack, check: str | None) -> Callable[[Case], Job]:
    gpu = stack.enter_context(mg.open_backend("cpu", check=check))
    module = gpu.load_module("bench", path=KERNELS / "bench.ptx")

    def prepare(case: Case) -> Job:
        arrays = [gpu.array(each) for each in case.inputs]
        output = gpu.empty(case.output_shape, np.float32)
        launch = mg.KernelLaunch(gpu, module[case.kernel]).grid(case.grid).block(case.block)
        for each in (*arrays, output):
            launch.arg_ptr(each)
        for scalar in case.scalars:
            launch.arg_u32(scalar)
        prepared = launch.prepare()

        def job() -> None:
            prepared()
            gpu.synchronize()

        job()
        _check(f"the CPU backend (check={check!r})", case, output.numpy())
        return job

    return prepare


def _pocl() -> tuple[str, Callable[[Case], Job]]:
    if importlib.util.find_spec("pyopencl") is None:
        raise SystemExit('PoCL is not here: pip install "metrale-gpu-runtime[bench]"')
    import pyopencl as cl

    devices = [
        device
        for platform in cl.get_platforms()
        if "Portable Computing Language" in platform.name
        for device in platform.get_devices(cl.device_type.CPU)
    ]
    if not devices:
        raise SystemExit('pyopencl finds no PoCL device: pip install "metrale-gpu-runtime[bench]"')
    # A PoCL whose LLVM is older than the processor cannot build for it; another one on the machine may.
    refusals = []
    for device in devices:
        context = cl.Context([device])
        try:
            program = cl.Program(context, (KERNELS / "bench.cl").read_text()).build()
        except cl.RuntimeError as error:
            refusals.append(f"{device.platform.version.strip()}: {str(error).strip().splitlines()[-1]}")
            continue
        break
    else:
        raise SystemExit(
            "no PoCL here builds for this processor; Debian's pocl-opencl-icd may:\n  " + "\n  ".join(refusals)
        )
    queue = cl.CommandQueue(context)

    def prepare(case: Case) -> Job:
        flags = cl.mem_flags
        inputs = [cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=each) for each in case.inputs]
        result = np.empty(case.output_shape, np.float32)
        output = cl.Buffer(context, flags.READ_WRITE, result.nbytes)
        kernel = cl.Kernel(program, case.kernel)
        kernel.set_args(*inputs, output, *(np.uint32(each) for each in case.scalars))
        total = tuple(g * b for g, b in zip(case.grid, case.block, strict=True))

        # The kernel object does not keep its buffers alive (clSetKernelArg retains nothing): the job does.
        def job(_alive: object = (*inputs, output)) -> None:
            cl.enqueue_nd_range_kernel(queue, kernel, total, case.block)
            queue.finish()

        job()
        cl.enqueue_copy(queue, result, output)
        queue.finish()
        _check("PoCL", case, result)
        return job

    return device.platform.version.strip(), prepare


@dataclass(frozen=True, slots=True)
class Row:
    """The timings of one case by contender."""

    case: Case
    timings: dict[str, Timing]

    def ratio(self, of: str, to: str) -> float:
        return ratio(self.timings[of], self.timings[to])


UNCHECKED, CHECKED, POCL, NUMPY = "cpu, check=None", 'cpu, check="memory"', "PoCL", "NumPy"


def run(rounds: int) -> tuple[str, list[Row]]:
    """Time every case; returns PoCL's version and the rows."""
    pocl_version, pocl = _pocl()
    rows = []
    with ExitStack() as stack:
        unchecked, checked = _ours(stack, None), _ours(stack, "memory")
        for case in cases():
            jobs = {UNCHECKED: unchecked(case), CHECKED: checked(case), POCL: pocl(case), NUMPY: case.numpy}
            rows.append(Row(case, interleave(jobs, rounds=rounds)))
    return pocl_version, rows
