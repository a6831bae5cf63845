"""AMD's code objects as values: their targets, the bundles they come in, what they tell of kernels."""

from __future__ import annotations

from .bundle import BundleEntry, choose_code_object, is_bundle, read_bundle
from .metadata import CodeObject, CodeObjectArgument, CodeObjectKernel, read_code_object
from .targets import Target

__all__ = [
    "BundleEntry",
    "CodeObject",
    "CodeObjectArgument",
    "CodeObjectKernel",
    "Target",
    "choose_code_object",
    "is_bundle",
    "read_bundle",
    "read_code_object",
]
