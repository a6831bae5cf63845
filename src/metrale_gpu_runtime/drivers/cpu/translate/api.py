"""What the driver calls: translate a kernel, or ask whether that can be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....errors import UnsupportedInstruction
from ....ptx.syntax import Function, Instruction, PtxModule
from .block_code import BlockTranslator
from .choice import Choice
from .emitter import instruction_text
from .kernel import KernelBody, ThreadTranslator, TranslatedKernel
from .refusal import Refused
from .steps import NotByBlock, StepFinder


def translate(
    module: PtxModule,
    kernel: str,
    *,
    module_name: str,
    check: str | None = None,
    global_addresses: Mapping[str, int] | None = None,
    by_block: bool | None = None,
) -> TranslatedKernel:
    """LLVM IR for one kernel, in text.

    `check` is "memory" for checked accesses or None. `global_addresses` are the host addresses of the module's
    `.global` and `.const` variables. `by_block` says how to run the kernel: by block where that can be (True), thread
    by thread (False), or as seems faster (None). Raises `UnsupportedInstruction` for what is not translated.
    """
    if check not in (None, "memory"):
        raise ValueError(f'check is {check!r}; the translator knows "memory" and None')
    function = module.functions[kernel]
    try:
        return _translated(module, function, check, global_addresses, by_block=by_block)
    except Refused as refused:
        raise _error(refused, function, module_name) from None


def unsupported(module: PtxModule, kernel: str, *, module_name: str) -> UnsupportedInstruction | None:
    """The error that `translate` would raise, or None: an instruction that is not translated, a call that cannot
    be followed. Nothing is kept; costs about what translating does."""
    function = module.functions[kernel]
    try:
        _translated(module, function, None, None)
    except Refused as refused:
        return _error(refused, function, module_name)
    return None


def _translated(
    module: PtxModule,
    kernel: Function,
    check: str | None,
    global_addresses: Mapping[str, int] | None,
    *,
    by_block: bool | None = None,
) -> TranslatedKernel:
    body = KernelBody(module, kernel, polls=check is not None)
    if by_block is not False:
        places = body.places(global_addresses, suspends=body.suspends)
        try:
            finder = StepFinder(body.function, body.blocks, body.liveness, places.private)
            by_blocks = BlockTranslator(body, places, finder, check=check)
        except NotByBlock:
            pass
        else:
            if by_block is True or Choice(by_blocks, check).by_block():
                return replace(by_blocks.translate(), may_run_on=body.may_run_on)
    translator = ThreadTranslator(body, body.places(global_addresses, suspends=body.suspends), check=check)
    return replace(translator.translate(), may_run_on=body.may_run_on)


def _error(refused: Refused, kernel: Function, module_name: str) -> UnsupportedInstruction:
    instruction: Instruction | None = refused.instruction
    text = instruction_text(instruction) if instruction is not None else kernel.name
    line = instruction.position.line if instruction is not None else kernel.position.line
    source = ""
    if instruction is not None and instruction.source is not None:
        source = f" (from {instruction.source.file}:{instruction.source.line})"
    return UnsupportedInstruction(
        f"{kernel.name} in {module_name}, PTX line {line}{source}: {text} cannot run on the CPU backend: {refused}",
        module=module_name,
        kernel=kernel.name,
        instruction=text,
        line=line,
    )
