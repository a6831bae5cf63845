"""A launch's geometry against what the device and the kernel allow; the error names axis, value, limit and device."""

from __future__ import annotations

from .capabilities import Capabilities
from .driver import FunctionAttributes
from .errors import GeometryError, LimitExceeded, NotSupported
from .geometry import Dim3, Geometry

_AXES = "xyz"


def check_geometry(
    geometry: Geometry, *, kernel: str, capabilities: Capabilities, attributes: FunctionAttributes
) -> None:
    """Raise unless the device can run this shape of this kernel.

    Raises GeometryError for an empty block, LimitExceeded for anything over a limit, NotSupported for clusters and
    cooperative launches that the device has not. A zero in the grid is legal: such a launch does nothing.
    """
    _check_block(geometry.block, kernel, capabilities, attributes)
    _check_grid(geometry, kernel, capabilities)
    _check_shared_mem(geometry.shared_mem, kernel, capabilities, attributes)
    if geometry.cluster is not None:
        _check_cluster(geometry.cluster, geometry.grid, kernel, capabilities)
    if geometry.cooperative and not capabilities.cooperative:
        raise NotSupported(
            f"{kernel}: a cooperative launch is not supported by {capabilities.device}; "
            "split the kernel at its grid synchronisation into several launches",
            backend=capabilities.backend,
            feature="cooperative",
        )


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
            raise LimitExceeded(kernel=kernel, what=f"block.{axis}", asked=extent, limit=limit, device=device, axis=axis)
    if attributes.required_block is not None and block.as_tuple() != attributes.required_block:
        raise GeometryError(
            f"{kernel}: block is {block.as_tuple()}; the kernel was compiled for exactly "
            f"{attributes.required_block} (.reqntid), launch it with that block",
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
        registers = f" It uses {attributes.registers} registers per thread." if attributes.registers else ""
        raise LimitExceeded(
            kernel=kernel,
            what="threads per block",
            asked=threads,
            limit=limit_of_kernel,
            device=f"this kernel on {device}",
            advice=f"Its launch bounds (.maxntid) or its registers allow no more.{registers}",
        )


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


def _check_shared_mem(
    shared_mem: int, kernel: str, capabilities: Capabilities, attributes: FunctionAttributes
) -> None:
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
