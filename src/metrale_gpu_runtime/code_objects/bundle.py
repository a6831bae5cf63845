"""Clang's offload bundles: several code objects in one file, and the one for a device chosen from them.

Source: LLVM, "Clang Offload Bundler", Bundled Binary File Layout and Compressed Offload Bundles.
"""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import ModuleLoadError
from .targets import Target

BUNDLE_MAGIC: Final = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC: Final = b"CCOB"
_MOST_ENTRIES: Final = 4096
_MOST_ID_NBYTES: Final = 4096
_MOST_UNCOMPRESSED: Final = 2**32
_ZLIB, _ZSTD = 0, 1
# By the header's version: the fields behind the magic (version and method, sizes, hash).
_COMPRESSED_HEADERS: Final = {1: "<4sHHIQ", 2: "<4sHHIIQ", 3: "<4sHHQQQ"}


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """One code object of a bundle: what the bundle calls it, its target (None for host code), its bytes."""

    id: str
    target: Target | None
    data: bytes


def is_bundle(data: bytes) -> bool:
    """Whether these bytes begin as a bundle does, compressed or not."""
    return data.startswith((BUNDLE_MAGIC, COMPRESSED_MAGIC))


def read_bundle(data: bytes, module: str) -> tuple[BundleEntry, ...]:
    """All entries of a bundle in its order. Raises ModuleLoadError for one that is cut short or contradicts itself."""
    if data.startswith(COMPRESSED_MAGIC):
        data = _uncompressed(data, module)
    if not data.startswith(BUNDLE_MAGIC):
        raise _refused(module, "it does not begin as an offload bundle does")
    try:
        return tuple(_entries(data, module))
    except struct.error as error:
        raise _refused(module, f"its list of entries is cut short ({error})") from error


def _entries(data: bytes, module: str) -> list[BundleEntry]:
    at = len(BUNDLE_MAGIC)
    (count,) = struct.unpack_from("<Q", data, at)
    at += 8
    if count > _MOST_ENTRIES:
        raise _refused(module, f"it claims {count} entries; at most {_MOST_ENTRIES} are read")
    entries = []
    for index in range(count):
        offset, nbytes, id_nbytes = struct.unpack_from("<QQQ", data, at)
        at += 24
        if id_nbytes > _MOST_ID_NBYTES or at + id_nbytes > len(data):
            raise _refused(module, f"the id of entry {index} has {id_nbytes} bytes, past the end of the file")
        if offset + nbytes > len(data):
            raise _refused(
                module, f"entry {index} lies at {offset} to {offset + nbytes}; the file has {len(data)} bytes"
            )
        name = data[at : at + id_nbytes].decode("utf-8", errors="replace")
        at += id_nbytes
        entries.append(BundleEntry(name, Target.read(name), data[offset : offset + nbytes]))
    return entries


def choose_code_object(data: bytes, device: Target, module: str) -> bytes:
    """The code object of a bundle that fits a device best.

    Raises ModuleLoadError, naming every target in it, when none does.
    """
    entries = read_bundle(data, module)
    fitting = [each for each in entries if each.target is not None and each.data and each.target.runs_on(device)]
    if not fitting:
        raise ModuleLoadError(
            f"module {module!r}: the offload bundle holds code for {_listed(entries)}, none of which runs on {device}; "
            f"compile it with --offload-arch={device.processor}",
            module=module,
        )
    return max(fitting, key=lambda each: each.target.exactness if each.target is not None else (False, 0)).data


def _listed(entries: Sequence[BundleEntry]) -> str:
    targets = [str(each.target) for each in entries if each.target is not None and each.data]
    return ", ".join(targets) or "no AMD device"


def _uncompressed(data: bytes, module: str) -> bytes:
    try:
        version, method = struct.unpack_from("<HH", data, 4)
        layout = _COMPRESSED_HEADERS.get(version)
        if layout is None:
            raise _refused(module, f"version {version} of compressed bundles is not known; 1 to 3 are")
        fields = struct.unpack_from(layout, data)
    except struct.error as error:
        raise _refused(module, f"its header is cut short ({error})") from error
    nbytes = int(fields[-2])
    if nbytes > _MOST_UNCOMPRESSED:
        raise _refused(module, f"it claims {nbytes} bytes uncompressed; at most {_MOST_UNCOMPRESSED} are read")
    packed = data[struct.calcsize(layout) :]
    if method == _ZLIB:
        plain = _by_zlib(packed, nbytes, module)
    elif method == _ZSTD:
        plain = _by_zstd(packed, nbytes, module)
    else:
        raise _refused(module, f"compression method {method} is not known; 0 (zlib) and 1 (zstd) are")
    if len(plain) != nbytes:
        raise _refused(module, f"it holds {len(plain)} bytes uncompressed, its header says {nbytes}")
    return plain


def _by_zlib(packed: bytes, nbytes: int, module: str) -> bytes:
    try:
        # One byte more than promised tells a lie without unpacking all of it.
        return zlib.decompressobj().decompress(packed, nbytes + 1)
    except zlib.error as error:
        raise _refused(module, f"its zlib data is damaged ({error})") from error


def _by_zstd(packed: bytes, nbytes: int, module: str) -> bytes:
    try:
        zstd: Any = importlib.import_module("compression.zstd")  # Python 3.14 on
    except ImportError:
        raise _refused(
            module,
            "it is compressed with zstd, which Python reads from 3.14 on; compile it with "
            "--no-offload-compress, or unbundle it with clang-offload-bundler",
        ) from None
    try:
        return bytes(zstd.ZstdDecompressor().decompress(packed, nbytes + 1))
    except zstd.ZstdError as error:
        raise _refused(module, f"its zstd data is damaged ({error})") from error


def _refused(module: str, why: str) -> ModuleLoadError:
    return ModuleLoadError(f"module {module!r}: the offload bundle cannot be read: {why}", module=module)
