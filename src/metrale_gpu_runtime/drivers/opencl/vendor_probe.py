"""What a child process asks an OpenCL loader and one driver behind it, by ctypes: no bindings, nothing opened.

Source of the numbers: CL/cl.h and CL/cl_icd.h.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from ..probing import load_library, mapped_file, tell

_PLATFORM_VERSION, _PLATFORM_NAME = 0x0901, 0x0902
_DEVICE_TYPE, _DEVICE_NAME = 0x1000, 0x102B
_ALL_DEVICES = 0xFFFFFFFF
_TYPES = {1 << 1: "CPU", 1 << 2: "GPU", 1 << 3: "accelerator", 1 << 4: "custom device"}
_DEVICE_NOT_FOUND, _PLATFORM_NOT_FOUND = -1, -1001
_LOADER_VERSION, _LOADER_VENDOR = 2, 4
_POCL = "Portable Computing Language"

BINDINGS = f"from {__name__} import print_bindings; print_bindings()"
LOADER = f"import sys; from {__name__} import print_loader; print_loader(sys.argv[1])"
ENTRY = f"import sys; from {__name__} import print_entry; print_entry(*sys.argv[1:])"


def print_bindings() -> None:
    """Import pyopencl, tell which loader it calls, then what that finds under the environment as it is."""
    import pyopencl

    facts: dict[str, Any] = {
        "version": pyopencl.VERSION_TEXT,
        "home": os.path.dirname(os.path.abspath(pyopencl.__file__)),
        "loader": mapped_file("libOpenCL"),
    }
    tell(**facts)
    try:
        found = pyopencl.get_platforms()
    except pyopencl.Error as error:
        tell(**facts, refused=str(error))
        return
    described = []
    for platform in found:
        # One platform whose devices cannot be listed must not hide the others.
        try:
            devices = [_of_bindings(device) for device in platform.get_devices()]
            problem = ""
        except pyopencl.Error as error:
            devices, problem = [], str(error)
        described.append({"name": platform.name, "version": platform.version, "devices": devices, "problem": problem})
    tell(**facts, platforms=described)
    # pip's PoCL lists a device on each machine, and compiles nothing for a processor that is younger than its LLVM.
    refused = {
        _of_bindings(device): said
        for platform in found
        if platform.name == _POCL
        for device in _devices(pyopencl, platform)
        if (said := _refuses_all(pyopencl, device))
    }
    tell(**facts, platforms=described, refuses_all=refused)


def _devices(cl: Any, platform: Any) -> list[Any]:
    try:
        return list(platform.get_devices())
    except cl.Error:
        return []


def _refuses_all(cl: Any, device: Any) -> str:
    """What the device's compiler says of a kernel that does nothing; empty where it takes it."""
    program = None
    try:
        program = cl._cl._Program(cl.Context([device]), "kernel void nothing(void) {}")
        program._build(b"", [device])
    except cl.Error as error:
        lines = _log(cl, program, device).splitlines() if program is not None else []
        return next((line.strip() for line in lines if "error" in line), str(error))
    return ""


def _log(cl: Any, program: Any, device: Any) -> str:
    try:
        return str(program.get_build_info(device, cl.program_build_info.LOG))
    except cl.Error:
        return ""


def _of_bindings(device: Any) -> str:
    return _described(device.name, device.type)


def print_loader(path: str) -> None:
    """The loader's own version and vendor, where it has a word for them (clGetICDLoaderInfoOCLICD)."""
    library, problem = load_library(path)
    if library is None:
        tell(problem=problem)
        return
    tell(version="", vendor="")
    address = library.clGetExtensionFunctionAddress
    address.restype, address.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    found = address(b"clGetICDLoaderInfoOCLICD")
    if not found:
        return
    ask = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)
    )(found)
    told = {}
    for key, number in (("version", _LOADER_VERSION), ("vendor", _LOADER_VENDOR)):
        text = ctypes.create_string_buffer(256)
        told[key] = text.value.decode(errors="replace") if ask(number, len(text), text, None) == 0 else ""
    tell(**told)


def print_entry(loader: str, library: str, *candidates: str) -> None:
    """Load one driver as its name says, then ask the loader, which is told of this driver only, what it makes of it.

    `candidates` are paths where the loader finds a bare name and this process does not.
    """
    facts: dict[str, Any] = {}
    handle, problem = None, ""
    for each in (*(path for path in candidates if os.path.exists(path)), library):
        handle, said = load_library(each)
        problem = problem or said
        if handle is not None:
            problem = ""
            break
    facts["unloadable"] = problem
    facts["path"] = mapped_file(os.path.basename(library)) if handle is not None else ""
    tell(**facts)
    if handle is not None:
        facts["is_driver"] = hasattr(handle, "clIcdGetPlatformIDsKHR") or hasattr(
            handle, "clGetExtensionFunctionAddress"
        )
        tell(**facts)
    functions, problem = load_library(loader)
    if functions is None:
        tell(**facts, loader_problem=problem)
        return
    tell(**facts, platforms=[_platform(functions, each) for each in _handles(functions.clGetPlatformIDs)])


def _handles(function: Any, *arguments: Any) -> list[int]:
    """What one of the two-call functions lists; nothing where it says that there is nothing."""
    count = ctypes.c_uint()
    code = function(*arguments, 0, None, ctypes.byref(count))
    if code in (_DEVICE_NOT_FOUND, _PLATFORM_NOT_FOUND) or (code == 0 and count.value == 0):
        return []
    if code != 0:
        raise SystemExit(f"{function.__name__} returned {code}")
    handles = (ctypes.c_void_p * count.value)()
    code = function(*arguments, count, handles, None)
    if code != 0:
        raise SystemExit(f"{function.__name__} returned {code}")
    return [int(each or 0) for each in handles]


def _platform(functions: Any, platform: int) -> dict[str, Any]:
    ask = functions.clGetPlatformInfo
    devices = _handles(functions.clGetDeviceIDs, ctypes.c_void_p(platform), ctypes.c_ulonglong(_ALL_DEVICES))
    return {
        "name": _text(ask, platform, _PLATFORM_NAME),
        "version": _text(ask, platform, _PLATFORM_VERSION),
        "devices": [_device(functions.clGetDeviceInfo, each) for each in devices],
        "problem": "",
    }


def _device(ask: Any, device: int) -> str:
    kind = ctypes.c_ulonglong()
    ask(ctypes.c_void_p(device), _DEVICE_TYPE, ctypes.c_size_t(8), ctypes.byref(kind), None)
    return _described(_text(ask, device, _DEVICE_NAME), kind.value)


def _described(name: str, kind: int) -> str:
    types = ", ".join(word for bit, word in _TYPES.items() if kind & bit)
    return f"{name.strip()} ({types})" if types else name.strip()


def _text(ask: Any, handle: int, number: int) -> str:
    nbytes = ctypes.c_size_t()
    if ask(ctypes.c_void_p(handle), number, ctypes.c_size_t(0), None, ctypes.byref(nbytes)) != 0:
        return ""
    text = ctypes.create_string_buffer(max(1, nbytes.value))
    if ask(ctypes.c_void_p(handle), number, ctypes.c_size_t(len(text)), text, None) != 0:
        return ""
    return text.value.decode(errors="replace")
