"""`python -m examples.embed.build_kernels`: compile kernels/*.cu to the PTX that is committed beside them.

With the PTX at hand the example runs where there is no CUDA compiler. Metal, OpenCL and WebGPU compile their text on
the user's machine: of the kernels in their languages only that they are there is looked at.
"""

from __future__ import annotations

from pathlib import Path

from metrale_gpu_runtime.modules import prebuilt

KERNEL_FOLDER = Path(__file__).with_name("kernels")
COMPILED_WHERE_THEY_RUN = (".metal", ".cl", ".wgsl")


def sources() -> list[Path]:
    """The CUDA C files of the example."""
    return sorted(KERNEL_FOLDER.glob("*.cu"))


def lacking() -> list[str]:
    """The files that are not there: kernels in Metal's language, in OpenCL C or in WGSL beside the CUDA C."""
    beside = (source.with_suffix(suffix) for source in sources() for suffix in COMPILED_WHERE_THEY_RUN)
    return [path.name for path in beside if not path.is_file()]


if __name__ == "__main__":
    if names := lacking():
        raise SystemExit(f"no {', '.join(names)} in {KERNEL_FOLDER}: not every backend could run the model")
    prebuilt.main([str(source) for source in sources()])
