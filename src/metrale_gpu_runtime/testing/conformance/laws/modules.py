"""Modules and kernels: each module its own code, lookups that explain, variables of a module."""

from __future__ import annotations

from functools import partial

import numpy as np

from ....errors import HandleClosed, KernelNotFound, ModuleLoadError
from ....scalars import u32
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(field=(11,))
def two_modules_with_one_kernel_name_never_mix(target: ConformanceTarget) -> None:
    """Kernels of the same name in two modules, launched by turns, each run their own module's code."""
    with target.opened() as gpu:
        first, second = target.load(gpu, "doubled", "a"), target.load(gpu, "plus_hundred", "b")
        values = gpu.array(np.array([4, 9, 11], dtype=np.uint32))
        outs = [gpu.array(np.zeros(3, dtype=np.uint32)) for _ in range(4)]
        for number, out in enumerate(outs):
            kernel = (first, second)[number % 2]["transform"]
            kernel[2, 2](out, values, u32(3))
        assert [out.numpy().tolist() for out in outs] == [[8, 18, 22], [104, 109, 111]] * 2
        assert gpu.kernel("a", "transform").handle != gpu.kernel("b", "transform").handle


@case(field=(11,))
def a_module_replaced_runs_the_new_code(target: ConformanceTarget) -> None:
    """A module unloaded and loaded anew under its name runs the new code, also for a kernel of the same name."""
    with target.opened() as gpu:
        values = gpu.array(np.array([4, 9], dtype=np.uint32))
        out = gpu.array(np.zeros(2, dtype=np.uint32))
        old = target.load(gpu, "doubled", "m")["transform"]
        refused(target, gpu, lambda: target.load(gpu, "plus_hundred", "m"), ModuleLoadError, says=("m",))
        gpu.unload_module("m")
        assert not gpu.has_module("m")
        target.load(gpu, "plus_hundred", "m")["transform"][1, 2](out, values, u32(2))
        assert out.numpy().tolist() == [104, 109]
        refused(target, gpu, lambda: old[1, 2](out, values, u32(2)), HandleClosed)


@case(field=(43,))
def a_missing_kernel_is_explained(target: ConformanceTarget) -> None:
    """A lookup that fails names module and kernel, what there is and what comes near; so does one of a module."""
    with target.opened() as gpu:
        module = target.load(gpu, "suite")
        error = refused(
            target,
            gpu,
            lambda: gpu.kernel("suite", "afine"),
            KernelNotFound,
            says=("afine", "suite"),
            calls_no_driver=False,
        )
        assert (error.module, error.function) == ("suite", "afine")
        assert "affine" in error.close
        assert {"affine", "scale_add", "trap_if"} <= set(error.available)
        refused(target, gpu, lambda: gpu.kernel("sweet", "affine"), KernelNotFound, says=("suite",))
        assert "affine" in module
        assert set(module) >= {"affine", "whereabouts"}


@case(field=(43,), where=("mangled_names",))
def a_cpp_kernel_is_found_by_its_plain_name(target: ConformanceTarget) -> None:
    """A kernel that C++ mangled is found by the name its author wrote and by its symbol, and is one kernel."""
    with target.opened() as gpu:
        module = target.load(gpu, "suite")
        out = gpu.array(np.zeros(2, dtype=np.uint32))
        module["mangled"][1, 1](out, np.int32(55))
        assert out.numpy().tolist() == [55, 0]
        assert module["mangled"].handle == module["_Z7mangledPji"].handle


@case()
def a_second_lookup_costs_nothing(target: ConformanceTarget) -> None:
    """Looking a kernel up again gives the same handle without a driver call."""
    with target.opened() as gpu:
        target.load(gpu, "suite")
        first = gpu.kernel("suite", "affine")
        with target.no_launch(gpu):
            assert gpu.kernel("suite", "affine").handle == first.handle


@case(needs=("module_variables",))
def a_modules_variables_are_memory(target: ConformanceTarget) -> None:
    """A variable of a module reads as it was initialised, and what is written there the kernels see."""
    with target.opened() as gpu:
        module = target.load(gpu, "suite")
        out = gpu.array(np.zeros(4, dtype=np.uint32))
        table = module.globals["table"]
        assert table.nbytes == 12
        back = np.zeros(3, dtype=np.uint32)
        gpu.copy_d2h(table, back)
        assert back.tolist() == [301, 302, 303]
        gpu.copy_h2d(np.array([7, 8, 9], dtype=np.uint32), table)
        module["add_table"][1, 4](out.ptr)
        assert out.numpy().tolist() == [8, 9, 10, 0]
        assert "table" in module.globals
        assert "tabel" not in module.globals
        refused(target, gpu, lambda: module.globals["tabel"], KernelNotFound, calls_no_driver=False)


@case(field=(40, 47))
def a_failed_load_leaves_nothing(target: ConformanceTarget) -> None:
    """Code that cannot be loaded raises with the module's name, and the name is free afterwards."""
    with target.opened() as gpu:
        takes_anything = "any" in gpu.capabilities.code_formats
        for wrong in (b"",) if takes_anything else (b"", b"\x7fELF\x02\x01 no such machine"):
            refused(target, gpu, partial(gpu.load_module, "m", binary=wrong), ModuleLoadError)
        assert not gpu.has_module("m")
        assert "transform" in target.load(gpu, "doubled", "m")
