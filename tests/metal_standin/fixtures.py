"""The pytest fixture of the stand-in; a test module imports it by name: `from metal_standin.fixtures import metal_standin`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .control import MetalStandIn, standin


@pytest.fixture
def metal_standin() -> Iterator[MetalStandIn]:
    """The stand-in with one device and an empty record, found by `import Metal`.

    A test under which a rule was broken fails, unless it took the record of it (`take_violations`).
    """
    standin.reset()
    with standin.on_path():
        yield standin
    broken = standin.violations()
    standin.reset()
    assert not broken, "rules broken:\n" + "\n".join(broken)
