"""KernelLaunch: the typed builder. Describes one launch, says every type, and is checked when it is launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, SupportsFloat, SupportsIndex

from . import scalars
from .args import AnyKernelArg, KernelArg, pack_kernel_args
from .arguments import (
    Argument,
    argument_from_value,
    bytes_argument,
    local_argument,
    pointer_argument,
    scalar_argument,
    struct_argument,
)
from .checked import (
    NO_GRID_SLOTS,
    CheckedLaunch,
    check_launch,
    read_grid,
    read_shared_mem,
    run_checked,
    with_memory_sync_domain,
    with_priority,
    with_programmatic,
)
from .errors import ForeignHandle, LaunchError, NotSupported
from .geometry import Dim3, Extent, LaunchAttributes
from .handles import DevicePtr
from .kernel import Kernel
from .launch_codes import argument_of
from .native import BuilderState, know_builder
from .slots import Slot
from .tensor_map import TENSOR_MAP_ALIGN, TENSOR_MAP_NBYTES, TensorMap
from .trace.site import call_site

if TYPE_CHECKING:
    from .backend import GpuBackend, PointerValue
    from .memory.allocation import Allocation
    from .prepared import PreparedLaunch
    from .stream import Stream

_ONE = Dim3(1)


@know_builder
class KernelLaunch(BuilderState):
    """One launch, described by chained calls that change it and return it.

    Grid and block default to one, shared memory to 0. Every `arg_*` call adds exactly one argument; order is kept.
    A value that does not fit its type raises where it is given; everything else is checked by `launch()` before the
    driver is called. After the first launch it can be launched again but takes no more arguments. It belongs to one
    thread at a time; what it launched does not: arguments are copied into each launch.
    """

    # The attributes are the base's.
    __slots__ = ()

    def __init__(self, gpu: GpuBackend, kernel: Kernel) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"KernelLaunch takes a Kernel (gpu.kernel(module, function)), not {type(kernel).__name__}")
        if kernel.gpu is not gpu:
            raise ForeignHandle(
                f"{kernel.title} was loaded on {kernel.gpu.capabilities.device}, the launch is for "
                f"{gpu.capabilities.device}; load the module there too"
            )
        self._gpu, self._kernel = gpu, kernel
        self._grid, self._grid_slots, self._block = _ONE, NO_GRID_SLOTS, _ONE
        self._shared_mem = 0
        self._cluster: Dim3 | None = None
        self._cooperative = False
        self._attributes: LaunchAttributes | None = None
        self._arguments: list[Argument] = []
        self._uses: list[PointerValue] = []
        self._is_sealed = False
        self._checked: CheckedLaunch | None = None

    def _take_over(
        self,
        kernel: Kernel,
        shape: tuple[int, int, int, int, int, int, int],
        arguments: list[tuple[int, bytes, Allocation | None, bool]],
        is_sealed: bool,
    ) -> None:
        """The launch core's: all that was given so far. From now on everything is done here."""
        gpu = kernel.gpu
        KernelLaunch.__init__(self, gpu, kernel)
        self._grid, self._block, self._shared_mem = Dim3(*shape[:3]), Dim3(*shape[3:6]), shape[6]
        signature = kernel.signature_with(self._shared_mem)
        for index, (code, data, allocation, has_name) in enumerate(arguments):
            parameter = signature.parameter(index) if has_name else None
            name = parameter.name if parameter is not None else None
            self._arguments.append(argument_of(code, data, allocation, name))
        self._is_sealed = is_sealed

    # ------------------------------------------------ geometry

    def grid(self, grid: Extent | Slot | Sequence[SupportsIndex | Slot], /) -> KernelLaunch:
        """Blocks along x, y, z; those left out are 1, an axis may be a slot. A 0 makes the launch a checked no-op."""
        self._grid, self._grid_slots = read_grid(grid, self._kernel.title)
        self._checked = None
        return self

    def block(self, block: Extent, /) -> KernelLaunch:
        """Threads of a block along x, y, z; those left out are 1."""
        self._block = Dim3.of(block, "block", self._kernel.title)
        self._checked = None
        return self

    def shared_mem(self, nbytes: SupportsIndex, /) -> KernelLaunch:
        """Dynamic shared memory in bytes (OpenCL: the trailing `__local` parameter; Metal: threadgroup index 0)."""
        self._shared_mem = read_shared_mem(nbytes, self._kernel.title)
        self._checked = None
        return self

    def cluster(self, cluster: Extent) -> KernelLaunch:
        """Blocks of a cluster along x, y, z; refused at launch where the device has no clusters."""
        self._spill()
        self._cluster = Dim3.of(cluster, "cluster", self._kernel.title)
        self._checked = None
        return self

    def cooperative(self, cooperative: bool = True) -> KernelLaunch:
        """Ask that all blocks be resident at once, so that the kernel may synchronise the grid."""
        self._spill()
        self._cooperative = bool(cooperative)
        self._checked = None
        return self

    def programmatic(self, programmatic: bool = True) -> KernelLaunch:
        """Let it start before the launch in front of it has ended (CUDA: programmatic stream serialization).

        The kernel itself waits for that launch's memory, with `griddepcontrol.wait`. Refused at launch with
        NotSupported unless `Capabilities.programmatic_launches`.
        """
        self._spill()
        self._attributes = with_programmatic(self._attributes, programmatic)
        self._checked = None
        return self

    def priority(self, priority: SupportsIndex | None) -> KernelLaunch:
        """The priority of this launch alone (None: its stream's); lower is more urgent.

        Refused at launch outside of `Capabilities.launch_priorities`, whose range the error names.
        """
        self._spill()
        self._attributes = with_priority(self._attributes, priority, self._kernel.title)
        self._checked = None
        return self

    def memory_sync_domain(self, domain: str | None) -> KernelLaunch:
        """Which domain its memory fences order: "default" or "remote" (None: its stream's).

        Refused at launch with NotSupported unless `Capabilities.memory_sync_domains`.
        """
        self._spill()
        self._attributes = with_memory_sync_domain(self._attributes, domain, self._kernel.title)
        self._checked = None
        return self

    # ------------------------------------------------ arguments

    def _add(self, argument: Argument) -> KernelLaunch:
        self._arguments.append(argument)
        self._checked = None
        return self

    def _next(self) -> int:
        """The index of the argument to come. Raises LaunchError once this has been launched."""
        if self._is_sealed:
            raise LaunchError(
                f"{self._kernel.title}: this launch was launched already and takes no more arguments; "
                "it can be launched again as it is, or make a new KernelLaunch",
                kernel=self._kernel.title,
            )
        return len(self._arguments)

    def _scalar(self, type: scalars.ScalarType, value: object, exact: bool = False) -> KernelLaunch:
        index = self._next()
        return self._add(scalar_argument(type, value, kernel=self._kernel.title, index=index, exact=exact))

    def arg_ptr(self, pointer: object, /) -> KernelLaunch:
        """A device pointer: DevicePtr, DeviceBuffer, a foreign device array, None for null, or a slot.

        On the CPU backend host arrays are device arrays. Raises ForeignHandle, InvalidPointer.
        """
        index = self._next()
        kernel = self._kernel
        return self._add(
            pointer_argument(self._gpu, pointer, kernel=kernel.title, index=index, signature=kernel.signature)
        )

    def arg_tensormap(self, tensor_map: object) -> KernelLaunch:
        """A TensorMap, or the 128 bytes of a `CUtensorMap`, by value: for a parameter declared
        `const __grid_constant__ CUtensorMap`. Of bytes nobody knows which memory they describe: name it in `.uses`.
        """
        self._spill()
        index, kernel = self._next(), self._kernel.title
        capabilities = self._gpu.capabilities
        if not capabilities.tensor_maps:
            raise NotSupported(
                f"{kernel}: argument {index}: {capabilities.device} has no tensor maps; pass pointer and strides",
                backend=capabilities.backend,
                feature="tensor maps",
            )
        if isinstance(tensor_map, TensorMap):
            return self._add(tensor_map.as_argument(self._gpu, kernel=kernel, index=index))
        return self._add(
            bytes_argument(tensor_map, kernel=kernel, index=index, align=TENSOR_MAP_ALIGN, nbytes=TENSOR_MAP_NBYTES)
        )

    def arg_u8(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """An unsigned 8-bit integer, 0 to 255."""
        return self._scalar(scalars.u8, value)

    def arg_u16(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """An unsigned 16-bit integer, 0 to 65,535."""
        return self._scalar(scalars.u16, value)

    def arg_u32(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """An unsigned 32-bit integer, 0 to 2**32 - 1."""
        return self._scalar(scalars.u32, value)

    def arg_u64(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """An unsigned 64-bit integer, 0 to 2**64 - 1."""
        return self._scalar(scalars.u64, value)

    def arg_i8(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """A signed 8-bit integer, -128 to 127."""
        return self._scalar(scalars.i8, value)

    def arg_i16(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """A signed 16-bit integer, -32,768 to 32,767."""
        return self._scalar(scalars.i16, value)

    def arg_i32(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """A signed 32-bit integer, -2**31 to 2**31 - 1."""
        return self._scalar(scalars.i32, value)

    def arg_i64(self, value: SupportsIndex | Slot, /) -> KernelLaunch:
        """A signed 64-bit integer, -2**63 to 2**63 - 1."""
        return self._scalar(scalars.i64, value)

    def arg_f16(self, value: SupportsFloat | Slot, /, *, exact: bool = False) -> KernelLaunch:
        """An IEEE half, rounded to nearest even; `exact=True` refuses a value that would change."""
        return self._scalar(scalars.f16, value, exact)

    def arg_bf16(self, value: SupportsFloat | Slot, /, *, exact: bool = False) -> KernelLaunch:
        """A bfloat16, rounded to nearest even; `exact=True` refuses a value that would change."""
        return self._scalar(scalars.bf16, value, exact)

    def arg_f32(self, value: SupportsFloat | Slot, /, *, exact: bool = False) -> KernelLaunch:
        """An IEEE single, rounded to nearest even; `exact=True` refuses a value that would change."""
        return self._scalar(scalars.f32, value, exact)

    def arg_f64(self, value: SupportsFloat | Slot, /) -> KernelLaunch:
        """An IEEE double."""
        return self._scalar(scalars.f64, value)

    def arg_bool(self, value: bool | Slot, /) -> KernelLaunch:
        """A bool: one byte, 0 or 1. Takes no integers."""
        return self._scalar(scalars.boolean, value)

    def arg_c64(self, value: complex | Slot) -> KernelLaunch:
        """A complex of two singles (`float2`, `cuFloatComplex`)."""
        self._spill()
        return self._scalar(scalars.c64, value)

    def arg_c128(self, value: complex | Slot) -> KernelLaunch:
        """A complex of two doubles (`double2`, `cuDoubleComplex`)."""
        self._spill()
        return self._scalar(scalars.c128, value)

    def arg_bytes(self, data: object, *, align: int | None = None) -> KernelLaunch:
        """Bytes by value, for a struct parameter of that size; `align` is checked against the declared alignment."""
        self._spill()
        index = self._next()
        return self._add(bytes_argument(data, kernel=self._kernel.title, index=index, align=align))

    def arg_struct(self, value: object, *, packed: bool = False) -> KernelLaunch:
        """A NumPy structured scalar or a ctypes structure in C layout; `packed=True` takes a packed dtype as it is."""
        self._spill()
        index = self._next()
        return self._add(struct_argument(value, kernel=self._kernel.title, index=index, packed=packed))

    def arg_local(self, nbytes: int) -> KernelLaunch:
        """Local memory at this position (OpenCL `__local`, Metal threadgroup); elsewhere use shared_mem."""
        self._spill()
        index = self._next()
        return self._add(local_argument(nbytes, kernel=self._kernel.title, index=index))

    def arg(self, value: object, /) -> KernelLaunch:
        """One argument of whatever type the value carries; a bare number takes the parameter's type where known."""
        index = self._next()
        signature = self._kernel.signature_with(self._shared_mem)
        return self._add(argument_from_value(self._gpu, signature, index, value, kernel=self._kernel.title))

    def args(self, *values: object) -> KernelLaunch:
        """Several arguments, each as `arg` takes it."""
        for value in values:
            self.arg(value)
        return self

    def uses(self, *pointers: object) -> KernelLaunch:
        """Memory that the kernel reaches through other memory: kept alive, and made resident where that is needed."""
        self._spill()
        for pointer in pointers:
            self._uses.append(self._gpu.resolve_pointer(pointer, what=f"{self._kernel.title}: .uses()"))
        self._checked = None
        return self

    # ------------------------------------------------ what it holds

    @property
    def kernel_args(self) -> tuple[AnyKernelArg, ...]:
        """The arguments so far as the seed's KernelArg values."""
        self._spill()
        return tuple(_kernel_arg(argument) for argument in self._arguments)

    @property
    def storage(self) -> list[int]:
        """The arguments so far as u64 slots (`pack_kernel_args`)."""
        return pack_kernel_args(self.kernel_args)[0]

    @property
    def starts(self) -> list[int]:
        """The first slot of each argument in `storage`."""
        return pack_kernel_args(self.kernel_args)[1]

    # ------------------------------------------------ the end

    def check(self, site: str | None = None) -> CheckedLaunch:
        """Check everything now, without launching. Raises what `launch` would raise before the driver is called."""
        self._spill()
        checked = self._checked
        if checked is None:
            geometry = self._kernel.geometry_of(*self._grid.as_tuple(), *self._block.as_tuple(), self._shared_mem)
            if self._cluster is not None or self._cooperative or self._attributes is not None:
                geometry = replace(
                    geometry, cluster=self._cluster, cooperative=self._cooperative, attributes=self._attributes
                )
            self._checked = checked = check_launch(
                self._gpu,
                self._kernel,
                geometry,
                self._grid_slots,
                self._arguments[:],  # another thread's may come meanwhile
                self._uses,
                site if site is not None else call_site(2),
            )
        return checked

    def launch(self, stream: Stream | int | None = None) -> None:
        """Check and launch on `stream` (None and 0: the backend's default stream).

        Raises the ArgumentError family, GeometryError, LimitExceeded, NotSupported before the driver is called;
        KernelFault under debug sync. A refused launch leaves nothing behind.
        """
        on = self._gpu.resolve_stream(stream)
        launch = self.check(call_site(2))
        self._is_sealed = True
        run_checked(launch, on)

    def prepare(self, stream: Stream | int | None = None) -> PreparedLaunch:
        """Check everything now and return a launch to be called often; arguments may be slots."""
        self._spill()
        from .prepared import PreparedLaunch

        on = self._gpu.resolve_stream(stream)
        launch = self.check(call_site(2))
        self._is_sealed = True
        return PreparedLaunch(launch, on)

    def __repr__(self) -> str:
        self._spill()
        return (
            f"<KernelLaunch {self._kernel.title} grid {self._grid.as_tuple()} block {self._block.as_tuple()} "
            f"shared_mem {self._shared_mem}, {len(self._arguments)} arguments>"
        )


def _kernel_arg(argument: Argument) -> AnyKernelArg:
    description = argument.description
    if description.kind == "pointer":
        allocation = argument.pointer.allocation if argument.pointer is not None else None
        return KernelArg.Buffer(DevicePtr(int.from_bytes(argument.data, "little"), allocation))
    if description.kind == "local":
        return KernelArg.Local(description.nbytes)
    return KernelArg.Bytes(argument.data)


def launch_typed(
    gpu: GpuBackend,
    kernel: Kernel,
    grid: Extent,
    block: Extent,
    shared_mem: int,
    stream: Stream | int | None,
    args: Sequence[object],
) -> None:
    """The seed's launch of a list of KernelArg: checked like any other. Raises TypeError for what is no KernelArg."""
    launch = KernelLaunch(gpu, kernel).grid(grid).block(block).shared_mem(shared_mem)
    for index, each in enumerate(args):
        if isinstance(each, KernelArg.Buffer):
            launch.arg_ptr(each.ptr)
        elif isinstance(each, KernelArg.Bytes):
            launch.arg_bytes(each.data)
        elif isinstance(each, KernelArg.Local):
            launch.arg_local(each.nbytes)
        else:
            raise TypeError(f"{kernel.title}: argument {index} is {type(each).__name__}, not a KernelArg")
    launch.launch(stream)
