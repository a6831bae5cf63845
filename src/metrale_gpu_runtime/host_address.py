"""Where the bytes below a buffer-protocol view lie: the one question that Python itself does not answer."""

from __future__ import annotations

import ctypes


class _Buffer(ctypes.Structure):
    # Py_buffer of CPython's C interface, whose layout is part of the stable ABI since 3.11.
    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


_FULL_RO = 0x011C
_get_buffer = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int)(
    ("PyObject_GetBuffer", ctypes.pythonapi)
)
_release_buffer = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_Buffer))(("PyBuffer_Release", ctypes.pythonapi))


def address_of(view: memoryview) -> int:
    """The address of a view's first byte; of read-only views too, which `ctypes.from_buffer` refuses. Keeps nothing."""
    buffer = _Buffer()
    _get_buffer(view, ctypes.byref(buffer), _FULL_RO)
    address = buffer.buf or 0
    _release_buffer(ctypes.byref(buffer))
    return address
