"""How discovery knows WebGPU. Importing this imports no bindings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...driver import DeviceListing, DriverFactory, DriverOptions
from ...errors import BackendUnavailable
from .bindings import load_bindings, require_bindings

if TYPE_CHECKING:
    from .driver import WebgpuDriver


class WebgpuFactory(DriverFactory):
    """The adapters of wgpu that can run kernels: GPUs first, software last. None needs a display."""

    name = "webgpu"

    def devices(self) -> Sequence[DeviceListing]:
        """Listed by a child process, so that this one can still fork."""
        require_bindings()
        from .listing import list_devices

        return list_devices()

    def index_of(self, words: Sequence[str]) -> int:
        """By number, or by a part of the adapter's name: "webgpu:llvmpipe". Raises BackendUnavailable for a name that
        fits none, ValueError for one that fits several."""
        if len(words) != 1 or not words[0].strip() or words[0].isdecimal():
            return super().index_of(words)
        there = self.devices()
        fitting = [each for each in there if words[0] in each.name.lower()]
        listed = ", ".join(f"webgpu:{each.index} {each.name}" for each in there)
        if not fitting:
            raise BackendUnavailable(
                f"webgpu: no adapter here has {words[0]!r} in its name; there is {listed}", backend="webgpu"
            )
        if len(fitting) > 1:
            raise ValueError(
                f"'webgpu:{words[0]}' fits {len(fitting)} of the adapters here; give a number or a part of one name: "
                f"{listed}"
            )
        return fitting[0].index

    def open(self, index: int, options: DriverOptions) -> WebgpuDriver:
        """Raises BackendUnavailable, TypeError for an option: there are none."""
        options.require_known(self.name)
        bindings = load_bindings()
        from .adapters import usable_adapters
        from .driver import WebgpuDriver

        there = usable_adapters(bindings)
        if index >= len(there):
            raise BackendUnavailable(
                f"webgpu: there is no adapter {index}; this machine has {len(there)} (0 to {len(there) - 1})",
                backend="webgpu",
            )
        return WebgpuDriver(bindings, there[index], index=index)
