"""A launch that has been checked: everything that can be decided before it runs is decided here, once.

The builder, the short form, prepared launches and sequences all end in a CheckedLaunch; `bind` makes of it what one
call needs, with slots and new values filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .aliasing import refuse_aliased
from .arguments import Argument, describe, named_pointer_error, pointer_argument, scalar_argument
from .driver import ArgumentLayout, LaunchTarget
from .errors import ArgumentCountError, ArgumentKindError, GeometryError, InvalidPointer, LaunchError
from .geometry import Dim3, Extent, Geometry, LaunchAttributes
from .limits import check_shared_mem
from .memory.pointers import producers_of
from .residency import with_used_memory
from .scalars import Scalar, ScalarType
from .signature import ArgumentDescription, KernelSignature
from .slots import Slot, names_of
from .trace.launches import LaunchRecord
from .whole_numbers import whole

if TYPE_CHECKING:
    from .backend import GpuBackend, PointerValue
    from .kernel import Kernel
    from .memory.allocation import Allocation
    from .stream import Stream

_AXES = ("x", "y", "z")

MEMORY_SYNC_DOMAINS = ("default", "remote")


@dataclass(frozen=True, slots=True)
class GridSlots:
    """Which axes of a grid are slots; the Geometry beside it has 0 there until they are set."""

    axes: tuple[tuple[int, Slot], ...] = ()

    def shown(self, grid: Dim3) -> str:
        """The grid for people, a slot by its name: "(slot blocks, 1, 1)"."""
        named = {axis: f"slot {each.name}" for axis, each in self.axes}
        return f"({', '.join(named.get(axis, str(extent)) for axis, extent in enumerate(grid.as_tuple()))})"

    def set(self, grid: Dim3, values: Mapping[str, object], kernel: str) -> Dim3:
        extents = list(grid.as_tuple())
        for axis, each in self.axes:
            if each.name not in values:
                raise _unset(each, kernel)
            try:
                extents[axis] = Dim3.of(values[each.name], f"slot {each.name} (grid)", kernel).x  # type: ignore[arg-type]
            except GeometryError as error:
                raise GeometryError(str(error), kernel=kernel, axis=_AXES[axis], asked=values[each.name]) from None
        return Dim3(*extents)


NO_GRID_SLOTS = GridSlots()


def read_grid(grid: object, kernel: str = "") -> tuple[Dim3, GridSlots]:
    """A grid whose axes may be slots. Raises GeometryError as Dim3.of does."""
    if isinstance(grid, (int, Dim3)):
        return Dim3.of(grid, "grid", kernel), NO_GRID_SLOTS
    if isinstance(grid, Slot):
        grid = (grid,)
    if isinstance(grid, Sequence) and not isinstance(grid, (str, bytes)):
        axes = tuple((axis, each) for axis, each in enumerate(grid) if isinstance(each, Slot))
        for _, each in axes:
            if each.type is not None and not each.is_grid:
                raise GeometryError(
                    f"{kernel}{': ' if kernel else ''}grid: {each!r} stands for a grid axis; make it "
                    f'slot({each.name!r}, "grid")',
                    kernel=kernel,
                )
        if axes:
            numbers = Dim3.of([0 if isinstance(each, Slot) else each for each in grid], "grid", kernel)
            return numbers, GridSlots(axes)
    return Dim3.of(grid, "grid", kernel), NO_GRID_SLOTS  # type: ignore[arg-type]


@dataclass(slots=True, eq=False)
class CheckedLaunch:
    """A kernel, its geometry and its arguments, checked against signature and limits, laid out for the driver.

    It is never changed. `write` makes an image of the arguments' bytes; `is_complete` says that nothing has to be
    filled in before it can run: no slot, and no host array. Then one record does for all its calls.
    """

    gpu: GpuBackend
    kernel: Kernel
    geometry: Geometry
    grid_slots: GridSlots
    arguments: tuple[Argument, ...]
    descriptions: tuple[ArgumentDescription, ...]
    uses: tuple[PointerValue, ...]
    layout: ArgumentLayout
    write: Callable[..., bytes]
    target: LaunchTarget
    image: bytes
    site: str
    is_complete: bool
    _known: LaunchRecord | None = field(default=None, init=False, repr=False)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Every place that is a slot, arguments first."""
        if self.is_complete:
            return ()
        places = [argument.slot for argument in self.arguments if argument.slot is not None]
        return (*places, *(each for _, each in self.grid_slots.axes))

    @property
    def signature(self) -> KernelSignature:
        """The parameters that its arguments stand for."""
        return self.kernel.signature_with(self.geometry.shared_mem)

    @property
    def slot_names(self) -> tuple[str, ...]:
        return names_of(self.slots)

    @property
    def shown_grid(self) -> str:
        """The grid for people, with the names of its slots."""
        return self.grid_slots.shown(self.geometry.grid)

    def refuse_loans(self, what: str) -> None:
        """Host arrays are lent to one synchronous launch; whatever keeps a launch for later refuses them."""
        for index, argument in enumerate(self.arguments):
            if argument.loan is not None:
                raise LaunchError(
                    f"{self.kernel.title}: argument {index}: {argument} is lent to one synchronous launch and "
                    f"cannot be part of {what}; copy it to the device with gpu.array(…) first",
                    kernel=self.kernel.title,
                )

    def bind(
        self,
        values: Mapping[str, object] | None = None,
        *,
        replaced: Mapping[int, Argument] | None = None,
        geometry: Geometry | None = None,
        site: str | None = None,
    ) -> LaunchRecord:
        """The record of one call: slots set from `values`, arguments replaced by position, all range-checked.

        Raises ArgumentCountError for a slot without a value, the ArgumentError family for a value that does not fit.
        The image is this call's own: nothing is shared between calls.
        """
        shape = geometry if geometry is not None else self.geometry
        if site is None:
            site = self.site
        if self.is_complete and not replaced:
            if geometry is None:
                return self._record_again(site)
            return self._record(self.arguments, self.descriptions, self.image, shape, site)
        values = values if values is not None else {}
        if self.grid_slots.axes and geometry is None:
            shape = self.kernel.with_grid(shape, self.grid_slots.set(shape.grid, values, self.kernel.title))
            self.kernel.check_geometry(shape)
        changed = dict(replaced) if replaced else {}
        if not self.is_complete:
            for index, argument in enumerate(self.arguments):
                if argument.slot is not None and index not in changed:
                    changed[index] = self.from_slot(index, argument, values)
        arguments, descriptions, image = self._fill_in(changed)
        return self._record(arguments, descriptions, image, shape, site)

    def with_values(self, values: Mapping[str, object]) -> CheckedLaunch:
        """The same launch with every slot set that `values` names: for a recording that keeps this call's values."""
        changed = {
            index: self.from_slot(index, argument, values)
            for index, argument in enumerate(self.arguments)
            if argument.slot is not None and argument.slot.name in values
        }
        geometry = None
        if self.grid_slots.axes and all(each.name in values for _, each in self.grid_slots.axes):
            grid = self.grid_slots.set(self.geometry.grid, values, self.kernel.title)
            geometry = replace(self.geometry, grid=grid)
            self.kernel.check_geometry(geometry)
        return self.with_arguments(changed, geometry)

    def with_arguments(self, changed: Mapping[int, Argument], geometry: Geometry | None = None) -> CheckedLaunch:
        """The same launch with some arguments, or its shape, replaced."""
        arguments, descriptions, image = self._fill_in(changed)
        grid_slots = self.grid_slots if geometry is None else NO_GRID_SLOTS
        return replace(
            self,
            arguments=arguments,
            descriptions=descriptions,
            image=image,
            geometry=geometry if geometry is not None else self.geometry,
            grid_slots=grid_slots,
            is_complete=not (grid_slots.axes or _holes(arguments)),
        )

    def _fill_in(
        self, changed: Mapping[int, Argument]
    ) -> tuple[tuple[Argument, ...], tuple[ArgumentDescription, ...], bytes]:
        """Arguments, their descriptions and the image with some arguments replaced."""
        if not changed:
            return self.arguments, self.descriptions, self.image
        arguments = list(self.arguments)
        for index, argument in changed.items():
            arguments[index] = argument
        if self.kernel.separates_writes:
            refuse_aliased(self.signature, arguments, self.gpu.capabilities)
        descriptions = tuple([argument.description for argument in arguments])
        return tuple(arguments), descriptions, self.write(*[argument.data for argument in arguments])

    def from_slot(self, index: int, argument: Argument, values: Mapping[str, object]) -> Argument:
        each = argument.slot
        assert each is not None
        kernel, name = self.kernel.title, argument.description.name
        if each.name not in values:
            raise _unset(each, kernel)
        value = values[each.name]
        if isinstance(value, Argument):
            return value
        if isinstance(each.type, ScalarType):
            if isinstance(value, Scalar) and value.type != each.type:
                raise ArgumentKindError(
                    f"{kernel}: argument {index}{f' ({name})' if name else ''}: {each!r} cannot be set to "
                    f"{value!r}: its type stays; give mg.{each.type.name}(…), or a number without a type",
                    kernel=kernel,
                    index=index,
                    name=name,
                    expected=each.type.name,
                    given=value.type.name,
                )
            bound = scalar_argument(each.type, value, kernel=kernel, index=index, name=name)
            if bound.slot is not None:
                self.refuse_holes(index, bound)
            return bound
        bound = pointer_argument(self.gpu, value, kernel=kernel, index=index, name=name)
        self.refuse_holes(index, bound)
        self.kernel.check_replaced(self.arguments, index, bound, self.geometry.shared_mem)
        return bound

    def refuse_holes(self, index: int, argument: Argument) -> None:
        """Raise unless a call's new argument has bytes to launch with: a slot has none, what is lent has none yet."""
        if argument.slot is not None:
            kernel, name = self.kernel.title, argument.description.name
            raise ArgumentKindError(
                f"{kernel}: argument {index}{f' ({name})' if name else ''}: {argument.slot!r} where a value is wanted; "
                "slots stand in what is prepared or recorded, a call sets them",
                kernel=kernel,
                index=index,
                name=name,
                expected="a value",
                given=argument.slot,
            )
        if argument.loan is not None:
            self.with_arguments({index: argument}).refuse_loans("a prepared launch")

    def check_memory(self) -> None:
        """Raise InvalidPointer when memory that it names is gone."""
        if self._known is not None and not _is_any_gone(self._known.allocations):
            return
        try:
            for argument in self.arguments:
                if argument.pointer is not None:
                    argument.pointer.check_alive()
            for pointer in self.uses:
                pointer.check_alive()
        except InvalidPointer as error:
            raise self._dead(self.arguments, error) from None

    def _dead(self, arguments: tuple[Argument, ...], error: InvalidPointer) -> InvalidPointer:
        """The error with the kernel, and the argument that names the memory.

        Raises what is wrong with the backend where that is why the memory is gone.
        """
        self.gpu._check_usable()
        place = "memory that it uses"
        for index, argument in enumerate(arguments):
            if argument.pointer is not None and argument.pointer.address == error.address:
                name = argument.description.name
                place = f"argument {index}{f' ({name})' if name else ''}"
                break
        return named_pointer_error(error, self.kernel.title, place)

    def _record_again(self, site: str) -> LaunchRecord:
        """The record of a call that changes nothing: that of the call before, where its memory and module are there."""
        known = self._known
        if known is None or known.site != site or _is_any_gone(known.allocations):
            known = self._record(self.arguments, self.descriptions, self.image, self.geometry, site)
            # Who else has a part in the memory is asked each time.
            self._known = known if not (known.lent or known.producers) else None
        else:
            self.kernel.module.check_loaded()
        return known

    def _record(
        self,
        arguments: tuple[Argument, ...],
        descriptions: tuple[ArgumentDescription, ...],
        image: bytes,
        shape: Geometry,
        site: str,
    ) -> LaunchRecord:
        pointers = [argument.pointer for argument in arguments if argument.pointer is not None]
        pointers.extend(self.uses)
        allocations: list[Allocation] = []
        are_own = True
        try:
            for pointer in pointers:
                allocation = pointer.allocation
                if allocation is None or allocation.block.gone:
                    pointer.check_alive()
                if allocation is not None:
                    allocations.append(allocation)
                if pointer.lent is not None or pointer.producer is not None:
                    are_own = False
        except InvalidPointer as error:
            raise self._dead(arguments, error) from None
        kernel, module = self.kernel, self.kernel.module
        # A launch may be made again, or replayed, long after it was checked.
        module.check_loaded()
        signature, offsets = kernel.signature_with(shape.shared_mem), self.layout.offsets
        return LaunchRecord(
            kernel.title,
            module.name,
            shape,
            self.target,
            image,
            tuple(allocations),
            () if are_own else tuple([pointer.lent for pointer in pointers if pointer.lent is not None]),
            () if are_own else producers_of(pointers),
            # Only descriptions and bytes: the summary is kept longer than the launch and must keep no memory alive.
            lambda: describe_image(signature, descriptions, offsets, image),
            site,
            kernel,
            pointers,
        )


def describe_arguments(signature: KernelSignature, arguments: Sequence[tuple[ArgumentDescription, bytes]]) -> str:
    """The arguments as text, with the parameters' names where they are known."""
    texts = []
    for index, (description, data) in enumerate(arguments):
        parameter = signature.parameter(index)
        name = parameter.name if parameter is not None else None
        text = describe(description, data)
        texts.append(f"{name}={text}" if name else text)
    return ", ".join(texts)


def describe_image(
    signature: KernelSignature, descriptions: Sequence[ArgumentDescription], offsets: Sequence[int], image: bytes
) -> str:
    """The arguments as text, from an image of them."""
    places = zip(descriptions, offsets, strict=True)
    return describe_arguments(signature, [(each, image[at : at + each.nbytes]) for each, at in places])


def _is_any_gone(allocations: Sequence[Allocation]) -> bool:
    for allocation in allocations:  # noqa: SIM110  a generator would cost as much as the launch
        if allocation.block.gone:
            return True
    return False


def _holes(arguments: Sequence[Argument]) -> list[Argument]:
    """Those whose bytes are not known yet: slots, and host arrays that a launch has to bring to the device first."""
    return [each for each in arguments if each.slot is not None or each.loan is not None]


def check_launch(
    gpu: GpuBackend,
    kernel: Kernel,
    geometry: Geometry,
    grid_slots: GridSlots,
    arguments: Sequence[Argument],
    uses: Sequence[PointerValue],
    site: str,
) -> CheckedLaunch:
    """Check arguments against the signature and the geometry against the limits; lay out the image.

    Raises the ArgumentError family, GeometryError, LimitExceeded, NotSupported, HandleClosed for a module that is
    unloaded. Nothing has reached the driver then, but for the preparing of the kernel itself.
    """
    kernel.module.check_loaded()
    if not grid_slots.axes:
        kernel.check_geometry(geometry)
    if kernel.separates_writes:
        # Before the driver makes the kernel ready for such arguments.
        refuse_aliased(kernel.signature_with(geometry.shared_mem), arguments, gpu.capabilities)
    descriptions = tuple([argument.description for argument in arguments])
    checked = kernel.checked(descriptions, geometry.shared_mem)
    if checked.local_nbytes and geometry.shared_mem:
        both = checked.local_nbytes + geometry.shared_mem
        check_shared_mem(both, kernel.title, gpu.capabilities, kernel.attributes)
    return CheckedLaunch(
        gpu,
        kernel,
        geometry,
        grid_slots,
        tuple(arguments),
        descriptions,
        tuple(uses),
        checked.layout,
        checked.write,
        with_used_memory(checked.target, uses, gpu.capabilities) if uses else checked.target,
        checked.write(*[argument.data for argument in arguments]),
        site,
        not (grid_slots.axes or _holes(arguments)),
    )


def run_checked(launch: CheckedLaunch, stream: Stream) -> None:
    """Issue a launch now, or record it where the stream or this thread is recording.

    Host arrays lent to it are copied in before, and out after the stream has been waited for.
    """
    gpu = launch.gpu
    recorder = gpu.recorder(stream)
    if recorder is not None:
        launch.refuse_loans("a recording")
        recorder.append_launch(launch)
        return
    if launch.is_complete:
        gpu.issue(launch.bind(), stream)
        return
    if launch.slots:
        raise _unset(launch.slots[0], launch.kernel.title)
    loans = [(index, argument.loan) for index, argument in enumerate(launch.arguments) if argument.loan is not None]
    begun = []
    try:
        replaced: dict[int, Argument] = {}
        for index, loan in loans:
            begun.append(loan)
            pointer = loan.begin(stream)
            description = launch.arguments[index].description
            replaced[index] = Argument(description, pointer.address.to_bytes(8, "little"), pointer=pointer)
        gpu.issue(launch.bind(replaced=replaced), stream)
        for loan in begun:
            loan.finish(stream)
        stream.synchronize()
    finally:
        for loan in begun:
            loan.release()


def geometry_of(
    grid: Dim3,
    block: Extent,
    shared_mem: object,
    *,
    kernel: str,
    cluster: Dim3 | None = None,
    cooperative: bool = False,
    attributes: LaunchAttributes | None = None,
) -> Geometry:
    """Block and shared memory read as a caller gives them. Raises GeometryError."""
    return Geometry(
        grid, Dim3.of(block, "block", kernel), read_shared_mem(shared_mem, kernel), cluster, cooperative, attributes
    )


def with_programmatic(attributes: LaunchAttributes | None, programmatic: bool) -> LaunchAttributes | None:
    """The attributes with this one set; None when nothing is left, so that a plain launch stays plain."""
    return _or_none(replace(attributes or LaunchAttributes(), programmatic=bool(programmatic)))


def with_priority(attributes: LaunchAttributes | None, priority: object, kernel: str) -> LaunchAttributes | None:
    """The attributes with this priority (None: the stream's). Raises GeometryError for what is no whole number."""
    level = None
    if priority is not None:
        level = whole(priority)
        if level is None:
            raise GeometryError(
                f"{kernel}: priority is {priority!r}; it is a whole number, lower is more urgent",
                kernel=kernel,
                asked=priority,
            )
    return _or_none(replace(attributes or LaunchAttributes(), priority=level))


def with_memory_sync_domain(
    attributes: LaunchAttributes | None, domain: object, kernel: str
) -> LaunchAttributes | None:
    """The attributes with this domain (None: the stream's). Raises GeometryError for an unknown one."""
    if domain is not None and (not isinstance(domain, str) or domain not in MEMORY_SYNC_DOMAINS):
        raise GeometryError(
            f"{kernel}: memory sync domain is {domain!r}; there are {' and '.join(map(repr, MEMORY_SYNC_DOMAINS))}",
            kernel=kernel,
            asked=domain,
        )
    return _or_none(replace(attributes or LaunchAttributes(), memory_sync_domain=domain))


def _or_none(attributes: LaunchAttributes) -> LaunchAttributes | None:
    return attributes if attributes != LaunchAttributes() else None


def read_shared_mem(nbytes: object, kernel: str) -> int:
    """Bytes of dynamic shared memory. Raises GeometryError unless it is a whole number, not negative."""
    value = whole(nbytes)
    if value is None:
        raise GeometryError(
            f"{kernel}: shared_mem is {nbytes!r}; it is a whole number of bytes", kernel=kernel, asked=nbytes
        )
    if value < 0:
        raise GeometryError(f"{kernel}: shared_mem is {value}; it cannot be negative", kernel=kernel, asked=value)
    return value


def _unset(each: Slot, kernel: str) -> ArgumentCountError:
    return ArgumentCountError(
        f"{kernel}: slot {each.name!r} has no value; set it by name: …({each.name}=value)",
        kernel=kernel,
        name=each.name,
        expected=each.name,
        given=None,
    )
