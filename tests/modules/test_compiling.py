"""Choosing the compiler, and remembering what was compiled."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.errors import BackendUnavailable, CompileError, NotSupported
from metrale_gpu_runtime.modules import nvrtc_library
from metrale_gpu_runtime.modules.cache import COMPILED, CompileMemo
from metrale_gpu_runtime.modules.cache.keys import compile_key
from metrale_gpu_runtime.modules.compiling import compile_cuda
from metrale_gpu_runtime.modules.nvrtc import CompiledPtx
from metrale_gpu_runtime.ptx.parser import parse

KERNEL = 'extern "C" __global__ void k(int* x) { *x = CONSTANT; }\n'
MIXED = """#include <vector>
#include "c.h"
__global__ void add(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] += CONSTANT; }
int main() {
  std::vector<float> v(3);
  add<<<1, 3>>>(v.data(), 3);
}
"""


@pytest.fixture
def without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")


def test_host_code_without_nvcc_is_named_with_the_remedy(tmp_path: Path, without_nvcc: None) -> None:
    """The error names the host function, the launch and the headers by line, and says what to do."""
    require_rung("nvrtc")
    (tmp_path / "c.h").write_text("#define CONSTANT 3\n")
    path = tmp_path / "app.cu"
    with pytest.raises(CompileError) as caught:
        compile_cuda("app", MIXED, path=path)
    text = str(caught.value)
    assert "the host function main() at line 4" in text
    assert "the launch of add with <<<…>>> at line 6" in text
    assert "the host header <vector> at line 1" in text
    assert "Move the kernels to a file of their own" in text
    assert "nvcc is on PATH" in text
    assert caught.value.module == "app"
    assert caught.value.log


def test_a_helper_without_device_is_told_so(without_nvcc: None) -> None:
    """A helper that only lacks __device__ is named with that remedy first."""
    require_rung("nvrtc")
    source = (
        'static inline int half_of(int x) { return x / 2; }\nextern "C" __global__ void k(int* x) { *x = half_of(*x); }'
    )
    with pytest.raises(
        CompileError, match=r"the host function half_of\(\) at line 1\. A function that kernels call needs"
    ):
        compile_cuda("m", source)


def test_host_code_guarded_from_nvrtc_compiles(without_nvcc: None) -> None:
    """The remedy that the error names works."""
    require_rung("nvrtc")
    guarded = (
        "#ifndef __CUDACC_RTC__\n#include <vector>\nint main() { return 0; }\n#endif\n#define CONSTANT 7\n" + KERNEL
    )
    assert [kernel.name for kernel in parse(compile_cuda("m", guarded).ptx).kernels()] == ["k"]


def test_host_code_goes_to_nvcc_where_it_is(tmp_path: Path) -> None:
    """A file with host code is compiled by nvcc, with the caller's path in its line information."""
    require_rung("nvrtc")
    require_rung("nvcc")
    (tmp_path / "c.h").write_text("#define CONSTANT 3\n")
    result = compile_cuda("app", MIXED, path=tmp_path / "app.cu")
    assert result.compiler == "nvcc"
    module = parse(result.ptx)
    assert [kernel.name for kernel in module.kernels()] == ["_Z3addPfi"]
    assert str(tmp_path / "app.cu") in module.files.values()
    with pytest.raises(CompileError, match="nvcc refused it"):
        compile_cuda("app", MIXED.replace("y[threadIdx.x]", "z[0]"), path=tmp_path / "app.cu")
    with pytest.raises(NotSupported, match="no name expressions"):
        compile_cuda("app", MIXED, path=tmp_path / "app.cu", names=("add",))


def test_nvcc_serves_where_there_is_no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> None:
    """nvcc alone is enough; with neither the error is NVRTC's."""
    require_rung("nvcc")
    monkeypatch.setattr(nvrtc_library, "_search", lambda: ("nowhere",))
    assert compile_cuda("m", "#define CONSTANT 2\n" + KERNEL).compiler == "nvcc"
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(BackendUnavailable):
        compile_cuda("m", "#define CONSTANT 2\n" + KERNEL)


def test_an_edited_header_is_compiled_anew(tmp_path: Path) -> None:
    """A changed constant in a header, or a changed -D, is seen at once; what is unchanged is not compiled again."""
    require_rung("nvrtc")
    (tmp_path / "c.h").write_text("#include <inner/d.h>\n")
    (tmp_path / "inner").mkdir()
    inner = tmp_path / "inner" / "d.h"
    source = '#include "c.h"\n' + KERNEL

    def compiled(*options: str) -> str:
        return compile_cuda("m", source, path=tmp_path / "k.cu", options=options).ptx.decode()

    inner.write_text("#define CONSTANT 1234\n")
    assert "1234" in compiled()
    hits = COMPILED.hits
    assert "1234" in compiled()
    assert COMPILED.hits == hits + 1
    inner.write_text("#define CONSTANT 5678\n")
    assert "5678" in compiled()
    inner.write_text("#define CONSTANT OTHER\n")
    assert "4321" in compiled("-DOTHER=4321")
    assert "8765" in compiled("-DOTHER=8765")


def key(source: str = "x", **changed: object) -> str | None:
    given: dict[str, object] = {
        "name": "k.cu",
        "options": (),
        "names": (),
        "architecture": "compute_80",
        "debug": False,
        "include_paths": (),
        "compiler": "NVRTC 13.0",
    }
    return compile_key(source, **{**given, **changed})  # type: ignore[arg-type]


def test_everything_that_changes_the_result_changes_the_key() -> None:
    """Text, name, options, names, architecture, debugging and compiler are all in the key."""
    keys = [
        key(),
        key("y"),
        key(name="other.cu"),
        key(options=("-DA=1",)),
        key(options=("-DA=12",)),
        key(options=("-DA=1", "-DB")),
        key(names=("a<int>",)),
        key(architecture="compute_90"),
        key(debug=True),
        key(compiler="NVRTC 13.1"),
    ]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert key() == key()


def test_headers_are_found_as_the_compiler_finds_them(tmp_path: Path) -> None:
    """Quotes look beside the file first, -I folders come in their order, and a new header in front counts."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (second / "h.h").write_text("2")
    options = (f"-I{first}", "--include-path", str(second))
    before = key("#include <h.h>", options=options)
    assert before == key("#include <h.h>", options=options)
    (second / "h.h").write_text("3")
    changed = key("#include <h.h>", options=options)
    (first / "h.h").write_text("1")
    assert len({before, changed, key("#include <h.h>", options=options)}) == 3
    for written in (
        (f"-I{first}",),
        ("-I", str(first)),
        (f"-I {first}",),
        (f"-I={first}",),
        (f" --include-path={first}",),
    ):
        (first / "h.h").write_text("1")
        one = key("#include <h.h>", options=written)
        (first / "h.h").write_text("4")
        assert key("#include <h.h>", options=written) != one


def test_what_cannot_be_told_is_not_remembered(tmp_path: Path) -> None:
    """A computed include or a pre-include gives no key, and nothing is kept without one."""
    assert key("#include HEADER\n") is None
    for option in ("--pre-include=x.h", "-include=x.h", "-DA=1 -I/somewhere"):
        assert key(options=(option,)) is None
    assert key("#\\\ninclude HEADER\n") is None
    memo = CompileMemo()
    memo.put(None, CompiledPtx(b"x", "", (13, 0)))
    assert memo.get(None) is None


def test_headers_that_include_each_other_end(tmp_path: Path) -> None:
    """A cycle of includes is followed once."""
    (tmp_path / "a.h").write_text('#include "b.h"')
    (tmp_path / "b.h").write_text('#include "a.h"')
    assert key('#include "a.h"', include_paths=(tmp_path,)) is not None


def test_the_memo_forgets_the_oldest() -> None:
    """It keeps the most recent results only."""
    memo = CompileMemo(most=2)
    results = {name: CompiledPtx(name.encode(), "", (13, 0)) for name in "abc"}
    for name, result in results.items():
        memo.put(name, result)
    assert [memo.get(name) for name in "abc"] == [None, results["b"], results["c"]]


def test_nvcc_is_looked_for_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An nvcc that cannot be started is an error that says so."""
    from metrale_gpu_runtime.modules.nvcc import compile_ptx_by_nvcc

    fake = tmp_path / "nvcc"
    fake.write_text("no program")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("nvcc") == str(fake)
    with pytest.raises(CompileError, match="nvcc could not be run"):
        compile_ptx_by_nvcc(str(fake), "int x;", name="k.cu")


def test_a_text_without_a_file_is_named_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line information of a given text names `module.cu`, with no folder before it; a file keeps its path."""
    require_rung("nvrtc")
    (tmp_path / "b (1)").mkdir()
    path = tmp_path / "b (1)" / "filed.cu"
    source = KERNEL.replace("CONSTANT", "40523")
    path.write_text(source)
    monkeypatch.chdir(path.parent)
    for debug in (False, True):
        given = parse(compile_cuda("given", source, debug=debug).ptx).files
        assert list(given.values()) == ["given.cu"]
        filed = parse(compile_cuda("filed", source, path=path, debug=debug).ptx).files
        assert list(filed.values()) == [str(path)]
