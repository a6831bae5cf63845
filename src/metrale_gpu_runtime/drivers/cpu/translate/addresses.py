"""An operand in brackets -> a pointer of LLVM, and with check="memory" the proof that it may be used.

The ranges of live memory that accesses hit are remembered in local variables (one pair per base register), so that
an access in a loop costs two comparisons; a miss asks find_range. An access must be aligned to its size: the GPU
faults otherwise. Accesses whose place is known when translating are judged then and cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ptx.syntax import Address, Immediate, Register, Symbol
from .. import abi
from .refusal import refuse
from .sites import thread_arguments

if TYPE_CHECKING:
    from .emitter import Emitter

_FIND_ARGUMENTS = "ptr, ptr, i32, i32, i32, i64, i64, i32, i32"
_UNLIKELY = "!prof !2"
_EMPTY = (1 << 64) - 1


def space_of_words(words: object) -> str:
    """The state space among the modifiers, "generic" where there is none."""
    from .words import Words

    assert isinstance(words, Words)
    space = words.choice(
        "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry", "param::func"
    )
    if space is None:
        return "generic"
    if space == "shared::cluster":
        refuse("clusters are not supported")
    return space.partition("::")[0]


def pointer(e: Emitter, address: Address, space: str, nbytes: int, access: abi.Access) -> str:
    """A pointer to the `nbytes` that an instruction accesses; checked if the kernel is."""
    if address.subscripts:
        refuse("an address with subscripts is not supported here")
    base = address.base
    if isinstance(base, Symbol):
        return _of_symbol(e, base.name, base.offset + address.offset, space, nbytes, access)
    if space == "shared":
        return _shared(e, base, address.offset, nbytes, access)
    if isinstance(base, Immediate):
        pointer_ = f"inttoptr (i64 {(base.value + address.offset) & _EMPTY} to ptr)"
        if e.check is not None:
            _check_range(e, str((base.value + address.offset) & _EMPTY), "literal", space, nbytes, access)
        return pointer_
    bits = 32 if e.register_types[base.name] == "i32" else 64
    if bits == 32 and space != "local":
        refuse(f"an address of 32 bits in {space} memory is not supported")
    if space == "local":
        return _local(e, base, address.offset, bits, nbytes, access)
    start = e.register(base.name, "ptr")
    place = e.places.offset_pointer(e, start, address.offset)
    if e.check is not None:
        value = e.register(base.name, "i64")
        if address.offset:
            value = e.op(f"add i64 {value}, {address.offset}")
        _check_range(e, value, base.name, space, nbytes, access)
    return place


def _of_symbol(e: Emitter, name: str, offset: int, space: str, nbytes: int, access: abi.Access) -> str:
    own = e.places.space_of(name)
    if own == "shared":
        if space not in ("shared", "generic"):
            refuse(f"{name} lies in .shared")
        return _shared_at(e, name, offset, nbytes, access)
    known = {"entry": "param"}.get(own, own)
    if space not in (known, "generic"):
        refuse(f"{name} lies in .{known}")
    if e.check is not None:
        size = e.places.nbytes_of(name)
        if offset < 0 or offset + nbytes > size:
            refuse(f"it accesses {nbytes} bytes at {name}{offset:+d}, which has {size}")
    return e.places.pointer_to(e, name, offset)


# ------------------------------------------------------------ shared


def _shared_at(e: Emitter, name: str, offset: int, nbytes: int, access: abi.Access) -> str:
    place = e.places.shared[name] + offset
    if e.check is not None and not 0 <= offset <= offset + nbytes <= e.places.nbytes_of(name):
        _check_shared(e, str(place & _EMPTY), nbytes, access)
    return e.places.offset_pointer(e, e.places.shared_base(e), place)


def _shared(e: Emitter, base: Register | Immediate, offset: int, nbytes: int, access: abi.Access) -> str:
    arena = e.places.shared_base(e)
    if isinstance(base, Immediate):
        if e.check is not None:
            _check_shared(e, str((base.value + offset) & _EMPTY), nbytes, access)
        return e.places.offset_pointer(e, arena, base.value + offset)
    narrow = e.register_types[base.name] == "i32"
    if e.check is not None:
        value = e.register(base.name, "i32" if narrow else "i64")
        if offset:
            value = e.op(f"add {'i32' if narrow else 'i64'} {value}, {offset}")
        wide = e.op(f"zext i32 {value} to i64") if narrow else value
        _check_shared(e, wide, nbytes, access)
        return e.op(f"getelementptr i8, ptr {arena}, i64 {wide}")
    return e.places.offset_pointer(e, _shared_start(e, base.name, arena, narrow), offset)


def _shared_start(e: Emitter, register: str, arena: str, narrow: bool) -> str:
    """A pointer to where a register points in shared memory, kept as long as the register's value is."""
    if e.is_common(register):
        with e.uniformly():
            return _shared_start(e, register, arena, narrow)
    value = e.register(register, "i32" if narrow else "i64")
    known = e.values[register]
    start = known.get("shared")
    if start is None:
        # With the sign extended an offset may follow in 64 bits: a legal sum has neither wrapped nor bit 31.
        wide = e.op(f"sext i32 {value} to i64") if narrow else value
        start = known["shared"] = e.op(f"getelementptr i8, ptr {arena}, i64 {wide}")
    return start


def _check_shared(e: Emitter, offset: str, nbytes: int, access: abi.Access) -> None:
    limit = e.places.shared_nbytes(e)
    last = e.op(f"sub i64 {limit}, {nbytes}")
    good = e.op(f"icmp sle i64 {offset}, {last}")
    positive = e.op(f"icmp sge i64 {offset}, 0")
    good = e.op(f"and i1 {good}, {positive}")
    if nbytes > 1:
        good = e.op(f"and i1 {good}, {_aligned(e, offset, nbytes)}")
    _fault_unless(e, good, abi.FaultKind.SHARED_BOUNDS, access, offset, nbytes)


def _aligned(e: Emitter, address: str, nbytes: int) -> str:
    return e.op(f"icmp eq i64 {e.op(f'and i64 {address}, {nbytes - 1}')}, 0")


def _fault_unless(e: Emitter, good: str, kind: abi.FaultKind, access: abi.Access, address: str, nbytes: int) -> None:
    bad, on = e.new_label("bad"), e.new_label("on")
    e.do(f"br i1 {good}, label %{on}, label %{bad}, {_UNLIKELY}")
    e.begin(bad)
    e.sites.fault(e, e.instruction, kind, access, address, str(nbytes))
    e.begin(on)


# ------------------------------------------------------------ local


def _local(e: Emitter, base: Register, offset: int, bits: int, nbytes: int, access: abi.Access) -> str:
    area = e.places.local_base(e)
    if bits == 32:
        distance = e.op(f"zext i32 {e.register(base.name, 'i32')} to i64")
        start = e.op(f"getelementptr i8, ptr {area}, i64 {distance}")
    else:
        start = e.register(base.name, "ptr")
    place = e.places.offset_pointer(e, start, offset)
    if e.check is not None:
        address = e.op(f"ptrtoint ptr {place} to i64")
        distance = e.op(f"sub i64 {address}, {e.op(f'ptrtoint ptr {area} to i64')}")
        size = e.places.local_nbytes
        good = e.op(f"icmp ule i64 {distance}, {size - nbytes}") if size >= nbytes else "false"
        if nbytes > 1:
            good = e.op(f"and i1 {good}, {_aligned(e, distance, nbytes)}")
        _fault_unless(e, good, abi.FaultKind.LOCAL_BOUNDS, access, distance, nbytes)
    return place


# ------------------------------------------------------------ global and generic


def _check_range(e: Emitter, address: str, key: str, space: str, nbytes: int, access: abi.Access) -> None:
    if space == "param":
        _check_parameters(e, address, nbytes, access)
        return
    writes = access is not abi.Access.READ
    origin = f"{e.places.origin_of(key)}{' w' if writes else ''}{' g' if space == 'generic' else ''}"
    base, end, slot = _remembered(e, origin)
    from_ = e.op(f"load i64, ptr {base}")
    last = e.op(f"sub i64 {e.op(f'load i64, ptr {end}')}, {nbytes}")
    hit = e.op(f"and i1 {e.op(f'icmp uge i64 {address}, {from_}')}, {e.op(f'icmp ule i64 {address}, {last}')}")
    if nbytes > 1:
        hit = e.op(f"and i1 {hit}, {_aligned(e, address, nbytes)}")
    miss, legal, fault = e.new_label("miss"), e.new_label("legal"), "faulted"
    e.do(f"br i1 {hit}, label %{legal}, label %{miss}, {_UNLIKELY}")
    e.begin(miss)
    who = f"ptr %launch, ptr %block, {thread_arguments(e)}"
    what = int(access) | slot << 8
    where = f"i64 {address}, i64 {nbytes}, i32 {what}, i32 {e.sites.number(e.instruction)}"
    if space == "generic":
        e.declare("ptx_find_generic", f"{{ i64, i64 }} @ptx_find_generic({_FIND_ARGUMENTS}, i64, i64, i64)")
        places = e.places
        local = e.op(f"ptrtoint ptr {places.local_base(e)} to i64") if places.local_nbytes else "0"
        rest = f"i64 {local}, i64 {places.local_nbytes}, i64 {places.parameters_nbytes}"
        found = e.op(f"call {{ i64, i64 }} @ptx_find_generic({who}, {where}, {rest})")
    else:
        e.declare("ptx_find_global", f"{{ i64, i64 }} @ptx_find_global({_FIND_ARGUMENTS})")
        found = e.op(f"call {{ i64, i64 }} @ptx_find_global({who}, {where})")
    first, second = (e.op(f"extractvalue {{ i64, i64 }} {found}, {n}") for n in (0, 1))
    e.do(f"store i64 {first}, ptr {base}")
    e.do(f"store i64 {second}, ptr {end}")
    e.do(f"br i1 {e.op(f'icmp eq i64 {second}, 0')}, label %{fault}, label %{legal}, !prof !3")
    e.at_end_block(fault, f"  ret i32 {abi.ThreadCode.FAULTED:d}")
    e.begin(legal)


def _check_parameters(e: Emitter, address: str, nbytes: int, access: abi.Access) -> None:
    start = e.op(f"ptrtoint ptr {e.places.parameter_block(e)} to i64")
    distance = e.op(f"sub i64 {address}, {start}")
    size = e.places.parameters_nbytes
    good = e.op(f"icmp ule i64 {distance}, {size - nbytes}") if size >= nbytes else "false"
    _fault_unless(e, good, abi.FaultKind.PARAM_BOUNDS, access, distance, nbytes)


def _remembered(e: Emitter, key: str) -> tuple[str, str, int]:
    """Where the last range found for accesses of one origin is kept (begin and end), and its number in the block.

    Threads find what the block's earlier threads found. The block holds complements, so that zeros mean nothing yet.
    """
    slot = e.range_slots.setdefault(key, len(e.range_slots))
    base, end = e.at_entry(f"base {key}", "alloca i64"), e.at_entry(f"end {key}", "alloca i64")
    for n, place in enumerate((base, end)):
        start = str(_EMPTY)
        if slot < abi.KNOWN_RANGES:
            offset = abi.Block.known.offset + 8 * (2 * slot + n)
            pointer = e.at_entry(f"known pointer {slot} {n}", f"getelementptr i8, ptr %block, i64 {offset}")
            stored = e.at_entry(f"known {slot} {n}", f"load i64, ptr {pointer}, align 8")
            start = e.at_entry(f"known value {slot} {n}", f"xor i64 {stored}, -1")
        e.at_entry_do(f"range {key} {n}", f"store i64 {start}, ptr {place}")
    return base, end, slot
