"""Where things are: variables of each state space, parameters, special registers, and the thread's own memory.

A shared address is an offset from the block's arena, whatever the width of its register; every other address is the
host's. A local address in a 32-bit register is an offset into the thread's local memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ....ptx.syntax import Function, PtxModule, Symbol, Variable
from .. import abi
from .refusal import refuse

if TYPE_CHECKING:
    from .emitter import Emitter

# Local memory up to this size may be an alloca of a kernel that never waits: LLVM then keeps it in registers where it
# can. Above it, and for kernels that wait, it lies in the frame, since worker stacks are small.
LARGEST_ALLOCA_NBYTES = 16 << 10
_DYNAMIC_ALIGN = 16
_LARGEST_ALIGN = {"shared": 1024, "local": 64, "param": 64}
_FRAME_ALIGN = 64
# What %reserved_smem_offset_1 points to: the toolkit's own share of shared memory.
_RESERVED_SHARED_NBYTES = 1024

INVARIANT = "!invariant.load !0"


def aligned(value: int, align: int) -> int:
    """`value` rounded up to a multiple of `align`."""
    return -(-value // align) * align


class Places:
    """The layout of one kernel's variables."""

    def __init__(
        self,
        module: PtxModule,
        kernel: Function,
        used: Iterable[str],
        global_addresses: Mapping[str, int] | None,
        origins: Mapping[str, str],
        *,
        suspends: bool,
        reserves_shared: bool = False,
    ) -> None:
        self._global_addresses = global_addresses
        self.parameters = dict(zip((p.name for p in kernel.parameters), kernel.parameter_offsets(), strict=True))
        self.parameters_nbytes = max(
            (offset + p.nbytes for p, offset in zip(kernel.parameters, kernel.parameter_offsets(), strict=True)),
            default=0,
        )
        self._parameter_nbytes = {p.name: p.nbytes for p in kernel.parameters}
        self._origins = origins
        self.variables: dict[str, Variable] = {}
        for name in used:
            variable = kernel.variables.get(name) or module.variables.get(name)
            if variable is not None:
                self.variables[name] = variable
        self.shared: dict[str, int] = {}
        self.local: dict[str, int] = {}
        self.allocas: dict[str, Variable] = {}
        self.static_shared_nbytes = self._lay_out_shared(reserves_shared)
        self.local_nbytes = self._lay_out_local(suspends)
        self.local_in_frame = suspends or self.local_nbytes > LARGEST_ALLOCA_NBYTES
        # Set where one function runs a whole block: each thread's local memory lies behind that of the one before.
        self.by_block = False

    def _lay_out_shared(self, reserves_shared: bool) -> int:
        end = 0
        if reserves_shared:
            self.shared["%reserved"] = 0
            end = _RESERVED_SHARED_NBYTES
        dynamic: list[Variable] = []
        for name, variable in self.variables.items():
            if variable.space != "shared":
                continue
            _check_align(variable)
            if variable.nbytes == 0 or variable.linkage == "extern":
                dynamic.append(variable)
                continue
            end = aligned(end, variable.align)
            self.shared[name] = end
            end += variable.nbytes
        if dynamic:
            end = aligned(end, max(_DYNAMIC_ALIGN, *(variable.align for variable in dynamic)))
            self.shared.update((variable.name, end) for variable in dynamic)
        return end

    def _lay_out_local(self, suspends: bool) -> int:
        """Local variables share one area; `.param` variables of calls are allocas, which LLVM dissolves."""
        end = 0
        for name, variable in self.variables.items():
            if variable.space not in ("local", "param") or name in self.parameters:
                continue
            _check_align(variable)
            if variable.space == "param" and not suspends:
                self.allocas[name] = variable
                continue
            end = aligned(end, variable.align)
            self.local[name] = end
            end += variable.nbytes
        return aligned(end, _FRAME_ALIGN if suspends else 16)

    @property
    def private(self) -> frozenset[str]:
        """The variables of which each thread has its own."""
        return frozenset(name for name, v in self.variables.items() if v.space in ("local", "param"))

    @property
    def has_private_allocas(self) -> bool:
        """Whether threads that run one after the other use the same private memory."""
        return bool(self.allocas) or (self.local_nbytes > 0 and not self.local_in_frame)

    # ------------------------------------------------------------ addresses

    def space_of(self, name: str) -> str:
        """The state space of a symbol; "entry" for a parameter of the kernel."""
        if name in self.parameters:
            return "entry"
        variable = self.variables.get(name)
        return variable.space if variable is not None else refuse(f"the address of {name} is taken, which is no data")

    def nbytes_of(self, name: str) -> int:
        """The size of a variable or parameter."""
        return self._parameter_nbytes[name] if name in self.parameters else self.variables[name].nbytes

    def origin_of(self, register: str) -> str:
        """The register at which an address begins: accesses of one origin share what is known of its memory."""
        return self._origins.get(register, register)

    def address_of(self, e: Emitter, symbol: Symbol, bits: int) -> tuple[str, str]:
        """A symbol's address as a value and its LLVM type, for a register of `bits` bits."""
        name, offset = symbol.name, symbol.offset
        space = self.space_of(name)
        if space == "shared":
            return str((self.shared[name] + offset) & ((1 << bits) - 1)), f"i{bits}"
        if space == "local" and bits == 32:
            return str(self.local[name] + offset), "i32"
        if bits != 64:
            refuse(f"the address of {name} in .{space} has 64 bits")
        if space in ("global", "const"):
            return str(self.global_address(name) + offset), "i64"
        return self.pointer_to(e, name, offset), "ptr"

    def global_address(self, name: str) -> int:
        """The host address of a module variable in .global or .const."""
        if self._global_addresses is None:
            variable = self.variables[name]
            if variable.linkage == "extern":
                refuse(f"{name} is declared .extern and no module here defines it")
            return 4096
        address = self._global_addresses.get(name)
        return address if address is not None else refuse(f"{name} is declared .extern and no module here defines it")

    def pointer_to(self, e: Emitter, name: str, offset: int) -> str:
        """A pointer of LLVM to a variable outside of shared memory, `offset` bytes in."""
        space = self.space_of(name)
        if space == "entry":
            return self.offset_pointer(e, self.parameter_block(e), self.parameters[name] + offset)
        if space in ("global", "const"):
            return f"inttoptr (i64 {self.global_address(name) + offset} to ptr)"
        if name in self.allocas:
            return self.offset_pointer(e, self._alloca(e, name), offset)
        if space in ("local", "param"):
            return self.offset_pointer(e, self.local_base(e), self.local[name] + offset)
        return refuse(f"{name} in .{space} has no address here")

    def offset_pointer(self, e: Emitter, base: str, offset: int) -> str:
        """`base + offset` bytes."""
        return base if offset == 0 else e.op(f"getelementptr i8, ptr {base}, i64 {offset}")

    def parameter_block(self, e: Emitter) -> str:
        """The kernel's parameters."""
        pointer = field_at_entry(e, "%launch", abi.Launch.params.offset, "params")
        return e.at_entry("params.pointer", f"load ptr, ptr {pointer}, align 8, {INVARIANT}")

    def shared_base(self, e: Emitter) -> str:
        """The block's arena."""
        pointer = field_at_entry(e, "%block", abi.Block.shared.offset, "shared")
        return e.at_entry("shared.pointer", f"load ptr, ptr {pointer}, align 8, {INVARIANT}")

    def frame(self, e: Emitter) -> str:
        """The thread's frame: local memory, then spilled registers."""
        pointer = field_at_entry(e, "%thread", abi.Thread.frame.offset, "frame")
        return e.at_entry("frame.pointer", f"load ptr, ptr {pointer}, align 8, {INVARIANT}")

    def local_base(self, e: Emitter) -> str:
        """The thread's local memory."""
        if self.by_block:
            distance = e.op(f"mul i64 {e.linear}, {self.local_nbytes}")
            return e.op(f"getelementptr i8, ptr %frames, i64 {distance}")
        if self.local_in_frame:
            return self.frame(e)
        return e.at_entry("local", f"alloca [{self.local_nbytes} x i8], align {_FRAME_ALIGN}")

    def _alloca(self, e: Emitter, name: str) -> str:
        variable = self.allocas[name]
        return e.at_entry(f"variable {name}", f"alloca [{max(variable.nbytes, 1)} x i8], align {variable.align}")

    # ------------------------------------------------------------ special registers

    def special(self, e: Emitter, name: str) -> tuple[str, str]:
        """The value of a special register and its LLVM type."""
        base, _, component = name.partition(".")
        if component:
            return self._vector_component(e, base, component), "i32"
        if name == "%laneid":
            return self.lane(e), "i32"
        if name.startswith("%lanemask_"):
            return self._lane_mask(e, name.removeprefix("%lanemask_")), "i32"
        if name == "%warpid":
            return e.op(f"lshr i32 {self._linear(e)}, 5"), "i32"
        if name == "%nwarpid":
            threads = self._launch_u32(e, abi.Launch.threads_per_block.offset)
            return e.op(f"lshr i32 {e.op(f'add i32 {threads}, 31')}, 5"), "i32"
        if name in ("%clock64", "%globaltimer"):
            return e.call("i64", "ptx_" + name[1:]), "i64"
        if name in ("%clock", "%globaltimer_lo"):
            return e.op(f"trunc i64 {e.call('i64', _COUNTER_OF[name])} to i32"), "i32"
        if name in ("%clock_hi", "%globaltimer_hi"):
            high = e.op(f"lshr i64 {e.call('i64', _COUNTER_OF[name])}, 32")
            return e.op(f"trunc i64 {high} to i32"), "i32"
        if name == "%dynamic_smem_size":
            return self._launch_u32(e, abi.Launch.dynamic_shared_nbytes.offset), "i32"
        if name in ("%total_smem_size", "%aggr_smem_size"):
            return self._launch_u32(e, abi.Launch.shared_nbytes.offset), "i32"
        if name == "%gridid":
            pointer = field_at_entry(e, "%launch", abi.Launch.ordinal.offset, "ordinal")
            return e.op(f"load i64, ptr {pointer}, align 8, {INVARIANT}"), "i64"
        if name == "%reserved_smem_offset_1":
            return str(self.shared["%reserved"]), "i32"
        constant = _CONSTANT_REGISTERS.get(name)
        if constant is not None:
            return str(constant), "i32"
        return refuse(f"the special register {name} is not supported")

    def _launch_u32(self, e: Emitter, offset: int) -> str:
        pointer = field_at_entry(e, "%launch", offset, f"launch+{offset}")
        return e.op(f"load i32, ptr {pointer}, align 4, {INVARIANT}")

    def shared_nbytes(self, e: Emitter) -> str:
        """The bytes of the block's arena that may be used, as i64."""
        return e.op(f"zext i32 {self._launch_u32(e, abi.Launch.shared_nbytes.offset)} to i64")

    def block_extent(self, e: Emitter, axis: int) -> str:
        """%ntid of an axis."""
        pointer = field_at_entry(e, "%launch", abi.Launch.block.offset + 4 * axis, f"ntid{axis}")
        return e.op(f"load i32, ptr {pointer}, align 4, {INVARIANT}, !range !1")

    def _vector_component(self, e: Emitter, base: str, component: str) -> str:
        if component == "w":
            return "0"
        axis = "xyz".index(component)
        if base == "%tid":
            return e.tid[axis]
        if base in ("%ctaid", "%clusterid"):
            return f"%ctaid_{component}"
        if base == "%ntid":
            return self.block_extent(e, axis)
        if base in ("%nctaid", "%nclusterid"):
            return self._launch_u32(e, abi.Launch.grid.offset + 4 * axis)
        if base == "%cluster_ctaid":
            return "0"
        if base == "%cluster_nctaid":
            return "1"
        return refuse(f"the special register {base}.{component} is not supported")

    def _linear(self, e: Emitter) -> str:
        nx, ny = self.block_extent(e, 0), self.block_extent(e, 1)
        x, y, z = e.tid
        plane = e.op(f"add i32 {y}, {e.op(f'mul i32 {z}, {ny}')}")
        return e.op(f"add i32 {x}, {e.op(f'mul i32 {plane}, {nx}')}")

    def lane(self, e: Emitter) -> str:
        """%laneid: threads are numbered x fastest, 32 to a warp."""
        return e.op(f"and i32 {self._linear(e)}, 31")

    def _lane_mask(self, e: Emitter, which: str) -> str:
        own = e.op(f"shl i32 1, {self.lane(e)}")
        if which == "eq":
            return own
        below = e.op(f"sub i32 {own}, 1")
        if which == "lt":
            return below
        if which == "ge":
            return e.op(f"xor i32 {below}, -1")
        up_to = e.op(f"or i32 {own}, {below}")
        if which == "le":
            return up_to
        return e.op(f"xor i32 {up_to}, -1") if which == "gt" else refuse(f"%lanemask_{which} does not exist")


# A launch is never cooperative here: null in the two halves of the workspace pointer (%envreg1, %envreg2) says so.
_CONSTANT_REGISTERS = {
    "%smid": 0, "%nsmid": 1, "%cluster_ctarank": 0, "%cluster_nctarank": 1, "%is_explicit_cluster": 0,
    **{f"%envreg{n}": 0 for n in range(32)},
}  # fmt: skip
_COUNTER_OF = {
    "%clock": "ptx_clock64", "%clock_hi": "ptx_clock64",
    "%globaltimer_lo": "ptx_globaltimer", "%globaltimer_hi": "ptx_globaltimer",
}  # fmt: skip
VARYING_REGISTERS = frozenset({"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"})


def field_at_entry(e: Emitter, structure: str, offset: int, key: str) -> str:
    """The address of a field of one of the structures of abi.h."""
    if offset == 0:
        return structure
    return e.at_entry(f"{structure} {key} {offset}", f"getelementptr i8, ptr {structure}, i64 {offset}")


def _check_align(variable: Variable) -> None:
    largest = _LARGEST_ALIGN[variable.space]
    if variable.align > largest:
        refuse(f"{variable.name} in .{variable.space} is aligned to {variable.align} bytes; {largest} is the most")
