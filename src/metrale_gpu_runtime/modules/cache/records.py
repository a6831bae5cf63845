"""What compilers give, as bytes to keep: a line of JSON, then the contents it counts. Never anything that runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...driver import CodeImage, CompiledSource
from ..nvrtc import CompiledPtx
from .toolkit import ReadFile

Contents = Sequence[bytes | None]


def write(facts: dict[str, Any], contents: Contents) -> bytes:
    """Facts that JSON can hold, and contents."""
    counted = {**facts, "nbytes": [None if each is None else len(each) for each in contents]}
    head = json.dumps(counted, ensure_ascii=True, separators=(",", ":")).encode()
    return b"\n".join((head, b"".join(each for each in contents if each is not None)))


def read(data: bytes) -> tuple[dict[str, Any], list[bytes | None]]:
    """What `write` was given. Raises ValueError, KeyError or TypeError for anything else."""
    head, _, rest = data.partition(b"\n")
    facts = json.loads(head)
    contents: list[bytes | None] = []
    at = 0
    for nbytes in facts.pop("nbytes"):
        contents.append(None if nbytes is None else rest[at : at + nbytes])
        at += nbytes or 0
    if at != len(rest):
        raise ValueError(f"a record of {at} bytes, and there are {len(rest)}")
    return facts, contents


def write_compiled(compiled: CompiledPtx, headers: Sequence[ReadFile]) -> bytes:
    """A compilation of CUDA C, and the compiler's own headers that it read."""
    facts = {
        "log": compiled.log,
        "version": compiled.version,
        "lowered_names": dict(compiled.lowered_names),
        "compiler": compiled.compiler,
        "headers": [tuple(asdict(each).values()) for each in headers],
    }
    return write(facts, (compiled.ptx, compiled.cubin, compiled.ltoir))


def read_compiled(data: bytes) -> CompiledPtx | None:
    """The compilation; None where one of its headers has changed since. Raises as `read` does."""
    facts, (ptx, cubin, ltoir) = read(data)
    if not all(ReadFile(*each).is_unchanged() for each in facts["headers"]):
        return None
    if ptx is None:
        raise ValueError("a record of a compilation without PTX")
    major, minor = facts["version"]
    return CompiledPtx(ptx, facts["log"], (major, minor), facts["lowered_names"], facts["compiler"], cubin, ltoir)


def write_made(made: CompiledSource) -> bytes:
    """What a driver's own compiler made. Its image's name is the caller's, and not kept."""
    facts = {
        "format": made.image.format,
        "options": made.image.options,
        "path": made.image.path,
        "lowered_names": dict(made.lowered_names),
        "compiler": made.compiler,
        "log": made.log,
    }
    return write(facts, (made.image.data,))


def read_made(data: bytes, name: str) -> CompiledSource:
    """What a driver's compiler made, as an image of this name. Raises as `read` does."""
    facts, (code,) = read(data)
    if code is None:
        raise ValueError("a record of code without code")
    image = CodeImage(name, facts["format"], code, tuple(facts["options"]), facts["path"])
    return CompiledSource(image, facts["lowered_names"], facts["compiler"], facts["log"])


def write_image(image: CodeImage) -> bytes:
    """What a linker made."""
    return write({"format": image.format}, (image.data,))


def read_image(data: bytes, name: str) -> CodeImage:
    """What a linker made, under this name. Raises as `read` does."""
    facts, (code,) = read(data)
    if code is None:
        raise ValueError("a record of code without code")
    return CodeImage(name, facts["format"], code)
