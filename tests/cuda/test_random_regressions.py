"""What random programs have found: each defect as the shortest program that showed it."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from random_model import PTX, PlainExecutor

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.memory.in_flight import POLL_COUNT


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    executor = PlainExecutor(standin)
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend
    executor.close()
    assert executor.failures == []


@pytest.mark.parametrize("kind", ["alloc", "pinned", "alloc_async"])
def test_an_allocation_after_many_drops_is_of_its_own_kind(standin, gpu, kind: str) -> None:
    """That streams are asked how far they are first does not make it memory of the stream that was asked last."""
    with gpu.create_stream() as busy, gpu.create_stream() as stream:
        for _ in range(POLL_COUNT + 1):
            gpu.memset_async(gpu.buffer(20), 3, stream=busy)
        standin.clear_journal()
        if kind == "alloc":
            gpu.free(gpu.alloc(100))
            assert standin.call_count("cuMemAlloc") == 1
        elif kind == "pinned":
            gpu.free_host_pinned(gpu.alloc_host_pinned(100))
            assert standin.call_count("cuMemHostAlloc") == 1
        else:
            pointer = gpu.alloc_async(100, stream)
            gpu.memset_async(pointer, 7, 100, stream)
            busy.synchronize()
            gpu.free_async(pointer, stream)
        assert standin.call_count("cuMemAllocAsync") == (kind == "alloc_async")
        stream.synchronize()
        busy.synchronize()


def test_marks_of_streams_are_destroyed_once(standin) -> None:
    """Closing a backend whose streams have marks of the engine's own gives a warning to nobody."""
    with mg.open_backend("cuda") as gpu:
        stream = gpu.create_stream()
        gpu.free_async(gpu.alloc_async(50, stream), stream)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gpu.close()
    assert standin.count("event", "created") == standin.count("event", "destroyed") > 0


def test_pinned_memory_has_an_address_while_a_capture_names_it(gpu) -> None:
    """Asking where pinned memory lies on the device frees nothing, so a capture does not forbid it."""
    pinned = gpu.alloc_host_pinned(40)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.memset_async(gpu.host_ptr_to_device(pinned), 5, 40, stream)
            gpu.memset_async(gpu.host_ptr_to_device(pinned) + 3, 6, 10, stream)
        capture.graph.launch(stream)
        stream.synchronize()
        assert bytes(pinned.view) == b"\5" * 3 + b"\6" * 10 + b"\5" * 27
        capture.graph.close()
    gpu.free_host_pinned(pinned)
