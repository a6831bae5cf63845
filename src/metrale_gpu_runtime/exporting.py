"""Buffers handed to other libraries in place: the CUDA array interface and DLPack, and who waits for whom then.

Sources: CUDA Array Interface version 3; Python array API standard, `__dlpack__`; dlpack.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .dlpack import BFLOAT16, CPU, CUDA, LEGACY_STREAM, NO_WAIT, ROCM, device_name, numpy_capsule
from .errors import NotSupported
from .memory.pointers import dead_pointer
from .scalars import bf16

if TYPE_CHECKING:
    from .buffers import DeviceBuffer
    from .elements import Element

HOST = (CPU, 0)


class Window:
    """Memory of a buffer that other libraries look at in place.

    It holds the buffer, whose memory is neither freed nor closed under it: `keeps` is the device itself once its
    backend was closed.
    """

    __slots__ = ("__array_interface__", "__weakref__", "buffer", "keeps")

    def __init__(self, buffer: DeviceBuffer, typestr: str) -> None:
        self.buffer = buffer
        self.keeps: object = None
        self.__array_interface__ = {
            "version": 3,
            "shape": buffer.shape,
            "typestr": typestr,
            "data": (buffer.address, False),
        }


def device_of(buffer: DeviceBuffer) -> tuple[int, int]:
    """DLPack's device of a buffer's memory. Raises NotSupported where other libraries cannot use it."""
    capabilities = buffer.gpu.capabilities
    if capabilities.host_arrays_are_device_arrays:
        return HOST
    if capabilities.dlpack_device is None or capabilities.dlpack_device[0] not in (CUDA, ROCM):
        raise NotSupported(
            f"{capabilities.backend}: this memory is on {capabilities.device} and cannot be exported through DLPack; "
            "copy it: buffer.numpy()",
            backend=capabilities.backend,
            feature="DLPack export",
        )
    return capabilities.dlpack_device


def cuda_array_interface(buffer: DeviceBuffer) -> dict[str, object]:
    """The dictionary of version 3. Raises AttributeError where it would not be true.

    Also on HIP: a CUDA library would take the address for its own. ROCm's libraries read DLPack, which says where.
    """
    capabilities = buffer.gpu.capabilities
    if capabilities.dlpack_device is None or capabilities.dlpack_device[0] != CUDA:
        raise AttributeError(
            f"the memory of {capabilities.device} ({capabilities.backend}) is not CUDA's; use DLPack or buffer.numpy()"
        )
    _check_alive(buffer)
    typestr, descr = _typestr(buffer._element)
    interface: dict[str, object] = {
        "version": 3,
        "shape": buffer.shape,
        "typestr": typestr,
        "data": (buffer.address, False),
        "strides": None,
        "stream": buffer.gpu.stream_behind(buffer) if buffer.nbytes else None,
    }
    if descr is not None:
        interface["descr"] = descr
    return interface


def dlpack(
    buffer: DeviceBuffer,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """A capsule; see `DeviceBuffer.__dlpack__`."""
    device = device_of(buffer)
    wanted = (int(dl_device[0]), int(dl_device[1])) if dl_device is not None else device
    _check_alive(buffer)
    dtype, typestr = _dlpack_element(buffer._element)
    if wanted != device and wanted != HOST:
        raise BufferError(f"this memory is on {device_name(device)}, not on {device_name(wanted)}; copy it there first")
    if wanted == HOST:
        if stream is not None:
            raise BufferError(f"stream is {stream!r}; memory of the host has no streams, and None is what it takes")
        if device != HOST and copy is False:
            raise BufferError(f"this memory is on {device_name(device)}; on the host it would be a copy, copy=None")
        return _host_capsule(buffer, max_version, dtype, typestr, is_copied=bool(copy) or device != HOST)
    if copy:
        buffer = _copied(buffer)
    _let_wait(buffer, stream, device)
    window = Window(buffer, typestr)
    buffer.gpu._windows.add(window)
    return numpy_capsule(
        _as_array(window, buffer),
        max_version,
        device=device,
        dtype=dtype,
        is_copied=bool(copy),
        has_data=buffer.nbytes > 0,
    )


def _host_capsule(
    buffer: DeviceBuffer,
    max_version: tuple[int, int] | None,
    dtype: tuple[int, int, int] | None,
    typestr: str,
    *,
    is_copied: bool,
) -> Any:
    """Memory of the host, waited for: the buffer's own, or a copy."""
    import numpy

    if is_copied:
        flat = numpy.frombuffer(bytearray(buffer.tobytes()), numpy.dtype(typestr))
        return numpy_capsule(flat.reshape(buffer.shape), max_version, dtype=dtype, is_copied=True)
    buffer.gpu.wait_for_uses(buffer)
    window = Window(buffer, typestr)
    buffer.gpu._windows.add(window)
    return numpy_capsule(_as_array(window, buffer), max_version, dtype=dtype)


def _as_array(window: Window, buffer: DeviceBuffer) -> Any:
    """An array over the window, which nobody reads here: its address may be a device's."""
    import numpy

    if buffer.nbytes:
        return numpy.asarray(window)
    return numpy.empty(buffer.shape, numpy.dtype(str(window.__array_interface__["typestr"])))


def _copied(buffer: DeviceBuffer) -> DeviceBuffer:
    twin = buffer.gpu.buffer(buffer.nbytes, label=buffer.label)
    if buffer.nbytes:
        buffer.gpu.copy_d2d(buffer, twin)
    return buffer.__class__(buffer.gpu, twin.allocation, 0, buffer.shape, buffer._element)


def _let_wait(buffer: DeviceBuffer, stream: object, device: tuple[int, int]) -> None:
    """Let the taker's stream wait for what is queued on the memory. Raises BufferError for no stream of that device."""
    if stream is not None and (isinstance(stream, bool) or not isinstance(stream, int)):
        raise BufferError(f"stream is {stream!r}; it is an integer or None")
    if stream == NO_WAIT:
        return
    is_rocm = device[0] == ROCM
    if (stream in (1, 2) if is_rocm else stream == 0) or (stream is not None and stream < NO_WAIT):
        allowed = "0 for the default stream" if is_rocm else "1 for the legacy default stream, 2 for the thread's"
        raise BufferError(
            f"stream {stream} means nothing for {device_name(device)}: {allowed}, -1 for no wait, or a handle above 2"
        )
    # ROCm's default stream is 0 in DLPack and the legacy stream here.
    buffer.gpu.let_stream_wait(buffer, stream or LEGACY_STREAM)


def _typestr(element: Element) -> tuple[str, object]:
    """The typestr, and for structures what their fields are."""
    if element.scalar is not None:
        # Of bfloat16 NumPy has only the size; this is what ml_dtypes and PyTorch write.
        return ("<V2" if element.scalar == bf16 else element.dtype.str), None
    if element.given is not None:
        return element.given.str, element.given.descr
    return ("|u1" if element.nbytes == 1 else f"|V{element.nbytes}"), None


def _dlpack_element(element: Element) -> tuple[tuple[int, int, int] | None, str]:
    """(DLPack's type where NumPy would say another, the typestr of an array to be exported)."""
    if element.scalar == bf16:
        return BFLOAT16, "<u2"
    typestr, _ = _typestr(element)
    if typestr[1] not in "buifc":
        raise BufferError(
            f"DLPack has no elements of {element.name} ({element.nbytes} bytes); give the bytes: buffer.view('uint8')"
        )
    return None, typestr


def _check_alive(buffer: DeviceBuffer) -> None:
    block = buffer.allocation.block
    if block.gone:
        raise dead_pointer(buffer.address, block, "export")
