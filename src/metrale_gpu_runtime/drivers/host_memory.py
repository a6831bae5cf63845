"""How much memory the host has left, for devices that share it."""

from __future__ import annotations

import ctypes
import os
import sys

_RECLAIMABLE = (
    b"vm.page_free_count",
    b"vm.page_speculative_count",
    b"vm.page_purgeable_count",
    b"vm.page_pageable_external_count",
)


def host_available_nbytes() -> int | None:
    """What the host could give to new programs without swapping, None where the system does not tell.

    On macOS: pages that are free, read ahead, purgeable, or hold files (sysctl vm.page_…_count).
    """
    if sys.platform == "darwin":
        return _darwin_available_nbytes()
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def _darwin_available_nbytes() -> int | None:
    library = ctypes.CDLL(None, use_errno=True)
    pages = 0
    for name in _RECLAIMABLE:
        value, size = ctypes.c_uint64(0), ctypes.c_size_t(8)
        # The counts have 4 bytes in some versions and 8 in others; little-endian, both arrive right.
        if library.sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
            return None
        pages += value.value
    return pages * os.sysconf("SC_PAGE_SIZE")
