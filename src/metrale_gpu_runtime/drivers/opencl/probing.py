"""Sizes of types that only the compiler knows: a kernel behind the same source, built with the same options, says them.

clGetKernelArgInfo names a structure or a typedef and tells nothing of it, and drivers take values of any size for one.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...driver import CodeImage
from ...errors import CompileError
from .bindings import Bindings
from .compiling import build_more
from .faults import refused
from .kernels import ClKernel
from .reflection import TypeFacts

KERNEL: Final = "metrale_probe_of_types"
_WORDS: Final = 3
_One: Final = ctypes.c_size_t * 1
_LANES: Final = ("", "2", "3", "4", "8", "16")
_SCALARS: Final = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float")


def probe(
    bindings: Bindings,
    context: Any,
    device: Any,
    image: CodeImage,
    needed: Sequence[str],
    wanted: Sequence[str],
    *,
    has_half: bool,
    has_double: bool,
    name: str,
) -> Mapping[str, TypeFacts]:
    """Size, alignment and built-in name of types of this source.

    Those that are only `wanted`, behind pointers, may be incomplete: the compiler refuses them, and nothing is known of
    them then. So it is with all where the driver has no compiler for what the probe is written in.
    """
    scalars = [*_SCALARS, *(["half"] if has_half else []), *(["double"] if has_double else [])]
    known = [scalar + lanes for scalar in scalars for lanes in _LANES]
    text = image.data.decode()
    every = (*needed, *(each for each in wanted if _may_be_complete(each, text)))
    attempts = [(every, known), (tuple(needed), known), (tuple(needed), [])]
    for types, tags in attempts:
        if not types:
            continue
        try:
            program = build_more(bindings, context, device, image, _kernel(types, tags), name=name)
        except CompileError:
            continue
        words = _run(bindings, context, device, program, _WORDS * len(types))
        return {
            type: TypeFacts(nbytes, padded - nbytes, known[tag - 1] if tag else None)
            for type, (nbytes, padded, tag) in zip(types, zip(*[iter(words)] * _WORDS, strict=True), strict=True)
        }
    return {}


def _may_be_complete(type: str, text: str) -> bool:
    """False for a structure whose members no text here could hold: some compilers print an error by themselves."""
    tag = type.rpartition(" ")[2]
    return tag == type or "#include" in text or re.search(rf"\b{re.escape(tag)}\b[^;{{}}()]*{{", text) is not None


def _kernel(types: Sequence[str], tags: Sequence[str]) -> str:
    # Names that no source has a macro of.
    out, first, second = f"{KERNEL}_out", f"{KERNEL}_first", f"{KERNEL}_second"
    lines = [f"__kernel void {KERNEL}(__global unsigned long *{out}) {{"]
    for at, type in enumerate(types):
        tag = "0"
        if tags:
            # Selected by the type alone: nothing is read.
            choices = ", ".join(f"{name}: {number}" for number, name in enumerate(tags, start=1))
            tag = f"_Generic(*(__private {type} *)0, {choices}, default: 0)"
        # Behind a char lies the alignment of what follows.
        padded = f"sizeof(struct {{ char {first}; {type} {second}; }})"
        for word, value in enumerate((f"sizeof({type})", padded, tag)):
            lines.append(f"  {out}[{_WORDS * at + word}] = (unsigned long)({value});")
    return "\n".join((*lines, "}", ""))


def _run(bindings: Bindings, context: Any, device: Any, program: Any, count: int) -> tuple[int, ...]:
    cl = bindings.cl
    queue = cl.CommandQueue(context, device)
    nbytes = 8 * count
    out = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, nbytes)
    kernel = ClKernel(bindings, program, KERNEL)
    kernel.set_value(0, struct.pack("@P", int(out.int_ptr)))
    code = bindings.calls.enqueue_nd_range_kernel(
        int(queue.int_ptr), kernel.pointer, 1, None, _One(1), _One(1), 0, None, None
    )
    if code:
        raise refused(bindings, "clEnqueueNDRangeKernel", code, "the kernel that tells sizes of types")
    told = bytearray(nbytes)
    cl._cl._enqueue_read_buffer(queue, out, told, 0, None, True)
    return struct.unpack(f"{'<' if device.endian_little else '>'}{count}Q", told)
