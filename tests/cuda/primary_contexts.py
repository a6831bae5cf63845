"""How many primary contexts somebody holds, as the driver tells it."""

from __future__ import annotations


def active_contexts() -> int:
    """How many devices have a primary context that somebody holds."""
    from cuda.bindings import driver

    states = [driver.cuDevicePrimaryCtxGetState(device) for device in range(driver.cuDeviceGetCount()[1] or 0)]
    return sum(state[2] for state in states if state[0] == 0)
