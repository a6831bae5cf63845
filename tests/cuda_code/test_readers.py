"""Cubins and fatbins made by nvcc 13.0, read; damaged ones refused, quickly and as ModuleLoadError."""

from __future__ import annotations

import struct

import pytest
from artefacts import data
from hypothesis import given, settings
from hypothesis import strategies as st

from metrale_gpu_runtime.cuda_images import best_entry, read_cubin, read_fatbin
from metrale_gpu_runtime.errors import ModuleLoadError
from metrale_gpu_runtime.ptx.parser import parse


@pytest.mark.parametrize(
    ("file", "architecture"),
    [
        ("one.sm_75.cubin", "sm_75"),
        ("one.sm_90.cubin", "sm_90"),
        ("one.sm_90a.cubin", "sm_90a"),
        ("one.sm_100.cubin", "sm_100"),
        ("one.sm_100a.cubin", "sm_100a"),
        ("one.sm_100f.cubin", "sm_100"),  # a family leaves no mark: its machine code is the plain one's
        ("one.sm_121.cubin", "sm_121"),
    ],
)
def test_a_cubin_says_what_it_is_for(file: str, architecture: str) -> None:
    """Architecture and `a` from the header and the compatibility records."""
    cubin = read_cubin(data(file), "m")
    assert (str(cubin.architecture), list(cubin.kernels), cubin.is_relocatable) == (architecture, ["mark"], False)
    assert cubin.kernels["mark"].parameters == ((0, 8), (8, 4))


@pytest.mark.parametrize(
    ("flags", "architecture"), [(0x00500550, "sm_80"), (0x005A0D5A, "sm_90a"), (0x5A055A, "sm_90")]
)
def test_the_header_of_older_toolkits_is_read(flags: int, architecture: str) -> None:
    """Up to CUDA 12 the architecture is the low byte and `a` is 0x800 (llvm/BinaryFormat/ELF.h)."""
    old = bytearray(data("one.sm_90.cubin"))
    old[7:9] = b"\x33\x07"
    struct.pack_into("<I", old, 48, flags)
    assert str(read_cubin(bytes(old), "m").architecture) == architecture


def test_a_layout_newer_than_ours_has_no_architecture() -> None:
    """What is not known is left to the driver."""
    new = bytearray(data("one.sm_90.cubin"))
    new[8] = 9
    assert read_cubin(bytes(new), "m").architecture is None


def test_the_parameters_of_a_cubin_are_those_of_its_ptx() -> None:
    """Offsets and sizes of every kernel agree with the PTX of the same source; 20,000 bytes included."""
    cubin, text = read_cubin(data("kernels.cubin"), "m"), parse(data("kernels.ptx"), name="m")
    declared = {
        kernel.name: tuple(
            (offset, each.nbytes) for offset, each in zip(kernel.parameter_offsets(), kernel.parameters, strict=True)
        )
        for kernel in text.kernels()
    }
    assert {name: facts.parameters for name, facts in cubin.kernels.items()} == declared
    assert declared["scale"] == ((0, 8), (8, 8), (16, 4), (20, 4), (24, 24), (48, 2))
    assert declared["large"] == ((0, 20000), (20000, 8))
    assert declared["bare"] == ()


def test_block_sizes_are_read() -> None:
    """__launch_bounds__ and __block_size__ from the cubin, as the PTX has them."""
    kernels = read_cubin(data("kernels.cubin"), "m").kernels
    assert (kernels["scale"].max_block, kernels["scale"].required_block) == ((192, 1, 1), None)
    assert (kernels["fixed"].max_block, kernels["fixed"].required_block) == (None, (32, 3, 1))
    assert (kernels["bare"].max_block, kernels["bare"].required_block) == (None, None)


def test_a_cubin_to_be_linked_says_what_it_lacks() -> None:
    """Compiled with -rdc=true: relocatable, with the functions it calls and those it defines."""
    calls, defines = read_cubin(data("calls.cubin"), "m"), read_cubin(data("defines.cubin"), "m")
    assert (calls.is_relocatable, calls.undefined, calls.definitions) == (True, ("twice",), ("apply",))
    assert (defines.device_functions, defines.kernels, defines.undefined) == (("twice",), {}, ())


def test_the_images_of_a_fatbin_are_listed() -> None:
    """Every image with its architecture and PTX version; what is compressed has no payload."""
    entries = read_fatbin(data("one.fatbin"), "m")
    assert sorted(map(str, entries)) == [
        "PTX 9.0 for sm_100f",
        "PTX 9.0 for sm_80",
        "cubin for sm_100f",
        "cubin for sm_80",
        "cubin for sm_90a",
    ]
    assert {entry.kind for entry in entries if entry.payload is None} == {"ptx"}
    assert [str(entry) for entry in read_fatbin(data("one.lto.fatbin"), "m")] == ["LTO-IR for sm_90"]


@pytest.mark.parametrize(
    ("device", "chosen"),
    [
        ((8, 0), "cubin for sm_80"),
        ((8, 9), "cubin for sm_80"),
        ((9, 0), "cubin for sm_90a"),
        ((10, 3), "cubin for sm_100f"),
        ((12, 0), "PTX 9.0 for sm_80"),
        ((7, 5), "None"),
    ],
)
def test_the_image_that_a_driver_takes(device: tuple[int, int], chosen: str) -> None:
    """Machine code before PTX, and of each the latest that fits."""
    assert str(best_entry(read_fatbin(data("one.fatbin"), "m"), device)) == chosen


def test_an_image_that_is_not_compressed_can_be_read() -> None:
    """The payload is the image, byte for byte."""
    kinds = {entry.kind: entry.payload for entry in read_fatbin(data("one.plain.fatbin"), "m")}
    assert kinds["cubin"] is not None
    assert kinds["ptx"] is not None
    assert list(read_cubin(kinds["cubin"], "m").kernels) == ["mark"]
    assert b".entry mark" in kinds["ptx"]


def test_a_wrapper_around_an_address_is_no_fatbin() -> None:
    """What nvcc puts into programs points to a fatbin elsewhere."""
    with pytest.raises(ModuleLoadError, match="wrapper that a program keeps"):
        read_fatbin(struct.pack("<IIQQ", 0x466243B1, 1, 0x1234, 0), "m")


def test_a_32_bit_cubin_is_refused() -> None:
    """No 64-bit process loads one."""
    with pytest.raises(ModuleLoadError, match="32-bit programs"):
        read_cubin(data("one.sm_90.cubin")[:4] + b"\x01" + data("one.sm_90.cubin")[5:], "m")


def read(kind: str, damaged: bytes) -> None:
    """Parse: a value or ModuleLoadError, nothing else."""
    try:
        if kind == "cubin":
            read_cubin(damaged, "m")
        else:
            read_fatbin(damaged, "m")
    except ModuleLoadError:
        return


@pytest.mark.parametrize(
    "file", ["one.sm_90.cubin", "one.sm_100a.cubin", "kernels.cubin", "debug.cubin", "calls.cubin", "one.fatbin"]
)
def test_cut_files_are_refused(file: str) -> None:
    """Each length short of the whole, a step apart: damaged, and said so."""
    whole = data(file)
    for nbytes in range(0, len(whole) - 1, max(1, len(whole) // 97)):
        with pytest.raises(ModuleLoadError):
            read_cubin(whole[:nbytes], "m") if file.endswith("cubin") else read_fatbin(whole[:nbytes], "m")


FILES = st.sampled_from(
    ["one.sm_75.cubin", "one.sm_90a.cubin", "one.sm_100.cubin", "kernels.cubin", "one.fatbin", "one.plain.fatbin"]
)
CHANGE = st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8))


@settings(max_examples=300)
@given(FILES, st.lists(CHANGE, min_size=1, max_size=12), st.floats(0.5, 1))
def test_damaged_files_are_parsed_or_refused(file: str, changes: list[tuple[float, bytes]], kept: float) -> None:
    """Random bytes at random places of real files, and cuts: a value or ModuleLoadError, never another exception."""
    damaged = bytearray(data(file))
    for place, replacement in changes:
        at = int(place * len(damaged))
        damaged[at : at + len(replacement)] = replacement
    read(file.rsplit(".", 1)[1], bytes(damaged[: int(kept * len(damaged))]))


@settings(max_examples=300)
@given(
    st.sampled_from(["one.sm_90.cubin", "kernels.cubin", "calls.cubin"]),
    st.integers(0, 63),
    st.binary(min_size=1, max_size=8),
    st.floats(0, 1, exclude_max=True),
    st.binary(min_size=1, max_size=8),
)
def test_damaged_headers_are_parsed_or_refused(file: str, at: int, first: bytes, place: float, second: bytes) -> None:
    """The same where it hurts most: in the header and in the section table."""
    damaged = bytearray(data(file))
    table, count = struct.unpack_from("<Q", damaged, 40)[0], struct.unpack_from("<H", damaged, 60)[0]
    damaged[at : at + len(first)] = first
    there = table + int(place * count * 64)
    damaged[there : there + len(second)] = second
    read("cubin", bytes(damaged))


@settings(max_examples=200)
@given(st.integers(0, 79), st.binary(min_size=1, max_size=8))
def test_damaged_fatbin_headers_are_parsed_or_refused(at: int, replacement: bytes) -> None:
    """The container's and the first image's header."""
    damaged = bytearray(data("one.fatbin"))
    damaged[at : at + len(replacement)] = replacement
    read("fatbin", bytes(damaged))
