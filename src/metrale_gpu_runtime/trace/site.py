"""The line of the caller's Python that made a launch or an allocation."""

from __future__ import annotations

import os
import sys

from ..native import know_package

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# The command line is a caller like any other.
_CALLERS = os.path.join(_PACKAGE, "cli") + os.sep
know_package(_PACKAGE, _CALLERS)


def is_inside(filename: str) -> bool:
    """Whether code of this file is the package's own, and no caller of it."""
    return filename.startswith(_PACKAGE) and not filename.startswith(_CALLERS)


def call_site(skip: int = 1) -> str:
    """`file:line` of the nearest frame outside this package, "<unknown>" when there is none.

    `skip` frames above the caller are not looked at.
    """
    frame = sys._getframe(skip)
    while is_inside(frame.f_code.co_filename):
        parent = frame.f_back
        if parent is None:
            return "<unknown>"
        frame = parent
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
