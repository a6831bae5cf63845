"""Calling the stand-in through cuda-bindings: what a call returned, or the code that it refused with."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from . import StandIn, cuda


def bindings() -> Any:
    """`cuda.bindings.driver`, bound to the stand-in of this process."""
    cuda()
    from cuda.bindings import driver

    return driver


def ok(result: tuple[Any, ...]) -> Any:
    """What a call gave beside its code, which must be success: nothing, one value or several."""
    assert int(result[0]) == 0, result[0]
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]


def code(result: tuple[Any, ...]) -> int:
    """The number that a call returned."""
    return int(result[0])


def opened(device: int = 0) -> Any:
    """Initialise, and make the device's primary context current; the context."""
    driver = bindings()
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxPushCurrent(context))
    return context


def created(device: int) -> Any:
    """A context of its own, made current."""
    from cuda.bindings import __version__

    # From 13 on the call takes one argument more, in front.
    more = (None,) if int(__version__.split(".")[0]) >= 13 else ()
    return ok(bindings().cuCtxCreate(*more, 0, device))


def module(ptx: str) -> Any:
    return ok(bindings().cuModuleLoadData(ptx.encode() + b"\0"))


def kernel(
    parameters: str = ".param .u64 p, .param .u32 n", bounds: str = "", body: str = "ret;", name: str = "k"
) -> Any:
    """A loaded function of one kernel with these declarations."""
    return ok(bindings().cuModuleGetFunction(module(text(parameters, bounds, body, name)), name.encode()))


def text(
    parameters: str = ".param .u64 p, .param .u32 n",
    bounds: str = "",
    body: str = "ret;",
    name: str = "k",
    *,
    version: str = "8.0",
    target: str = "sm_80",
    before: str = "",
) -> str:
    """PTX of one kernel."""
    return (
        f".version {version}\n.target {target}\n.address_size 64\n{before}\n"
        f".visible .entry {name}({parameters})\n{bounds}\n{{\n{body}\n}}\n"
    )


def launch(
    function: Any,
    grid: Sequence[int] = (3, 1, 1),
    block: Sequence[int] = (32, 1, 1),
    *,
    shared: int = 0,
    stream: Any = 0,
    values: Sequence[Any] = (ctypes.c_uint64(0), ctypes.c_uint32(5)),
) -> int:
    """cuLaunchKernel with these ctypes values; its code."""
    pointers = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(value) for value in values))
    return code(
        bindings().cuLaunchKernel(
            function, *grid, *block, shared, stream, ctypes.addressof(pointers) if values else 0, 0
        )
    )


def launch_with(function: Any, attributes: Sequence[Any], grid: Sequence[int] = (4, 1, 1), block: int = 32) -> int:
    """cuLaunchKernelEx of a kernel without parameters, with these CUlaunchAttribute objects; its code."""
    driver = bindings()
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block, 1, 1
    config.attrs, config.numAttrs = list(attributes), len(attributes)
    return code(driver.cuLaunchKernelEx(config, function, 0, 0))


def no_violations(driver: StandIn) -> None:
    """Fail with the list of what was done that correct callers never do."""
    assert [str(violation) for violation in driver.violations()] == []
