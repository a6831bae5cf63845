"""C functions of OpenCL that take bare addresses: kernels, shared virtual memory, the host's memory, a launch, a
platform's extensions.

pyopencl wraps them for objects of its own, makes an event for each command, and holds the interpreter lock meanwhile;
these do neither. Source: the OpenCL 3.0 API specification; the types are those of cl_platform.h.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_HANDLE = ctypes.c_void_p
_ADDRESS = ctypes.c_void_p
_UINT = ctypes.c_uint32
_SIZE = ctypes.c_size_t
_WAITS = (_UINT, _ADDRESS, _ADDRESS)

_TYPES: dict[str, Sequence[Any]] = {
    "clCreateKernel": (_HANDLE, ctypes.c_char_p, _ADDRESS),
    "clReleaseKernel": (_HANDLE,),
    "clGetKernelInfo": (_HANDLE, _UINT, _SIZE, _ADDRESS, _ADDRESS),
    "clGetKernelArgInfo": (_HANDLE, _UINT, _UINT, _SIZE, _ADDRESS, _ADDRESS),
    "clGetKernelWorkGroupInfo": (_HANDLE, _HANDLE, _UINT, _SIZE, _ADDRESS, _ADDRESS),
    "clSetKernelArg": (_HANDLE, _UINT, _SIZE, _ADDRESS),
    "clSetKernelArgSVMPointer": (_HANDLE, _UINT, _ADDRESS),
    "clSetKernelExecInfo": (_HANDLE, _UINT, _SIZE, _ADDRESS),
    "clEnqueueNDRangeKernel": (_HANDLE, _HANDLE, _UINT, _ADDRESS, _ADDRESS, _ADDRESS, *_WAITS),
    "clEnqueueSVMMemcpy": (_HANDLE, _UINT, _ADDRESS, _ADDRESS, _SIZE, *_WAITS),
    "clEnqueueSVMMemFill": (_HANDLE, _ADDRESS, _ADDRESS, _SIZE, _SIZE, *_WAITS),
    "clEnqueueReadBuffer": (_HANDLE, _HANDLE, _UINT, _SIZE, _SIZE, _ADDRESS, *_WAITS),
    "clEnqueueWriteBuffer": (_HANDLE, _HANDLE, _UINT, _SIZE, _SIZE, _ADDRESS, *_WAITS),
    "clEnqueueCopyBuffer": (_HANDLE, _HANDLE, _HANDLE, _SIZE, _SIZE, _SIZE, *_WAITS),
    "clEnqueueCopyBufferRect": (_HANDLE, _HANDLE, _HANDLE, *(_ADDRESS,) * 3, *(_SIZE,) * 4, *_WAITS),
    "clEnqueueFillBuffer": (_HANDLE, _HANDLE, _ADDRESS, _SIZE, _SIZE, _SIZE, *_WAITS),
    "clFlush": (_HANDLE,),
    "clGetDeviceInfo": (_HANDLE, _UINT, _SIZE, _ADDRESS, _ADDRESS),
    "clGetExtensionFunctionAddressForPlatform": (_HANDLE, ctypes.c_char_p),
}

_RETURN_HANDLES = ("clCreateKernel", "clGetExtensionFunctionAddressForPlatform")

SVM_PTRS = 0x11B6
"""CL_KERNEL_EXEC_INFO_SVM_PTRS (cl.h)."""


@dataclass(frozen=True, slots=True)
class EntryPoints:
    """The functions, each returning its status (clCreateKernel the kernel, clGetExtensionFunctionAddressForPlatform an
    address); None where the loader has none of that name (OpenCL before 2.0)."""

    create_kernel: Callable[..., int | None]
    release_kernel: Callable[..., int]
    get_kernel_info: Callable[..., int]
    get_kernel_arg_info: Callable[..., int]
    get_kernel_work_group_info: Callable[..., int]
    set_kernel_arg: Callable[..., int]
    set_kernel_arg_svm_pointer: Callable[..., int] | None
    set_kernel_exec_info: Callable[..., int] | None
    enqueue_nd_range_kernel: Callable[..., int]
    enqueue_svm_memcpy: Callable[..., int] | None
    enqueue_svm_mem_fill: Callable[..., int] | None
    enqueue_read_buffer: Callable[..., int]
    enqueue_write_buffer: Callable[..., int]
    enqueue_copy_buffer: Callable[..., int]
    enqueue_copy_buffer_rect: Callable[..., int]
    enqueue_fill_buffer: Callable[..., int]
    flush: Callable[..., int]
    get_device_info: Callable[..., int]
    get_extension_function_address: Callable[..., int | None]

    @classmethod
    def of_library(cls, extension: str) -> EntryPoints:
        """Those of the loader that pyopencl's extension module is linked to. Raises OSError, AttributeError."""
        # A symbol is looked for in a library and in those that it was linked to; Windows looks in one alone, and finds
        # the one that is loaded already by its name.
        library = ctypes.CDLL("OpenCL.dll" if sys.platform == "win32" else extension)
        found: list[Any] = []
        for name, types in _TYPES.items():
            function = getattr(library, name, None)
            if function is None and "SVM" not in name and name != "clSetKernelExecInfo":
                raise AttributeError(f"the OpenCL loader has no {name}")
            if function is not None:
                function.argtypes = types
                function.restype = _HANDLE if name in _RETURN_HANDLES else ctypes.c_int32
            found.append(function)
        return cls(*found)


def address_of_function(function: Callable[..., int]) -> int:
    """Where a C function lies, for those who call it without Python."""
    pointer: Any = function
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
