"""`python -m examples.embed.build_kernels`: compile kernels/*.cu to the PTX that is committed beside them.

With the PTX at hand the example runs where there is no CUDA compiler. Metal compiles its text on the user's machine:
of the kernels in its language only that they are there is looked at.
"""

from __future__ import annotations

from pathlib import Path

from metrale_gpu_runtime.modules import prebuilt

KERNEL_FOLDER = Path(__file__).with_name("kernels")


def sources() -> list[Path]:
    """The CUDA C files of the example."""
    return sorted(KERNEL_FOLDER.glob("*.cu"))


def without_metal() -> list[str]:
    """The modules that have no kernels in Metal's language beside their CUDA C."""
    return [source.stem for source in sources() if not source.with_suffix(".metal").is_file()]


if __name__ == "__main__":
    if lacking := without_metal():
        raise SystemExit(
            f"no {', '.join(f'{name}.metal' for name in lacking)} in {KERNEL_FOLDER}: Metal could not run the model"
        )
    prebuilt.main([str(source) for source in sources()])
