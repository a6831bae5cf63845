"""Kernel and Module: what was loaded, what it declares, and the short form of a launch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from .aliasing import separates_writes
from .arguments import Argument, argument_from_value
from .capabilities import Capabilities
from .checked import (
    NO_GRID_SLOTS,
    CheckedLaunch,
    GridSlots,
    check_launch,
    geometry_of,
    read_grid,
    run_checked,
    with_memory_sync_domain,
    with_priority,
    with_programmatic,
)
from .driver import ArgumentLayout, FunctionAttributes, LaunchTarget, NativeForm, NativeKernelForm
from .errors import (
    ArgumentCountError,
    ArgumentError,
    ArgumentKindError,
    ArgumentSizeError,
    GeometryError,
    HandleClosed,
    KernelNotFound,
    LimitExceeded,
)
from .geometry import Dim3, Extent, Geometry, threads
from .handles import KernelHandle
from .launch_codes import codes_of, specs_of
from .limits import PORTABLE_CLUSTER_BLOCKS, check_arguments, check_geometry, local_nbytes
from .native import (
    BLOCK_ALIGNMENT,
    MOST_ARGUMENTS,
    MOST_NBYTES,
    ConfiguredState,
    KernelState,
    ModuleState,
    call_directly,
    know_configured,
    know_kernel,
)
from .signature import ArgumentDescription, KernelSignature
from .signature.checking import count_error, local_advice
from .signature.local_memory import refuse_both_ways, without_shared_memory
from .signature.mangled import readable_name
from .substitutes import with_substitute
from .trace.launches import LaunchFacts
from .trace.site import call_site

if TYPE_CHECKING:
    from .backend import GpuBackend
    from .buffers import DeviceBuffer
    from .memory.pointers import PointerValue
    from .modules.registry import LoadedFunction
    from .prepared import PreparedLaunch
    from .stream import Stream

_MEMO_LIMIT = 256

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class CheckedLayout:
    """The outcome of checking one list of argument descriptions: where they lie, and what launches them.

    `write` makes an image of the arguments' bytes.
    """

    layout: ArgumentLayout
    write: Callable[..., bytes]
    target: LaunchTarget
    local_nbytes: int = 0


@know_kernel
class Kernel(KernelState):
    """A kernel of a loaded module. `kernel[grid, block, shared_mem, stream](*values, **by_name)` launches it.

    Shared memory and stream may be left out. Grid and block are an integer or up to three; the grid counts blocks.
    `kernel[…]` raises GeometryError, LimitExceeded.

    Made by `gpu.kernel(module, function)` or `module["function"]`. Safe to share between threads: arguments live in
    the launch, never here. It keeps its module loaded.
    """

    def __init__(self, module: Module, loaded: LoadedFunction) -> None:
        self._loaded, self._owner = loaded, module.gpu
        self._title = readable_name(loaded.name) + loaded.constants.shown
        # The signature speaks in errors, so it has the name that a person knows the kernel by.
        self._signature = replace(loaded.signature, kernel=self._title)
        self._shares_last = module.gpu.capabilities.shared_mem_is_last_local
        self._sharing = without_shared_memory(self._signature, last=self._shares_last)
        self._separates_writes = separates_writes(self._signature, module.gpu.capabilities)
        self._layouts: dict[tuple[ArgumentDescription, ...], CheckedLayout] = {}
        self._sharing_layouts: dict[tuple[ArgumentDescription, ...], CheckedLayout] = {}
        # Arguments of other types may lie alike: a typed pointer and a bare one.
        self._targets: dict[ArgumentLayout, LaunchTarget] = {}
        self._shapes: set[Geometry] = set()
        self._latest_shape: Geometry | None = None
        # Plain shapes by what was given for them, numbers alone: launches of one shape share its object.
        self._plain_shapes: dict[tuple[object, ...], Geometry] = {}
        self._residency: dict[tuple[int, int], int] = {}
        self._cluster_limits: dict[Geometry, int] = {}
        self._lock = threading.Lock()
        # Without shared memory such a kernel has an argument that only Python reads.
        specs = specs_of(self._sharing if self._sharing is not None else self._signature)
        self._belong(module.gpu, module.gpu._gate, module, specs)
        self._shares = self._sharing is not None

    @property
    def gpu(self) -> GpuBackend:
        """The backend it was loaded on."""
        return self._owner

    @property
    def module(self) -> Module:
        module: Module = self._module
        return module

    @property
    def function(self) -> str:
        """The name the driver knows it by (a C++ name is mangled there)."""
        return self._loaded.name

    @property
    def title(self) -> str:
        """The name its author wrote, as messages show it: `scale<float>` where the symbol is mangled, and what it was
        specialised by: `norm[N=4]`."""
        return self._title

    @property
    def constants(self) -> Mapping[str, object]:
        """The values that it was specialised by, as they were encoded; empty for a kernel that was not."""
        return MappingProxyType(dict(self._loaded.constants.values))

    @property
    def handle(self) -> KernelHandle:
        """Its id on the device."""
        return self._loaded.handle

    @property
    def signature(self) -> KernelSignature:
        """What is known of its parameters, and from which source; prints as a C declaration."""
        return self._signature

    def signature_with(self, shared_mem: int) -> KernelSignature:
        """The parameters that a launch with so much dynamic shared memory gives.

        Where local memory is a parameter, dynamic shared memory is the first such one (Metal: threadgroup index 0) or
        the last (OpenCL), and is then no argument.
        """
        return self._sharing if shared_mem and self._sharing is not None else self._signature

    @property
    def separates_writes(self) -> bool:
        """Whether memory that it writes may stand behind one argument alone."""
        return self._separates_writes

    @property
    def attributes(self) -> FunctionAttributes:
        """Registers, static shared memory, the largest block, as far as the driver tells."""
        return self._loaded.attributes

    def __repr__(self) -> str:
        return f"<Kernel {self.signature} of module {self._module.name!r} on {self.gpu.capabilities.device}>"

    # ------------------------------------------------ launching

    if TYPE_CHECKING:

        def __getitem__(self, configuration: object) -> ConfiguredKernel: ...

    def _configure(self, configuration: object) -> ConfiguredKernel:
        """`kernel[…]` wherever the launch core has not done it before."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        shape = parts[:3]
        has_numbers = _are_numbers(shape)
        if has_numbers:
            known = self._plain_shapes.get(shape)
            if known is not None and len(parts) <= 4:
                stream = parts[3] if len(parts) > 3 else None
                configured = ConfiguredKernel(self, known, NO_GRID_SLOTS, stream)
                if stream is None:
                    self._latest = configuration, configured
                return configured
        if not 2 <= len(parts) <= 4:
            raise GeometryError(
                f"{self.title}: kernel[…] takes grid and block, then shared_mem and stream if wanted; "
                f"{len(parts)} item(s) were given. kernel.over(total, block) computes the grid",
                kernel=self.title,
                asked=configuration,
            )
        shared_mem = parts[2] if len(parts) > 2 else 0
        stream = parts[3] if len(parts) > 3 else None
        grid, slots = read_grid(parts[0], self.title)
        geometry = geometry_of(grid, parts[1], shared_mem, kernel=self.title)
        if has_numbers:
            geometry = self.with_grid(geometry, geometry.grid)
            _remember(self._plain_shapes, shape, geometry)
        return ConfiguredKernel(self, geometry, slots, stream)

    def geometry_of(self, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared_mem: int) -> Geometry:
        """The engine's: a plain shape, the same object for the same numbers wherever it can be."""
        shape = (gx, gy, gz, bx, by, bz, shared_mem)
        known = self._plain_shapes.get(shape)
        if known is None:
            known = Geometry(Dim3(gx, gy, gz), Dim3(bx, by, bz), shared_mem)
            _remember(self._plain_shapes, shape, known)
        return known

    def with_grid(self, geometry: Geometry, grid: Dim3) -> Geometry:
        """The engine's: a shape with this grid, the same object for the same numbers wherever it can be."""
        if not geometry.is_plain:
            return replace(geometry, grid=grid)
        return self.geometry_of(*grid.as_tuple(), *geometry.block.as_tuple(), geometry.shared_mem)

    def no_grid_slots(self) -> GridSlots:
        """The launch core's: what a shape of numbers has."""
        return NO_GRID_SLOTS

    def over(
        self, total: Extent, block: Extent = 256, *, shared_mem: int = 0, stream: object = None
    ) -> ConfiguredKernel:
        """The launch that covers `total` threads: the grid is `total / block` rounded up along each axis.

        The last block may have surplus threads: the kernel needs its bounds check. Raises GeometryError.
        """
        geometry = geometry_of(threads(total, block), block, shared_mem, kernel=self.title)
        return ConfiguredKernel(self, self.with_grid(geometry, geometry.grid), NO_GRID_SLOTS, stream)

    def __call__(self, *values: object, **by_name: object) -> None:
        raise GeometryError(
            f"{self.title}: a launch needs its geometry: kernel[grid, block](…) or kernel.over(total)(…)",
            kernel=self.title,
        )

    def arrange(self, values: Sequence[object], by_name: dict[str, object], signature: KernelSignature) -> list[object]:
        """Positional and named values in the order of the parameters. Raises ArgumentCountError."""
        if not by_name:
            return list(values)
        arranged: dict[int, object] = dict(enumerate(values))
        for name, value in by_name.items():
            index = signature.index_of(name)
            if index in arranged:
                raise ArgumentCountError(
                    f"{self.title}: parameter {name!r} is given twice, by position {index} and by name",
                    kernel=self.title,
                    index=index,
                    name=name,
                )
            arranged[index] = value
        count = max(len(arranged), len(signature.parameters or ()))
        missing = [index for index in range(count) if index not in arranged]
        if missing:
            labels = [_label(signature, index) for index in missing]
            names = ", ".join(labels)
            raise ArgumentCountError(
                f"{self.title}: expects {count} arguments, got {len(arranged)}; missing: {names}"
                f"{local_advice(signature.parameters or ())}",
                kernel=self.title,
                index=missing[0],
                name=labels[0],
                expected=count,
                given=len(arranged),
            )
        return [arranged[index] for index in range(count)]

    # ------------------------------------------------ checks, remembered

    def check_geometry(self, geometry: Geometry) -> None:
        """Raise unless this device can run this kernel in this shape; remembered for shapes that passed."""
        if geometry is self._latest_shape:
            return
        if geometry in self._shapes:
            self._latest_shape = geometry
            # The launch core remembers fewer, and may have forgotten this one.
            if geometry.is_plain:
                self._learn_shape(*geometry.block.as_tuple(), geometry.shared_mem)
            return
        check_geometry(geometry, kernel=self.title, capabilities=self.gpu.capabilities, attributes=self.attributes)
        if geometry.cooperative:
            self._check_residency(geometry)
        cluster = geometry.cluster
        if cluster is not None and cluster.volume > _sure_cluster_blocks(self.gpu.capabilities):
            self._check_large_cluster(geometry, cluster.volume)
        if len(self._shapes) >= _MEMO_LIMIT:
            self._shapes = set()
        self._shapes.add(geometry)
        self._latest_shape = geometry
        if geometry.is_plain:
            self._learn_shape(*geometry.block.as_tuple(), geometry.shared_mem)

    def _check_residency(self, geometry: Geometry) -> None:
        """A cooperative grid must be on the device all at once, or it waits for itself for ever."""
        gpu = self.gpu
        threads_of_block = geometry.block.volume
        shape = (threads_of_block, geometry.shared_mem)
        per_multiprocessor = self._residency.get(shape)
        if per_multiprocessor is None:
            per_multiprocessor = gpu.max_active_blocks_per_sm(self, *shape)
            _remember(self._residency, shape, per_multiprocessor)
        limit = per_multiprocessor * gpu.sm_count()
        if geometry.grid.volume > limit:
            raise LimitExceeded(
                kernel=self.title,
                what="blocks of a cooperative launch",
                asked=geometry.grid.volume,
                limit=limit,
                device=gpu.capabilities.device,
                advice=f"{per_multiprocessor} blocks of {threads_of_block} threads fit on each of its "
                f"{gpu.sm_count()} multiprocessors, and all must run at once",
            )

    def _check_large_cluster(self, geometry: Geometry, blocks: int) -> None:
        """More blocks in a cluster than every device of its kind takes: this kernel, in this shape, may still do."""
        gpu = self.gpu
        # The grid has no part in the answer.
        shape = replace(geometry, grid=geometry.cluster or Dim3(1))
        limit = self._cluster_limits.get(shape)
        if limit is None:
            limit = gpu.max_cluster_blocks(self, shape)
            _remember(self._cluster_limits, shape, limit)
        if blocks > limit:
            raise LimitExceeded(
                kernel=self.title,
                what="blocks of a cluster",
                asked=blocks,
                limit=limit,
                device=gpu.capabilities.device,
                advice=f"The cluster is {shape.grid.as_tuple()}; every device of this kind takes "
                f"{_sure_cluster_blocks(gpu.capabilities)} blocks, more depend on the block and its shared memory",
            )

    def checked(self, descriptions: tuple[ArgumentDescription, ...], shared_mem: int = 0) -> CheckedLayout:
        """The layout and launch target for these arguments: checked once, remembered. Raises ArgumentError."""
        layouts = self._sharing_layouts if shared_mem and self._sharing is not None else self._layouts
        known = layouts.get(descriptions)
        if known is not None:
            return known
        signature = self.signature_with(shared_mem)
        if signature is not self._signature:
            refuse_both_ways(self._signature, len(descriptions), last=self._shares_last)
        try:
            layout = signature.check(descriptions)
        except ArgumentError as error:
            raise with_substitute(error, descriptions, self.gpu.capabilities) from None
        check_arguments(
            descriptions, layout, kernel=self.title, capabilities=self.gpu.capabilities, attributes=self.attributes
        )
        self.gpu._check_usable()  # first: in a child after fork, whoever held the lock is not there to let go of it
        with self._lock:
            known = layouts.get(descriptions)
            if known is None:
                local = local_nbytes(layout, self.gpu.capabilities)
                target = self._targets.get(layout)
                if target is None:
                    target = self.gpu.prepare_target(self, layout)
                    if len(self._targets) >= _MEMO_LIMIT:
                        self._targets.clear()
                    self._targets[layout] = target
                known = CheckedLayout(layout, layout.writer().pack, target, local)
                if len(layouts) >= _MEMO_LIMIT:
                    layouts.clear()
                layouts[descriptions] = known
        self._learn(descriptions, known, shared_mem)
        return known

    def allow_shared_mem(self, nbytes: int) -> None:
        """The engine's: a launch with so much dynamic shared memory was made, so that others need no preparing."""
        if nbytes > self._allowed_shared_mem:
            self._allowed_shared_mem = nbytes

    def _learn(self, descriptions: tuple[ArgumentDescription, ...], checked: CheckedLayout, shared_mem: int) -> None:
        """Tell the launch core of a checked argument list, where it can make such launches."""
        codes, layout, function = codes_of(descriptions), checked.layout, 0
        # Where local memory is a parameter, one without dynamic shared memory has an argument that has no code.
        needs_shared_mem = self._sharing is not None
        if codes is None or (needs_shared_mem and not shared_mem):
            return
        if len(codes) > MOST_ARGUMENTS or layout.nbytes > MOST_NBYTES:
            return
        objects = None
        if self.gpu._has_native_calls:
            form = checked.target.native_form()
            if form is None or (isinstance(form, NativeForm) and form.alignment > BLOCK_ALIGNMENT):
                return
            function = form.function
            if isinstance(form, NativeKernelForm):
                shared_index = form.shared_index if form.shared_index is not None else -1
                objects = (form.indices, shared_index, form.make_kernel)
        signature = self.signature_with(shared_mem)
        facts = LaunchFacts(self._title, self._module.name, signature, descriptions, layout.offsets)
        self._learn_plan(
            codes, layout.offsets, layout.nbytes, function, facts, checked.target, needs_shared_mem, objects
        )

    def check_replaced(
        self, arguments: Sequence[Argument], index: int, replacement: Argument, shared_mem: int = 0
    ) -> None:
        """Raise unless `replacement` fits where another argument was checked before: it has that one's room alone."""
        before, given = arguments[index].description, replacement.description
        if given == before:
            return
        if (given.kind, given.nbytes) != (before.kind, before.nbytes):
            error = ArgumentSizeError if given.kind == before.kind else ArgumentKindError
            name = f" ({given.name})" if given.name is not None else ""
            raise error(
                f"{self.title}: argument {index}{name}: prepared with {before}, given {given}; kind and size stay, "
                "prepare it anew",
                kernel=self.title,
                index=index,
                name=given.name,
                expected=before.nbytes if given.kind == before.kind else before.kind,
                given=given.nbytes if given.kind == before.kind else given.kind,
            )
        descriptions = [argument.description for argument in arguments]
        descriptions[index] = replacement.description
        self.checked(tuple(descriptions), shared_mem)

    def checked_launch(
        self,
        geometry: Geometry,
        grid_slots: GridSlots,
        values: Sequence[object],
        by_name: dict[str, object],
        site: str,
        uses: Sequence[PointerValue] = (),
    ) -> CheckedLaunch:
        """The short form's values as a checked launch."""
        signature = self.signature_with(geometry.shared_mem)
        arranged = self.arrange(values, by_name, signature)
        parameters = signature.parameters
        if parameters is not None and len(arranged) != len(parameters):
            if signature is not self._signature:
                refuse_both_ways(self._signature, len(arranged), last=self._shares_last)
            raise count_error(self.title, parameters, len(arranged))
        arguments = [
            argument_from_value(self.gpu, signature, index, value, kernel=self.title)
            for index, value in enumerate(arranged)
        ]
        return check_launch(self.gpu, self, geometry, grid_slots, arguments, uses, site)


def _label(signature: KernelSignature, index: int) -> str:
    parameter = signature.parameter(index)
    return parameter.label if parameter is not None else f"argument {index}"


def _sure_cluster_blocks(capabilities: Capabilities) -> int:
    """The largest cluster that needs no question to the driver."""
    return min(PORTABLE_CLUSTER_BLOCKS, capabilities.max_cluster_blocks)


def _are_numbers(shape: tuple[object, ...]) -> bool:
    """Whether it says a shape by integers alone, as they are or in tuples: then equal ones mean the same for ever."""
    for each in shape:
        if type(each) is not int and (type(each) is not tuple or any(type(extent) is not int for extent in each)):
            return False
    return True


def _remember(known: dict[_K, _V], key: _K, value: _V) -> None:
    if len(known) >= _MEMO_LIMIT:
        known.clear()
    known[key] = value


@know_configured
@call_directly
class ConfiguredKernel(ConfiguredState):
    """A kernel with its geometry: call it with the values, `configured(*values, **by_name)`. Keeps nothing of a call.

    A call raises the ArgumentError family before anything runs, LaunchError where the driver refuses.

    `.cluster`, `.cooperative`, `.programmatic`, `.priority`, `.memory_sync_domain` and `.uses` return another one, as
    the builder's calls of the same names describe them: `kernel[grid, block].priority(-2)(x, n)`. Each is checked at
    once.
    """

    __slots__ = ("__weakref__", "_uses")

    _kernel: Kernel
    _geometry: Geometry
    _grid_slots: GridSlots

    def __new__(
        cls,
        kernel: Kernel,
        geometry: Geometry,
        grid_slots: GridSlots,
        stream: object,
        uses: tuple[PointerValue, ...] = (),
    ) -> ConfiguredKernel:
        return super().__new__(cls)

    def __init__(
        self,
        kernel: Kernel,
        geometry: Geometry,
        grid_slots: GridSlots,
        stream: object,
        uses: tuple[PointerValue, ...] = (),
    ) -> None:
        if not grid_slots.axes:
            kernel.check_geometry(geometry)
        self._uses = uses
        shape = None
        # The launch core makes no call of one that names memory beside its arguments.
        if geometry.is_plain and not grid_slots.axes and not uses:
            shape = (*geometry.grid.as_tuple(), *geometry.block.as_tuple(), geometry.shared_mem)
        self._compile(kernel, kernel.gpu.lane_of(stream), shape, stream, geometry, grid_slots)

    @property
    def kernel(self) -> Kernel:
        return self._kernel

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    @property
    def grid(self) -> Dim3:
        """The grid in blocks, as `.over` rounded it."""
        return self._geometry.grid

    def cluster(self, cluster: Extent) -> ConfiguredKernel:
        """The same with clusters of so many blocks."""
        return self._with(replace(self._geometry, cluster=Dim3.of(cluster, "cluster", self._kernel.title)))

    def cooperative(self, cooperative: bool = True) -> ConfiguredKernel:
        """The same with all blocks resident at once."""
        return self._with(replace(self._geometry, cooperative=bool(cooperative)))

    def programmatic(self, programmatic: bool = True) -> ConfiguredKernel:
        """The same, free to start before the launch in front of it has ended."""
        attributes = with_programmatic(self._geometry.attributes, programmatic)
        return self._with(replace(self._geometry, attributes=attributes))

    def priority(self, priority: SupportsIndex | None) -> ConfiguredKernel:
        """The same with a priority of its own."""
        attributes = with_priority(self._geometry.attributes, priority, self._kernel.title)
        return self._with(replace(self._geometry, attributes=attributes))

    def memory_sync_domain(self, domain: str | None) -> ConfiguredKernel:
        """The same with its fences in "default" or "remote"."""
        attributes = with_memory_sync_domain(self._geometry.attributes, domain, self._kernel.title)
        return self._with(replace(self._geometry, attributes=attributes))

    def uses(self, *pointers: object) -> ConfiguredKernel:
        """The same with memory that the kernel reaches through other memory: `KernelLaunch.uses` says what for."""
        kernel = self._kernel
        more = [kernel.gpu.resolve_pointer(each, what=f"{kernel.title}: .uses()") for each in pointers]
        return self._with(self._geometry, (*self._used, *more))

    @property
    def _used(self) -> tuple[PointerValue, ...]:
        # The launch core makes those of `kernel[…]` without the attribute.
        return getattr(self, "_uses", ())

    def _with(self, geometry: Geometry, uses: tuple[PointerValue, ...] | None = None) -> ConfiguredKernel:
        return ConfiguredKernel(
            self._kernel, geometry, self._grid_slots, self._stream, self._used if uses is None else uses
        )

    def _call_plainly(self, *values: object, **by_name: object) -> None:
        """Every call that the launch core does not do by itself."""
        kernel = self._kernel
        stream = kernel.gpu.resolve_stream(self._stream)
        site = call_site(2)
        run_checked(kernel.checked_launch(self._geometry, self._grid_slots, values, by_name, site, self._used), stream)

    def prepare(self, *values: object, **by_name: object) -> PreparedLaunch:
        """Check everything now and return a launch to be called often; values may be slots."""
        from .prepared import PreparedLaunch

        kernel = self._kernel
        stream: Stream = kernel.gpu.resolve_stream(self._stream)
        site = call_site(2)
        launch = kernel.checked_launch(self._geometry, self._grid_slots, values, by_name, site, self._used)
        return PreparedLaunch(launch, stream)


class Module(ModuleState):
    """Loaded code: `module["function"]` is a Kernel, iterating gives the names of its kernels.

    Made by `gpu.load_module`. It stays loaded until `gpu.unload_module(name)` or the backend is closed, and in any
    case until the launches that use it are done.
    """

    def __init__(self, gpu: GpuBackend, name: str) -> None:
        self._gpu, self._name = gpu, name
        self._kernels: dict[str, Kernel] = {}
        self._specialised: dict[KernelHandle, Kernel] = {}
        self._is_loaded = True

    @property
    def gpu(self) -> GpuBackend:
        return self._gpu

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_loaded(self) -> bool:
        return self._is_loaded

    @property
    def globals(self) -> ModuleGlobals:
        """The module's variables: `module.globals["name"]` is a DeviceBuffer on the symbol."""
        self.check_loaded()
        return ModuleGlobals(self)

    def __getitem__(self, function: str) -> Kernel:
        """The kernel of this name. Raises KernelNotFound with what there is and what comes near."""
        known = self._kernels.get(function)
        if known is not None and self._is_loaded:
            return known
        self.check_loaded()
        loaded = self._gpu.registry.function(self._name, function)
        # A C++ kernel may be asked for by its plain and by its mangled name: both are the same kernel.
        kernel = self._kernels.get(loaded.name)
        if kernel is None:
            kernel = self._kernels.setdefault(loaded.name, Kernel(self, loaded))
        return self._kernels.setdefault(function, kernel)

    def kernel(
        self,
        function: str,
        *,
        signature: str | None = None,
        constants: Mapping[str | int, object] | None = None,
    ) -> Kernel:
        """The kernel of this name: `gpu.kernel(module, function, …)`."""
        return self._gpu.kernel(self, function, signature=signature, constants=constants)

    def look_up(self, function: str, signature: str | None, constants: Mapping[str | int, object] | None) -> Kernel:
        """The engine's: a kernel by what was declared of it and what it is specialised by."""
        self.check_loaded()
        loaded = self._gpu.registry.function(self._name, function, signature, constants)
        if signature is not None:
            return Kernel(self, loaded)
        known = self._specialised.get(loaded.handle)
        return known if known is not None else self._specialised.setdefault(loaded.handle, Kernel(self, loaded))

    def __iter__(self) -> Iterator[str]:
        self.check_loaded()
        names = self._gpu.registry.function_names(self._name)
        if names is None:
            raise KernelNotFound(
                f"{self._gpu.capabilities.backend} cannot list the kernels of module {self._name!r}; ask by name",
                module=self._name,
                function="",
            )
        return iter(names)

    def __contains__(self, function: object) -> bool:
        return function in tuple(self)

    def check_loaded(self) -> None:
        """Raise HandleClosed once the module is unloaded; of a closed backend that says so."""
        if not self._is_loaded:
            if self._gpu.is_closing:
                self._gpu._check_usable()
            raise HandleClosed(f"module {self._name!r} is unloaded; load it again with gpu.load_module")

    def mark_unloaded(self) -> None:
        """The backend's: after this the module and its kernels refuse to be used."""
        self._is_loaded = False

    def __repr__(self) -> str:
        return f"<Module {self._name!r} on {self._gpu.capabilities.device}>"


class ModuleGlobals(Mapping[str, "DeviceBuffer"]):
    """The variables of a module by name. `name in module.globals` asks the driver.

    Iterating and counting raise KernelNotFound where the code's form does not list its variables.
    """

    __slots__ = ("_module",)

    def __init__(self, module: Module) -> None:
        self._module = module

    def __getitem__(self, name: str) -> DeviceBuffer:
        """A buffer on the symbol's memory; it does not own it. Raises KernelNotFound."""
        if not isinstance(name, str):
            raise TypeError(f"module {self._module.name!r}: a variable's name is a string, not {type(name).__name__}")
        self._module.check_loaded()
        return self._module.gpu.module_global(self._module, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """The buffer, or `default` for a variable that is not there."""
        found = self._find(name)
        return default if found is None else found

    def __iter__(self) -> Iterator[str]:
        """The names of those that the driver finds, in the code's order; of a C++ namespace, the mangled ones."""
        names = self._names()
        if names is None:
            raise KernelNotFound(
                f"the variables of module {self._module.name!r} cannot be listed, its code does not tell them; ask by "
                "name",
                module=self._module.name,
                function="",
            )
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        names = self._names() if self._module.is_loaded else None
        listed = "names not known" if names is None else ", ".join(names) or "none"
        return f"<ModuleGlobals of {self._module.name!r}: {listed}>"

    def _find(self, name: str) -> DeviceBuffer | None:
        try:
            return self[name]
        except KernelNotFound:
            return None

    def _names(self) -> tuple[str, ...] | None:
        self._module.check_loaded()
        return self._module.gpu.registry.variable_names(self._module.name)
