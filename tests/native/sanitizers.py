"""The launch core under AddressSanitizer and UndefinedBehaviourSanitizer: builds it so, and runs the tests over it.

By hand: `python tests/native/sanitizers.py` runs this folder, the mock's conformance and the launch tests of CUDA;
`python tests/native/sanitizers.py PATH…` runs those.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "metrale_gpu_runtime"
FLAGS = ("-std=gnu11", "-O1", "-g", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-omit-frame-pointer")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
WARNINGS = ("-Wall", "-Wextra", "-Werror")
TESTS = (
    "tests/native",
    "tests/test_native_values.py",
    "tests/conformance/test_mock.py",
    "tests/cuda/test_launch_core.py",
    "tests/cuda/test_refused_launches.py",
    "tests/cuda/test_argument_block.py",
    "tests/engine/test_launch_forms.py",
    "tests/engine/test_in_flight.py",
)


@cache
def _library(name: str) -> Path | None:
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    path = Path(
        subprocess.run([gcc, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
    )
    return path if path.is_absolute() and path.exists() else None


def can_build() -> bool:
    """True where there are gcc, its sanitizers, Python's headers, and an interpreter that takes memory from malloc.

    A free-threaded one takes it from an allocator of its own alone, of whose blocks the sanitizer knows no ends.
    """
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    headers = Path(sysconfig.get_path("include"), "Python.h")
    return headers.is_file() and all(_library(each) is not None for each in ("libasan.so", "libubsan.so"))


def build(folder: Path) -> dict[str, str]:
    """Put a copy of the package with such a core into `folder`; the environment for a process that is to use it."""
    package = folder / "metrale_gpu_runtime"
    if not package.exists():
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        out = package / "native" / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
        source = package / "native" / "module.c"
        include = f"-I{sysconfig.get_path('include')}"
        subprocess.run(["gcc", *FLAGS, *SANITIZERS, *WARNINGS, include, str(source), "-o", str(out)], check=True)
    preload = " ".join(str(_library(each)) for each in ("libasan.so", "libubsan.so"))
    return {
        "LD_PRELOAD": preload,
        # Every object a block of its own, of which the sanitizer knows the ends.
        "PYTHONMALLOC": "malloc",
        # What the interpreter keeps until it ends is no leak of ours; those are counted (test_native_leaks.py).
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "METRALE_LAUNCH_CORE": "native",
        "PYTHONPATH": os.pathsep.join([str(folder), *[each for each in sys.path if each]]),
    }


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="sanitized-") as folder:
        environment = {**os.environ, **build(Path(folder))}
        tests = arguments or [each for each in TESTS if (ROOT / each).exists()]
        deselected = ["--deselect", "tests/native/test_sanitizers.py"]
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-x", *deselected, *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
