"""CuPy beside us: what it shows without a GPU, and that its streams mean what we take them to mean. Runs where it is."""

from __future__ import annotations

import pytest
from shared_machine import Machine

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ArgumentKindError, GpuError
from metrale_gpu_runtime.testing import MockGpuBackend

cupy = pytest.importorskip("cupy", reason="CuPy is optional here: pip install cupy-cuda13x runs these tests")


def unowned(shape=(3, 4)):
    """An array over an address that is nobody's: CuPy makes one without a GPU."""
    memory = cupy.cuda.UnownedMemory(0x7F0000000000, 1024, None, 0)
    return cupy.ndarray(shape, "f4", memptr=cupy.cuda.MemoryPointer(memory, 0))


def has_gpu():
    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def test_importing_both_and_running_a_kernel():
    """CuPy and this package live in one process; kernels of the CPU backend run as ever."""
    with mg.open_backend("cpu") as gpu:
        assert gpu.array([1, 2, 3]).numpy().tolist() == [1, 2, 3]


@pytest.mark.skipif(has_gpu(), reason="here CuPy has a GPU")
def test_an_array_without_a_driver_is_refused_with_cupys_reason():
    """Without a driver CuPy's array cannot say where it lies; the refusal names CuPy's call and error."""
    with MockGpuBackend() as gpu, pytest.raises(ArgumentKindError, match=r"__cuda_array_interface__ refuses: cuda"):
        gpu.resolve_pointer(unowned())


def test_cupys_null_stream_is_the_legacy_stream():
    """CuPy's default stream shows handle 0 by __cuda_stream__; it is the legacy stream, never ours. Its per-thread one
    is refused."""
    with Machine().open() as gpu:
        assert gpu.resolve_stream(cupy.cuda.Stream.null) == gpu.resolve_stream(mg.Stream.legacy)
        with pytest.raises(GpuError, match="per-thread"):
            gpu.resolve_stream(cupy.cuda.Stream.ptds)
        external = (
            cupy.cuda.Stream.from_external(gpu.create_stream()) if hasattr(cupy.cuda.Stream, "from_external") else None
        )
        assert external is None or external.ptr
