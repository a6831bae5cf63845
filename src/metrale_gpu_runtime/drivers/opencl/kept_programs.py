"""Programs and sizes of types, from the compile cache where it has them: a second process compiles no source.

What is kept is the driver's own binary. It is only kept when it tells of its kernels what the program built from source
does: some drivers lose names and types on the way, and signatures must not depend on who compiled. Asking for a binary
may compile (PoCL makes each kernel once for any block), so it is asked for once. Source: clGetProgramInfo,
clCreateProgramWithBinary.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...code_cache import CodeCache, CodeEntry
from ...driver import CodeImage
from ...errors import CompileError, DriverError, ModuleLoadError
from .bindings import Bindings
from .compiling import build_binary, build_options, build_source, build_spirv, source_text
from .kernels import COMPILE_WORK_GROUP_SIZE, LOCAL_MEM_SIZE, WORK_GROUP_SIZE, ClKernel
from .pocl_turns import building
from .probing import probe
from .reflection import TypeFacts, read_arguments

_KIND: Final = "opencl"


def program_of(
    bindings: Bindings, context: Any, device: Any, image: CodeImage, *, name: str, code_cache: CodeCache
) -> tuple[Any, str]:
    """(cl_program, the compiler's log) of OpenCL C or SPIR-V. Raises CompileError, ModuleLoadError, NotSupported."""
    with building(device):
        return _program_of(bindings, context, device, image, name=name, code_cache=code_cache)


def _program_of(
    bindings: Bindings, context: Any, device: Any, image: CodeImage, *, name: str, code_cache: CodeCache
) -> tuple[Any, str]:
    build = build_spirv if image.format == "spirv" else build_source
    entry = _entry(code_cache, device, image, image.path or image.name, ["program"])
    if entry.data is not None:
        try:
            log, binary = _read(entry.data)
            program = build_binary(bindings, context, device, image, binary, name=name)
        except (ValueError, CompileError, ModuleLoadError, bindings.cl.Error):
            entry.refuse()
        else:
            entry.used()
            return program, log
    program, log = build(bindings, context, device, image, name=name)
    entry.keep(_written(bindings, context, device, image, program, log, name=name) if entry.is_kept else None)
    return program, log


def types_of(
    bindings: Bindings,
    context: Any,
    device: Any,
    image: CodeImage,
    needed: Sequence[str],
    wanted: Sequence[str],
    *,
    has_half: bool,
    has_double: bool,
    name: str,
    code_cache: CodeCache,
) -> Mapping[str, TypeFacts]:
    """What `probe` tells of types of this source. Raises as it does."""
    shown = f"{image.path or image.name} (sizes of types)"
    parts = ["types", repr(list(needed)), repr(list(wanted)), str(has_half), str(has_double)]
    entry = _entry(code_cache, device, image, shown, parts)
    if entry.data is not None:
        try:
            known = {each: TypeFacts(*facts) for each, facts in json.loads(entry.data).items()}
        except (ValueError, TypeError, AttributeError):  # sound, and of a form that is not ours
            entry.refuse()
        else:
            entry.used()
            return known
    with building(device):
        found = probe(
            bindings, context, device, image, needed, wanted, has_half=has_half, has_double=has_double, name=name
        )
    facts = {each: (known.nbytes, known.align, known.name) for each, known in found.items()}
    entry.keep(json.dumps(facts).encode())
    return found


def _entry(code_cache: CodeCache, device: Any, image: CodeImage, shown: str, parts: Sequence[str]) -> CodeEntry:
    platform = device.platform
    versions = [
        platform.name, platform.vendor, platform.version,
        device.name, device.vendor, device.version, device.driver_version,
    ]  # fmt: skip
    if image.format == "spirv":
        return code_cache.entry(_KIND, shown, [image.format, image.data, *versions, *parts])
    # The text as the compiler gets it, with the name that its messages and its line information have.
    return code_cache.entry(
        _KIND,
        shown,
        [image.format, *versions, *parts],
        source=source_text(image),
        options=build_options(image),
    )


def _written(
    bindings: Bindings, context: Any, device: Any, image: CodeImage, program: Any, log: str, *, name: str
) -> bytes | None:
    """What is kept of a program; None where the driver gives no binary, or one that does not tell the same."""
    try:
        binaries = program.get_info(bindings.cl.program_info.BINARIES)
        if len(binaries) != 1 or not binaries[0]:
            return None
        again = build_binary(bindings, context, device, image, bytes(binaries[0]), name=name)
        if _told(bindings, device, again) != _told(bindings, device, program):
            return None
    except (CompileError, ModuleLoadError, DriverError, bindings.cl.Error):
        return None
    return b"\n".join((json.dumps(log).encode(), bytes(binaries[0])))


def _read(data: bytes) -> tuple[str, bytes]:
    head, _, binary = data.partition(b"\n")
    return str(json.loads(head)), binary


def _told(bindings: Bindings, device: Any, program: Any) -> Mapping[str, object]:
    """What a program tells of its kernels that a launch is checked by."""
    names = str(program.get_info(bindings.cl.program_info.KERNEL_NAMES)).strip("\0").split(";")
    told: dict[str, object] = {}
    for each in filter(None, names):
        kernel = ClKernel(bindings, program, each)
        sizes = [kernel.sizes(device, what) for what in (WORK_GROUP_SIZE, COMPILE_WORK_GROUP_SIZE, LOCAL_MEM_SIZE)]
        told[each] = (kernel.argument_count, read_arguments(kernel), sizes)
    return told
