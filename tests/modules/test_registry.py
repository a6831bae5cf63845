"""Modules by name, kernels by (module, function), over the recording mock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.drivers.mock.driver import MockDriver
from metrale_gpu_runtime.errors import BackendUnavailable, KernelNotFound, ModuleLoadError, NotSupported, SignatureError
from metrale_gpu_runtime.modules import nvrtc_library
from metrale_gpu_runtime.modules.loading import LoadedModule
from metrale_gpu_runtime.modules.registry import ModuleRegistry
from metrale_gpu_runtime.modules.sources import CodeInput, find_code
from metrale_gpu_runtime.scalars import f32, i32, u64

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def entry(name: str, parameters: str) -> str:
    return f".visible .entry {name}({parameters}) {{ ret; }}\n"


TWO = (
    HEAD
    + entry("_Z3addPfS_i", ".param .u64 a, .param .u64 b, .param .u32 n")
    + entry("plain", ".param .f32 x, .param .u64 n, .param .u8 flag")
)
CUDA_C = """
typedef unsigned long long count_t;
extern "C" __global__ void scale(const float* input, float* output, float factor, int count, count_t stride) {}
template <class T> __global__ void fill(T* values, T value) {}
"""


def ptx(text: str) -> CodeInput:
    return CodeInput("ptx", text.encode())


def cuda_c(text: str) -> CodeInput:
    return CodeInput("cuda-c", text.encode())


@pytest.fixture
def driver() -> MockDriver:
    return MockDriver(strict=True)


@pytest.fixture
def compiling_driver() -> MockDriver:
    """A mock that takes PTX alone, so that CUDA C has to be compiled for it."""
    driver = MockDriver(strict=True)
    driver.capabilities = replace(driver.capabilities, code_formats=("ptx",), source_languages=("cuda-c",))
    return driver


def test_two_modules_with_one_kernel_name_never_mix(driver: MockDriver) -> None:
    """The same kernel name in two modules is two kernels with two signatures."""
    registry = ModuleRegistry(driver)
    registry.load("first", ptx(HEAD + entry("k", ".param .u64 p")))
    registry.load("second", ptx(HEAD + entry("k", ".param .u32 a, .param .f32 b")))
    first, second, again = (registry.function(name, "k") for name in ("first", "second", "first"))
    assert first.handle != second.handle
    assert again is first
    assert [len(each.signature.parameters or ()) for each in (first, second)] == [1, 2]


def test_a_second_lookup_makes_no_driver_call(driver: MockDriver) -> None:
    """What was looked up once is remembered, under the symbol and under the written name."""
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO))
    found = {name: registry.function("m", name) for name in ("add", "_Z3addPfS_i", "plain")}
    assert found["add"].handle == found["_Z3addPfS_i"].handle
    assert found["add"].name == "_Z3addPfS_i"
    calls = len(driver.log)
    assert {name: registry.function("m", name) for name in found} == found
    assert len(driver.log) == calls


def test_signatures_join_their_sources(driver: MockDriver) -> None:
    """The mangled name tells types and the PTX sizes; PTX alone tells what it can."""
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO))
    add = registry.function("m", "add").signature
    assert add.sources == ("mangled name", "PTX")
    assert [each.element for each in add.parameters or ()] == [f32, f32, None]
    assert [each.offset for each in add.parameters or ()] == [0, 8, 16]
    plain = registry.function("m", "plain").signature
    assert plain.sources == ("PTX",)
    assert [(each.kind, each.floating, each.offset) for each in plain.parameters or ()] == [
        ("value", True, 0),
        (None, False, 8),
        ("value", False, 16),
    ]


def test_a_declared_signature_speaks_first(driver: MockDriver) -> None:
    """What the caller declares, when loading or asking, is the strongest source and must not contradict the code."""
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO), signatures={"plain": "float x, unsigned long long n, bool flag"})
    plain = registry.function("m", "plain").signature
    assert plain.sources[0] == "declared"
    assert [each.name for each in plain.parameters or ()] == ["x", "n", "flag"]
    other = registry.function("m", "plain", "float y, const int* n, unsigned char flag").signature
    assert [each.name for each in other.parameters or ()] == ["y", "n", "flag"]
    with pytest.raises(SignatureError, match=r"parameter 0 \(x\)"):
        registry.function("m", "plain", "int x, unsigned long long n, bool flag")
    with pytest.raises(SignatureError, match="2 parameters"):
        registry.function("m", "plain", "float x, unsigned long long n")


def test_a_declaration_for_a_kernel_that_is_not_there_loads_nothing(driver: MockDriver) -> None:
    """A misspelt kernel or an unreadable declaration is found when loading, and leaves nothing loaded."""
    registry = ModuleRegistry(driver)
    with pytest.raises(KernelNotFound, match="did you mean plain"):
        registry.load("m", ptx(TWO), signatures={"plian": "float x"})
    with pytest.raises(SignatureError):
        registry.load("m", ptx(TWO), signatures={"plain": "float x, frob"})
    assert not registry.has_module("m")
    counts = driver.log.counts
    assert counts["load_module"] == counts["unload_module"]
    registry.load("m", ptx(TWO))


def test_a_missing_kernel_names_what_there_is(driver: MockDriver) -> None:
    """The error has module, request, the kernels there, near ones, and the extern "C" hint."""
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO))
    with pytest.raises(KernelNotFound) as caught:
        registry.function("m", "plane")
    error = caught.value
    assert (error.module, error.function, error.close) == ("m", "plane", ("plain",))
    assert error.available == ("_Z3addPfS_i", "plain")
    assert 'extern "C"' in str(error)


def test_a_missing_module_names_what_is_loaded(driver: MockDriver) -> None:
    """A module's name has near matches as well."""
    registry = ModuleRegistry(driver)
    with pytest.raises(KernelNotFound, match=r"no module 'norm' is loaded\. None is loaded"):
        registry.function("norm", "k")
    registry.load("norms", ptx(TWO))
    with pytest.raises(KernelNotFound, match="did you mean 'norms'") as caught:
        registry.function("norm", "k")
    assert caught.value.available == ("norms",)
    with pytest.raises(KernelNotFound):
        registry.unload("norm")


def test_a_name_in_use_is_refused_unless_replaced(driver: MockDriver) -> None:
    """Loading over a module needs replace=True; the earlier one is retired after the new one has loaded."""
    retired: list[LoadedModule] = []
    registry = ModuleRegistry(driver, retired.append)
    first = registry.load("m", ptx(HEAD + entry("k", ".param .u64 p")))
    old = registry.function("m", "k")
    with pytest.raises(ModuleLoadError, match="already loaded"):
        registry.load("m", ptx(TWO))
    assert registry.function("m", "k") is old
    registry.load("m", ptx(HEAD + entry("k", ".param .f32 x")), replace=True)
    new = registry.function("m", "k")
    assert retired == [first]
    assert new.handle != old.handle
    assert [each.floating for each in new.signature.parameters or ()] == [True]


def test_a_failed_load_leaves_everything_as_it_was(driver: MockDriver) -> None:
    """When the new code is refused the earlier module stays, also under replace=True."""
    driver.capabilities = replace(driver.capabilities, code_formats=("ptx",))
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO))
    found = registry.function("m", "plain")
    for code in (cuda_c(CUDA_C), CodeInput("metallib", b"MTLB")):
        with pytest.raises(NotSupported):
            registry.load("m", code, replace=True)
    with pytest.raises(ModuleLoadError, match=r"takes C\+\+ source"):
        registry.load("m", ptx(TWO), names=("fill<float>",), replace=True)
    assert registry.function("m", "plain") is found
    assert driver.log.counts["load_module"] == 1


def test_unloading_forgets_the_kernels(driver: MockDriver) -> None:
    """After unload the name is free, and a kernel of the next module of that name is looked up anew."""
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO))
    before = registry.function("m", "plain")
    registry.unload("m")
    assert not registry.has_module("m")
    assert driver.log.counts["unload_module"] == 1
    with pytest.raises(KernelNotFound):
        registry.function("m", "plain")
    registry.load("m", ptx(TWO))
    assert registry.function("m", "plain").handle != before.handle
    assert registry.module_names() == ("m",)


def test_a_module_needs_a_name(driver: MockDriver) -> None:
    """An empty name or another type is refused."""
    registry = ModuleRegistry(driver)
    for name in ("", None, 3):
        with pytest.raises(ModuleLoadError, match="non-empty string"):
            registry.load(name, ptx(TWO))  # type: ignore[arg-type]
    registry.load("m", ptx(TWO))
    with pytest.raises(TypeError, match="non-empty string"):
        registry.function("m", "")


def test_one_name_is_loaded_once_by_many_threads(driver: MockDriver) -> None:
    """Of several threads loading one name exactly one succeeds, and nothing else stays loaded."""
    registry = ModuleRegistry(driver)
    outcomes: list[str] = []
    start = threading.Barrier(6)

    def work() -> None:
        start.wait()
        try:
            registry.load("m", ptx(TWO))
            outcomes.append("loaded")
        except ModuleLoadError:
            outcomes.append("refused")

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(outcomes) == ["loaded", *["refused"] * 5]
    counts = driver.log.counts
    assert counts["load_module"] - counts["unload_module"] == 1


def test_the_audit_keeps_the_first_call_site(driver: MockDriver) -> None:
    """Each name asked for, misses too, has one row: the symbol it meant, the first line that asked, how often."""
    registry = ModuleRegistry(driver)
    registry.load("m", ptx(TWO))

    def ask(name: str) -> None:
        registry.function("m", name)

    ask("add")
    registry.function("m", "add")
    with pytest.raises(KernelNotFound):
        registry.function("m", "gone")
    with pytest.raises(KernelNotFound):
        registry.function("elsewhere", "k")
    rows = registry.lookups
    assert [(row.module, row.function, row.resolved, row.count) for row in rows] == [
        ("elsewhere", "k", None, 1),
        ("m", "add", "_Z3addPfS_i", 2),
        ("m", "gone", None, 1),
    ]
    line = ask.__code__.co_firstlineno + 1
    assert rows[1].site == f"{__file__}:{line}"
    report = registry.report()
    assert "module m (ptx given directly)" in report
    assert "module elsewhere (not loaded)" in report
    for expected in ("found   add as _Z3addPfS_i  asked 2 times", "missing gone", "unasked plain"):
        assert expected in report
    assert report.isascii()


def test_a_driver_that_reads_the_text_itself_gets_it_unchanged(driver: MockDriver) -> None:
    """The mock takes anything: what it is handed is the caller's text with its form."""
    registry = ModuleRegistry(driver)
    registry.load("m", CodeInput("any", b"kernel text of some kind"), options=("-O3",))
    call = driver.log.calls[0]
    assert call.line().startswith("load_module name=m format=any nbytes=24 options=('-O3',)")
    lenient = MockDriver()
    registry = ModuleRegistry(lenient)
    registry.load("m", CodeInput("any", b"text"))
    found = registry.function("m", "whatever")
    assert found.signature.parameters is None
    assert registry.function_names("m") is None


def test_ptx_that_is_not_understood_costs_only_its_signatures() -> None:
    """Where the driver takes a text that our reader does not, the kernel is there and the notes say what is lost."""
    driver = MockDriver()
    registry = ModuleRegistry(driver)
    registry.load("m", ptx("this is no PTX"))
    found = registry.function("m", "k")
    assert found.signature.parameters is None
    assert any("was not understood" in note for note in found.notes)


def test_cuda_c_is_compiled_and_known_by_its_debug_information(compiling_driver: MockDriver) -> None:
    """CUDA C gives names and C types; the debug compile is made when a kernel is first asked for, once."""
    require_rung("nvrtc")
    require_rung("debug information")
    registry = ModuleRegistry(compiling_driver)
    module = registry.load("m", cuda_c(CUDA_C), names=("fill<double>",))
    assert module.compiled is not None
    assert registry.function_names("m") == ("scale", "_Z4fillIdEvPT_S0_")
    scale = registry.function("m", "scale").signature
    assert scale.sources == ("debug information", "PTX")
    assert [each.name for each in scale.parameters or ()] == ["input", "output", "factor", "count", "stride"]
    assert [each.scalar for each in scale.parameters or ()] == [None, None, f32, i32, u64]
    assert registry.function("m", "fill<double>").name == "_Z4fillIdEvPT_S0_"
    assert registry.function("m", "fill").handle == registry.function("m", "fill<double>").handle
    with pytest.raises(KernelNotFound, match=r'template of that name.*names=\("fill<float>",\)'):
        registry.function("m", "fill<float>")


def test_without_pyelftools_the_signature_says_what_it_lacks(
    compiling_driver: MockDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing reader costs the names, not the kernel; sources and notes tell."""
    require_rung("nvrtc")
    monkeypatch.setitem(__import__("sys").modules, "elftools.dwarf.dwarfinfo", None)
    registry = ModuleRegistry(compiling_driver)
    registry.load("m", cuda_c(CUDA_C))
    found = registry.function("m", "scale")
    assert found.signature.sources == ("PTX",)
    assert any("pyelftools is not installed" in note for note in found.notes)


def test_a_failing_debug_compile_says_so(compiling_driver: MockDriver) -> None:
    """A source that compiles only without debugging keeps its kernel; the notes have the reason."""
    require_rung("nvrtc")
    source = CUDA_C + "#ifdef __CUDACC_DEBUG__\n#error not for debugging\n#endif\n"
    registry = ModuleRegistry(compiling_driver)
    registry.load("m", cuda_c(source))
    found = registry.function("m", "scale")
    assert found.signature.sources == ("PTX",)
    assert any("not for debugging" in note for note in found.notes)


def test_the_mock_knows_cuda_c_without_compiling_it_for_the_driver() -> None:
    """A backend that takes source itself gets the source; its signatures come from a compile made on demand."""
    require_rung("nvrtc")
    require_rung("debug information")
    lenient = MockDriver()
    registry = ModuleRegistry(lenient)
    module = registry.load("m", cuda_c(CUDA_C))
    assert module.compiled is None
    assert registry.function("m", "scale").signature.sources == ("debug information", "PTX")


def test_the_mock_without_nvrtc_knows_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler the mock still works; the notes say why the signature is not known."""
    monkeypatch.setattr(nvrtc_library, "_search", lambda: ("nowhere",))
    monkeypatch.setenv("PATH", "/nonexistent")
    registry = ModuleRegistry(MockDriver())
    registry.load("m", cuda_c(CUDA_C + "// not compiled before"))
    found = registry.function("m", "scale")
    assert found.signature.parameters is None
    assert any("pip install" in note for note in found.notes)


def test_a_backend_that_needs_ptx_refuses_cuda_c_without_a_compiler(
    compiling_driver: MockDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the compile is needed its absence is an error, and nothing is loaded."""
    monkeypatch.setattr(nvrtc_library, "_search", lambda: ("nowhere",))
    monkeypatch.setenv("PATH", "/nonexistent")
    registry = ModuleRegistry(compiling_driver)
    with pytest.raises(BackendUnavailable, match="needs NVRTC"):
        registry.load("m", cuda_c(CUDA_C))
    assert not registry.has_module("m")
    assert compiling_driver.log.counts["load_module"] == 0


def test_a_file_reaches_the_driver_as_it_is_found(tmp_path: Path, driver: MockDriver) -> None:
    """find_code and the registry together: a path without suffix, loaded, listed and asked."""
    (tmp_path / "norm.ptx").write_text(TWO)
    registry = ModuleRegistry(driver)
    registry.load("norm", find_code("norm", tmp_path / "norm", capabilities=driver.capabilities))
    assert registry.function_names("norm") == ("_Z3addPfS_i", "plain")
    assert f"module norm ({tmp_path / 'norm.ptx'})" in registry.report()


@pytest.mark.parametrize("ask", [lambda registry: registry.function_names("x"), lambda registry: registry.module("x")])
def test_every_way_to_ask_for_a_module_knows_the_same_error(
    ask: Callable[[ModuleRegistry], object], driver: MockDriver
) -> None:
    """KernelNotFound, whichever call named the module."""
    with pytest.raises(KernelNotFound, match="no module 'x'"):
        ask(ModuleRegistry(driver))
