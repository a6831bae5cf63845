"""Finding code: suffixes, alternatives, contents, and what is said when there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metrale_gpu_runtime.capabilities import Capabilities
from metrale_gpu_runtime.errors import CodeNotFound, ModuleLoadError
from metrale_gpu_runtime.modules.sources import find_code

PTX = b"// made by hand\n/* two\nlines */ .version 8.0\n.target sm_80\n.address_size 64\n"
CPU = Capabilities(backend="cpu", device="cpu", code_formats=("ptx",), source_languages=("cuda-c",))
CUDA = Capabilities(backend="cuda", device="gpu", code_formats=("cubin", "fatbin", "ptx"), source_languages=("cuda-c",))
METAL = Capabilities(backend="metal", device="M2", code_formats=("metallib", "msl"))
MOCK = Capabilities(backend="mock", device="mock", code_formats=("any",))
CUBIN = b"\x7fELF\x02\x01\x01\x33" + bytes(10) + (190).to_bytes(2, "little") + bytes(40)
CODE_OBJECT = b"\x7fELF\x02\x01\x01\x40" + bytes(10) + (224).to_bytes(2, "little") + bytes(40)


def write(folder: Path, **files: bytes) -> None:
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)


def test_a_suffix_names_the_form(tmp_path: Path) -> None:
    """A path with a known suffix is that file, whatever lies beside it."""
    write(tmp_path, norm_cu=b"__global__ void k() {}", norm_ptx=PTX)
    found = find_code("norm", tmp_path / "norm.cu", capabilities=CPU)
    assert (found.format, found.data, found.path) == ("cuda-c", b"__global__ void k() {}", tmp_path / "norm.cu")
    assert found.is_source
    assert not find_code("norm", str(tmp_path / "norm.ptx"), capabilities=CPU).is_source


def test_a_path_without_suffix_takes_the_backends_first_form(tmp_path: Path) -> None:
    """Without a suffix the first form in the backend's own order is taken, not the newest file."""
    write(tmp_path, norm_cu=b"int x;", norm_ptx=PTX, norm_cubin=CUBIN, norm_metal=b"kernel void k() {}")
    os.utime(tmp_path / "norm.ptx", (1, 1))
    expected = {"cpu": "ptx", "cuda": "cubin", "metal": "msl", "mock": "ptx"}
    for capabilities in (CPU, CUDA, METAL, MOCK):
        found = find_code("norm", tmp_path / "norm", capabilities=capabilities)
        assert found.format == expected[capabilities.backend]


def test_a_stem_with_a_dot_is_no_suffix(tmp_path: Path) -> None:
    """A dotted stem is completed like any other."""
    (tmp_path / "norm.v2.cu").write_bytes(b"int x;")
    found = find_code("norm", tmp_path / "norm.v2", capabilities=CPU)
    assert found.path == tmp_path / "norm.v2.cu"


def test_alternatives_pick_by_the_same_order(tmp_path: Path) -> None:
    """A mapping from suffix to path gives the backend's first form in it."""
    write(tmp_path, a_cu=b"int a;", b_ptx=PTX, c_metal=b"kernel void k() {}")
    paths = {".cu": tmp_path / "a.cu", "metal": tmp_path / "c.metal", ".ptx": tmp_path / "b.ptx"}
    assert find_code("m", paths, capabilities=CPU).path == tmp_path / "b.ptx"
    assert find_code("m", paths, capabilities=METAL).path == tmp_path / "c.metal"
    texts = {".cu": "int a;", ".metal": "kernel void k() {}"}
    found = find_code("m", source=texts, capabilities=METAL)
    assert (found.format, found.text()) == ("msl", "kernel void k() {}")
    with pytest.raises(
        ModuleLoadError, match=r"given Metal source \(\.metal\); cpu takes PTX \(\.ptx\), CUDA C \(\.cu\)"
    ):
        find_code("m", {".metal": tmp_path / "c.metal"}, capabilities=CPU)
    with pytest.raises(ModuleLoadError, match="no suffix of code"):
        find_code("m", {".txt": tmp_path / "c.metal"}, capabilities=CPU)


def test_a_missing_file_lists_what_was_looked_for_and_what_is_there(tmp_path: Path) -> None:
    """The FileNotFoundError names the paths tried, the code in the folder, and what the backend takes."""
    write(tmp_path, rms_cu=b"int x;", rope_metal=b"x", note_txt=b"x")
    with pytest.raises(CodeNotFound) as caught:
        find_code("norm", tmp_path / "norm", capabilities=CPU)
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.looked_for == tuple(str(tmp_path / name) for name in ("norm.ptx", "norm.cu", "norm.cuh"))
    assert "rms.cu, rope.metal" in str(caught.value)
    assert "note.txt" not in str(caught.value)
    assert "cpu takes PTX (.ptx), CUDA C (.cu)" in str(caught.value)
    with pytest.raises(CodeNotFound, match=r"no code at .*norm\.ptx"):
        find_code("norm", tmp_path / "norm.ptx", capabilities=CPU)
    with pytest.raises(CodeNotFound, match="is a folder, not a file with code"):
        find_code("norm", tmp_path, capabilities=CPU)
    with pytest.raises(CodeNotFound, match=r"\. is a folder"):
        find_code("norm", Path("."), capabilities=CPU)
    with pytest.raises(CodeNotFound, match="there is no folder"):
        find_code("norm", tmp_path / "gone" / "norm.cu", capabilities=CPU)


def test_a_form_the_backend_does_not_take_is_refused(tmp_path: Path) -> None:
    """The refusal names the form found and those taken."""
    write(tmp_path, k_metal=b"kernel void k() {}")
    with pytest.raises(ModuleLoadError, match=r"k\.metal is Metal source; cpu takes PTX"):
        find_code("m", tmp_path / "k.metal", capabilities=CPU)
    assert find_code("m", tmp_path / "k.metal", capabilities=MOCK).format == "msl"


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (PTX, "ptx"),
        (b'.file 1 "a.cu"\n' + PTX, "ptx"),
        (CUBIN, "cubin"),
        (CODE_OBJECT, "hsaco"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + bytes(9), "hsaco"),
        ((0xBA55ED50).to_bytes(4, "little") + bytes(12), "fatbin"),
        (b"MTLB" + bytes(9), "metallib"),
        ((0x07230203).to_bytes(4, "little") + bytes(9), "spirv"),
        (b"BC\xc0\xde" + bytes(9), "llvm-bitcode"),
        (b"anything else", "any"),
    ],
)
def test_bytes_are_known_by_their_first_bytes(data: bytes, form: str) -> None:
    """`binary=` is recognised by content."""
    assert find_code("m", binary=data, capabilities=MOCK).format == form


def test_contents_that_contradict_the_suffix_are_refused(tmp_path: Path) -> None:
    """A file whose contents are not what its suffix says is refused, naming both."""
    write(tmp_path, a_cubin=PTX, b_ptx=CUBIN, c_cu=PTX, d_ptx=b"hello", e_cubin=b"\x7fELF\x02" + bytes(60))
    for name, message in {
        "a.cubin": "should be a cubin by its suffix but is PTX",
        "b.ptx": "should be PTX by its suffix but is a cubin",
        "c.cu": "should be CUDA C by its suffix but is PTX",
        "d.ptx": "should be PTX by its suffix but is text that is not PTX",
        "e.cubin": "ELF file for machine 0",
    }.items():
        with pytest.raises(ModuleLoadError, match=message):
            find_code("m", tmp_path / name, capabilities=CUDA)


def test_bytes_a_backend_cannot_take_are_refused_by_what_they_are() -> None:
    """A binary of another vendor is named."""
    with pytest.raises(ModuleLoadError, match=r"the binary is an AMD code object; cuda takes a cubin"):
        find_code("m", binary=CODE_OBJECT, capabilities=CUDA)
    with pytest.raises(ModuleLoadError, match=r"text that is not PTX.*source="):
        find_code("m", binary=b"__global__ void k() {}", capabilities=CPU)
    with pytest.raises(ModuleLoadError, match="07 08 09"):
        find_code("m", binary=b"\x07\x08\x09\x00\xff", capabilities=CPU)


@pytest.mark.parametrize("data", [b"", b" \n\t"])
def test_empty_code_is_refused(tmp_path: Path, data: bytes) -> None:
    """Nothing is loaded from nothing."""
    (tmp_path / "k.cu").write_bytes(data)
    with pytest.raises(ModuleLoadError, match="empty"):
        find_code("m", tmp_path / "k.cu", capabilities=CPU)
    with pytest.raises(ModuleLoadError, match="empty"):
        find_code("m", source=data.decode(), capabilities=CPU)
    with pytest.raises(ModuleLoadError, match="empty"):
        find_code("m", binary=b"", capabilities=CPU)


def test_source_that_is_not_utf8_names_line_and_byte(tmp_path: Path) -> None:
    """CUDA C is UTF-8; a byte-order mark is taken off, another encoding is refused with its place."""
    (tmp_path / "a.cu").write_bytes(b"int x;\n// caf\xe9\n")
    with pytest.raises(ModuleLoadError, match="line 2 holds the byte 0xe9"):
        find_code("m", tmp_path / "a.cu", capabilities=CPU)
    (tmp_path / "b.cu").write_bytes("int x;".encode("utf-16"))
    with pytest.raises(ModuleLoadError, match="looks like UTF-16"):
        find_code("m", tmp_path / "b.cu", capabilities=CPU)
    (tmp_path / "c.cu").write_bytes(b"\xef\xbb\xbfint x;")
    assert find_code("m", tmp_path / "c.cu", capabilities=CPU).data == b"int x;"
    with pytest.raises(ModuleLoadError, match="cannot be written as UTF-8"):
        find_code("m", source="int \udc80;", capabilities=CPU)


def test_a_text_is_ptx_or_the_backends_language() -> None:
    """`source=` is PTX where it says so, else the language that the backend compiles."""
    assert find_code("m", source=PTX.decode(), capabilities=CPU).format == "ptx"
    assert find_code("m", source="__global__ void k() {}", capabilities=CPU).format == "cuda-c"
    assert find_code("m", source="kernel void k() {}", capabilities=METAL).format == "msl"
    assert find_code("m", source="__global__ void k() {}", capabilities=MOCK).format == "cuda-c"
    assert find_code("m", source="something", capabilities=MOCK).format == "any"
    with pytest.raises(ModuleLoadError, match="the source is PTX; metal takes"):
        find_code("m", source=PTX.decode(), capabilities=METAL)


def test_exactly_one_of_path_source_and_binary() -> None:
    """None or two of them is a mistake of the call."""
    with pytest.raises(TypeError, match="given: none"):
        find_code("m", capabilities=CPU)
    with pytest.raises(TypeError, match="given: path, binary"):
        find_code("m", "k.cu", binary=b"x", capabilities=CPU)
    with pytest.raises(TypeError, match="pass text as source="):
        find_code("m", binary="text", capabilities=CPU)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pass bytes as binary="):
        find_code("m", source=b"text", capabilities=CPU)  # type: ignore[arg-type]


def test_a_file_of_unknown_suffix_is_known_by_its_contents(tmp_path: Path) -> None:
    """A name without a code suffix is no obstacle where the contents tell."""
    (tmp_path / "kernels.bin").write_bytes(CUBIN)
    assert find_code("m", tmp_path / "kernels.bin", capabilities=CUDA).format == "cubin"
    (tmp_path / "kernels.txt").write_bytes(b"int x;")
    with pytest.raises(ModuleLoadError, match=r"none of the suffixes \.cubin \.fatbin \.ptx \.cu"):
        find_code("m", tmp_path / "kernels.txt", capabilities=CUDA)


def test_ptx_behind_a_byte_order_mark_is_told_so(tmp_path: Path) -> None:
    """Windows editors write one; no PTX compiler takes it. CUDA C is taken without it."""
    marked = b"\xef\xbb\xbf" + PTX
    write(tmp_path, k_ptx=marked, k_cu=b"\xef\xbb\xbf__global__ void k() {}")
    for backend in (CPU, CUDA):
        for given in ({"path": tmp_path / "k.ptx"}, {"source": marked.decode()}, {"binary": marked}):
            with pytest.raises(
                ModuleLoadError, match=r"is PTX behind a byte order mark \(ef bb bf\).*UTF-8 without one"
            ):
                find_code("m", capabilities=backend, **given)  # type: ignore[arg-type]
    assert find_code("m", tmp_path / "k.cu", capabilities=CUDA).data == b"__global__ void k() {}"


def test_a_zero_byte_inside_ptx_is_refused_with_its_line(tmp_path: Path) -> None:
    """A driver would load what stands before it and drop the rest without a word; zeros at the end are harmless."""
    cut = PTX + b".visible .entry a() { ret; }\n\0.visible .entry b() { ret; }\n"
    write(tmp_path, cut_ptx=cut, ended_ptx=PTX + b"\0\0")
    for given in ({"path": tmp_path / "cut.ptx"}, {"source": cut.decode()}, {"binary": cut}):
        with pytest.raises(ModuleLoadError, match="is PTX with a zero byte in line 7"):
            find_code("m", capabilities=CUDA, **given)  # type: ignore[arg-type]
    assert find_code("m", tmp_path / "ended.ptx", capabilities=CUDA).format == "ptx"
