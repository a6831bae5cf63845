"""Initialisation, devices and contexts of the stand-in CUDA driver, with the codes that the real one documents."""

from __future__ import annotations

import threading

import pytest

from standin import StandIn
from standin.calls import bindings, code, created, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]


def test_nothing_works_before_initialisation(standin_cuda: StandIn) -> None:
    """Before cuInit every call but the version and the names of codes returns 3."""
    driver = bindings()
    assert ok(driver.cuDriverGetVersion()) == 13000
    assert code(driver.cuDeviceGetCount()) == 3
    assert code(driver.cuDevicePrimaryCtxRetain(0)) == 3
    ok(driver.cuInit(0))
    assert ok(driver.cuDeviceGetCount()) == 2


def test_no_device_is_a_code_of_its_own(standin_cuda: StandIn) -> None:
    """A driver without a device answers cuInit with 100."""
    standin_cuda.reset()
    assert code(bindings().cuInit(0)) == 100


def test_without_a_context_calls_return_201(standin_cuda: StandIn) -> None:
    """Allocation, streams, events, modules and figures all need a current context."""
    driver = bindings()
    ok(driver.cuInit(0))
    calls = (
        driver.cuMemAlloc(16),
        driver.cuStreamCreate(0),
        driver.cuEventCreate(0),
        driver.cuModuleLoadData(b"\0"),
        driver.cuMemGetInfo(),
        driver.cuCtxSynchronize(),
        driver.cuMemFree(0),
    )
    assert [code(call) for call in calls] == [201] * len(calls)


def test_each_thread_has_a_stack_of_its_own(standin_cuda: StandIn) -> None:
    """What one thread pushes is not current on another, and a pop brings back what was there before."""
    driver = bindings()
    first = opened(0)
    second = ok(driver.cuDevicePrimaryCtxRetain(1))
    seen = []

    def other() -> None:
        seen.append(int(ok(driver.cuCtxGetCurrent())))
        ok(driver.cuCtxPushCurrent(second))
        seen.append(int(ok(driver.cuCtxGetDevice())))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [0, 1]
    assert int(ok(driver.cuCtxGetCurrent())) == int(first)
    ok(driver.cuCtxPushCurrent(second))
    assert int(ok(driver.cuCtxPopCurrent())) == int(second)
    assert int(ok(driver.cuCtxPopCurrent())) == int(first)
    assert code(driver.cuCtxPopCurrent()) == 201
    assert standin_cuda.violation_count("context-stack-underflow") == 1


def test_the_primary_context_counts_who_retained_it(standin_cuda: StandIn) -> None:
    """It lives until it was released as often as retained; what is current and gone is 709; once more is 201."""
    driver = bindings()
    context = opened()
    assert int(ok(driver.cuDevicePrimaryCtxRetain(0))) == int(context)
    assert ok(driver.cuDevicePrimaryCtxGetState(0)) == (0, 1)
    ok(driver.cuMemAlloc(300))
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert standin_cuda.count("memory") == 1
    ok(driver.cuDevicePrimaryCtxRelease(0))
    assert ok(driver.cuDevicePrimaryCtxGetState(0)) == (0, 0)
    assert standin_cuda.live() == {}
    assert code(driver.cuMemAlloc(300)) == 709
    assert code(driver.cuDevicePrimaryCtxRelease(0)) == 201
    assert int(ok(driver.cuDevicePrimaryCtxRetain(0))) == int(context)
    ok(driver.cuMemAlloc(300))


def test_a_destroyed_context_is_no_context(standin_cuda: StandIn) -> None:
    """cuCtxDestroy takes all that is in it along; its handle is refused from then on; a primary one is refused."""
    driver = bindings()
    primary = opened()
    made = created(1)
    stream, event = ok(driver.cuStreamCreate(0)), ok(driver.cuEventCreate(0))
    ok(driver.cuCtxDestroy(made))
    assert int(ok(driver.cuCtxGetCurrent())) == int(primary)
    assert code(driver.cuCtxPushCurrent(made)) == 201
    assert code(driver.cuCtxDestroy(made)) == 201
    assert code(driver.cuCtxDestroy(primary)) == 201
    assert code(driver.cuStreamQuery(stream)) == 400
    assert code(driver.cuEventDestroy(event)) == 400


def test_what_a_device_is_can_be_set(standin_cuda: StandIn) -> None:
    """Attributes are those of the test: capability, multiprocessors, integrated; devices can differ."""
    driver = bindings()
    standin_cuda.set(compute_capability=87, multiprocessor_count=7, integrated=1)
    standin_cuda.set_attribute("multiprocessor_count", 11, device=1)
    standin_cuda.set_text("name", "Orin")
    ok(driver.cuInit(0))
    named = driver.CUdevice_attribute
    asked = (
        named.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        named.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        named.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        named.CU_DEVICE_ATTRIBUTE_INTEGRATED,
    )
    assert [ok(driver.cuDeviceGetAttribute(attribute, 0)) for attribute in asked] == [8, 7, 7, 1]
    assert ok(driver.cuDeviceGetAttribute(asked[2], 1)) == 11
    assert ok(driver.cuDeviceGetName(16, 0)).rstrip(b"\0 ") == b"Orin"
    assert code(driver.cuDeviceGetAttribute(asked[0], 2)) == 101
    with pytest.raises(KeyError):
        standin_cuda.set(no_such_thing=1)


def test_peers(standin_cuda: StandIn) -> None:
    """Enabled twice is 704, disabled twice 705, between devices that cannot 217."""
    driver = bindings()
    opened(0)
    peer = ok(driver.cuDevicePrimaryCtxRetain(1))
    assert ok(driver.cuDeviceCanAccessPeer(0, 1)) == 1
    assert ok(driver.cuDeviceCanAccessPeer(0, 0)) == 0
    assert code(driver.cuCtxDisablePeerAccess(peer)) == 705
    ok(driver.cuCtxEnablePeerAccess(peer, 0))
    assert code(driver.cuCtxEnablePeerAccess(peer, 0)) == 704
    ok(driver.cuCtxDisablePeerAccess(peer))
    standin_cuda.set(peer_access=0)
    assert ok(driver.cuDeviceCanAccessPeer(0, 1)) == 0
    assert code(driver.cuCtxEnablePeerAccess(peer, 0)) == 217


def test_names_of_codes(standin_cuda: StandIn) -> None:
    """Every code has its vendor's name; what is no code is refused."""
    driver = bindings()
    assert ok(driver.cuGetErrorName(driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)) == b"CUDA_ERROR_ILLEGAL_ADDRESS"
    assert ok(driver.cuGetErrorString(driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)) == b"illegal address"
