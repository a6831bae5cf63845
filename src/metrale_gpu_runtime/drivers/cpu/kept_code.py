"""A kernel's machine code: of the compile cache where that has it, else compiled and kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from ...code_cache import CodeCache
from . import jit
from .module_variables import with_symbols

# Apple's linkers know no code for its ARM processors whose data may lie anywhere.
_MAY_BE_FAR = sys.platform != "darwin"


def kernel_code(
    code_cache: CodeCache, name: str, ir: str, param_nbytes: int, variables: Mapping[str, tuple[int, int]]
) -> jit.CompiledKernel:
    """The machine code of one kernel's IR. `variables` are the module's, (address, nbytes) by name.

    Raises RuntimeError for IR that LLVM refuses: a defect of the translator.
    """
    symbolic = with_symbols(ir, variables if _MAY_BE_FAR else {})
    entry = code_cache.entry("cpu", name, [symbolic.ir, str(param_nbytes), *jit.target_facts()])
    if entry.data is not None:
        try:
            code = jit.load_object(entry.data, symbolic.addresses)
        except RuntimeError:  # no object file: not ours, whatever its checksum says
            entry.refuse()
        else:
            entry.used()
            return code
    made = jit.object_code(symbolic.ir, param_nbytes, is_far=bool(symbolic.addresses))
    code = jit.load_object(made, symbolic.addresses)
    entry.keep(made)
    return code
