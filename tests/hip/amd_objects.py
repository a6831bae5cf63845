"""The code objects of this folder's tests; make.sh beside them makes them from the sources there."""

from __future__ import annotations

from pathlib import Path

CODE_OBJECTS = Path(__file__).with_name("code_objects")


def code_object(name: str) -> bytes:
    """The bytes of one file: "kernels.gfx90a"."""
    return (CODE_OBJECTS / f"{name}.hsaco").read_bytes()
