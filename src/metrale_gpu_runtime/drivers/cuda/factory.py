"""How discovery knows CUDA. Importing this imports no bindings and starts no driver."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence

from ...driver import DeviceListing, Driver, DriverFactory, DriverOptions
from ...errors import BackendUnavailable, DriverFault, GpuError
from ..session.faults import cannot_be_opened


class CudaFactory(DriverFactory):
    """NVIDIA GPUs, numbered as the driver numbers them (CUDA_VISIBLE_DEVICES applies)."""

    name = "cuda"

    def devices(self) -> Sequence[DeviceListing]:
        """Listed by a child process, so that this one can still fork."""
        from .listing import list_devices

        _require_bindings()
        return list_devices()

    def open(self, index: int, options: DriverOptions) -> Driver:
        """Takes no options of its own. Raises BackendUnavailable, TypeError for an option."""
        options.require_known(self.name)
        _require_bindings()
        from .driver import CudaDriver
        from .opening import start

        api, count = start()
        if not 0 <= index < count:
            there = f"{count} devices, 0 to {count - 1}" if count > 1 else "one device, 0"
            raise BackendUnavailable(f"cuda: there is no device {index}; this machine has {there}", backend="cuda")
        try:
            return CudaDriver(api, index)
        except (DriverFault, GpuError) as error:
            raise cannot_be_opened("cuda", index, error) from error


def _require_bindings() -> None:
    # Only looked for: finding a module inside of a package imports the package.
    package = importlib.util.find_spec("cuda")
    places = list(package.submodule_search_locations or ()) if package is not None else []
    if not any(os.path.isdir(os.path.join(place, "bindings")) for place in places):
        from .api import INSTALL_BINDINGS

        raise BackendUnavailable(
            f"cuda: NVIDIA's Python bindings are not installed; {INSTALL_BINDINGS}", backend="cuda"
        )
