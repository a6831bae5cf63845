"""Machines as the tests need them: drivers that crash, hang or lack something, built with the system's C compiler, and
a pyopencl whose wheel brought a loader and no driver."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

from standin.building import compiler

CRASHES = "__attribute__((constructor)) static void begin(void) { *(volatile int *)8 = 1; }"
HANGS = "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { for (;;) pause(); }"
CRASHES_WHEN_ASKED = """
int clIcdGetPlatformIDsKHR(unsigned n, void **p, unsigned *count) { *(volatile int *)8 = 1; return 0; }
void *clGetExtensionFunctionAddress(const char *name) { return (void *)clIcdGetPlatformIDsKHR; }
int clGetPlatformInfo(void *p, unsigned what, unsigned long n, void *to, unsigned long *size) { return -30; }
"""
NO_DRIVER = "int unrelated(void) { return 7; }"
LOADER_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES")
VULKAN_VARIABLES = (
    "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS",
)  # fmt: skip


def build(source: str, path: Path, *options: str) -> Path:
    """A shared library of this C text."""
    text = path.with_suffix(".c")
    text.write_text(source)
    command = [str(compiler()), "-shared", "-fPIC", "-w", str(text), "-o", str(path), *options]
    subprocess.run(command, check=True, capture_output=True)
    return path


def vendor_folder(folder: Path, **libraries: str | Path) -> Path:
    """A folder of .icd files, each naming one library."""
    folder.mkdir()
    for name, library in libraries.items():
        (folder / f"{name}.icd").write_text(f"{library}\n")
    return folder


def manifest(path: Path, library: str | Path) -> Path:
    """A Vulkan driver's manifest."""
    content = {"file_format_version": "1.0.0", "ICD": {"library_path": str(library), "api_version": "1.3.230"}}
    path.write_text(json.dumps(content))
    return path


def bare_pyopencl(folder: Path) -> Path:
    """A copy of pyopencl with the loader that its wheel brings and without the driver that pip added to it."""
    spec = importlib.util.find_spec("pyopencl")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    (folder / "pyopencl" / ".libs").mkdir(parents=True)
    for each in home.iterdir():
        if each.is_dir() and each.name != ".libs":
            (folder / "pyopencl" / each.name).symlink_to(each)
        elif each.is_file():
            shutil.copy(each, folder / "pyopencl" / each.name)
    for each in (home / ".libs").glob("libOpenCL*"):
        shutil.copy(each, folder / "pyopencl" / ".libs" / each.name)
    return folder / "pyopencl"


def system_pocl() -> str | None:
    """The library that this system's own PoCL registers."""
    entry = Path("/etc/OpenCL/vendors/pocl.icd")
    return entry.read_text().strip() if entry.exists() else None


def lavapipe() -> Path:
    """The library of this system's software Vulkan."""
    path = next(iter(sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))))
    return Path(str(json.loads(path.read_text())["ICD"]["library_path"]))


def compile_nothing() -> str:
    """What the default OpenCL device says to an empty kernel when it refuses it; "" where it compiles it. In a child:
    the loader reads its folders once."""
    from metrale_gpu_runtime import open_backend
    from metrale_gpu_runtime.errors import CompileError

    with open_backend("opencl") as gpu:
        try:
            module = gpu.load_module("nothing", source="kernel void nothing(void) {}")
        except CompileError as error:
            return error.log
        assert module["nothing"].signature is not None
        return ""
