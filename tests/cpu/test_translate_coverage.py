"""How much of what public kernels contain is translated."""

from __future__ import annotations

from pathlib import Path

import pytest
from opcode_texts import kernel_text

from metrale_gpu_runtime.drivers.cpu.translate import translate, unsupported
from metrale_gpu_runtime.ptx.parser import parse

FAMILIES = {
    "address: cvta/isspacep", "atomics", "barrier", "compare/predicate", "control: branch/ret", "conversion",
    "conversion: half/fp8/tf32", "fence", "float: IEEE div/sqrt/rcp", "float: approx special", "float: f32 arithmetic",
    "float: f64 arithmetic", "half/bf16 arithmetic", "integer: arithmetic", "integer: bit-field (lop3/prmt/shf/bfe..)",
    "integer: bitwise/shift", "integer: carry chain", "integer: dp4a/mul24/sad", "memory: cache control",
    "memory: const", "memory: generic", "memory: global", "memory: local", "memory: param", "memory: shared", "misc",
    "move",
    "video SIMD", "warp",
}  # fmt: skip

EXCEPTIONS = {
    "fence.proxy.async.shared::cta": "belongs to the bulk copies of Hopper",
    "fence.proxy.tensormap::generic.acquire.gpu": "belongs to the bulk copies of Hopper",
}


def _opcodes() -> list[tuple[str, int, str]]:
    table = Path(__file__).parent / "data" / "ptx_opcodes.tsv"
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    return [(opcode, int(kernels), family) for opcode, kernels, _, family in rows]


CORE = [(opcode, kernels) for opcode, kernels, family in _opcodes() if family in FAMILIES and opcode not in EXCEPTIONS]


def test_every_core_opcode_of_the_corpus_is_translated_to_ir_that_llvm_accepts() -> None:
    """Every opcode of the core families that some public kernel uses is translated, with and without checks."""
    import llvmlite.binding as llvm

    refused = {}
    for opcode, _ in CORE:
        module = parse(kernel_text(opcode))
        error = unsupported(module, "k", module_name="corpus")
        if error is not None:
            refused[opcode] = str(error)
            continue
        for check in (None, "memory"):
            llvm.parse_assembly(translate(module, "k", module_name="corpus", check=check).ir).verify()
    assert refused == {}


def test_the_share_of_opcode_uses_that_is_translated_is_what_we_say() -> None:
    """Of all (kernel, opcode) pairs of the corpus the core families are at least 95 %."""
    total = sum(kernels for _, kernels, _ in _opcodes())
    assert sum(kernels for _, kernels in CORE) / total > 0.95


@pytest.mark.parametrize("opcode", sorted(EXCEPTIONS))
def test_what_is_not_translated_is_refused_by_name_and_line(opcode: str) -> None:
    """An opcode outside of what is translated is refused, naming kernel, instruction and line."""
    error = unsupported(parse(kernel_text(opcode)), "k", module_name="corpus")
    assert error is not None
    assert (error.kernel, error.instruction, error.line) == ("k", opcode, 12)
    assert opcode in str(error)
    assert "corpus" in str(error)
