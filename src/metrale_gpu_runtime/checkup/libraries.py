"""A vendor's library, loaded in a child process and asked for its version and devices by calls that need no context."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from ..drivers.diagnosis import BROKEN, FOUND, MISSING, Observation
from ..drivers.probing import ChildEnd, load_library, mapped_file, run_probe, tell

_PROGRAM = f"import sys; from {__name__} import print_library; print_library(sys.argv[1], sys.argv[2:])"

# How each vendor's driver is asked, in this order; source: cuda.h, hip_runtime_api.h. "count" and "version" write an
# int, "initialize" takes flags.
CALLS = {
    "cuda": {"version": "cuDriverGetVersion", "initialize": "cuInit", "count": "cuDeviceGetCount"},
    "hip": {"version": "hipRuntimeGetVersion", "initialize": "hipInit", "count": "hipGetDeviceCount"},
}


def ask_library(vendor: str, *names: str) -> ChildEnd:
    """Load the first of these that can be, and ask it. What is told: `path`, `version`, and of the others the codes."""
    return run_probe(_PROGRAM, vendor, *names)


def print_library(vendor: str, names: list[str]) -> None:
    """In a child: what `ask_library` gives."""
    problems = {}
    for name in names:
        library, problem = load_library(name)
        if library is not None:
            facts: dict[str, Any] = {"name": name, "path": mapped_file(os.path.basename(name).partition(".so")[0])}
            tell(**facts)
            _ask(library, vendor, facts)
            return
        problems[name] = problem
    tell(problems=problems)


def _ask(library: ctypes.CDLL, vendor: str, facts: dict[str, Any]) -> None:
    for what, function in CALLS[vendor].items():
        if not hasattr(library, function):
            facts["lacks"] = function
            tell(**facts)
            return
        number = ctypes.c_int()
        argument = ctypes.c_uint(0) if what == "initialize" else ctypes.byref(number)
        code = int(getattr(library, function)(argument))
        facts[what] = number.value if what != "initialize" and code == 0 else None
        facts[f"{what}_code"] = code
        # Told step by step: what a crash leaves is everything before it.
        tell(**facts)
        if code != 0 and what != "version":
            return


def is_absent(end: ChildEnd) -> bool:
    """Whether the system's loader finds none of the names, as opposed to one that is there and cannot be loaded."""
    problems: dict[str, str] = end.told.get("problems", {})
    return bool(problems) and all(
        problem.startswith(f"{name}: cannot open shared object file: No such file") or _names_no_file(name)
        for name, problem in problems.items()
    )


def _names_no_file(name: str) -> bool:
    return os.sep in name and not os.path.exists(name)


def library_observation(what: str, end: ChildEnd, names: tuple[str, ...], version: str) -> Observation:
    """The library as an observation; `version` is what it told in people's words."""
    if end.ended:
        doing = "it was started" if "path" in end.told else "it was loaded"
        return Observation(what, BROKEN, end.problem_when(doing), (str(end.told.get("path", "")) or names[0],))
    if is_absent(end):
        return Observation(what, MISSING, f"not found: {', '.join(names)}", ("the system loader's folders", *_path()))
    if "problems" in end.told:
        told = " | ".join(dict.fromkeys(end.told["problems"].values()))
        return Observation(what, BROKEN, f"is there and cannot be loaded: {told}", names)
    return Observation(what, FOUND, version, (str(end.told.get("path") or end.told.get("name")),))


def _path() -> tuple[str, ...]:
    value = os.environ.get("LD_LIBRARY_PATH")
    return (f"LD_LIBRARY_PATH={value}",) if value else ()


def device_files(*patterns: str) -> tuple[list[str], list[str]]:
    """The device files that these patterns fit: (all, those that this user may not open for reading and writing)."""
    import glob

    there = sorted(path for pattern in patterns for path in glob.glob(pattern))
    return there, [path for path in there if not os.access(path, os.R_OK | os.W_OK)]
