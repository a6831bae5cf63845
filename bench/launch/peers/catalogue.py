"""The peers by name, and the command that brings each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """`name` is the module here that launches it; OpenCL has a floor, and so a table, of its own."""

    name: str
    title: str
    install: str


OPENCL = Peer("opencl", "pyopencl over PoCL", "pip install 'pyopencl[pocl]', or apt-get install pocl-opencl-icd")
WGPU = Peer("wgpu_dispatch", "wgpu", "pip install wgpu, and a Vulkan: apt-get install mesa-vulkan-drivers")
PEERS = (
    Peer("cuda_bindings", "cuda.bindings", "pip install cuda-bindings"),
    Peer("cuda_core", "cuda.core", "pip install cuda-core cuda-bindings"),
    Peer("cupy_raw", "CuPy", "pip install cupy-cuda13x cuda-bindings, and a C compiler for the shim"),
    Peer(
        "pycuda_driver",
        "PyCUDA",
        "it has no wheel: from its source, with the CUDA toolkit, python configure.py --cuda-root=/usr/local/cuda "
        "--cudadrv-lib-dir=<folder of a libcuda.so> --no-cuda-enable-curand && pip install --no-build-isolation .",
    ),
    Peer("numba_jit", "numba-cuda", "pip install 'numba-cuda[cu13]'"),
    Peer("triton_jit", "Triton", "pip install triton cuda-bindings"),
    Peer("warp_launch", "Warp", "pip install warp-lang cuda-bindings"),
    OPENCL,
    WGPU,
)
