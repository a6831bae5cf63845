"""Warp: wp.launch with its inputs, and a recorded launch, unchanged or with every scalar set anew.

It compiles its own kernels: the grid, the block and two scalars are checked.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import warp
from cuda.bindings import driver

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, SHAPES, U32, U64, Shape

PACKAGES = ("warp-lang",)
WARP_TYPES = {
    POINTER: "warp.array(dtype=warp.float32)",
    U32: "warp.uint32",
    U64: "warp.uint64",
    I32: "warp.int32",
    F32: "warp.float32",
}


def _kernels(folder: Path) -> object:
    """Warp reads a kernel's source from its file, so there has to be one."""
    lines = ["import warp\n\n"]
    for shape in SHAPES.values():
        parameters = ", ".join(f"p{at}: {WARP_TYPES[kind]}" for at, kind in enumerate(shape.kinds))
        lines.append(f"@warp.kernel\ndef {shape.kernel}({parameters}):\n    i = warp.tid()\n\n")
    path = folder / "warp_kernels_of_the_benchmark.py"
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _array() -> object:
    """Memory from the driver: Warp's own allocator is the CUDA runtime's, which does not start on the stand-in."""
    status, address = driver.cuMemAlloc(256)
    if int(status) != 0:
        raise RuntimeError(f"cuMemAlloc returned {status!r}")
    return warp.array(ptr=int(address), capacity=256, shape=(64,), dtype=warp.float32, device="cuda:0")


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    warp.config.quiet = True
    warp.init()
    if not warp.is_cuda_available():
        raise RuntimeError("Warp finds no CUDA device")
    with tempfile.TemporaryDirectory() as folder:
        kernels = _kernels(Path(folder))
        arrays = [_array() for _ in range(POINTERS)]

        def rows(shape: Shape) -> list[Row]:
            kernel = getattr(kernels, shape.kernel)
            names: dict[str, object] = {"warp": warp, "kernel": kernel}
            launch = f"warp.launch(kernel, dim={GRID * BLOCK}, inputs=[%s], device='cuda:0', block_dim={BLOCK}%s)"
            statements, settings, expected = [], [], []
            for letter, variant in (("a", 0), ("b", 1)):
                words = [f"{letter}{at}" for at in range(shape.count)]
                names |= dict(zip(words, shape.values(variant, arrays), strict=True))
                statements.append(launch % (", ".join(words), ""))
                image = shape.image(shape.values(variant, range(POINTERS)))
                last = {kind: data for kind, (_, data) in zip(shape.kinds, image, strict=True)}
                expected.append(Sent(somewhere=(last[U32], last[F32])))
                scalars = [at for at, kind in enumerate(shape.kinds) if kind is not POINTER]
                settings.append("; ".join(f"recorded.set_param_at_index({at}, {letter}{at})" for at in scalars))
            record = launch % (", ".join(f"a{at}" for at in range(shape.count)), ", record_cmd=True")
            for name in ("recorded", "unchanged"):
                names[name] = eval(record, dict(names))
            changing = tuple(f"{setting}; recorded.launch()" for setting in settings)
            return [
                Row("warp.launch(kernel, dim, inputs)", tuple(statements), names, tuple(expected)),
                Row("recorded launch, nothing changes", ("unchanged.launch()",), names, (expected[0],)),
                Row("recorded launch, scalars set each time", changing, names, tuple(expected)),
            ]

        yield rows
