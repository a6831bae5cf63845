"""A double of PyObjC's `Metal`, `objc` and `Foundation` for Linux, held to the real bindings' interface and to Metal's rules."""

from __future__ import annotations

from .control import SITE, MetalStandIn, environment, standin
from .world import Committed

__all__ = ["SITE", "Committed", "MetalStandIn", "environment", "standin"]
