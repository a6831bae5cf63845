"""`python -m examples.embed.build_kernels`: compile kernels/*.cu to the PTX that is committed beside them.

With the PTX at hand the example runs where there is no CUDA compiler.
"""

from __future__ import annotations

from pathlib import Path

from metrale_gpu_runtime.modules import prebuilt

KERNEL_FOLDER = Path(__file__).with_name("kernels")


def sources() -> list[Path]:
    """The CUDA C files of the example."""
    return sorted(KERNEL_FOLDER.glob("*.cu"))


if __name__ == "__main__":
    prebuilt.main([str(source) for source in sources()])
