"""What a child process asks wgpu, the Vulkan loader and one Vulkan driver behind it.

The Vulkan calls go by ctypes; source of the structures and numbers: vulkan_core.h.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from typing import Any

from ..probing import load_library, mapped_file, tell
from .vulkan import LOADER

_KINDS = {0: "other", 1: "integrated GPU", 2: "discrete GPU", 3: "virtual GPU", 4: "CPU, software"}
_INSTANCE_CREATE_INFO = 1
# VkPhysicalDeviceProperties begins with five 32-bit numbers and a name of 256 bytes; all of it is under 1 KiB.
_PROPERTIES_NBYTES, _TYPE_AT, _NAME_AT, _NAME_NBYTES = 4096, 16, 20, 256

ADAPTERS = f"from {__name__} import print_adapters; print_adapters()"
VULKAN = f"from {__name__} import print_vulkan; print_vulkan()"
DRIVER = f"import sys; from {__name__} import print_driver; print_driver(sys.argv[1])"


def print_adapters() -> None:
    """Load wgpu's native library, then list the adapters with their kind and why one cannot be used."""
    from ...errors import BackendUnavailable
    from .adapters import find_adapters
    from .bindings import load_bindings

    native = importlib.import_module("wgpu.backends.wgpu_native")
    facts: dict[str, Any] = {
        "native": ".".join(str(part) for part in native.lib_version_info),
        "library": mapped_file("libwgpu_native") or str(native.lib_path),
    }
    # From here on Vulkan's drivers are loaded, and may crash.
    tell(**facts)
    try:
        bindings = load_bindings()
    except BackendUnavailable as error:
        tell(**facts, problem=str(error).removeprefix("webgpu: "))
        return

    found = [
        {
            "name": each.name,
            "driver": each.driver,
            "graphics": each.graphics,
            "kind": "software" if each.is_software else each.kind,
            "reason": each.reason or "",
        }
        for each in find_adapters(bindings)
    ]
    tell(**facts, adapters=found)


def print_vulkan() -> None:
    """The loader's file and version."""
    library, problem = load_library(LOADER)
    if library is None:
        tell(problem=problem)
        return
    tell(path=mapped_file("libvulkan.so"))
    version = ctypes.c_uint32(1 << 22)
    # Vulkan 1.0 loaders lack it and are version 1.0.
    if hasattr(library, "vkEnumerateInstanceVersion"):
        library.vkEnumerateInstanceVersion(ctypes.byref(version))
    number = version.value
    tell(path=mapped_file("libvulkan.so"), version=f"{number >> 22}.{number >> 12 & 0x3FF}.{number & 0xFFF}")


def print_driver(library: str) -> None:
    """Load one driver as its manifest says, then ask the loader, which is told of this driver only, for its devices."""
    handle, problem = load_library(library)
    facts: dict[str, Any] = {"unloadable": problem}
    tell(**facts)
    if handle is not None:
        facts["path"] = mapped_file(os.path.basename(library))
        facts["is_driver"] = hasattr(handle, "vk_icdGetInstanceProcAddr") or hasattr(handle, "vkGetInstanceProcAddr")
        tell(**facts)
    loader, problem = load_library(LOADER)
    if loader is None:
        tell(**facts, loader_problem=problem)
        return
    code, devices = _devices(loader)
    tell(**facts, code=code, devices=devices)


class _InstanceCreateInfo(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application", ctypes.c_void_p),
        ("layer_count", ctypes.c_uint32),
        ("layers", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    )


def _devices(loader: Any) -> tuple[int, list[str]]:
    """The VkResult that ended it, and the devices as text."""
    instance = ctypes.c_void_p()
    create = _InstanceCreateInfo(type=_INSTANCE_CREATE_INFO)
    code = int(loader.vkCreateInstance(ctypes.byref(create), None, ctypes.byref(instance)))
    if code != 0:
        return code, []
    count = ctypes.c_uint32()
    code = int(loader.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None))
    if code != 0 or count.value == 0:
        return code, []
    handles = (ctypes.c_void_p * count.value)()
    code = int(loader.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles))
    found = []
    for handle in handles[: count.value]:
        properties = ctypes.create_string_buffer(_PROPERTIES_NBYTES)
        loader.vkGetPhysicalDeviceProperties(ctypes.c_void_p(handle), properties)
        kind = int.from_bytes(properties.raw[_TYPE_AT : _TYPE_AT + 4], "little")
        name = properties.raw[_NAME_AT : _NAME_AT + _NAME_NBYTES].partition(b"\0")[0].decode(errors="replace")
        found.append(f"{name} ({_KINDS.get(kind, kind)})")
    return code, found
