"""The house: arrows point down, the package imports nothing heavy, and every file says what it is for."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import metrale_gpu_runtime

ROOT = Path(metrale_gpu_runtime.__file__).parent
PACKAGE = "metrale_gpu_runtime"

# Each floor may import its own and those below it. A room named here stands for everything inside it.
FLOORS: tuple[tuple[str, ...], ...] = (
    # values: no I/O, no driver, no global state
    (
        "errors",
        "handles",
        "host_address",
        "native",
        "loaded_libraries",
        "whole_numbers",
        "layout",
        "geometry",
        "rounding",
        "scalars",
        "structs",
        "args",
        "signature",
        "capabilities",
        "ranges",
        "slots",
        "elements",
        "ptx",
        "spirv",
        "cuda_images",
        "code_objects",
    ),
    ("driver", "code_cache"),
    ("drivers",),
    # the engine: knows the contract, never a driver
    (
        "aliasing",
        "arguments",
        "array_interface",
        "backend",
        "books",
        "buffers",
        "calls",
        "checked",
        "dlpack",
        "exchange",
        "exporting",
        "function_constants",
        "kernel",
        "lane",
        "launch",
        "launch_codes",
        "lending",
        "limits",
        "memory",
        "modules",
        "prepared",
        "raw_kernel",
        "residency",
        "stream",
        "substitutes",
        "tensor_map",
        "trace",
        "waiting",
    ),
    ("discovery", "checkup"),
    ("testing", "cli"),
    ("__init__", "__main__"),
)
ENGINE, DRIVERS = FLOORS[3], FLOORS[2]

# CUDA and HIP are two vocabularies of one session; children that list devices or try a driver, what they found, and that a process was forked, are any driver's.
SHARED_BY = {"cuda": ("session",), "hip": ("session",)}
SHARED_BY_ALL = (
    "diagnosis",
    "forks",
    "host_memory",
    "invented_addresses",
    "listing",
    "probing",
    "remedies",
    "stray_addresses",
)


def _floor(room: str) -> int:
    for level, rooms in enumerate(FLOORS):
        if room in rooms:
            return level
    raise AssertionError(f"{room} stands on no floor: name it in FLOORS where DESIGN.md's layout puts it")


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _type_checking_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                lines.update(range(child.lineno, (child.end_lineno or child.lineno) + 1))
    return lines


def _imports(path: Path) -> list[tuple[int, str]]:
    """(line, module inside the package) of every import that runs, those inside functions included."""
    tree = ast.parse(path.read_text())
    skipped = _type_checking_lines(tree)
    package = [PACKAGE, *path.relative_to(ROOT).parent.parts]
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(node.lineno, module if node.module else f"{module}.{alias.name}") for alias in node.names]
    return [
        (line, name.removeprefix(f"{PACKAGE}."))
        for line, name in found
        if name == PACKAGE or name.startswith(f"{PACKAGE}.")
    ]


FILES = sorted(path for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path: Path) -> None:
    """No file imports from a floor above its own, drivers never import each other or the engine."""
    name = _module_name(path)
    room = name.split(".")[0]
    for line, imported in _imports(path):
        target = imported.split(".")[0]
        if imported == PACKAGE:
            continue
        assert _floor(target) <= _floor(room), f"{path}:{line}: {name} imports {imported}, which stands above it"
        if room in ENGINE:
            assert target not in DRIVERS, f"{path}:{line}: the engine knows the contract, never a driver ({imported})"
        if room == "drivers" and target == "drivers" and len(name.split(".")) > 1 and len(imported.split(".")) > 1:
            own = name.split(".")[1]
            assert imported.split(".")[1] in (own, *SHARED_BY.get(own, ()), *SHARED_BY_ALL), (
                f"{path}:{line}: one driver imports another ({imported})"
            )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_says_what_it_is_for(path: Path) -> None:
    """Every file opens with a docstring, and no file has a name that says nothing."""
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path} has no docstring"
    assert not {"util", "utils", "helper", "helpers", "manager", "common", "misc"} & set(path.stem.split("_"))


def _child(code: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def test_importing_the_package_loads_nothing_heavy() -> None:
    """Importing the package, and looking at all of its names, loads neither NumPy nor llvmlite nor a vendor library."""
    loaded = _child(
        "import json, sys, metrale_gpu_runtime as mg\n"
        "names = [getattr(mg, name) for name in mg.__all__]\n"
        "heavy = [m for m in ('numpy', 'llvmlite', 'typer', 'rich', 'elftools') if m in sys.modules]\n"
        "print(json.dumps({'heavy': heavy, 'names': len(names)}))"
    )
    assert loaded["heavy"] == []
    assert isinstance(loaded["names"], int)
    assert loaded["names"] > 30


def test_every_public_name_is_there() -> None:
    """Everything in __all__ can be had, has a docstring where it can have one, and dir() shows it."""
    for name in metrale_gpu_runtime.__all__:
        value = getattr(metrale_gpu_runtime, name)
        assert name in dir(metrale_gpu_runtime)
        if callable(value) and not hasattr(value, "nbytes"):
            assert value.__doc__, name
