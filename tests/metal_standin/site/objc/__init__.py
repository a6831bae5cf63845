"""The stand-in's `objc`: what of PyObjC's core package is used with Metal."""

from __future__ import annotations

from metal_standin.framework import OBJC

globals().update(OBJC)
