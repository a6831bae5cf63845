"""OpenCL C made programs: what the compiler says, what is known of kernels, headers and options, modules' lives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from opencl_room import gpu, ints, kernel, svm, written

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import ArgumentSizeError, CompileError, KernelNotFound, ModuleLoadError, NotSupported

__all__ = ["gpu", "svm"]


def test_a_refused_source_names_the_callers_file_and_lines(svm: GpuBackend, tmp_path: Path) -> None:
    """The compiler's errors come with the caller's own file and line, as text and as facts; the log is whole."""
    path = written(tmp_path, "bad.cl", "kernel void k(global int *o) {\n  o[0] = 1;\n\n  o[1] = unknown;\n}\n")
    with pytest.raises(CompileError, match=r"bad\.cl:4: error: use of undeclared identifier 'unknown'") as refused:
        svm.load_module("m", path=path)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic[:2] == (str(path), 4)
    assert "unknown" in refused.value.log
    with pytest.raises(CompileError, match=r"named\.cl:1: error"):
        svm.load_module("named", source="kernel int k() {}")
    assert not svm.has_module("m")


def test_warnings_are_kept(svm: GpuBackend) -> None:
    """What the compiler says of a source that it takes is the kernel's build log."""
    source = "#warning something to know\nkernel void k(global int *o) { o[0] = 1; }"
    log = str(kernel(svm, source, "k").attributes.extra["build_log"])
    assert "m.cl:1" in log
    assert "something to know" in log


def test_12_a_changed_header_is_seen(svm: GpuBackend, tmp_path: Path) -> None:
    """A header beside the source, or in a folder of -I, is read anew each time; so is a changed -D."""
    folder = tmp_path / "headers"
    folder.mkdir()
    path = written(
        tmp_path, "k.cl", '#include "a.h"\n#include "b.h"\nkernel void k(global int *o) { *o = A * 100 + B * 10 + C; }'
    )
    out = ints(svm, 1)
    for number, (a, b, c) in enumerate([(1, 2, 3), (4, 2, 3), (4, 5, 3), (4, 5, 6), (1, 2, 3)]):
        written(tmp_path, "a.h", f"#define A {a}\n")
        written(folder, "b.h", f"#define B {b}\n")
        svm.load_module(f"m{number}", path=path, options=("-I", str(folder), f"-DC={c}"))
        svm.kernel(f"m{number}", "k")[1, 1](out)
        assert out.numpy().tolist() == [100 * a + 10 * b + c]


def test_a_blank_in_an_option_is_refused(svm: GpuBackend) -> None:
    """OpenCL's options are one line without a rule for blanks: a value with one is refused, not cut in two."""
    with pytest.raises(NotSupported, match=r"'-DTEXT=a b'.*blank"):
        svm.load_module("m", source="kernel void k(global int *o) { *o = 1; }", options=("-DTEXT=a b",))


def test_a_zero_byte_is_refused(svm: GpuBackend) -> None:
    """A zero byte would end the text for PoCL, so that the rest were lost without a word."""
    with pytest.raises(CompileError, match=r"m\.cl: line 2 holds a zero byte"):
        svm.load_module("m", source="kernel void k(global int *o) { *o = 1; }\n\0 what else there is")


def test_a_folder_with_a_blank_holds_sources(svm: GpuBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source in a folder that OpenCL's options cannot name is built; with headers from inside that folder, and from
    elsewhere it is refused with the folder's name and what to do."""
    folder = tmp_path / "my kernels"
    folder.mkdir()
    plain = written(folder, "plain.cl", "kernel void k(global int *o) { *o = 41 + D; }")
    wanting = written(folder, "wanting.cl", '#include "a.h"\nkernel void k(global int *o) { *o = A; }')
    written(folder, "a.h", "#define A 43\n")
    out = ints(svm, 1)
    svm.load_module("plain", path=plain, options=("-DD=1",))["k"][1, 1](out)
    assert out.numpy().tolist() == [42]
    with pytest.raises(NotSupported, match=r"wanting\.cl lies in .*my kernels.*change the working directory"):
        svm.load_module("wanting", path=wanting)
    monkeypatch.chdir(folder)
    svm.load_module("wanting", path=wanting)["k"][1, 1](out)
    assert out.numpy().tolist() == [43]


TYPES = """
typedef float real;
typedef uint3 triple;
typedef struct { real x; char tag; } Mark;
struct Hidden;
enum Mode { SLOW, FAST };
kernel void k(global real *out, real x, triple t, Mark m, constant Mark *marks, global struct Hidden *h, enum Mode e,
              local real *scratch, global const int *restrict r) { out[0] = x; }
"""


def test_types_are_the_compilers_own(svm: GpuBackend) -> None:
    """Typedefs are known as what they stand for, structures by the compiler's size; what is incomplete stays unknown."""
    k = kernel(svm, TYPES, "k")
    bound = {each.name: (each.kind, each.nbytes, each.align, each.type_name) for each in k.attributes.bindings or ()}
    assert bound == {
        "out": ("pointer", 4, 4, "float"),
        "x": ("value", 4, 4, "float"),
        "t": ("value", 16, 16, "uint3"),
        "m": ("value", 8, 4, "Mark"),
        "marks": ("pointer", 8, 4, "Mark"),
        "h": ("pointer", None, None, "struct Hidden"),
        "e": ("value", 4, 4, bound["e"][3]),
        "scratch": ("local", 4, 4, "float"),
        "r": ("pointer", 4, 4, "int"),
    }
    accesses = {each.name: (each.access, each.space) for each in k.attributes.bindings or ()}
    assert accesses["out"] == ("read-write", "global")
    assert accesses["marks"] == ("read", "constant")
    assert accesses["r"] == ("read", "global")


def test_options_change_the_sizes_of_types(svm: GpuBackend) -> None:
    """Sizes are asked of the source with the same options as it was built with."""
    source = "typedef struct { int v[N]; } Row;\nkernel void k(global int *out, Row row) { *out = row.v[N - 1]; }"
    out = ints(svm, 1)
    for count in (3, 7):
        svm.load_module(f"m{count}", source=source, options=(f"-DN={count}",))
        row = np.arange(count, dtype=np.int32).tobytes()
        k = svm.kernel(f"m{count}", "k")
        mg.KernelLaunch(svm, k).grid([1, 1, 1]).block([1, 1, 1]).arg_ptr(out).arg_bytes(row, align=4).launch()
        assert out.numpy().tolist() == [count - 1]


def test_types_are_known_beside_any_macros(svm: GpuBackend, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever names a source has macros of, the size of a structure is known and a wrong one refused; an image, which
    has no size, is not asked for one."""
    source = """
    #define out (3)
    #define first x.y
    #define second z
    typedef struct { float a; int b; } Pair;
    kernel void k(global int *o, Pair pair) { *o = pair.b; }
    kernel void shade(global int *o, Pair pair, read_only image2d_t i, sampler_t s) { *o = pair.b; }
    """
    k, o = kernel(svm, source, "k"), ints(svm, 1)
    with pytest.raises(ArgumentSizeError, match="8 bytes expected, 12 given"):
        k[1, 1](o, bytes(12))
    k[1, 1](o, np.array([1, 77], np.int32).tobytes())
    assert o.numpy().tolist() == [77]
    shade = svm.kernel("m", "shade")
    assert [each.nbytes for each in shade.attributes.bindings or ()] == [4, 8, None, None]
    assert "error" not in capfd.readouterr().err


def test_11_two_modules_with_one_kernel_name(gpu: GpuBackend) -> None:
    """Launches of two modules' kernels of one name alternate without mixing, also when a module goes meanwhile."""
    gpu.load_module("a", source="kernel void k(global int *x) { x[get_global_id(0)] *= 2; }")
    gpu.load_module("b", source="kernel void k(global int *x) { x[get_global_id(0)] += 100; }")
    x, doubled, more = gpu.array(np.arange(5, dtype=np.int32)), gpu.kernel("a", "k"), gpu.kernel("b", "k")
    for _ in range(3):
        doubled[1, 5](x)
        more[1, 5](x)
    gpu.unload_module("a")
    assert x.numpy().tolist() == [8 * at + 700 for at in range(5)]


def test_43_a_name_that_is_not_there(svm: GpuBackend) -> None:
    """A wrong name is refused with the module, the names that there are, and the near one."""
    svm.load_module(
        "sums", source="kernel void sum(global int *x) { *x = 1; }\nkernel void mean(global int *x) { *x = 2; }"
    )
    with pytest.raises(KernelNotFound, match=r"'sums'.*'sun'.*did you mean sum\?") as refused:
        svm.kernel("sums", "sun")
    assert set(refused.value.available) == {"sum", "mean"}
    assert tuple(svm.load_module("again", source="kernel void only(global int *x) { *x = 1; }")) == ("only",)


def test_spirv_is_refused_where_the_device_takes_none(svm: GpuBackend) -> None:
    """PoCL as it is here takes no SPIR-V and says so in its capabilities; a module of it is refused."""
    if "spirv" in svm.capabilities.code_formats:
        pytest.skip("this device takes SPIR-V")
    module = (0x07230203).to_bytes(4, "little") + (0x00010000).to_bytes(4, "little") + bytes(12)
    with pytest.raises(ModuleLoadError, match="SPIR-V"):
        svm.load_module("m", binary=module)


def test_variables_have_no_address(svm: GpuBackend) -> None:
    """The variables of a program are no memory of the host's; asking for one says so."""
    module = svm.load_module("m", source="constant int five = 5;\nkernel void k(global int *o) { *o = five; }")
    with pytest.raises(NotSupported, match=r"variable"):
        module.globals["five"]


def test_a_driver_that_knows_not_the_processor_is_named_as_the_cause() -> None:
    """PoCL's "unknown target CPU" is no error of the user's text: the refusal says what would help."""
    from metrale_gpu_runtime.drivers.opencl.compiling import _refused

    error = _refused("m", "PoCL 3.0", "error: unknown target CPU 'generic'\n", ["-cl-kernel-arg-info"])
    assert "unknown target CPU 'generic'" in str(error)
    assert "apt-get install pocl-opencl-icd" in str(error)
    assert "pocl-opencl-icd" not in str(_refused("m", "PoCL", "<source>:1:2: error: expected ';'", []))
