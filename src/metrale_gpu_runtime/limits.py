"""A launch's geometry against what the device and the kernel allow; the error names axis, value, limit and device."""

from __future__ import annotations

from .capabilities import Capabilities
from .driver import ArgumentKind, ArgumentLayout, FunctionAttributes
from .errors import ArgumentSizeError, GeometryError, LimitExceeded, NotSupported
from .geometry import Dim3, Geometry, LaunchAttributes
from .signature import ArgumentDescription
from .substitutes import refuse_unsupported

_AXES = "xyz"

PORTABLE_CLUSTER_BLOCKS = 8
"""A cluster of so many blocks runs on every device that has clusters, if the kernel runs there at all. Source: CUDA
Programming Guide, thread block clusters."""


def check_geometry(
    geometry: Geometry, *, kernel: str, capabilities: Capabilities, attributes: FunctionAttributes
) -> None:
    """Raise unless the device can run this shape of this kernel.

    Raises GeometryError for an empty block, LimitExceeded for anything over a limit, NotSupported for clusters,
    cooperative launches and attributes that the device has not. A zero in the grid is legal: such a launch does
    nothing. What only the driver can tell (occupancy, large clusters) is not checked here.
    """
    _check_block(geometry.block, kernel, capabilities, attributes)
    _check_grid(geometry, kernel, capabilities)
    check_shared_mem(geometry.shared_mem, kernel, capabilities, attributes)
    if geometry.cluster is not None:
        _check_cluster(geometry.cluster, geometry.grid, kernel, capabilities)
    if geometry.cooperative and not capabilities.cooperative:
        raise NotSupported(
            f"{kernel}: a cooperative launch is not supported by {capabilities.device}; "
            "split the kernel at its grid synchronisation into several launches",
            backend=capabilities.backend,
            feature="cooperative",
        )
    if geometry.attributes is not None:
        _check_attributes(geometry.attributes, kernel, capabilities)


def _check_block(block: Dim3, kernel: str, capabilities: Capabilities, attributes: FunctionAttributes) -> None:
    device = capabilities.device
    for axis, extent, limit in zip(_AXES, block.as_tuple(), capabilities.max_block, strict=True):
        if extent == 0:
            raise GeometryError(
                f"{kernel}: block.{axis} is 0; a block has at least one thread along each axis",
                kernel=kernel,
                axis=axis,
                asked=0,
            )
        if extent > limit:
            raise LimitExceeded(
                kernel=kernel,
                what=f"block.{axis}",
                asked=extent,
                limit=limit,
                device=device,
                axis=axis,
                advice="Make the block smaller and the grid larger",
            )
    if attributes.required_block is not None and block.as_tuple() != attributes.required_block:
        raise GeometryError(
            f"{kernel}: block is {block.as_tuple()}; the kernel was compiled for exactly "
            f"{attributes.required_block} ({_required_word(capabilities)}), launch it with that block",
            kernel=kernel,
            asked=block.as_tuple(),
        )
    threads = block.volume
    if threads > capabilities.max_threads_per_block:
        raise LimitExceeded(
            kernel=kernel,
            what="threads per block",
            asked=threads,
            limit=capabilities.max_threads_per_block,
            device=device,
            advice=f"The block is {block.as_tuple()}; make it smaller and the grid larger",
        )
    limit_of_kernel = attributes.max_threads_per_block
    if limit_of_kernel is not None and threads > limit_of_kernel:
        registers = ""
        if attributes.registers:
            registers = f"; it uses {attributes.registers} registers per thread"
            if capabilities.max_registers_per_block is not None:
                registers += f", of {capabilities.max_registers_per_block} that the device has per block"
        raise LimitExceeded(
            kernel=kernel,
            what="threads per block",
            asked=threads,
            limit=limit_of_kernel,
            device=f"this kernel on {device}",
            advice=f"Its launch bounds ({_bounds_word(capabilities)}) or its registers allow no more{registers}. "
            "Make the block smaller, or compile it for a larger one",
        )


def _required_word(capabilities: Capabilities) -> str:
    """How a kernel's code says what its block has to be."""
    for code_format, word in (("wgsl", "@workgroup_size"), ("opencl-c", "reqd_work_group_size")):
        if code_format in capabilities.code_formats:
            return word
    return ".reqntid"


def _bounds_word(capabilities: Capabilities) -> str:
    """How a kernel's code says of how many threads its block has at most."""
    for code_format, word in (
        ("msl", "[[max_total_threads_per_threadgroup(n)]]"),
        ("opencl-c", "max_work_group_size"),
        ("wgsl", "@workgroup_size"),
    ):
        if code_format in capabilities.code_formats:
            return word
    return ".maxntid"


def _check_grid(geometry: Geometry, kernel: str, capabilities: Capabilities) -> None:
    for axis, extent, limit in zip(_AXES, geometry.grid.as_tuple(), capabilities.max_grid, strict=True):
        if extent > limit:
            raise LimitExceeded(
                kernel=kernel,
                what=f"grid.{axis}",
                asked=extent,
                limit=limit,
                device=capabilities.device,
                axis=axis,
                advice="The grid counts blocks; spread them over other axes or give each block more work",
            )
    total_limit = capabilities.max_threads_per_launch
    if total_limit is not None:
        total = geometry.grid.volume * geometry.block.volume
        if total > total_limit:
            raise LimitExceeded(
                kernel=kernel,
                what="threads in the launch (grid times block)",
                asked=total,
                limit=total_limit,
                device=capabilities.device,
                advice="Split it into several launches",
            )


def check_shared_mem(shared_mem: int, kernel: str, capabilities: Capabilities, attributes: FunctionAttributes) -> None:
    """Raise LimitExceeded unless a block can have so many bytes beside the kernel's own, rounded as the device does."""
    static = attributes.static_shared_mem or 0
    granularity = capabilities.shared_mem_granularity
    total = static + -(-shared_mem // granularity) * granularity
    limit = capabilities.max_static_and_dynamic_shared_mem
    if total > limit:
        raise LimitExceeded(
            kernel=kernel,
            what="shared memory per block in bytes",
            asked=total,
            limit=limit,
            device=capabilities.device,
            advice=f"{shared_mem} were asked for at launch, {static} are the kernel's own; "
            f"at most {max(limit - static, 0)} can be asked for",
        )


def _check_cluster(cluster: Dim3, grid: Dim3, kernel: str, capabilities: Capabilities) -> None:
    if not capabilities.clusters:
        raise NotSupported(
            f"{kernel}: clusters are not supported by {capabilities.device}; launch without .cluster()",
            backend=capabilities.backend,
            feature="clusters",
        )
    for axis, size, blocks in zip(_AXES, cluster.as_tuple(), grid.as_tuple(), strict=True):
        if size == 0 or blocks % size:
            raise GeometryError(
                f"{kernel}: cluster.{axis} is {size}; it must be at least 1 and divide grid.{axis}, which is {blocks}",
                kernel=kernel,
                axis=axis,
                asked=size,
            )


def _check_attributes(attributes: LaunchAttributes, kernel: str, capabilities: Capabilities) -> None:
    for is_asked, is_there, feature, advice in (
        (
            attributes.programmatic,
            capabilities.programmatic_launches,
            "programmatic launches",
            "launch without .programmatic(): it then starts when the one in front of it has ended",
        ),
        (
            attributes.priority is not None,
            capabilities.launch_priorities is not None,
            "launch priorities",
            "launch without .priority(), on a stream of gpu.create_stream(priority=…)",
        ),
        (
            attributes.memory_sync_domain is not None,
            capabilities.memory_sync_domains,
            "memory sync domains",
            "launch without .memory_sync_domain(): its fences then order everything",
        ),
    ):
        if is_asked and not is_there:
            raise NotSupported(
                f"{kernel}: {feature} are not supported by {capabilities.device}; {advice}",
                backend=capabilities.backend,
                feature=feature,
            )
    if attributes.priority is not None and capabilities.launch_priorities is not None:
        # A driver takes any number and clamps it without a word.
        least, most = capabilities.launch_priorities
        limit = min(max(attributes.priority, most), least)
        if limit != attributes.priority:
            raise LimitExceeded(
                kernel=kernel,
                what="launch priority",
                asked=attributes.priority,
                limit=limit,
                device=capabilities.device,
                advice=f"Priorities go from {least} (least urgent) to {most} (most urgent)",
            )


def local_nbytes(layout: ArgumentLayout, capabilities: Capabilities) -> int:
    """Bytes of local memory that the arguments ask for, each rounded up as the device does."""
    granularity = capabilities.shared_mem_granularity
    return sum(
        -(-size // granularity) * granularity
        for kind, size in zip(layout.kinds, layout.sizes, strict=True)
        if kind is ArgumentKind.LOCAL
    )


def check_arguments(
    descriptions: tuple[ArgumentDescription, ...],
    layout: ArgumentLayout,
    *,
    kernel: str,
    capabilities: Capabilities,
    attributes: FunctionAttributes,
) -> None:
    """Raise where the device takes no such arguments: too many, too large, of a type it does not have.

    Raises LimitExceeded, NotSupported, ArgumentSizeError (a value of no bytes: no kernel parameter has 0).
    """
    device, backend = capabilities.device, capabilities.backend
    local = local_nbytes(layout, capabilities)
    if local:
        check_shared_mem(local, kernel, capabilities, attributes)
    # Where values are bound inline they take the places of buffers.
    bound = ("pointer",) if capabilities.max_inline_argument_nbytes is None else ("pointer", "value")
    buffers = sum(1 for each in descriptions if each.kind in bound)
    for what, asked, limit in (
        ("arguments", len(descriptions), capabilities.max_arguments),
        ("buffer arguments", buffers, capabilities.max_buffer_arguments),
        ("bytes of arguments", layout.nbytes, capabilities.max_parameter_nbytes),
    ):
        if limit is not None and asked > limit:
            raise LimitExceeded(kernel=kernel, what=what, asked=asked, limit=limit, device=device)
    for index, each in enumerate(descriptions):
        if each.kind == "local" and not capabilities.local_arguments:
            raise NotSupported(
                f"{kernel}: argument {index}: {backend} has no local-memory arguments; use .shared_mem(nbytes)",
                backend=backend,
                feature="arg_local",
            )
        if each.kind == "value" and each.nbytes == 0:
            raise ArgumentSizeError(
                f"{kernel}: argument {index} has no bytes; every kernel parameter has at least 1 (an empty C++ struct "
                "takes 1), leave the argument out or give that byte",
                kernel=kernel,
                index=index,
                expected="at least 1",
                given=0,
            )
    refuse_unsupported(descriptions, kernel=kernel, capabilities=capabilities)
