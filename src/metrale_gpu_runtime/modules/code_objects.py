"""The kernels of an AMD code object that a driver has loaded, for their names and signatures."""

from __future__ import annotations

from collections.abc import Mapping

from ..code_objects import CodeObjectKernel, read_code_object
from ..driver import CodeImage
from ..errors import BackendUnavailable, ModuleLoadError


def kernels_of(image: CodeImage, notes: list[str]) -> Mapping[str, CodeObjectKernel] | None:
    """The kernels by symbol, as the driver is asked for them; None, with a note why, when they cannot be read.

    The driver has taken the code, so it is the driver's to judge; only the signatures are lost.
    """
    try:
        return read_code_object(image.data, image.name).kernels
    except (ModuleLoadError, BackendUnavailable) as error:
        notes.append(f"the code object's metadata was not read, so its signatures are not known: {error}")
        return None
