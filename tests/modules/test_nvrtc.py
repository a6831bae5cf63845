"""CUDA C through NVRTC: headers, names, line information, and what is said when it is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.errors import BackendUnavailable, CompileError
from metrale_gpu_runtime.modules import nvrtc_library
from metrale_gpu_runtime.modules.nvrtc import compile_ptx, parse_diagnostics
from metrale_gpu_runtime.modules.nvrtc_library import OWN_HEADERS
from metrale_gpu_runtime.ptx.parser import parse

require_rung("nvrtc")

KERNEL = '\nextern "C" __global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 3.0f; }\n'
OURS = [path for path in sorted(OWN_HEADERS.iterdir()) if path.is_file()]
# The others hand on to CCCL's C++ library, which takes its time.
LIGHT_HEADERS = [path.name for path in OURS if f"cuda/std/{path.name}" not in path.read_text()]


def test_a_kernel_becomes_ptx_with_lines() -> None:
    """The PTX is for the architecture asked for, ends without a zero byte, and carries the source's lines."""
    result = compile_ptx(KERNEL, name="/some/where/k.cu", architecture="compute_90")
    module = parse(result.ptx)
    assert module.target == "sm_90"
    assert [kernel.name for kernel in module.kernels()] == ["k"]
    assert list(module.files.values()) == ["/some/where/k.cu"]
    body = module.functions["k"].body or ()
    lines = {each.source.line for each in body if getattr(each, "source", None) is not None}
    assert lines == {2}
    assert not result.ptx.endswith(b"\0")
    assert result.compiler == "NVRTC"
    assert result.version[0] >= 12


def test_the_callers_options_win() -> None:
    """An architecture or macro among the options is the one that counts."""
    source = "#if !defined(SCALE) || SCALE != 7\n#error no scale\n#endif" + KERNEL
    result = compile_ptx(source, name="k.cu", options=("-DSCALE=7", "-arch=compute_86"), architecture="compute_80")
    assert parse(result.ptx).target == "sm_86"


@pytest.mark.parametrize("header", LIGHT_HEADERS)
def test_each_header_of_ours_compiles(header: str) -> None:
    """Every header that NVRTC lacks and we bring can be included by itself."""
    assert b".entry k" in compile_ptx(f"#include <{header}>{KERNEL}", name="k.cu").ptx


def test_all_headers_of_ours_compile_together() -> None:
    """All our headers in one file, forwards and backwards, redefine nothing that is an error."""
    names = [path.name for path in OURS]
    source = "".join(f"#include <{name}>\n" for name in [*names, *reversed(names)])
    assert b".entry k" in compile_ptx(source + KERNEL, name="k.cu").ptx


@pytest.mark.parametrize("header", ["cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h", "mma.h"])
def test_cudas_headers_are_found(header: str) -> None:
    """The header wheels are on the include path."""
    assert b".entry k" in compile_ptx(f"#include <{header}>{KERNEL}", name="k.cu").ptx


def test_cub_and_all_the_rest_in_one_file() -> None:
    """CUB's umbrella header, cuda.h and the C headers get along, and their types and names are the usual ones."""
    source = r"""
    #include <stdint.h>
    #include <stdio.h>
    #include <cub/cub.cuh>
    #include <cuda.h>
    #include <cuda_fp16.h>
    #include <math.h>
    #include <algorithm>
    #include <cfloat>
    #include <climits>
    #include <cmath>
    #include <cstdint>
    #include <type_traits>
    static_assert(sizeof(uint64_t) == 8 && sizeof(int8_t) == 1 && INT16_MAX == 32767 && UINT32_MAX == 4294967295u);
    static_assert(std::is_same<std::uint8_t, uint8_t>::value && sizeof(CUtensorMap) == 128 && INT_MIN < -INT_MAX);
    extern "C" __global__ void sum(float* x, const __grid_constant__ CUtensorMap map) {
        using Reduce = cub::BlockReduce<float, 96>;
        __shared__ typename Reduce::TempStorage storage;
        float total = Reduce(storage).Sum(std::sqrt(x[threadIdx.x]) + M_PI);
        if (threadIdx.x == 0) x[0] = std::isnan(total) ? FLT_MAX : std::min(total, INFINITY);
        if (total < 0) printf("%llu\n", static_cast<unsigned long long>(map.opaque[0]));
    }
    """
    assert [kernel.name for kernel in parse(compile_ptx(source, name="sum.cu").ptx).kernels()] == ["sum"]


def test_the_callers_header_is_never_hidden_by_ours(tmp_path: Path) -> None:
    """A folder of the caller's comes before our headers and CUDA's."""
    (tmp_path / "limits.h").write_text("#define MINE 5\n")
    source = "#include <limits.h>\n#if MINE != 5\n#error not mine\n#endif" + KERNEL
    compile_ptx(source, name="k.cu", include_paths=[tmp_path])
    compile_ptx(source, name="k.cu", options=(f"-I{tmp_path}",))


def test_name_expressions_come_back_as_symbols() -> None:
    """A template is instantiated by a name expression, whose symbol is told."""
    source = "template <class T, int N> __global__ void scale(T* x) { *x *= N; }"
    result = compile_ptx(source, name="k.cu", names=("scale<float, 3>", "scale<double, 5>"))
    assert result.lowered_names == {"scale<float, 3>": "_Z5scaleIfLi3EEvPT_", "scale<double, 5>": "_Z5scaleIdLi5EEvPT_"}
    assert {kernel.name for kernel in parse(result.ptx).kernels()} == set(result.lowered_names.values())


def test_a_refusal_shows_the_first_errors_and_keeps_all() -> None:
    """The message has the first errors with their source lines; the log and the diagnostics have every one."""
    source = KERNEL + "__global__ void z(int a) {\n  first = a;\n  second = a;\n  third = a;\n  fourth = a;\n}\n"
    with pytest.raises(CompileError) as caught:
        compile_ptx(source, name="/w/z.cu")
    error = caught.value
    text = str(error)
    assert '/w/z.cu(4): error: identifier "first" is undefined\n      first = a;' in text
    assert "third" in text
    assert "fourth" not in text
    assert "… and 1 more" in text
    assert [(file, line) for file, line, _ in error.diagnostics] == [("/w/z.cu", line) for line in (4, 5, 6, 7)]
    assert "fourth" in error.log


def test_a_missing_header_and_a_host_helper_get_their_advice() -> None:
    """The two refusals that people meet most say what to do."""
    with pytest.raises(CompileError, match=r'"nope\.h" was not found: name its folder with options=\("-I'):
        compile_ptx('#include "nope.h"' + KERNEL, name="k.cu")
    helper = "static inline int half_of(int x) { return x / 2; }" + KERNEL
    with pytest.raises(CompileError, match="write __device__ before it"):
        compile_ptx(helper, name="k.cu")
    compile_ptx(helper, name="k.cu", options=("--device-as-default-execution-space",))


def test_an_unknown_option_and_architecture_are_named() -> None:
    """NVRTC's word about an option is in the message."""
    with pytest.raises(CompileError, match="--no-such-option"):
        compile_ptx(KERNEL, name="k.cu", options=("--no-such-option",))
    with pytest.raises(CompileError, match="gpu-architecture"):
        compile_ptx(KERNEL, name="k.cu", architecture="compute_7")


def test_a_zero_byte_does_not_cut_the_source() -> None:
    """A zero byte would end the text for the compiler, so that the rest were lost without a word."""
    with pytest.raises(CompileError, match="line 3 holds a zero byte"):
        compile_ptx("int x;\n\n\0" + KERNEL, name="k.cu")


def test_without_nvrtc_the_error_says_where_it_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the places and the command that brings the compiler."""
    monkeypatch.setattr(nvrtc_library, "_search", lambda: ("/somewhere/libnvrtc.so* (not there)",))
    with pytest.raises(BackendUnavailable) as caught:
        compile_ptx(KERNEL, name="k.cu")
    assert "pip install 'metrale-gpu-runtime[nvrtc]'" in str(caught.value)
    assert "/somewhere/libnvrtc.so* (not there)" in str(caught.value)
    assert not nvrtc_library.is_available()


def test_the_search_names_every_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Wheels, CUDA_HOME, CUDA_PATH and the system's loader are looked at; a broken library is told with its reason."""
    (tmp_path / "home" / "lib64").mkdir(parents=True)
    (tmp_path / "home" / "lib64" / "libnvrtc.so.12").write_bytes(b"no library")
    monkeypatch.setattr(nvrtc_library, "_wheel_roots", lambda: [tmp_path / "wheels"])
    monkeypatch.setattr(nvrtc_library, "_toolkit_roots", lambda: [tmp_path / "home", Path(os.devnull)])
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    tried = nvrtc_library._search.__wrapped__()
    assert isinstance(tried, tuple)
    text = "\n".join(tried)
    assert f"{tmp_path}/wheels/cuda_nvrtc/lib/libnvrtc.so*" in text
    assert f"{tmp_path}/home/lib64/libnvrtc.so.12 (" in text
    assert "system's loader" in text


def test_the_wheels_of_both_layouts_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA 13 keeps all wheels in one folder, CUDA 12 one folder each; the newest comes first."""
    for folder in ("cu12/lib", "cu13/lib", "cuda_nvrtc/lib", "cuda_runtime/include", "cuda_cccl/include", "other/lib"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "cuda_runtime" / "include" / "cuda_fp16.h").touch()
    monkeypatch.setattr(nvrtc_library, "_wheel_roots", lambda: [tmp_path])
    monkeypatch.setattr(nvrtc_library, "_toolkit_roots", list)
    folders = [str(path.relative_to(tmp_path)) for path in nvrtc_library._candidate_folders()]
    assert folders == ["cu13/lib", "cu12/lib", "cuda_nvrtc/lib"]
    headers = nvrtc_library._headers_of(tmp_path / "cuda_nvrtc" / "lib" / "libnvrtc.so.12")
    assert headers == (tmp_path / "cuda_cccl" / "include", tmp_path / "cuda_runtime" / "include")


def test_the_alternative_build_is_not_taken(tmp_path: Path) -> None:
    """Of several libraries in a folder the highest version is taken, never the `.alt` build or the builtins."""
    for name in ("libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.alt.so.14", "libnvrtc-builtins.so.13.0"):
        (tmp_path / name).touch()
    assert [path.name for path in nvrtc_library._libraries_in(tmp_path)] == ["libnvrtc.so.13", "libnvrtc.so.12"]


def test_diagnostics_are_read_from_a_log() -> None:
    """File, line and text of errors and warnings; the lines between them are no diagnostics."""
    log = (
        'k.cu(3): error: expected a ";"\n    int x\n    ^\n\n/a (b)/h.h(17): warning #177-D: variable was declared\n'
        '\nk.cu(9): catastrophic error: cannot open source file "x"\n1 error detected in the compilation of "k.cu".\n'
    )
    assert parse_diagnostics(log) == (
        ("k.cu", 3, 'error: expected a ";"'),
        ("/a (b)/h.h", 17, "warning #177-D: variable was declared"),
        ("k.cu", 9, 'catastrophic error: cannot open source file "x"'),
    )
