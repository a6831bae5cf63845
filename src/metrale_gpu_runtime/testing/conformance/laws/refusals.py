"""A launch that is wrong is refused before the driver is called, by the same error on every backend."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np

from ....backend import GpuBackend
from ....buffers import DeviceBuffer, In
from ....errors import (
    ArgumentCountError,
    ArgumentError,
    ArgumentKindError,
    ArgumentRangeError,
    ArgumentSizeError,
    ElementTypeError,
    GpuError,
    KernelNotFound,
    NotSupported,
)
from ....handles import DevicePtr
from ....kernel import Kernel
from ....launch import KernelLaunch
from ....scalars import SCALARS, f64, u32, u64
from ....slots import slot
from ..case import case
from ..known import knows
from ..refused import refused
from ..target import SIGNATURES, ConformanceTarget


def _with(gpu: GpuBackend, kernel: Kernel, out: DeviceBuffer, add: str, value: object) -> Callable[[], object]:
    return lambda: getattr(KernelLaunch(gpu, kernel).arg_ptr(out), f"arg_{add}")(value)


@case(invariants=(2,), field=(15,))
def numbers_out_of_range_are_refused(target: ConformanceTarget) -> None:
    """An integer that its type cannot hold raises where it was given, with argument, type and range."""
    wrong = (
        ("i8", -129, (-128, 127)),
        ("i8", 128, (-128, 127)),
        ("u8", -1, (0, 255)),
        ("u16", 65536, (0, 65535)),
        ("i16", -32769, (-32768, 32767)),
        ("i32", 2**31, (-(2**31), 2**31 - 1)),
        ("u32", -1, (0, 2**32 - 1)),
        ("u32", 2**32, (0, 2**32 - 1)),
        ("i64", 2**63, (-(2**63), 2**63 - 1)),
        ("u64", 2**64, (0, 2**64 - 1)),
        ("u32", np.int64(-7), (0, 2**32 - 1)),
    )
    with target.opened() as gpu:
        kernel, out = target.kernel(gpu, "echo_32"), gpu.buffer(4)
        for add, value, limits in wrong:
            error = refused(target, gpu, _with(gpu, kernel, out, add, value), ArgumentRangeError, index=1, says=(add,))
            assert error.expected == limits


@case(invariants=(2,), field=(15, 16, 30))
def numbers_of_the_wrong_kind_are_refused(target: ConformanceTarget) -> None:
    """A bool is no integer, a float is never cut to one, and an array is no scalar, which the error says."""
    wrong: tuple[tuple[str, object, str], ...] = (
        ("u32", True, "bool"),
        ("u32", np.bool_(True), "bool"),
        ("i32", 1.0, "whole numbers"),
        ("i32", 1.5, "whole numbers"),
        ("i32", np.float32(3), "whole numbers"),
        ("bool", 1, "bool"),
        ("f32", True, "bool"),
        ("f32", 1j, "complex"),
        ("u32", np.arange(3), "array"),
        ("u32", np.arange(1), "array"),
        ("f64", "2.5", "scalar"),
    )
    with target.opened() as gpu:
        kernel, out = target.kernel(gpu, "echo_32"), gpu.buffer(4)
        for add, value, word in wrong:
            refused(target, gpu, _with(gpu, kernel, out, add, value), ArgumentKindError, index=1, says=(word,))


@case(invariants=(3,), field=(1,))
def a_scalar_of_the_wrong_width_is_refused(target: ConformanceTarget) -> None:
    """8 bytes for a parameter of 4 are refused before the driver is called, naming both numbers; so are 2."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_f32")
        out = gpu.array(np.full(3, 9.0, dtype=np.float32))
        for launch, given in (
            (lambda: kernel[1, 1](out.ptr, f64(2.0)), 8),
            (lambda: kernel[1, 1](out.ptr, np.float64(2.0)), 8),
            (lambda: KernelLaunch(gpu, kernel).arg_ptr(out.ptr).arg_f64(2.0).launch(), 8),
            (lambda: KernelLaunch(gpu, kernel).arg_ptr(out.ptr).arg_u16(2).launch(), 2),
        ):
            error = refused(target, gpu, launch, ArgumentSizeError, index=1, says=(kernel.function,))
            assert (error.expected, error.given) == (4, given)
        kernel[1, 1](out.ptr, 2.0)
        assert out.numpy().tolist() == [2.0, 9.0, 9.0]


@case(invariants=(3,), field=(13,))
def a_structure_of_the_wrong_size_is_refused(target: ConformanceTarget) -> None:
    """The packed size of a structure with gaps is refused with both sizes; a packed dtype unless it is asked for."""
    packed = np.dtype([("a", np.int8), ("b", np.float64), ("c", np.int32)])
    value = np.array((11, -7.25, -300), dtype=packed)[()]
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "gapped")
        out = gpu.array(np.zeros(3, dtype=np.uint64))

        def launch() -> KernelLaunch:
            return KernelLaunch(gpu, kernel).arg_ptr(out.ptr)

        error = refused(target, gpu, lambda: launch().arg_bytes(bytes(13)).launch(), ArgumentSizeError, index=1)
        assert (error.expected, error.given) == (24, 13)
        if knows(kernel, 1, "align"):
            refused(target, gpu, lambda: launch().arg_bytes(bytes(24), align=4).launch(), ArgumentSizeError, index=1)
        refused(target, gpu, lambda: launch().arg_struct(value).launch(), ArgumentError, index=1)
        refused(target, gpu, lambda: launch().arg_struct(value, packed=True).launch(), ArgumentSizeError, index=1)
        refused(target, gpu, lambda: launch().arg_bytes(b"").launch(), ArgumentSizeError, index=1)


@case(invariants=(3,), field=(3,))
def too_few_or_too_many_arguments_are_refused(target: ConformanceTarget) -> None:
    """The wrong number of arguments is one and the same error, also after a launch that had the right one."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([3, 5], dtype=np.uint32))
        numbers = (np.uint32(2), np.uint32(10), np.uint32(7))
        for _ in range(2):
            for given in (numbers[:2], (*numbers, np.uint32(1))):
                error = refused(
                    target,
                    gpu,
                    partial(kernel[1, 2], values.ptr, *given),
                    ArgumentCountError,
                )
                assert (error.expected, error.given) == (4, 1 + len(given))
            few = KernelLaunch(gpu, kernel).block(2).arg_ptr(values.ptr).arg_u32(2)
            refused(target, gpu, few.launch, ArgumentCountError, says=("4", "2"))
            kernel[1, 2](values.ptr, *numbers)
        assert values.numpy().tolist() == [377, 577]


@case(invariants=(3,), field=(1,))
def a_value_of_the_wrong_kind_is_refused(target: ConformanceTarget) -> None:
    """An integer for a float parameter, a float for an integer one and a pointer for either are refused by name."""
    with target.opened() as gpu:
        out, real = gpu.array(np.zeros(3, dtype=np.uint32)), gpu.array(np.zeros(3, dtype=np.float32))
        for function, add, value, error in (
            ("echo_f32", "u32", 2, ArgumentKindError),
            ("echo_32", "f32", 2.0, ArgumentKindError),
            ("echo_f64", "ptr", out.ptr, ArgumentKindError),
            ("echo_32", "ptr", out.ptr, ArgumentError),
            ("affine", "ptr", real, ElementTypeError),
        ):
            if function == "echo_f64" and "f64" in gpu.capabilities.unsupported_scalars:
                continue
            kernel = target.kernel(gpu, function)
            if add in ("u32", "f32") and not knows(kernel, 1, "floating"):
                continue
            # Where a value may as well lie in memory, what lies there must be of its type.
            if add == "ptr" and (error is ElementTypeError) != knows(kernel, 1, "by_reference"):
                continue
            launch = getattr(KernelLaunch(gpu, kernel).arg_ptr(out.ptr), f"arg_{add}")(value)
            for _ in range(len(kernel.signature.parameters or (None, None)) - 2):
                launch.arg_u32(1)
            refused(target, gpu, launch.launch, error, index=1, says=(function,))


@case(invariants=(3, 7), field=(22,), where=("not null_pointers",))
def null_is_refused_where_it_is_no_pointer(target: ConformanceTarget) -> None:
    """Where a device binds memory to every pointer, null and empty memory are refused in every way of giving them."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_32")
        out = gpu.array(np.zeros(3, dtype=np.uint32))
        prepared = kernel[1, 1].prepare(out.ptr, u32(41))
        slotted = KernelLaunch(gpu, kernel).arg_ptr(slot("where")).arg_u32(43).prepare()
        with gpu.sequence() as step:
            KernelLaunch(gpu, kernel).arg_ptr(slot("where")).arg_u32(43).launch()
        for null in (None, DevicePtr(0), gpu.empty(0, np.uint32)):
            launches: tuple[Callable[[], object], ...] = (
                partial(KernelLaunch(gpu, kernel).arg_ptr, null),
                partial(kernel[1, 1], null, u32(42)),
                partial(prepared, null, u32(42)),
                partial(slotted, where=null),
                partial(step, where=null),
            )
            for launch in launches:
                refused(target, gpu, launch, NotSupported, says=("echo_32", "argument 0", "buffer"))
        prepared()
        assert out.numpy().tolist() == [41, 0, 0]
        step(where=out)
        slotted(where=out)
        assert out.numpy().tolist() == [43, 0, 0]


@case(invariants=(2, 3), field=(36,))
def scalars_that_the_device_has_not_are_refused(target: ConformanceTarget) -> None:
    """A scalar that the device states not to take is refused by name, with what to pass instead."""
    values = {"signed": -5, "unsigned": 5, "float": 1.5, "bool": True, "complex": 1.5 - 2j}
    with target.opened() as gpu:
        out = gpu.array(np.full(4, 77, dtype=np.uint32))
        for name in sorted(gpu.capabilities.unsupported_scalars):
            scalar, kernel = SCALARS[name], None
            with suppress(KernelNotFound):
                kernel = target.kernel_of(gpu, "bound", f"any_{8 * scalar.nbytes}")
            # Where no parameter has room for exactly that, the size is what is wrong.
            error = ArgumentSizeError if kernel is None else NotSupported
            launch = KernelLaunch(gpu, kernel or target.kernel(gpu, "echo_32")).arg_ptr(out)
            getattr(launch, f"arg_{name}")(values[scalar.kind])
            refused(target, gpu, launch.launch, error, says=("argument 1", name))
        assert out.numpy().tolist() == [77] * 4


@case(invariants=(2, 3))
def a_bare_number_needs_a_known_kind(target: ConformanceTarget) -> None:
    """A bare integer must fit every reading of its parameter, and one of 8 unknown bytes needs a typed value."""
    with target.opened() as gpu:
        out = gpu.array(np.zeros(3, dtype=np.uint64))
        four = target.kernel(gpu, "echo_32")
        parameter = four.signature.parameter(1)
        if parameter is not None and parameter.scalar is None:
            refused(target, gpu, lambda: four[1, 1](out.ptr, 2**31), ArgumentError, index=1)
            refused(target, gpu, lambda: four[1, 1](out.ptr, -1), ArgumentError, index=1)
        refused(target, gpu, lambda: four[1, 1](out.ptr, 1.0), ArgumentKindError, index=1)
        refused(target, gpu, lambda: four[1, 1](out.ptr, True), ArgumentKindError, index=1)
        if "u64" in gpu.capabilities.unsupported_scalars:
            return
        eight = target.kernel(gpu, "echo_64")
        parameter = eight.signature.parameter(1)
        if parameter is not None and parameter.kind is None and parameter.scalar is None:
            refused(target, gpu, lambda: eight[1, 1](out.ptr, 5), ArgumentKindError, index=1)
        eight[1, 1](out.ptr, u64(5))
        assert int(out.numpy()[0]) == 5


@case(invariants=(3,), field=(5,))
def elements_of_the_wrong_type_are_refused(target: ConformanceTarget) -> None:
    """A buffer of 64-bit integers for a declared `const int*` is refused with both types; a bare pointer is allowed."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "sum_i32", signature=SIGNATURES["sum_i32"])
        out = gpu.array(np.zeros(2, dtype=np.int32))
        wide, right = gpu.array(np.arange(8, dtype=np.int64)), gpu.array(np.arange(8, dtype=np.int32))
        error = refused(
            target, gpu, lambda: kernel[1, 1](wide, out, 8), ElementTypeError, index=0, says=("i32", "i64", "x")
        )
        assert error.name == "x"
        kernel[1, 1](right, out, 8)
        assert int(out.numpy()[0]) == 28
        kernel[1, 1](wide.ptr, out, 8)
        assert int(out.numpy()[0]) == 0 + 0 + 1 + 0 + 2 + 0 + 3 + 0


@case(invariants=(3,), field=(1, 15))
def a_declared_signature_names_the_parameter(target: ConformanceTarget) -> None:
    """With a declared signature arguments are given by name, bare numbers are range-checked, and errors name them."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine", signature=SIGNATURES["affine"])
        values = gpu.array(np.array([3, 5], dtype=np.uint32))
        kernel[1, 2](values, addend=7, factor=10, count=2)
        assert values.numpy().tolist() == [37, 57]
        for by_name, error in (
            ({"count": -1}, ArgumentRangeError),
            ({"count": 2.0}, ArgumentKindError),
            ({"count": 2, "size": 2}, ArgumentCountError),
            ({"values": values, "count": 2}, ArgumentCountError),
        ):
            names: dict[str, object] = {"factor": 10, "addend": 7, **by_name}
            refused(target, gpu, partial(kernel[1, 2], values, **names), error)
        range_error = refused(
            target, gpu, lambda: kernel[1, 2](values, 2, 10, -7), ArgumentRangeError, index=3, says=("addend",)
        )
        assert range_error.name == "addend"


@case(invariants=(3,), field=(17,))
def views_with_gaps_are_refused(target: ConformanceTarget) -> None:
    """A host array that is not contiguous is refused with what to do about it, and a buffer has no such views."""
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "scale_add")
        out = gpu.array(host)

        def lend(view: object) -> None:
            kernel[1, 3](In(view), out.ptr, u32(3), 1.0)

        for view in (host[:, :4], host.T, host[::2], np.broadcast_to(host[0], (3, 6))):
            room = gpu.empty(view.shape, view.dtype)
            refused(target, gpu, partial(gpu.copy_h2d, view, room), GpuError, says=("contiguous",))
            refused(
                target,
                gpu,
                partial(lend, view),
                GpuError,
                says=("contiguous",),
            )
        refused(target, gpu, lambda: out[::2], IndexError)
