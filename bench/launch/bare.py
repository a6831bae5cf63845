"""No library: what a call from CPython costs that checks nothing, keeps nothing, and only calls the driver.

What lies below these rows nobody can save: the interpreter's own calls, and its lock let go of and taken again. They
differ from processor to processor more than the floor does.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .rows import Row, Sent
from .shapes import POINTERS, PTX, Shape
from .stub import Stub, built_extension

SOURCE = Path(__file__).with_suffix(".c")
NONE = "a C method that only calls the driver, the lock let go of"
CHAIN = "the same behind as many C methods as the builder's chain has, which do nothing"


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    place = importlib.util.spec_from_file_location("bare", built_extension(SOURCE, suffix))
    assert place is not None
    assert place.loader is not None
    extension = importlib.util.module_from_spec(place)
    place.loader.exec_module(extension)
    library = Stub().library
    module, address = ctypes.c_void_p(), ctypes.c_uint64()
    _call(library, "cuModuleLoadData", ctypes.byref(module), PTX.encode())
    addresses = []
    for _ in range(POINTERS):
        _call(library, "cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(256))
        addresses.append(address.value)

    def rows(shape: Shape) -> list[Row]:
        kernel = ctypes.c_void_p()
        _call(library, "cuModuleGetFunction", ctypes.byref(kernel), module, shape.kernel.encode())
        values = shape.values(2, addresses)
        image = shape.image(values)
        cells = [ctypes.create_string_buffer(data, 8) for _, data in image]
        array = (ctypes.c_void_p * shape.count)(*(ctypes.addressof(cell) for cell in cells))
        function = ctypes.cast(library.cuLaunchKernel, ctypes.c_void_p).value
        bare = extension.Bare(function, kernel.value, ctypes.addressof(array))
        names: dict[str, object] = {"bare": bare, "keep": (cells, array), "value": 4}
        same = (Sent(image, kernel=shape.kernel),)
        # Beside the arguments the builder's chain has its making, a grid and a block.
        chain = "bare" + ".same(value)" * (shape.count + 3) + ".launch()"
        return [Row(NONE, ("bare.launch()",), names, same), Row(CHAIN, (chain,), names, same)]

    yield rows


def _call(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    status = getattr(library, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name} returned {status}")
