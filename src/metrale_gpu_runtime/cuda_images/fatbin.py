"""The images in a fatbin: their headers, and those that are not compressed.

NVIDIA publishes no description of the container. What is read here was found in fatbins that nvcc 13.0 made of known
sources; the tests hold it against them. Headers are never compressed, so what runs where is known of every image.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import ModuleLoadError
from .architectures import Architecture, shown_version

_CONTAINER: Final = struct.Struct("<IHHQ")
_MAGIC, _WRAPPER_MAGIC = 0xBA55ED50, 0x466243B1
# Kind, (2 bytes), header size, payload size, compressed size, place of the options, minor and major version,
# architecture, place and length of the name, flags.
_ENTRY: Final = struct.Struct("<HHIQIIHHIIIQ")
_KINDS: Final = {1: "ptx", 2: "cubin", 8: "ltoir"}
_COMPRESSED: Final = 0x2000 | 0x8000  # LZ4 up to CUDA 12, Zstandard since
_ARCHITECTURE_SPECIFIC, _FAMILY_SPECIFIC = 0x100000, 0x200000


@dataclass(frozen=True, slots=True)
class FatbinEntry:
    """One image. `kind` is "ptx", "cubin", "ltoir" or "kind 9"; `ptx_version` is that of PTX.

    `payload` are its bytes, None where they are compressed.
    """

    kind: str
    architecture: Architecture
    ptx_version: tuple[int, int] | None = None
    payload: bytes | None = None

    def __str__(self) -> str:
        version = f" {shown_version(self.ptx_version)}" if self.ptx_version is not None else ""
        title = {"ptx": "PTX", "ltoir": "LTO-IR"}.get(self.kind, self.kind)
        return f"{title}{version} for {self.architecture}"


def read_fatbin(data: bytes, module: str) -> tuple[FatbinEntry, ...]:
    """The images of a fatbin, in its order. Raises ModuleLoadError, in the name of `module`, for damaged bytes."""

    def refused(what: str) -> ModuleLoadError:
        return ModuleLoadError(f"module {module!r}: the fatbin {what}", module=module)

    if len(data) < _CONTAINER.size:
        raise refused(f"is damaged: its {len(data)} bytes are less than a header")
    magic, _, header_nbytes, nbytes = _CONTAINER.unpack_from(data)
    if magic == _WRAPPER_MAGIC:
        raise refused("is the wrapper that a program keeps around the address of one: it holds no code itself")
    if magic != _MAGIC:
        raise refused(f"is none: it begins with {magic:#010x}, not {_MAGIC:#010x}")
    end = header_nbytes + nbytes
    if header_nbytes < _CONTAINER.size or end > len(data):
        raise refused(f"is damaged: it is said to have {end} bytes and has {len(data)}")
    entries = []
    at = header_nbytes
    while at < end:
        if at + _ENTRY.size > end:
            raise refused(f"is damaged: an image begins at byte {at} and has no room for its header")
        entry = _ENTRY.unpack_from(data, at)
        kind, entry_nbytes, payload_nbytes, compressed_nbytes, minor, major, number, flags = (
            *(entry[0], *entry[2:5]),
            *entry[6:9],
            entry[11],
        )
        start = at + entry_nbytes
        if entry_nbytes < _ENTRY.size or start + payload_nbytes > end:
            raise refused(f"is damaged: the image at byte {at} runs over its end at {end}")
        suffix = "a" if flags & _ARCHITECTURE_SPECIFIC else "f" if flags & _FAMILY_SPECIFIC else ""
        is_compressed = bool(flags & _COMPRESSED) or compressed_nbytes != 0
        entries.append(
            FatbinEntry(
                _KINDS.get(kind, f"kind {kind}"),
                Architecture.of_number(number, suffix),
                (major, minor) if kind == 1 else None,
                None if is_compressed else data[start : start + payload_nbytes],
            )
        )
        at = start + payload_nbytes
    return tuple(entries)


def best_entry(entries: Sequence[FatbinEntry], device: tuple[int, int]) -> FatbinEntry | None:
    """The image that a driver takes for a device of this compute capability; None when none fits.

    Machine code before PTX, and of each the one for the latest architecture (CUDA Programming Guide, Application
    Compatibility).
    """
    fitting = [
        entry
        for entry in entries
        if (entry.kind == "cubin" and entry.architecture.cubin_runs_on(device))
        or (entry.kind == "ptx" and entry.architecture.ptx_runs_on(device))
    ]
    return max(fitting, key=lambda entry: (entry.kind == "cubin", entry.architecture.number), default=None)
