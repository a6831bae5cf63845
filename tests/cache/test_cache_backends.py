"""The compile cache on real compilers: field cases 11, 12, 40 and 41, on NVRTC with the CPU's compiler and on PoCL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.code_cache import Build
from metrale_gpu_runtime.driver import CodeImage
from metrale_gpu_runtime.drivers.cuda import linking
from metrale_gpu_runtime.errors import GpuWarning
from metrale_gpu_runtime.modules import cache, nvrtc_library
from metrale_gpu_runtime.modules.cache.by_drivers import linked
from metrale_gpu_runtime.modules.cache.kept import KeptCode
from metrale_gpu_runtime.modules.cache.store import current_store
from metrale_gpu_runtime.modules.compiling import compile_cuda
from metrale_gpu_runtime.testing import MockGpuBackend

N = 77

TEXTS = {
    "cpu": 'extern "C" __global__ void k(int* out, int n)\n'
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = VALUE; }\n",
    "opencl": "__kernel void k(__global int* out, int n)\n{ int i = get_global_id(0); if (i < n) out[i] = VALUE; }\n",
}
SUFFIX = {"cpu": ".cu", "opencl": ".cl"}


@pytest.fixture(params=["cpu", "opencl"])
def backend(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The CPU with NVRTC, or PoCL with a folder of its own for what it keeps itself."""
    require_rung("nvrtc" if request.param == "cpu" else "pocl")
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    return str(request.param)


def run(backend: str, options: tuple[str, ...] = (), **code: object) -> tuple[int, list[Build]]:
    """What the kernel writes, and what was built or found for that."""
    with mg.open_backend(backend) as gpu:
        kernel = gpu.load_module("m", options=options, **code)["k"]  # type: ignore[arg-type]
        out = gpu.empty(N, "int32")
        kernel.over(N, block=32)(out, N)
        values = set(out.numpy().tolist())
        assert len(values) == 1
        return values.pop(), list(gpu.registry.builds)


def run_anew(backend: str, options: tuple[str, ...] = (), **code: object) -> tuple[int, list[str]]:
    """The same in a new process."""
    program = textwrap.dedent(f"""
        import json, sys
        sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
        from test_cache_backends import run
        value, builds = run({backend!r}, {options!r}, **{code!r})
        print(json.dumps([value, [each.outcome for each in builds]]))
    """)
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    value, outcomes = json.loads(done.stdout.strip().splitlines()[-1])
    return int(value), list(outcomes)


def outcomes(builds: list[Build]) -> set[str]:
    return {each.outcome for each in builds}


def test_unchanged_input_is_a_hit(backend: str, folder: Path) -> None:
    """The first time everything is built, afterwards nothing, in this process and in a new one."""
    text = TEXTS[backend].replace("VALUE", "4711")
    value, builds = run(backend, source=text)
    assert (value, outcomes(builds)) == (4711, {"built"})
    value, builds = run(backend, source=text)
    assert (value, outcomes(builds)) == (4711, {"hit"})
    value, told = run_anew(backend, source=text)
    assert (value, set(told)) == (4711, {"hit"})


def test_a_changed_header_or_option_is_seen(backend: str, folder: Path, tmp_path: Path) -> None:
    """Case 12: a constant in a header of a header, and a -D, in the same process and in a new one."""
    path = tmp_path / f"k{SUFFIX[backend]}"
    path.write_text('#include "outer.h"\n' + TEXTS[backend])
    (tmp_path / "outer.h").write_text('#include "inner.h"\n')

    def with_constant(value: int) -> None:
        (tmp_path / "inner.h").write_text(f"#ifndef VALUE\n#define VALUE {value}\n#endif\n")

    with_constant(1001)
    assert run(backend, path=str(path))[0] == 1001
    with_constant(1002)
    assert run(backend, path=str(path))[0] == 1002
    with_constant(1003)
    assert run_anew(backend, path=str(path))[0] == 1003
    assert run(backend, ("-DVALUE=5",), path=str(path))[0] == 5
    assert run(backend, ("-DVALUE=6",), path=str(path))[0] == 6
    assert run_anew(backend, ("-DVALUE=7",), path=str(path))[0] == 7
    with_constant(1001)
    value, builds = run(backend, path=str(path))
    assert value == 1001
    assert "hit" in outcomes(builds)


def test_a_new_header_in_front_is_seen(backend: str, folder: Path, tmp_path: Path) -> None:
    """A header that appears in a folder that is looked through first takes the other one's place."""
    first, second = tmp_path / "first", tmp_path / "second"
    for each in (first, second):
        each.mkdir()
    (second / "c.h").write_text("#define VALUE 22\n")
    options = (f"-I{first}", f"-I{second}")
    text = "#include <c.h>\n" + TEXTS[backend]
    assert run(backend, options, source=text)[0] == 22
    (first / "c.h").write_text("#define VALUE 11\n")
    assert run(backend, options, source=text)[0] == 11
    assert run_anew(backend, options, source=text)[0] == 11
    (first / "c.h").unlink()
    assert run(backend, options, source=text)[0] == 22


def test_a_header_named_by_a_macro_is_compiled_each_time(backend: str, folder: Path, tmp_path: Path) -> None:
    """Nobody but the compiler knows what it read, so nothing of that source is kept, and every change is seen."""
    (tmp_path / "c.h").write_text("#define VALUE 31\n")
    text = '#define WHICH "c.h"\n#include WHICH\n' + TEXTS[backend]
    options = (f"-I{tmp_path}",)
    assert run(backend, options, source=text)[0] == 31
    (tmp_path / "c.h").write_text("#define VALUE 32\n")
    value, builds = run(backend, options, source=text)
    assert value == 32
    assert "built" in outcomes(builds)
    assert run_anew(backend, options, source=text)[0] == 32
    kinds = current_store().figures().counts
    assert kinds["nvrtc"] == kinds["opencl"] == 0


def test_kernels_of_one_name_run_their_own_code(backend: str, folder: Path) -> None:
    """Case 11: modules with the same kernel, launched in turn before one wait, then dropped while work is queued."""
    twice, plus = (TEXTS[backend].replace("VALUE", each) for each in ("out[i] * 2", "out[i] + 100"))
    for _ in range(2):
        with mg.open_backend(backend) as gpu:
            first = gpu.load_module("a", source=twice)["k"]
            second = gpu.load_module("b", source=plus)["k"]
            values = gpu.array(np.arange(N, dtype=np.int32))
            for _ in range(3):
                first.over(N, block=16)(values, N)
                second.over(N, block=16)(values, N)
            gpu.unload_module("a")
            changed = gpu.load_module("b", source=twice, replace=True)["k"]
            changed.over(N, block=16)(values, N)
            expected = np.arange(N)
            for _ in range(3):
                expected = expected * 2 + 100
            assert values.numpy().tolist() == (expected * 2).tolist()


def test_damage_is_found_and_made_anew(backend: str, folder: Path) -> None:
    """Entries cut short, changed and exchanged are no hits: results are right, and the entries are right again after."""
    text = TEXTS[backend].replace("VALUE", "815")
    run(backend, source=text)
    good = {each: each.read_bytes() for each in folder.iterdir()}
    for at, (path, data) in enumerate(good.items()):
        path.write_bytes((data[:-9], data[:-9] + bytes(9), next(iter(good.values())) + b"x")[at % 3])
    value, told = run_anew(backend, source=text)
    assert (value, set(told)) == (815, {"built"})
    assert good.keys() == set(folder.iterdir())
    value, told = run_anew(backend, source=text)
    assert (value, set(told)) == (815, {"hit"})


def test_new_block_sizes_build_no_source(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 41: ten block sizes, in a second process too, are one build of the source; the trace tells its time apart."""
    require_rung("pocl")
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    for at in range(2):
        with mg.open_backend("opencl") as gpu, gpu.trace() as trace:
            kernel = gpu.load_module("m", source=TEXTS["opencl"].replace("VALUE", "i"))["k"]
            out = gpu.empty(N, "int32")
            for block in range(1, 11):
                kernel.over(N, block=block)(out, N)
            assert out.numpy().tolist() == list(range(N))
        assert [each.outcome for each in trace.builds] == ["hit" if at else "built"]
        assert trace.builds[0].elapsed_ms > 0
        assert len(trace.launches) == 10
        assert mg.Trace.from_json(trace.to_json()).builds == trace.builds


def test_module_variables_are_found_wherever_they_lie(folder: Path) -> None:
    """Code that names variables of its module is kept, and works where they have other addresses."""
    require_rung("nvrtc")
    text = (
        "__constant__ int table[3] = {5, 7, 11};\n__device__ int counter = 100;\n"
        'extern "C" __global__ void k(int* out, int n) {\n'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i == 0) counter += table[2];\n"
        "  if (i < n) out[i] = table[1] + (int)(&table[2] - &table[0]); }\n"
    )
    assert run("cpu", source=text)[0] == 9
    for at in range(3):
        with mg.open_backend("cpu") as gpu:
            # Another place each time.
            moved = [gpu.buffer(4096 + 512 * at) for _ in range(at)]
            module = gpu.load_module("m", source=text)
            out = gpu.empty(N, "int32")
            module["k"].over(N, block=32)(out, N)
            assert set(out.numpy().tolist()) == {9}
            assert module.globals["counter"].numpy().view("int32").tolist() == [111]
            outcomes_of_cpu = [each.outcome for each in gpu.registry.builds if each.kind == "cpu"]
            assert outcomes_of_cpu == ["hit"]
            del moved
    assert run_anew("cpu", source=text) == (9, ["hit"] * 3)


def test_what_a_compilers_own_header_says_is_held_against_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kept result is used only while the toolkit's headers that it read are what they were."""
    require_rung("nvrtc")
    toolkit = tmp_path / "toolkit"
    toolkit.mkdir()
    (toolkit / "vendor.h").write_text("#define VALUE 1234\n")
    library = nvrtc_library.nvrtc_library()
    other = replace(library, header_paths=(toolkit, *library.header_paths))
    monkeypatch.setattr(nvrtc_library, "_search", lambda: other)
    text = "#include <vendor.h>\n" + TEXTS["cpu"]

    def compiled() -> str:
        monkeypatch.setattr(cache, "COMPILED", cache.CompileMemo())
        return compile_cuda("m", text).ptx.decode()

    assert "1234" in compiled()
    (toolkit / "vendor.h").write_text("#define VALUE 5678\n")
    assert "5678" in compiled()
    assert "5678" in compiled()


def test_a_read_only_home_costs_one_warning(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 40: nothing can be kept, everything works, one warning says why; nothing is written anywhere."""
    require_rung("nvrtc")
    (tmp_path / "no-folder").write_text("in the way")
    monkeypatch.setenv("METRALE_CACHE_DIR", str(tmp_path / "no-folder" / "cache"))
    text = TEXTS["cpu"].replace("VALUE", "99")
    with pytest.warns(GpuWarning) as caught:
        assert run("cpu", source=text)[0] == 99
    assert run("cpu", source=text)[0] == 99
    assert len(caught) == 1
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_uses_the_cache(folder: Path) -> None:
    """A child that was forked off while others compile finds no lock held and the same entries."""
    require_rung("nvrtc")
    text = TEXTS["cpu"].replace("VALUE", "21")
    assert run("cpu", source=text)[0] == 21
    program = textwrap.dedent(f"""
        import os, sys, threading
        sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
        from metrale_gpu_runtime.modules import cache
        from test_cache_backends import TEXTS, run
        held = cache.COMPILED._lock
        held.acquire()
        child = os.fork()
        if child == 0:
            value, builds = run("cpu", source={text!r})
            os._exit(0 if value == 21 and {{each.outcome for each in builds}} == {{"hit"}} else 1)
        held.release()
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_importing_the_package_touches_no_cache(folder: Path) -> None:
    """Neither importing nor opening a backend imports the folder's code or makes the folder."""
    program = (
        "import sys, metrale_gpu_runtime as mg\n"
        "with mg.open_backend('mock') as gpu: pass\n"
        "print([m for m in sys.modules if 'modules.cache.' in m])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "store" not in done.stdout
    assert "keys" not in done.stdout
    assert not folder.exists()


def test_links_are_kept(folder: Path) -> None:
    """What nvJitLink made of the same inputs and options is not linked again; another option is another link."""
    require_rung("nvjitlink")
    require_rung("nvrtc")
    told: list[Build] = []
    with MockGpuBackend() as gpu:
        driver = gpu.driver

    class Linking:
        capabilities = driver.capabilities
        code_cache = KeptCode(told.append)

        def linker(self) -> str | None:
            return linking.linker_identity()

        def link(self, name: str, images: list[CodeImage], options: tuple[str, ...]) -> CodeImage:
            return linking.link(name, images, architecture="sm_90", options=options)

    ptx = compile_cuda("m", TEXTS["cpu"].replace("VALUE", "1"), options=("-rdc=true",), architecture="compute_90").ptx
    images = [CodeImage("part", "ptx", ptx)]
    made = [linked(Linking(), "net", images, options) for options in ((), (), ("-O0",), ())]  # type: ignore[arg-type]
    assert [each.outcome for each in told] == ["built", "hit", "built", "hit"]
    assert made[0] == made[1] == made[3]
    assert made[0].format == "cubin"
