"""How discovery knows Metal. Importing this imports no bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...driver import DeviceListing, DriverFactory, DriverOptions
from ...errors import BackendUnavailable
from .bindings import load_bindings, require_bindings

if TYPE_CHECKING:
    from .driver import MetalDriver

STORAGES = ("shared", "private")


class MetalFactory(DriverFactory):
    """Apple's GPUs, the system's default device first.

    `DriverOptions.extra` takes `storage`: where device memory lies. "shared" is reached by the host as well, "private"
    by the GPU only, with copies through staging memory; without the option it is shared where GPU and host have one
    memory, else private.
    """

    name = "metal"

    def devices(self) -> Sequence[DeviceListing]:
        """Listed by a child process, so that this one can still fork."""
        require_bindings()
        from .listing import list_devices

        return list_devices()

    def open(self, index: int, options: DriverOptions) -> MetalDriver:
        """Raises BackendUnavailable, TypeError for an unknown option, ValueError for a storage that is none."""
        options.require_known(self.name, "storage")
        storage = options.extra.get("storage")
        if storage is not None and storage not in STORAGES:
            raise ValueError(f"metal: storage={storage!r}; it is 'shared', 'private' or None")
        bindings = load_bindings()
        from .devices import usable_devices
        from .driver import MetalDriver

        with bindings.pool():
            there = usable_devices(bindings)
            if index >= len(there):
                raise BackendUnavailable(
                    f"metal: there is no device {index}; this machine has {len(there)} (0 to {len(there) - 1})",
                    backend="metal",
                )
            device = there[index]
            if storage is None:
                storage = "shared" if device.hasUnifiedMemory() else "private"
            return MetalDriver(bindings, device, index=index, storage=str(storage))
