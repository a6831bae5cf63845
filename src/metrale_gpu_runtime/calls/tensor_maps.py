"""Making tensor maps of device memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from ..errors import NotSupported, TensorMapError
from ..memory.pointers import check_extent
from ..tensor_map import TensorMap, data_type_of, describe_tiled, extent_nbytes
from .launching import LaunchCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend


class TensorMapCalls(LaunchCalls):
    """The part of GpuBackend that describes memory to bulk tensor copies."""

    def tensor_map(
        self,
        memory: Any,
        *,
        shape: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        box: Sequence[int],
        element_strides: Sequence[int] | None = None,
        dtype: object = None,
        interleave: str = "none",
        swizzle: str = "none",
        l2_promotion: str = "none",
        out_of_bounds_fill: str = "none",
    ) -> TensorMap:
        """A tiled tensor map of a buffer, a pointer or a foreign device array, encoded for this device.

        All sequences are innermost dimension first, as the kernel's coordinates are: the reverse of a NumPy shape.
        `shape`, `box` and `element_strides` are in elements, `strides` in bytes and of dimensions 1 and up; `shape`
        defaults to the buffer's, reversed, `strides` to rows without padding, `dtype` to the buffer's element type.
        `dtype` may be a name of CUtensorMapDataType without its prefix ("TFLOAT32", "16U4_ALIGN8B").
        `interleave`: "none", "16B", "32B"; `swizzle`: "none", "32B", "64B", "128B", "128B_atom_32B",
        "128B_atom_32B_flip_8B", "128B_atom_64B"; `l2_promotion`: "none", "64B", "128B", "256B";
        `out_of_bounds_fill`: "none" (zeros), "nan".

        Raises TensorMapError for what breaks a rule of the device, InvalidPointer when the memory does not hold that
        tensor, NotSupported unless `Capabilities.tensor_map_encoding`. Source: cuTensorMapEncodeTiled.
        """
        self._check_usable()
        capabilities = self._capabilities
        if not capabilities.tensor_map_encoding:
            raise NotSupported(
                f"{capabilities.backend}: {capabilities.device} has no tensor maps to encode; pass pointer and strides",
                backend=capabilities.backend,
                feature="tensor maps",
            )
        pointer = self.resolve_pointer(memory, "tensor map")
        if dtype is None:
            if pointer.element is None:
                raise TensorMapError(
                    "tensor map: the memory has no element type; give dtype=, a scalar type or a name such as "
                    '"BFLOAT16"',
                    what="dtype",
                )
            dtype = pointer.element
        description = describe_tiled(
            pointer.address,
            data_type=data_type_of(dtype),
            shape=_shape_of(memory) if shape is None else shape,
            strides=strides,
            box=box,
            element_strides=element_strides,
            interleave=interleave,
            swizzle=swizzle,
            l2_promotion=l2_promotion,
            out_of_bounds_fill=out_of_bounds_fill,
        )
        check_extent(pointer, extent_nbytes(description), f"tensor map of shape {description.shape}")
        data = self._ask(None, self._driver.encode_tensor_map, description)
        return TensorMap(cast("GpuBackend", self), description, data, pointer)


def _shape_of(memory: object) -> tuple[int, ...]:
    shape = getattr(memory, "shape", None)
    if not isinstance(shape, tuple):
        raise TensorMapError(
            f"tensor map: {type(memory).__name__} has no shape; give shape=, innermost dimension first", what="shape"
        )
    return shape[::-1]
