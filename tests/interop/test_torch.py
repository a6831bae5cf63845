"""PyTorch beside us: its CPU build's tensors are host arrays, taken or refused as NumPy's are. Runs where it is there."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ArgumentError, ArgumentKindError
from metrale_gpu_runtime.testing import MockGpuBackend
from metrale_gpu_runtime.testing.conformance.target import KERNELS

torch = pytest.importorskip("torch", reason="PyTorch is optional here: pip install torch runs these tests")


@pytest.fixture
def gpu():
    with mg.open_backend("cpu") as gpu:
        yield gpu


@pytest.fixture
def affine(gpu):
    return gpu.load_module("suite", path=KERNELS / "suite.ptx")["affine"]


def test_a_cpu_tensor_is_used_in_place(gpu, affine):
    """A kernel on the CPU backend writes into a torch tensor where it lies, and into a slice of it."""
    tensor = torch.tensor([1, 2, 3, 4, 5], dtype=torch.uint32)
    affine[1, 3](tensor[1:4], mg.u32(3), mg.u32(10), mg.u32(7))
    assert tensor.tolist() == [1, 27, 37, 47, 5]


def test_torch_reads_a_buffer_in_place(gpu, affine):
    """torch.from_dlpack shares a buffer's memory both ways, bf16 too, and keeps it alive."""
    buffer = gpu.array(np.array([1, 2, 3], np.uint32))
    tensor = torch.from_dlpack(buffer)
    affine[1, 3](buffer, mg.u32(3), mg.u32(10), mg.u32(1))
    tensor[0] = 16
    assert tensor.tolist() == buffer.numpy().tolist() == [16, 21, 31]
    half = gpu.empty((2, 3), mg.bf16)
    view = torch.from_dlpack(half)
    view[:] = torch.arange(6.0).reshape(2, 3)
    assert (view.dtype, tuple(view.shape)) == (torch.bfloat16, (2, 3))
    assert gpu.resolve_pointer(view).element == mg.bf16
    assert half.view("u16").tobytes() == view.contiguous().view(torch.uint16).numpy().tobytes()
    del buffer, half
    gc.collect()
    assert tensor.tolist() == [16, 21, 31]
    assert gpu.live_bytes() == 24
    del tensor, view
    gc.collect()
    assert gpu.live_bytes() == 0


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: torch.ones(3, requires_grad=True), "requires? grad"),
        (lambda: torch.tensor([1 + 2j, 3j]).conj(), r"resolve_conj\(\)"),
        (lambda: torch.tensor([1 + 2j, 3j]).conj().imag, r"resolve_neg\(\)"),
        (lambda: torch.ones(3, device="meta"), "meta"),
    ],
)
def test_tensors_whose_memory_is_not_what_they_say_are_refused(gpu, make, reason):
    """A tensor that needs a gradient, is conjugated or negated lazily, or has no memory is refused with the way out."""
    tensor = make()
    with pytest.raises(ArgumentKindError, match=reason if "grad" not in reason else r"require.*gradient.*detach"):
        gpu.resolve_pointer(tensor)


def test_a_tensor_with_gaps_is_refused(gpu):
    """A transposed tensor is refused as a strided array is."""
    with pytest.raises(ArgumentError, match="make it contiguous or pass strides"):
        gpu.resolve_pointer(torch.arange(12).reshape(3, 4).T)


def test_a_cpu_tensor_is_a_host_array_to_a_gpu():
    """On a backend with device memory a CPU tensor is refused with In, Out and InOut, copied by copies and gpu.array."""
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    with MockGpuBackend() as gpu:
        with pytest.raises(ArgumentKindError, match=r"Tensor is a host array.*In\(a\), Out\(a\) or InOut\(a\)"):
            gpu.resolve_pointer(tensor)
        buffer = gpu.array(tensor)
        assert (buffer.shape, buffer.element) == ((2, 3), mg.f32)
        back = torch.zeros(2, 3)
        buffer.copy_to(back)
        assert torch.equal(back, tensor)
        gpu.kernel("m", "k")[1, 1](mg.In(tensor))


def test_torch_has_no_device_to_hand_out():
    """Where torch sees no GPU its tensors show no CUDA interface, so that none is mistaken for one."""
    assert not hasattr(torch.ones(3), "__cuda_array_interface__")
    assert torch.ones(3).__dlpack_device__() == (1, 0)
