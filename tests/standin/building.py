"""Compiles the stand-in CUDA driver: once for each state of its sources, headers and compiler, safe among workers.

`cuda.h` comes from the nvidia-cuda-runtime wheel or CUDA_HOME; from it the defaults of all entry points that are not
modelled, the table that cuGetProcAddress answers from, and the names of the codes are made.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent
LIBRARY = "libcuda.so.1"
FLAGS = ("-std=c11", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-pthread")
WARNINGS = ("-Wall", "-Wextra", "-Werror")
# From 13.0 on the wheels of all CUDA libraries share a folder.
_WHEELS = ("nvidia.cu13", "nvidia.cuda_runtime")


def compiler() -> str | None:
    """The C compiler: $CC, gcc or cc; None where there is none."""
    return next(filter(None, (shutil.which(name) for name in (os.environ.get("CC", "gcc"), "gcc", "cc"))), None)


def cuda_include() -> Path | None:
    """The folder of cuda.h, None where none is found."""
    places = []
    for name in _WHEELS:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            continue
        places += [Path(place) / "include" for place in (spec.submodule_search_locations or ())] if spec else []
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            places.append(Path(os.environ[variable]) / "include")
    places.append(Path("/usr/local/cuda/include"))
    return next((place for place in places if (place / "cuda.h").is_file()), None)


def _preprocessed(include: Path, *options: str) -> str:
    text = "#include <cuda.h>\n#include <cudaProfiler.h>\n"
    if not (include / "cudaProfiler.h").is_file():
        text = "#include <cuda.h>\n"
    command = [compiler() or "gcc", "-E", "-P", *options, f"-I{include}", "-x", "c", "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def _generated(include: Path) -> str:
    """C text: weak defaults of every entry point that cuda.h declares, and the tables of names."""
    declared = re.compile(r"\b(cu[A-Z]\w*)\s*\(")
    # Once with the names of all versions, once with those that a program gets.
    internal, plain = _preprocessed(include, "-D__CUDA_API_VERSION_INTERNAL"), _preprocessed(include)
    own = re.compile(r"^CUresult (cu[A-Z]\w*)\(", re.MULTILINE)
    written = {name for path in SOURCES.glob("cuda*.c") for name in own.findall(path.read_text())}
    names = sorted({*declared.findall(internal), *declared.findall(plain)} | written)
    defines = re.compile(r"^#define (cu[A-Z]\w*) (?:__CUDA_API_PT[DS][SZ]\()?(cu[A-Z]\w*)\)?$", re.MULTILINE)
    aliases = sorted({(a, b) for a, b in defines.findall(_preprocessed(include, "-dM")) if a != b})
    codes = sorted({(int(n), name) for name, n in re.findall(r"\b(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", plain)})
    lines = ["struct entry_point { const char *name; void *function; };"]
    lines += [
        "struct entry_alias { const char *name, *target; };",
        "struct error_name { int code; const char *name; };",
    ]
    lines += ["int standin_missing(const char *name);"]
    export = '__attribute__((weak, visibility("default")))'
    lines += [f'{export} int {name}(void) {{ return standin_missing("{name}"); }}' for name in names]
    lines += ["const struct entry_point entry_points[] = {"]
    lines += [f'    {{"{name}", (void *){name}}},' for name in names] + ["    {0, 0}};"]
    lines += ["const struct entry_alias entry_aliases[] = {"]
    lines += [f'    {{"{a}", "{b}"}},' for a, b in aliases] + ["    {0, 0}};"]
    lines += ["const struct error_name error_names[] = {"]
    lines += [f'    {{{code}, "{name}"}},' for code, name in codes] + ["    {0, 0}};"]
    return "\n".join(lines) + "\n"


def _sources() -> list[Path]:
    return sorted([*SOURCES.glob("core*.c"), *SOURCES.glob("cuda*.c")])


def _digest(include: Path, cc: str) -> str:
    digest = hashlib.sha256(" ".join((*FLAGS, *WARNINGS)).encode())
    digest.update(subprocess.run([cc, "--version"], check=True, capture_output=True).stdout)
    for path in (*sorted(SOURCES.glob("c*.h")), *_sources(), include / "cuda.h", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


@cache
def build_cuda() -> Path:
    """The folder with `libcuda.so.1`, built when it is not there yet. Raises OSError where it cannot be built."""
    cc, include = compiler(), cuda_include()
    if cc is None:
        raise OSError("no C compiler was found (gcc, cc or $CC) to build the stand-in CUDA driver with")
    if include is None:
        raise OSError("no cuda.h was found in the nvidia-cuda-runtime wheel, CUDA_HOME or /usr/local/cuda")
    base = Path(
        os.environ.get("METRALE_STANDIN_CACHE") or Path(tempfile.gettempdir()) / f"metrale-standin-{os.getuid()}"
    )
    folder = base / f"cuda-{_digest(include, cc)}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / LIBRARY).is_file():
            _compile(cc, include, folder)
    return folder


def _compile(cc: str, include: Path, folder: Path) -> None:
    (folder / "defaults.c").write_text(_generated(include), encoding="ascii")
    objects = []
    for source in (*_sources(), folder / "defaults.c"):
        made = folder / f"{source.stem}.o"
        # A default has another parameter list than the header says, on purpose.
        extra = ("-w", "-fno-builtin") if source.stem == "defaults" else (*WARNINGS, f"-I{include}")
        if source.stem.startswith("cuda"):
            extra = (*extra, "-fvisibility=default")  # cuda.h declares the entry points without a visibility
        _run([cc, *FLAGS, *extra, f"-I{SOURCES}", "-c", str(source), "-o", str(made)])
        objects.append(str(made))
    finished = folder / f"{LIBRARY}.part"
    link = ["-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", f"-Wl,-soname,{LIBRARY}", "-o", str(finished)]
    _run([cc, *FLAGS, *link, *objects, "-lpthread", "-ldl"])
    finished.rename(folder / LIBRARY)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(command)}\n{done.stderr}")
