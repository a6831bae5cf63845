"""How discovery knows the mock: always there, one device."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from ...driver import DeviceListing, DriverFactory, DriverOptions
from ...errors import BackendUnavailable
from .driver import MockDriver
from .profiles import PROFILE_NAMES


class MockFactory(DriverFactory):
    """Opens `MockDriver`. `DriverOptions.extra` takes its keyword arguments: profile, strict, plan and so on."""

    name = "mock"

    def devices(self) -> Sequence[DeviceListing]:
        return (DeviceListing("mock", 0, "mock device", {"profiles": PROFILE_NAMES}),)

    def open(self, index: int, options: DriverOptions) -> MockDriver:
        """Raises BackendUnavailable for another device, TypeError for an unknown option."""
        if index != 0:
            raise BackendUnavailable(f"mock: there is no device {index}; the mock has one, 0", backend="mock")
        options.require_known(self.name, *inspect.signature(MockDriver).parameters)
        extra = {name: value for name, value in options.extra.items() if value is not None}
        return MockDriver(**extra)  # type: ignore[arg-type]
