"""Offload bundles: what is in one, the entry for a device, and refusals that name what is there."""

from __future__ import annotations

import struct
import sys
import zlib

import pytest
from amd_objects import code_object

from metrale_gpu_runtime.code_objects import Target, choose_code_object, read_bundle, read_code_object
from metrale_gpu_runtime.errors import ModuleLoadError

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
HAS_ZSTD = sys.version_info >= (3, 14)


def bundle(*entries: tuple[str, bytes]) -> bytes:
    """A bundle of these entries, laid out as clang does without its padding."""
    header_nbytes = len(MAGIC) + 8 + sum(24 + len(name) for name, _ in entries)
    header, body = MAGIC + struct.pack("<Q", len(entries)), b""
    for name, data in entries:
        header += struct.pack("<QQQ", header_nbytes + len(body), len(data), len(name)) + name.encode()
        body += data
    return header + body


def compressed(data: bytes, version: int, *, claims: int | None = None, method: int = 0) -> bytes:
    """A bundle compressed with zlib, with the header of one version."""
    packed, nbytes = zlib.compress(data), len(data) if claims is None else claims
    head = struct.pack("<4sHH", b"CCOB", version, method)
    sizes = {1: ("<I", (nbytes,)), 2: ("<II", (99, nbytes)), 3: ("<QQ", (99, nbytes))}[version]
    return head + struct.pack(sizes[0], *sizes[1]) + struct.pack("<Q", 1234) + packed


def test_clangs_bundle_is_read():
    """Every entry of a bundle made by clang is there, host code without a target."""
    entries = read_bundle(code_object("kernels.bundle"), "m")
    assert [str(each.target) for each in entries] == ["None", "gfx90a:xnack-", "gfx90a:xnack+", "gfx1100"] or {
        str(each.target) for each in entries
    } == {"None", "gfx90a:xnack-", "gfx90a:xnack+", "gfx1100"}
    for entry in entries:
        if entry.target is not None:
            assert str(read_code_object(entry.data, "m").target) == str(entry.target)


@pytest.mark.parametrize(
    ("device", "chosen"),
    [
        ("gfx90a:sramecc+:xnack-", "gfx90a:xnack-"),
        ("gfx90a:sramecc+:xnack+", "gfx90a:xnack+"),
        ("gfx1100", "gfx1100"),
    ],
)
def test_the_entry_for_the_device_is_chosen(device, chosen):
    """The entry is taken whose processor and features are the device's."""
    data = choose_code_object(code_object("kernels.bundle"), Target.read(device), "m")
    assert str(read_code_object(data, "m").target) == chosen


def test_the_closer_entry_wins():
    """Where several fit, a processor's own code comes before generic code, and more features before fewer."""
    entries = (
        ("hipv4-amdgcn-amd-amdhsa--gfx9-generic:xnack+", b"generic"),
        ("hipv4-amdgcn-amd-amdhsa--gfx906", b"plain"),
        ("hipv4-amdgcn-amd-amdhsa--gfx906:xnack+", b"exact"),
        ("hipv4-amdgcn-amd-amdhsa--gfx906:xnack-", b"other"),
    )
    device = Target.read("gfx906:sramecc-:xnack+")
    assert choose_code_object(bundle(*entries), device, "m") == b"exact"
    assert choose_code_object(bundle(*entries[:2]), device, "m") == b"plain"
    assert choose_code_object(bundle(*entries[:1]), device, "m") == b"generic"


def test_a_bundle_without_the_device_names_what_it_holds():
    """The refusal lists the targets in the bundle, the device, and the option that adds it."""
    with pytest.raises(ModuleLoadError) as refused:
        choose_code_object(code_object("kernels.bundle"), Target.read("gfx942:sramecc+:xnack-"), "norm")
    for part in (
        "'norm'",
        "gfx90a:xnack-",
        "gfx90a:xnack+",
        "gfx1100",
        "gfx942:sramecc+:xnack-",
        "--offload-arch=gfx942",
    ):
        assert part in str(refused.value)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_compressed_bundle_is_read(version):
    """Bundles compressed with zlib are read, whatever the version of their header."""
    plain = bundle(("hipv4-amdgcn-amd-amdhsa--gfx906", b"code of gfx906"))
    assert choose_code_object(compressed(plain, version), Target.read("gfx906"), "m") == b"code of gfx906"


def test_clangs_compressed_bundle_is_read_or_its_compression_named():
    """clang compresses with zstd where it can: read from Python 3.14 on, else refused with what to do."""
    data = code_object("kernels.compressed")
    if HAS_ZSTD or data[6] == 0:
        chosen = choose_code_object(data, Target.read("gfx1100"), "m")
        assert str(read_code_object(chosen, "m").target) == "gfx1100"
    else:
        with pytest.raises(ModuleLoadError, match="--no-offload-compress"):
            choose_code_object(data, Target.read("gfx1100"), "m")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (MAGIC, "cut short"),
        (MAGIC + struct.pack("<Q", 2**40), "claims 1099511627776 entries"),
        (MAGIC + struct.pack("<Q", 2), "cut short"),
        (MAGIC + struct.pack("<QQQQ", 1, 0, 5, 2**50), "past the end of the file"),
        (MAGIC + struct.pack("<QQQQ", 1, 2**60, 5, 1) + b"h", "the file has 57 bytes"),
        (b"CCOB", "cut short"),
        (b"CCOB" + struct.pack("<HH", 9, 0), "version 9"),
        (compressed(b"x" * 100, 2, claims=2**31 + 7)[:-3], "bytes uncompressed"),
        (compressed(b"x" * 100, 2, claims=99), "holds 100 bytes uncompressed, its header says 99"),
        (compressed(b"x" * 100, 2, method=7), "method 7"),
        (compressed(b"x" * 100, 2), "does not begin as an offload bundle"),
        (compressed(b"x" * 100, 2)[:24] + b"damaged", "zlib data is damaged"),
    ],
)
def test_a_damaged_bundle_is_refused(data, why):
    """Lengths that point past the end, counts that cannot be and damaged compression raise and say so."""
    with pytest.raises(ModuleLoadError, match=why):
        choose_code_object(data, Target.read("gfx906"), "m")
