"""Loading Metal code: options, refusals with the caller's lines, kernels and their constants, what unloading gives back."""

from __future__ import annotations

import gc
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from metal_standin.libraries import make_metallib

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import CodeImage, FunctionConstant
from metrale_gpu_runtime.drivers.metal.bindings import load_bindings
from metrale_gpu_runtime.drivers.metal.libraries import Libraries
from metrale_gpu_runtime.errors import CompileError, KernelNotFound, ModuleLoadError, NotSupported

__all__ = ["metal_standin"]

SOURCE = """
#include <metal_stdlib>
using namespace metal;

constant int SCALE [[function_constant(4)]];
constant ushort SHIFT [[function_constant(2)]];
constant bool FAST [[function_constant(7)]];
constant int EXTRA = is_function_constant_defined(FAST) ? 5 : 6;

kernel void plain(device int* x [[buffer(0)]], uint at [[thread_position_in_grid]]) {
    x[at] = int(at);
}

kernel void scaled(device int* x [[buffer(0)]], uint at [[thread_position_in_grid]]) {
    x[at] = SCALE << SHIFT;
}

kernel void optional(device int* x [[buffer(0)]], uint at [[thread_position_in_grid]]) {
    x[at] = EXTRA;
}
"""


class Loaded:
    """One device's libraries, and SOURCE in them."""

    def __init__(self, standin: MetalStandIn) -> None:
        self.standin, self.bindings = standin, load_bindings()
        with self.bindings.pool():
            self.device = self.bindings.metal.MTLCreateSystemDefaultDevice()
        self.libraries = Libraries(self.bindings, self.device)
        self.module = self.libraries.load(image(SOURCE))


@pytest.fixture
def loaded(metal_standin: MetalStandIn) -> Iterator[Loaded]:
    made = Loaded(metal_standin)
    yield made
    made.libraries.close()
    # An error that was raised and its traceback hold each other, and with them what they were told with.
    gc.collect()
    assert metal_standin.live() == {}


def image(text: str, *options: str, path: str | None = None, name: str = "m") -> CodeImage:
    return CodeImage(name, "msl", text.encode(), options, path)


# ------------------------------------------------ compiling


def test_a_refused_source_names_the_callers_file_and_lines(metal_standin: MetalStandIn, tmp_path: Path) -> None:
    """Each error has file, line and the line's text; the log is whole; nothing is loaded under the name."""
    lines = SOURCE.replace("x[at] = EXTRA;", "x[at] = EXTRA + missing;\n    y[at] = 1;").splitlines()
    path = tmp_path / "wrong.metal"
    path.write_text("\n".join(lines))
    first = lines.index("    x[at] = EXTRA + missing;") + 1
    with mg.open_backend("metal") as gpu:
        with pytest.raises(CompileError) as refused:
            gpu.load_module("wrong", path)
        assert not gpu.has_module("wrong")
    error = refused.value
    errors = [(file, line) for file, line, text in error.diagnostics if text.startswith("error: ")]
    assert errors == [(str(path), first), (str(path), first + 1)]
    assert "'missing'" in error.diagnostics[0][2]
    assert str(error).splitlines()[:2] == [
        f"{path}: Metal's compiler refused it",
        f"  {path}:{first}: {error.diagnostics[0][2]}",
    ]
    assert "x[at] = EXTRA + missing;" in str(error)
    assert f"program_source:{first}:" in error.log
    assert error.module == "wrong"


def test_a_source_without_a_file_is_called_by_its_module(loaded: Loaded) -> None:
    """Text that was given as text has its module's name; lines of files that it names itself keep theirs."""
    with pytest.raises(CompileError, match=r"^norm\.metal: Metal's compiler refused it\n  norm\.metal:2: error"):
        loaded.libraries.load(image("kernel void k() {\n missing(); }", name="norm"))
    # As after a #line of the source's own.
    loaded.standin.fail_next("library", 3, text="Compilation failed: \n\nother.h:31:4: error: no such type\n  x y;\n")
    with pytest.raises(CompileError, match=r"^norm\.metal: Metal's .*\n  other\.h:31: error: no such type") as refused:
        loaded.libraries.load(image(SOURCE, name="norm"))
    assert refused.value.diagnostics == (("other.h", 31, "error: no such type"),)


def test_many_errors_are_shown_in_part(loaded: Loaded) -> None:
    """The message shows three and counts the others; `diagnostics` has all."""
    text = "kernel void k() {\n" + "".join(f" missing_{at}();\n" for at in range(5)) + "}"
    with pytest.raises(CompileError, match=r"missing_2(?s:.)*… and 2 more") as refused:
        loaded.libraries.load(image(text))
    assert "missing_3" not in str(refused.value)
    assert [line for _, line, _ in refused.value.diagnostics] == [2, 3, 4, 5, 6]


def test_a_compiler_that_says_nothing_of_lines_is_quoted(loaded: Loaded) -> None:
    """A failure without diagnostics is told as it is."""
    loaded.standin.fail_next("library", 2, text="the compiler service is gone")
    with pytest.raises(CompileError, match="the compiler service is gone") as refused:
        loaded.libraries.load(image(SOURCE))
    assert refused.value.diagnostics == ()


class Told:
    """What the compiler was told, in the place of the room that compiles."""

    function_names = ()

    def __init__(self, source: str, *, macros: dict[str, str], fast_math: bool) -> None:
        self.told.append((macros, fast_math))

    told: list[tuple[dict[str, str], bool]] = []  # noqa: RUF012


def test_options_reach_the_compiler(loaded: Loaded) -> None:
    """Macros with and without values, in one word or two; fast math only where it is asked for, the last word wins."""
    loaded.standin.world.compile_library = Told
    Told.told = []
    for options in (
        (),
        ("-DN=4", "-DNAME", "-D", "TEXT=a=b", "-DEMPTY="),
        ("-ffast-math",),
        ("-ffast-math", "-std=metal2.4", "-fno-fast-math"),
    ):
        loaded.libraries.load(image(SOURCE, *options))
    assert Told.told == [
        ({}, False),
        ({"N": "4", "NAME": "1", "TEXT": "a=b", "EMPTY": ""}, False),
        ({}, True),
        ({}, False),
    ]


def test_the_language_version_is_metals_own_number(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """-std=metal3.1 is MTLLanguageVersion3_1; without the option Metal takes its newest."""
    from metal_standin.descriptors import CompileOptions

    set_to: list[int] = []
    plain = CompileOptions._set

    def noting(self: object, word: str, value: object) -> None:
        if word == "languageVersion":
            set_to.append(value)
        plain(self, word, value)

    monkeypatch.setattr(CompileOptions, "_set", noting)
    loaded.libraries.load(image(SOURCE))
    loaded.libraries.load(image(SOURCE, "-std=metal3.1"))
    loaded.libraries.load(image(SOURCE, "-std=metal2.3"))
    assert set_to == [0x30001, 0x20003]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("-O3", r"option '-O3' is none .*-DNAME=value"),
        ("-D", "option '-D' is none"),
        ("-D3=4", "option '-D3=4' is none"),
        ("-std=c++17", "option '-std=c"),
        ("-std=metal9.9", r"-std=metal9\.9 is no version .*-std=metal2\.4, -std=metal3\.0"),
        ("-Ifolder", "option '-Ifolder' is none"),
    ],
)
def test_options_without_a_word_in_metal_are_refused(loaded: Loaded, option: str, says: str) -> None:
    """Nothing is dropped in silence: the option is named, with those there are."""
    with pytest.raises(NotSupported, match=says):
        loaded.libraries.load(image(SOURCE, option))


# ------------------------------------------------ metallibs


def test_a_metallib_goes_through_a_file_that_is_gone_at_the_end(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file stays while the module is loaded and is removed with it, also when somebody was faster."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second = (
        loaded.libraries.load(CodeImage(name, "metallib", make_metallib(SOURCE))) for name in ("first", "second")
    )
    assert set(loaded.libraries.function_names(first)) == {"plain", "scaled", "optional"}
    assert loaded.libraries.pipeline(loaded.libraries.function(first, "plain")).name == "plain"
    there = set(tmp_path.glob("*.metallib"))
    assert len(there) == 2
    loaded.libraries.unload(first)
    (left,) = tmp_path.glob("*.metallib")
    assert left in there
    os.remove(left)
    loaded.libraries.unload(second)


@pytest.mark.parametrize("data", [b"MTLB" + bytes(40), b"no library", b""])
def test_a_bad_metallib_is_refused(
    loaded: Loaded, data: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The module, the device and Metal's own words are told, and what a metallib has to be; no file stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ModuleLoadError, match=rf"'bad': Apple M2 stand-in .* of {len(data)} bytes: .*xcrun") as refused:
        loaded.libraries.load(CodeImage("bad", "metallib", data))
    assert refused.value.module == "bad"
    assert not list(tmp_path.glob("*.metallib"))


# ------------------------------------------------ kernels


def test_a_kernel_has_one_handle(loaded: Loaded) -> None:
    """The same name gives the same handle, another another; the pipeline is labelled by the kernel's name."""
    plain, optional = (loaded.libraries.function(loaded.module, name) for name in ("plain", "optional"))
    assert loaded.libraries.function(loaded.module, "plain") == plain != optional
    other = loaded.libraries.load(image(SOURCE, "-DOTHER"))
    assert loaded.libraries.function(other, "plain") not in (plain, optional)
    pipeline = loaded.libraries.pipeline(plain)
    with loaded.bindings.pool():
        assert (pipeline.name, pipeline.state.label()) == ("plain", "plain")


def test_a_name_that_is_no_kernel_is_not_found(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown name, and a function of another kind, which is not listed either."""
    with pytest.raises(KernelNotFound, match="it has no 'plane'") as refused:
        loaded.libraries.function(loaded.module, "plane")
    assert (refused.value.module, refused.value.function) == ("m", "plane")
    with pytest.raises(KernelNotFound, match="it has no 'plane'"):
        loaded.libraries.function_constants(loaded.module, "plane")
    from metal_standin.libraries import Function

    monkeypatch.setattr(Function, "do_functionType", lambda self: 5 if self.name == "optional" else 3)
    assert set(loaded.libraries.function_names(loaded.module)) == {"plain", "scaled"}
    with pytest.raises(KernelNotFound, match="'optional' is a function of another kind"):
        loaded.libraries.function(loaded.module, "optional")


def test_a_kernel_that_the_device_cannot_run(loaded: Loaded) -> None:
    """A pipeline that is not made says why, in Metal's words; the kernel can be asked for again."""
    loaded.standin.fail_next("pipeline", 3, text="too many registers")
    with pytest.raises(
        CompileError, match=r"'m': Apple M2 stand-in cannot run kernel plain\n  too many reg"
    ) as refused:
        loaded.libraries.function(loaded.module, "plain")
    assert refused.value.log == "too many registers"
    assert loaded.libraries.function(loaded.module, "plain")


# ------------------------------------------------ function constants


def test_function_constants_are_told(loaded: Loaded) -> None:
    """Those that a kernel uses, by rising index: name, type, index, and whether it must have a value."""
    assert loaded.libraries.function_constants(loaded.module, "plain") == ()
    assert loaded.libraries.function_constants(loaded.module, "scaled") == (
        FunctionConstant("SHIFT", "ushort", 2, True),
        FunctionConstant("SCALE", "int", 4, True),
    )
    assert loaded.libraries.function_constants(loaded.module, "optional") == (
        FunctionConstant("FAST", "bool", 7, False),
    )


def test_equal_constants_give_one_kernel(loaded: Loaded) -> None:
    """The handle goes by the values, whatever their order; other values, or none, are another kernel."""

    def made(**constants: bytes) -> int:
        return loaded.libraries.specialised(loaded.module, "scaled", constants)

    first = made(SHIFT=struct.pack("<H", 3), SCALE=struct.pack("<i", -5))
    assert made(SCALE=struct.pack("<i", -5), SHIFT=struct.pack("<H", 3)) == first
    assert made(SHIFT=struct.pack("<H", 4), SCALE=struct.pack("<i", -5)) != first
    with_fast = loaded.libraries.specialised(loaded.module, "optional", {"FAST": b"\1"})
    assert with_fast != loaded.libraries.function(loaded.module, "optional")


def test_constants_reach_the_kernel(metal_standin: MetalStandIn) -> None:
    """Each value arrives as its own type; an optional one that is not given is not defined there."""
    with mg.open_backend("metal") as gpu:
        gpu.load_module("m", source=SOURCE)
        x = gpu.empty(5, "i4")
        for name, constants, expected in (
            ("scaled", {"SCALE": -7, "SHIFT": 3}, -56),
            ("scaled", {"SCALE": 11, "SHIFT": 1}, 22),
            ("optional", {"FAST": False}, 5),
            ("optional", None, 6),
        ):
            gpu.kernel("m", name, constants=constants)[1, 5](x)
            assert x.numpy().tolist() == [expected] * 5


def test_a_kernel_with_constants_is_always_specialised(loaded: Loaded) -> None:
    """Metal makes no pipeline of a function that declares constants and was never given any, were it none of them."""
    selector = "newFunctionWithName:constantValues:error:"
    loaded.libraries.function(loaded.module, "plain")
    assert loaded.standin.sent()["MTLLibrary", selector] == 0
    loaded.libraries.function(loaded.module, "optional")
    assert loaded.standin.sent()["MTLLibrary", selector] == 1


def test_a_required_constant_without_a_value_is_named(loaded: Loaded) -> None:
    """What Metal says of it, and which constants have none."""
    with pytest.raises(CompileError, match=r"kernel scaled cannot be specialised\n(?s:.)*need a value: SHIFT$"):
        loaded.libraries.specialised(loaded.module, "scaled", {"SCALE": struct.pack("<i", 2)})


# ------------------------------------------------ threads, and the end


def test_threads_that_want_one_kernel_compile_it_once(loaded: Loaded) -> None:
    """Eight threads at once get one handle from one pipeline; those that want others do not disturb it."""
    barrier = threading.Barrier(8)

    def ask(name: str) -> int:
        barrier.wait()
        return loaded.libraries.function(loaded.module, name)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, ["plain", "optional"] * 4))
    assert len(set(found)) == 2
    selector = "newComputePipelineStateWithDescriptor:options:reflection:error:"
    assert loaded.standin.sent()["MTLDevice", selector] == 2


def test_unloading_gives_everything_back(loaded: Loaded) -> None:
    """After twelve rounds of load, look up, specialise and unload, what is alive is what was before, count by count."""
    before = loaded.standin.live()
    for at in range(12):
        module = loaded.libraries.load(image(SOURCE))
        loaded.libraries.function_names(module)
        kernel = loaded.libraries.function(module, "plain")
        loaded.libraries.function_constants(module, "scaled")
        constants = {"SHIFT": struct.pack("<H", at), "SCALE": struct.pack("<i", at)}
        loaded.libraries.specialised(module, "scaled", constants)
        assert loaded.standin.live() != before
        loaded.libraries.unload(module)
        with pytest.raises(KeyError):
            loaded.libraries.pipeline(kernel)
    assert loaded.standin.live() == before
    loaded.libraries.unload(module)


@pytest.mark.parametrize("kind", ["library", "pipeline"])
def test_what_fails_leaves_nothing_behind(loaded: Loaded, kind: str) -> None:
    """A library or pipeline that is refused leaves the counts as they were."""
    before = loaded.standin.live()
    loaded.standin.fail_next(kind)
    with pytest.raises(CompileError):
        loaded.libraries.function(loaded.libraries.load(image(SOURCE, name="other")), "plain")
    for module in [number for number in loaded.libraries._modules if number != loaded.module]:
        loaded.libraries.unload(module)
    assert loaded.standin.live() == before
