"""CuPy's RawKernel, called with its grid, its block and a tuple of arrays and NumPy scalars."""

from __future__ import annotations

import ctypes
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cuda.bindings import driver
from cupy_backends.cuda.api import runtime

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, PTX, U32, Shape

PACKAGES = ("cupy-cuda13x",)
SHIM = Path(__file__).with_name("cupy_shim.c")
NUMPY_TYPES = {U32: "uint32", I32: "int32", F32: "float32"}
LARGE = "uint64"


def _put_shim(folder: Path) -> None:
    """Let three entries of CuPy's table of the runtime's functions be the shim's, before anybody has read it."""
    target = folder / "shim.so"
    include = sysconfig.get_path("include")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{include}", "-o", str(target), str(SHIM)], check=True)
    library = ctypes.CDLL(str(target))
    capsule_name = ctypes.pythonapi.PyCapsule_GetName
    capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    replace = ctypes.pythonapi.PyCapsule_SetPointer
    replace.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for name, own, declared in (
        ("getDevice", "shim_get_device", b"int (int __pyx_skip_dispatch)"),
        ("getDeviceCount", "shim_get_device_count", b"int (int __pyx_skip_dispatch)"),
        ("_ensure_context", "shim_ensure_context", b"PyObject *(void)"),
    ):
        capsule = runtime.__pyx_capi__[name]
        if capsule_name(capsule) != declared:
            raise RuntimeError(
                f"CuPy's runtime.{name} is {capsule_name(capsule)!r}; the shim was written for {declared!r}"
            )
        replace(capsule, ctypes.cast(getattr(library, own), ctypes.c_void_p))


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    with tempfile.TemporaryDirectory() as folder:
        _put_shim(Path(folder))
        import cupy
        import numpy

        path = Path(folder) / "kernels.ptx"
        path.write_text(PTX)
        module = cupy.RawModule(path=str(path))
        arrays, addresses = [], []
        for _ in range(POINTERS):
            status, pointer = driver.cuMemAlloc(256)
            if int(status) != 0:
                raise RuntimeError(f"cuMemAlloc returned {status!r}")
            memory = cupy.cuda.UnownedMemory(int(pointer), 256, None, 0)
            arrays.append(cupy.ndarray((64,), numpy.float32, cupy.cuda.MemoryPointer(memory, 0)))
            addresses.append(int(pointer))

        def rows(shape: Shape) -> list[Row]:
            kernel = module.get_function(shape.kernel)
            found = []
            for name, is_made_each_time in (
                ("NumPy scalars made before", False),
                ("NumPy scalars made each time", True),
            ):
                names: dict[str, object] = {"kernel": kernel, "numpy": numpy}
                statements, expected = [], []
                for letter, variant in (("a", 0), ("b", 1)):
                    words = []
                    for at, (kind, value) in enumerate(zip(shape.kinds, shape.values(variant, arrays), strict=True)):
                        word, scalar = f"{letter}{at}", NUMPY_TYPES.get(kind, LARGE)
                        if kind is POINTER:
                            names[word] = value
                        elif is_made_each_time:
                            names[word], word = value, f"numpy.{scalar}({word})"
                        else:
                            names[word] = getattr(numpy, scalar)(value)
                        words.append(word)
                    statements.append(f"kernel(({GRID},), ({BLOCK},), ({', '.join(words)}))")
                    expected.append(Sent(shape.image(shape.values(variant, addresses)), kernel=shape.kernel))
                found.append(Row(f"RawKernel(grid, block, args), {name}", tuple(statements), names, tuple(expected)))
            return found

        yield rows
