"""A kernel with one argument layout: the private image of each launch, where every argument lies as it must."""

from __future__ import annotations

import ctypes
import struct

from ...driver import ArgumentKind, ArgumentLayout, LaunchTarget, NativeForm
from ...errors import DriverError, NotSupported
from ...geometry import Geometry
from ...handles import StreamHandle
from ...native import take_answer
from .calls import Calls
from .contexts import NotRestored
from .kernels import SessionKernel
from .streams import Streams

TENSOR_MAP_NBYTES = 128
"""A by-value argument of this size may be a tensor map; CUDA 13 wants it at a multiple of its size (before: 64)."""


class ArgumentBlock:
    """How the arguments of one layout lie in a block of memory, and the array of their addresses behind them.

    Each lies at its alignment as an absolute address, which is what the driver's copy may rely on. Where the image has
    them so already, as it nearly always has, it is copied in one piece. Blocks that are given back are filled again:
    their addresses stay.
    """

    __slots__ = ("_addresses", "_alignment", "_count", "_nbytes", "_offsets", "_pieces", "_spare", "_type", "_values")

    def __init__(self, layout: ArgumentLayout) -> None:
        offsets, end, largest = [], 0, 16
        for at, size, alignment in zip(layout.offsets, layout.sizes, layout.alignments, strict=True):
            if size == TENSOR_MAP_NBYTES:
                alignment = max(alignment, TENSOR_MAP_NBYTES)
            largest = max(largest, alignment)
            at = max(at, end)
            offsets.append(-(-at // alignment) * alignment)
            end = offsets[-1] + size
        self._offsets, self._alignment, self._count = tuple(offsets), largest, len(offsets)
        self._pieces = None
        if self._offsets != layout.offsets:
            self._pieces = tuple(zip(layout.offsets, offsets, layout.sizes, strict=True))
        self._nbytes = max(end, layout.nbytes)
        padded = -(-self._nbytes // 8) * 8
        self._values, self._addresses = struct.Struct(f"={padded}s"), struct.Struct(f"={self._count}Q")
        self._type = ctypes.c_char * (padded + self._addresses.size + largest)
        self._spare: list[tuple[ctypes.Array[ctypes.c_char], int]] = []

    @property
    def is_image(self) -> bool:
        """True where an image can be handed over as it is, at a multiple of `alignment`."""
        return self._pieces is None

    @property
    def alignment(self) -> int:
        return self._alignment

    def fill(self, image: bytes | bytearray) -> tuple[ctypes.Array[ctypes.c_char], int]:
        """(memory to be kept alive, address of the array of argument addresses, 0 without arguments)."""
        try:
            memory, parameters = self._spare.pop()
        except IndexError:
            memory, parameters = self._make()
        if self._pieces is not None:
            placed = bytearray(self._nbytes)
            for source, target, size in self._pieces:
                placed[target : target + size] = image[source : source + size]
            image = placed
        if parameters:
            self._values.pack_into(memory, parameters - self._values.size - ctypes.addressof(memory), image)
        return memory, parameters

    def give_back(self, memory: ctypes.Array[ctypes.c_char], parameters: int) -> None:
        """A filled block that nobody reads any more."""
        self._spare.append((memory, parameters))

    def _make(self) -> tuple[ctypes.Array[ctypes.c_char], int]:
        """A block with the addresses of its arguments, which have no values yet."""
        memory = self._type()
        if not self._count:
            return memory, 0
        start = ctypes.addressof(memory)
        base = -(-start // self._alignment) * self._alignment
        self._addresses.pack_into(
            memory, base - start + self._values.size, *[base + offset for offset in self._offsets]
        )
        return memory, base + self._values.size


class SessionLaunchTarget(LaunchTarget):
    """Hands launches to the driver, which has copied the arguments when its call returns."""

    __slots__ = ("_block", "_calls", "_device", "_launch", "_streams", "kernel")

    def __init__(
        self, calls: Calls, streams: Streams, kernel: SessionKernel, layout: ArgumentLayout, device: int
    ) -> None:
        if ArgumentKind.LOCAL in layout.kinds:
            name = calls.api.traits.name
            raise NotSupported(
                f"{kernel.name}: {name} has no local arguments; use shared_mem(nbytes)",
                backend=name,
                feature="local arguments",
            )
        self._calls, self._streams, self.kernel, self._device = calls, streams, kernel, device
        self._launch = calls.api.launch
        self._block = ArgumentBlock(layout)

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        """Queue one launch. A refusal is explained where the kernel or the device can explain it."""
        kernel = self.kernel
        # Never shared between launches: another thread may be filling its own meanwhile.
        memory, parameters = self._block.fill(image)
        raw = self._streams.raw(stream)
        try:
            if geometry.shared_mem or geometry.cluster is not None:
                kernel.allow(geometry)
            answer = take_answer(kernel.handle)
            if answer is None:
                self._calls.queue(raw, self._launch, kernel.handle, geometry, raw, parameters)
            else:
                self._calls.queue(raw, self._raise_answer, *answer)
        except DriverError as error:
            reason = kernel.why_refused(geometry, self._device)
            if not reason:
                raise
            raise DriverError(
                f"{error}: {kernel.name} asked for {reason}",
                call=error.call,
                code=error.code,
                code_name=error.code_name,
            ) from error.__cause__
        finally:
            self._block.give_back(memory, parameters)

    def _raise_answer(self, is_refusal: bool, code: int) -> None:
        """What the driver answered when this very launch was made natively."""
        error = self._calls.api.native_error(code, leaving=not is_refusal)
        raise error if is_refusal else NotRestored(error, None)

    def native_form(self) -> NativeForm | None:
        return NativeForm(self.kernel.handle, self._block.alignment) if self._block.is_image else None

    def fill(self, image: bytes | bytearray) -> tuple[object, int]:
        """The argument block of a graph's node: (memory to be kept alive, address of the array of addresses)."""
        return self._block.fill(image)
