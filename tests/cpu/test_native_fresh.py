"""What is shipped as LLVM IR was made from the C beside it, fits LLVM here, and agrees with the Python mirror."""

from __future__ import annotations

import ctypes
import re
import shutil
from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.drivers.cpu import abi, jit
from metrale_gpu_runtime.drivers.cpu.native import build

SOURCES = build.sources()


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_generated_ir_is_fresh(source: Path) -> None:
    """Each `.ll` carries the hashes of the very C text and flags that are here (no compiler needed to see it)."""
    assert build.is_fresh(source), f"{source.name} has changed: run python {build.__file__}"


def test_compiling_again_gives_the_same_text() -> None:
    """The committed IR is what clang makes of the C, byte for byte."""
    require_rung("clang-19")
    assert build.main(["--check"]) == 0


def test_a_change_of_a_header_makes_the_ir_stale(tmp_path: Path) -> None:
    """Freshness covers the included headers and the flags, not the C file alone."""
    for file in ("abi.h", "scheduler.c", "scheduler.ll"):
        shutil.copy(build.DIRECTORY / file, tmp_path / file)
    source = tmp_path / "scheduler.c"
    assert build.is_fresh(source)
    header = tmp_path / "abi.h"
    header.write_text(header.read_text().replace("uint32_t arrived[16]", "uint32_t arrived[17]"))
    assert not build.is_fresh(source)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_generated_ir_is_portable(source: Path) -> None:
    """No triple, data layout, CPU or feature of the build machine is left, and LLVM here accepts the text."""
    import llvmlite.binding as llvm

    text = source.with_suffix(".ll").read_text(encoding="utf-8")
    assert not re.search(r"target triple|target datalayout|target-cpu|target-features|tune-cpu|llvm\.ident", text)
    llvm.parse_assembly(text).verify()


def test_libraries_are_all_there() -> None:
    """What the JIT links into every kernel is among the generated files."""
    assert set(jit.LIBRARIES) <= {source.stem for source in SOURCES}


def _numbers(name: str) -> list[int]:
    text = (build.DIRECTORY / "layout.ll").read_text(encoding="utf-8")
    found = re.search(rf"@{name} = .*?constant \[\d+ x i32\] \[(.*?)\]", text)
    assert found is not None
    return [int(word.removeprefix("i32 ")) for word in found.group(1).split(", ")]


def test_structures_have_the_layout_that_c_gives_them() -> None:
    """Size of each structure, offset and size of each field: abi.py agrees with abi.h as clang lays it out."""
    mirrored = []
    for structure in (abi.Range, abi.Fault, abi.Launch, abi.Thread, abi.Block, abi.Context):
        mirrored.append(ctypes.sizeof(structure))
        for name, *_ in structure._fields_:
            field = getattr(structure, name)
            mirrored += [field.offset, field.size]
    assert mirrored == _numbers("ABI_LAYOUT")


def test_enumerations_have_the_numbers_of_c() -> None:
    """The codes that both sides exchange are the same numbers."""
    assert _numbers("ABI_ENUMS") == [
        abi.ThreadCode.FAULTED,
        abi.BarrierOp.RED_POPC,
        abi.WarpOp.SHFL_IDX,
        abi.WarpOp.VOTE_BALLOT,
        abi.WarpOp.MATCH_ALL,
        abi.WarpOp.REDUX_XOR,
        abi.WarpOp.ACTIVEMASK,
        abi.WarpOp.ELECT,
        abi.FaultKind.PARAM_BOUNDS,
        abi.Access.ATOMIC,
        abi.RunCode.NEEDS_CONTEXTS,
        abi.MASK_CONVERGED,
    ]
