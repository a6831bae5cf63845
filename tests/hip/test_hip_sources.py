"""HIP C and CUDA C by hiprtc: what reaches the compiler, what comes of it, and refusals with the lines at fault."""

from __future__ import annotations

import re

import pytest
from rungs import require_rung

from metrale_gpu_runtime.errors import BackendUnavailable, CompileError
from metrale_gpu_runtime.modules import cache
from metrale_gpu_runtime.testing.conformance.target import KERNELS

TEMPLATE = """
template <typename T> __global__ void fill(T *out, T value, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
"""


@pytest.fixture
def hiprtc(standin, monkeypatch):
    """clang behind the stand-in's hiprtc, nothing compiled yet; what it made of programs is given back."""
    require_rung("hip compiler")
    monkeypatch.setattr(cache, "COMPILED_BY_DRIVERS", cache.CompileMemo())
    from standin.hip_compiler import HipCompiler

    compiler = HipCompiler()
    compiler.register()
    before = compiler.programs("created") - compiler.programs("destroyed")
    yield compiler
    compiler.forget()
    assert compiler.programs("created") - compiler.programs("destroyed") == before


def test_a_cu_file_loads_on_hip(hiprtc, gpu):
    """The suite's own CUDA C compiles for the AMD device, with its kernels and variables."""
    module = gpu.load_module("suite", path=KERNELS / "suite.cu")
    assert {"affine", "mixed", "reverse_blocks", "_Z7mangledPji"} <= set(module)
    assert module.globals["table"].nbytes == 12
    assert f"-I{KERNELS}" in hiprtc.options[0]


def test_source_tells_names_and_types(hiprtc, gpu):
    """Signatures come from the debug information of a second compile, held against the code object's metadata."""
    signature = gpu.load_module("suite", path=KERNELS / "suite.cu")["mixed"].signature
    assert signature.sources == ("debug information", "code object")
    assert [(p.name, p.offset) for p in signature.parameters] == [
        ("out", 0),
        ("a", 8),
        ("b", 16),
        ("c", 24),
        ("d", 32),
        ("e", 40),
    ]
    assert [p.scalar.name for p in signature.parameters[1:]] == ["u8", "u64", "u16", "f64", "u32"]
    assert ["-g" in options for options in hiprtc.options] == [False, True]


def test_code_is_compiled_for_the_device(standin, hiprtc, gpu):
    """The target is the device's whole id unless an option names another."""
    gpu.load_module("a", source=TEMPLATE, names=("fill<int>",))
    gpu.load_module("b", source=TEMPLATE, names=("fill<int>",), options=("--offload-arch=gfx1100", "-DX=1"))
    targets = [[option for option in given if option.startswith("--offload-arch")] for given in hiprtc.options]
    assert targets == [["--offload-arch=gfx1100"]] * 2
    assert "-DX=1" in hiprtc.options[1]


def test_templates_become_kernels_by_name_expressions(hiprtc, gpu):
    """A name expression is instantiated and found under the name that was asked for."""
    module = gpu.load_module("t", source=TEMPLATE, names=("fill<float>", "fill<unsigned char>"))
    assert len(tuple(module)) == 2
    kernel = module["fill<float>"]
    assert [p.name for p in kernel.signature.parameters] == ["out", "value", "n"]
    assert kernel.signature.parameters[1].scalar.name == "f32"
    assert module["fill<unsigned char>"].signature.parameters[1].scalar.name == "u8"


def test_a_refusal_shows_the_lines_at_fault(hiprtc, gpu, tmp_path):
    """The error names the file as the caller knows it, each line, the text there, and keeps the whole log."""
    path = tmp_path / "norm.hip"
    path.write_text('extern "C" __global__ void f(int n)\n{\n    return nn;\n}\nint g() { return absent_name; }\n')
    with pytest.raises(CompileError) as refused:
        gpu.load_module("norm", path=path)
    message = str(refused.value)
    assert f"{path}:3: error: use of undeclared identifier 'nn'" in message
    assert re.search(r"3 \|\s+return nn;", message)
    assert "HIPRTC_ERROR_COMPILATION" in message
    assert [(file, line) for file, line, text in refused.value.diagnostics if "error" in text] == [
        (str(path), 3),
        (str(path), 5),
    ]
    assert "undeclared identifier 'absent_name'" in refused.value.log
    assert refused.value.module == "norm"


def test_a_header_beside_the_source_is_found(hiprtc, gpu, tmp_path):
    """Headers are looked for in the source's own folder and in the caller's."""
    (tmp_path / "beside.h").write_text("#define FACTOR 7\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "elsewhere.h").write_text("#define ADDEND 9u\n")
    path = tmp_path / "k.cu"
    path.write_text(
        '#include <stdint.h>\n#include "beside.h"\n#include "elsewhere.h"\n'
        'extern "C" __global__ void f(uint32_t *out) { *out = FACTOR + ADDEND; }\n'
    )
    module = gpu.load_module("k", path=path, options=(f"-I{other}",))
    assert tuple(module) == ("f",)


def test_equal_source_is_compiled_once(standin, hiprtc, gpu, tmp_path):
    """The same text with the same headers is compiled once in a process; a changed header or option is compiled anew."""
    (tmp_path / "c.h").write_text("#define C 5\n")
    path = tmp_path / "k.hip"
    path.write_text('#include "c.h"\nextern "C" __global__ void f(int *out) { *out = C; }\n')
    gpu.load_module("first", path=path)
    gpu.load_module("second", path=path)
    assert len(hiprtc.options) == 1
    (tmp_path / "c.h").write_text("#define C 6\n")
    gpu.load_module("third", path=path)
    gpu.load_module("fourth", path=path, options=("-DX",))
    assert len(hiprtc.options) == 3
    assert standin.count("module", "live") == 4


def test_a_zero_byte_in_the_source_is_refused(hiprtc, gpu):
    """Text that C would end early is refused with its line."""
    with pytest.raises(CompileError, match="line 2 holds a zero byte"):
        gpu.load_module("z", source='extern "C" __global__ void f() {}\n/* \0 */')


def test_a_broken_compiler_is_told(standin, gpu):
    """A code other than a refusal of the source names hiprtc's word for it."""
    with pytest.raises(CompileError, match="HIPRTC_ERROR_INTERNAL_ERROR"):
        gpu.load_module("n", source=TEMPLATE)


def test_no_hiprtc_is_told(gpu, monkeypatch):
    """Without hiprtc the error says that source needs it and what does not."""
    from metrale_gpu_runtime.drivers.hip import compiling

    class NotThere:
        class hiprtcResult:
            HIPRTC_SUCCESS = 0

        @staticmethod
        def hiprtcVersion():
            raise RuntimeError("failed to dlopen 'libhiprtc.so'")

    monkeypatch.setattr(compiling, "import_bindings", lambda: (None, NotThere))
    with pytest.raises(BackendUnavailable, match=r"hiprtc.*libhiprtc\.so.*\.hsaco"):
        gpu.load_module("n", source=TEMPLATE)
