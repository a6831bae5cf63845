"""The host's compiler, and a folder where what it made is found again by every process of every run."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
PRELUDE = HERE / "prelude" / "metal.h"
NAME = "program_source"
"""What Metal calls a text that came as a string, in its messages."""
LANGUAGE_VERSION = 310

# No contraction: with fast math off a product and a sum are rounded one by one unless fma is written.
_CODE = (
    "-O2",
    "-Xclang",
    "-ffloat16-excess-precision=none",
    "-fPIC",
    "-fsigned-char",
    "-fno-exceptions",
    "-fno-rtti",
    "-fvisibility=hidden",
    "-fwrapv",
    # A frame larger than the guard page below a stack must not reach what lies behind it.
    "-fstack-clash-protection",
)
_LANGUAGE = (
    "-std=c++17",
    "-w",
    "-Wno-reserved-user-defined-literal",
    "-Wno-unknown-attributes",
    "-ferror-limit=0",
    "-fno-spell-checking",
    "-fno-elide-type",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-fsigned-char",
    "-nostdinc",
    f"-I{INCLUDE}",
    f"-D__METAL_VERSION__={LANGUAGE_VERSION}",
    "-D__METAL__=1",
    "-D__METAL_MACOS__=1",
    "-D__HAVE_BFLOAT__=1",
    # 1.0 is a float, as in Metal.
    "-Xclang",
    "-cl-single-precision-constant",
)


def compiler() -> str | None:
    """clang++ of version 19, or $MSL_CXX; None where there is none."""
    name = os.environ.get("MSL_CXX", "clang++-19")
    return shutil.which(name) or shutil.which(name, path=os.defpath)


def _environment() -> dict[str, str]:
    """The environment for the compiler. Apple's is a part of the system: a PATH that leads nowhere does not hide it."""
    return {**os.environ, "PATH": os.pathsep.join((os.environ.get("PATH", ""), os.defpath))}


def required_compiler() -> str:
    """The compiler; RuntimeError that says what to install where there is none."""
    found = compiler()
    if found is None:
        raise RuntimeError(
            "the stand-in compiles kernels with clang++-19, which is not on PATH: apt-get install clang-19"
        )
    return found


@functools.cache
def _machine_flags() -> tuple[str, ...]:
    """Flags for the processor: without its own fma instruction each fma would be a call of the C library."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("flags", 2)[1].split("\n", 1)[0].split()
    except (OSError, IndexError):
        return ()
    return ("-march=x86-64-v3",) if {"avx2", "fma", "f16c", "bmi2", "movbe"} <= set(flags) else ()


@functools.cache
def _own_sources() -> bytes:
    """A digest of everything here that takes part in a compilation, the compiler too."""
    state = hashlib.sha256()
    for path in sorted(
        [*HERE.glob("*.py"), *HERE.glob("*.h"), *HERE.glob("*.cpp"), *HERE.glob("prelude/*"), *INCLUDE.glob("*")]
    ):
        state.update(path.name.encode() + path.read_bytes())
    program = os.stat(required_compiler())
    state.update(repr((_machine_flags(), program.st_size, program.st_mtime_ns)).encode())
    return state.digest()


def cache_folder() -> Path:
    """The user's own folder of compiled kernels, made on demand."""
    folder = Path(tempfile.gettempdir()) / f"metrale-msl-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise RuntimeError(f"{folder} belongs to another user; remove it")
    return folder


def entry(*parts: str) -> Path:
    """Where the result of a compilation of these texts lies, or will."""
    state = hashlib.sha256(_own_sources())
    for part in parts:
        state.update(len(part.encode()).to_bytes(8, "little") + part.encode())
    return cache_folder() / state.hexdigest()[:32]


def publish(work: Path, place: Path) -> None:
    """Put a finished folder in its place; where another process was first, its folder stands."""
    try:
        work.rename(place)
    except OSError:
        if not place.is_dir():
            raise
        shutil.rmtree(work)


def scratch() -> Path:
    """A folder in the cache to work in, which `publish` can rename."""
    return Path(tempfile.mkdtemp(prefix="work-", dir=cache_folder()))


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the compiler on a text in `folder`; its file names are those of the messages."""
    command = [required_compiler(), *_LANGUAGE, *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def preprocessing(macros: dict[str, str]) -> tuple[str, ...]:
    """Arguments that expand the user's text."""
    return ("-E", "-x", "c++", NAME, *(f"-D{name}={value}" for name, value in macros.items()))


def checking(folder: Path, macros: dict[str, str]) -> tuple[str, ...]:
    """Arguments that read the user's text in `folder` with address spaces as types of their own."""
    # Behind the prelude: -DN=4 would rewrite the prelude's own names.
    text = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    (folder / "macros.h").write_text(text, encoding="utf-8")
    return ("-fsyntax-only", "-DMSL_CHECK", "-include", str(PRELUDE), "-include", "macros.h", "-x", "c++", NAME)


def code_making(text: str, library: str, *, fast_math: bool) -> tuple[str, ...]:
    """Arguments that make a library of kernels."""
    math = ("-ffast-math",) if fast_math else ("-ffp-contract=off",)
    if fast_math and platform.machine() in ("x86_64", "AMD64"):
        math = (*math, "-mno-daz-ftz")  # Else loading the library would flush denormals in all of the process.
    arguments = (*_CODE, *_machine_flags(), *math, "-include", str(PRELUDE), "-x", "c++", text)
    return (*arguments, "-x", "none", str(runtime()), "-shared", "-o", library)


@functools.cache
def runtime() -> Path:
    """The library that runs kernels, compiled once for each state of its sources."""
    place = entry("runtime")
    library = place / f"libmsl_runtime_{place.name[:16]}.so"
    if not library.is_file():
        work = scratch()
        command = [
            required_compiler(),
            "-std=c++17",
            "-O2",
            "-g",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-pthread",
        ]
        command += [str(HERE / "runtime.cpp"), f"-Wl,-soname,{library.name}", "-o", str(work / library.name), "-ldl"]
        done = subprocess.run(command, env=_environment(), capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(work)
            raise RuntimeError(f"the runtime of the stand-in's kernels does not compile:\n{done.stderr}")
        publish(work, place)
    return library


def write_json(path: Path, value: object) -> None:
    """Write facts about a compilation beside its library."""
    path.write_text(json.dumps(value), encoding="utf-8")
