"""What devices add that bind arguments one by one: constants of a kernel, named memory, large values, local memory."""

from __future__ import annotations

from functools import partial

import numpy as np

from ....errors import ArgumentCountError, FunctionConstantError, LimitExceeded
from ....kernel import Kernel
from ....launch import KernelLaunch
from ....scalars import u32
from ....slots import slot
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(2, 7), needs=("function_constants",))
def function_constants_make_the_kernel(target: ConformanceTarget) -> None:
    """Each set of constants is a kernel of its own, by name or index; the same set is the same kernel, for nothing."""
    with target.opened() as gpu:
        if not gpu.capabilities.function_constants:
            target.load(gpu, "suite")
            gpu.kernel("suite", "affine", constants={"FACTOR": 3})
            return
        target.load(gpu, "bound")
        out = gpu.array(np.zeros(7, dtype=np.int32))

        def made(factor: int, negated: bool) -> Kernel:
            return gpu.kernel("bound", "specialised", constants={"FACTOR": factor, "NEGATED": negated})

        for factor, negated in ((3, False), (10, True), (3, True)):
            kernel = made(factor, negated)
            assert dict(kernel.constants) == {"FACTOR": factor, "NEGATED": negated}
            kernel[2, 4](out, u32(7))
            sign = -1 if negated else 1
            assert out.numpy().tolist() == [sign * (factor * i + 1) for i in range(7)]
        with target.no_launch(gpu):
            again = gpu.kernel("bound", "specialised", constants={0: 3, 1: True})
            assert again is made(3, True)
            assert again.handle == made(3, True).handle != made(3, False).handle


@case(invariants=(2, 7), where=("function_constants",))
def function_constants_that_do_not_fit_are_refused(target: ConformanceTarget) -> None:
    """A constant left out, unknown, given twice or of another type is refused by name, with what there is."""
    with target.opened() as gpu:
        target.load(gpu, "bound")
        for given, name in (
            (None, "FACTOR"),
            ({"FACTOR": 3}, "NEGATED"),
            ({"FACTOR": -1, "NEGATED": True}, "FACTOR"),
            ({"FACTOR": 2**32, "NEGATED": True}, "FACTOR"),
            ({"FACTOR": 3.0, "NEGATED": True}, "FACTOR"),
            ({"FACTOR": True, "NEGATED": True}, "FACTOR"),
            ({"FACTOR": 3, "NEGATED": 1}, "NEGATED"),
            ({"FACTOR": 3, 0: 3, "NEGATED": True}, "FACTOR"),
            ({"FACTOR": 3, "NEGATED": True, "FACTR": 3}, "FACTR"),
        ):
            look_up = partial(gpu.kernel, "bound", "specialised", constants=given)  # type: ignore[arg-type]
            error = refused(
                target, gpu, look_up, FunctionConstantError, says=("specialised", name), calls_no_driver=False
            )
            assert error.name == name


@case(invariants=(5, 6), where=("raw_addresses",))
def memory_that_a_launch_uses_is_reached(target: ConformanceTarget) -> None:
    """Memory named by `.uses` is reached through a table of addresses in every way of launching."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        cells = [gpu.array(np.array([7, 8], dtype=np.uint32)) for _ in range(3)]
        table = gpu.array(np.array([cell.ptr.address for cell in cells], dtype=np.uint64))
        kernel = target.kernel(gpu, "follow")

        def launch(value: object) -> KernelLaunch:
            built = KernelLaunch(gpu, kernel).block(3).arg_ptr(table.ptr).args(u32(3))
            return built.arg_u32(value).uses(*cells)  # type: ignore[arg-type]

        launch(100).launch()
        assert [cell.numpy().tolist() for cell in cells] == [[100, 8], [101, 8], [102, 8]]
        prepared = launch(slot("value")).prepare()
        prepared(value=200)
        assert [int(cell.numpy()[0]) for cell in cells] == [200, 201, 202]
        with gpu.sequence() as step:
            launch(slot("value")).launch()
        step(value=300)
        assert [int(cell.numpy()[0]) for cell in cells] == [300, 301, 302]
        with gpu.capture(stream) as capture:
            launch(slot("value")).launch(stream)
        capture.graph.launch(stream, value=400)
        capture.graph.launch(stream, value=500)
        stream.synchronize()
        assert [cell.numpy().tolist() for cell in cells] == [[500, 8], [501, 8], [502, 8]]


@case(invariants=(1,), field=(32,), where=("max_inline_argument_nbytes",))
def a_large_value_arrives_whole(target: ConformanceTarget) -> None:
    """A value of as many bytes as go inline, of one more, and of many more arrives whole, each launch its own."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        target.load(gpu, "bound")
        kernel = gpu.kernel("bound", "echo_bytes")
        limit = gpu.capabilities.max_inline_argument_nbytes or 0
        sizes = (1, 128, limit - 1, limit, limit + 1, 3 * limit + 7)
        values = [bytes((7 * at + size) % 251 for at in range(size)) for size in sizes]
        outs = [gpu.array(np.full(size + 3, 0x5A, dtype=np.uint8)) for size in sizes]
        for data, out in zip(values, outs, strict=True):
            launch = KernelLaunch(gpu, kernel).grid(3).block(50).arg_ptr(out.ptr).arg_bytes(data)
            launch.arg_u32(len(data)).launch(stream)
        stream.synchronize()
        for data, out in zip(values, outs, strict=True):
            assert out.numpy().tobytes() == data + b"\x5a\x5a\x5a", f"a value of {len(data)} bytes"


@case(invariants=(4,), field=(33,))
def shared_memory_of_any_size_works(target: ConformanceTarget) -> None:
    """Dynamic shared memory of sizes that no device's unit divides reaches the block, and all of it can be had."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "reverse_blocks")
        limit = gpu.capabilities.max_static_and_dynamic_shared_mem
        for width, nbytes in ((1, 4), (3, 13), (5, 20), (37, 149), (64, limit)):
            host = np.arange(3 * width, dtype=np.uint32)
            values = gpu.array(host)
            kernel[3, width, nbytes](values.ptr)
            np.testing.assert_array_equal(values.numpy(), host.reshape(3, width)[:, ::-1].reshape(-1))


@case(invariants=(1, 4), field=(33,), where=("local_arguments",))
def local_memory_is_an_argument(target: ConformanceTarget) -> None:
    """Local memory is given by its size at its place, or, where it is the only one, as dynamic shared memory."""
    with target.opened() as gpu:
        target.load(gpu, "bound")
        kernel = gpu.kernel("bound", "reverse_local")
        limit = gpu.capabilities.max_static_and_dynamic_shared_mem
        for width in (1, 3, 37):
            host = np.arange(3 * width, dtype=np.uint32)
            values = gpu.array(host)
            KernelLaunch(gpu, kernel).grid(3).block(width).arg_ptr(values.ptr).arg_local(4 * width).launch()
            np.testing.assert_array_equal(values.numpy(), host.reshape(3, width)[:, ::-1].reshape(-1))
        launch = KernelLaunch(gpu, kernel).arg_ptr(values.ptr)
        refused(target, gpu, launch.launch, ArgumentCountError, says=("arg_local", "shared_mem", "part"))
        launch.arg_local(limit + 1)
        error = refused(target, gpu, launch.launch, LimitExceeded)
        assert error.limit == limit


@case(invariants=(3,), field=(17,))
def pointers_inside_memory_are_exact(target: ConformanceTarget) -> None:
    """A pointer at any element of its parameter's size writes there and nowhere else."""
    with target.opened() as gpu:
        for nbytes in (1, 2, 4, 8):
            if f"u{8 * nbytes}" in gpu.capabilities.unsupported_scalars:
                continue
            kernel = target.kernel(gpu, f"echo_{8 * nbytes}")
            step = max(gpu.capabilities.buffer_offset_alignment, nbytes)
            for place in (0, 1, 3, 7):
                host = np.full(8 * step + 5, 0x5A, dtype=np.uint8)
                out = gpu.array(host)
                value = int.from_bytes(bytes(range(0xC1, 0xC1 + nbytes)), "little")
                launch = KernelLaunch(gpu, kernel).arg_ptr(out.ptr + place * step)
                getattr(launch, f"arg_u{8 * nbytes}")(value).launch()
                host[place * step : place * step + nbytes] = range(0xC1, 0xC1 + nbytes)
                np.testing.assert_array_equal(out.numpy(), host)
