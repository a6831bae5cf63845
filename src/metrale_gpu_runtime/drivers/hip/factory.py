"""How discovery knows AMD's GPUs. Imports no bindings and opens no library."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...driver import DeviceListing, DriverFactory, DriverOptions
from ...errors import BackendUnavailable, DriverFault, GpuError
from ..session.faults import cannot_be_opened

if TYPE_CHECKING:
    from .driver import HipDriver

_INSTALL = 'pip install "metrale-gpu-runtime[hip]"'


class HipFactory(DriverFactory):
    """Opens `HipDriver`. `DriverOptions.extra` takes nothing."""

    name = "hip"

    def devices(self) -> Sequence[DeviceListing]:
        """Asked in a short-lived child process, so that this one can still be forked."""
        _require_bindings()
        from .listing import list_devices

        return list_devices()

    def open(self, index: int, options: DriverOptions) -> HipDriver:
        """Raises BackendUnavailable without bindings, library or device, and for an index past the last device;
        TypeError for options."""
        options.require_known(self.name)
        _require_bindings()
        from .driver import HipDriver
        from .opening import start

        api, count = start()
        if index >= count:
            raise BackendUnavailable(
                f"hip: there is no device {index}; this machine has {count} (0 to {count - 1})", backend="hip"
            )
        try:
            return HipDriver(api, index)
        except (DriverFault, GpuError) as error:
            raise cannot_be_opened("hip", index, error) from error


def _require_bindings() -> None:
    if importlib.util.find_spec("hip") is None:
        raise BackendUnavailable(f"hip: AMD's Python bindings are not installed; {_INSTALL}", backend="hip")
