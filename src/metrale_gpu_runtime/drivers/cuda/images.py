"""Whether a CUDA device can run an image, said before the driver is asked, and what a driver's refusal means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...cuda_images import (
    Architecture,
    FatbinEntry,
    PtxHeader,
    highest_ptx_version,
    needed_driver_version,
    read_cubin,
    read_fatbin,
    read_ptx_header,
    shown_version,
)
from ...driver import CodeImage
from ...errors import CompileError, IncompatibleCode, ModuleLoadError

_NO_BINARY_FOR_GPU, _INVALID_PTX, _UNSUPPORTED_PTX_VERSION = 209, 218, 222
_JIT_COMPILER_NOT_FOUND, _JIT_COMPILATION_DISABLED, _INVALID_IMAGE = 221, 223, 200
_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302


@dataclass(frozen=True, slots=True)
class _Device:
    """What code is held against; `name` is for messages."""

    capability: tuple[int, int]
    driver_version: int
    name: str

    @property
    def architecture(self) -> Architecture:
        return Architecture(*self.capability)

    def __str__(self) -> str:
        return (
            f"{self.name} has compute capability {shown_version(self.capability)} ({self.architecture}) and the driver "
            f"of CUDA {shown_version(self.driver_version)}"
        )


@dataclass(slots=True)
class _Refusal:
    """Why an image does not fit: what it was made for, the reasons, and what would help."""

    needs: str
    ptx_version: tuple[int, int] | None = None
    reasons: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)


def check_loadable(image: CodeImage, *, compute_capability: tuple[int, int], driver_version: int, device: str) -> None:
    """Return when the device may run the image; what the tables do not know is left to the driver.

    PTX, plain: the target or a later device, `a` exactly it, `f` its family; its version one that the driver takes.
    Cubins: the same major version and at least the minor, `a` exactly. Fatbins: one image that fits. `driver_version`
    is cuDriverGetVersion's. Raises IncompatibleCode, ModuleLoadError for a damaged image.
    """
    target = _Device(compute_capability, driver_version, device)
    refusal = _why_not(image, target)
    if refusal is not None:
        raise _incompatible(image.name, refusal, target)


def _why_not(image: CodeImage, device: _Device) -> _Refusal | None:
    if image.format == "ptx":
        header = read_ptx_header(image.data)
        return _ptx_refusal(header, device) if header is not None else None
    if image.format == "cubin":
        architecture = read_cubin(image.data, image.name).architecture
        return _cubin_refusal(architecture, device) if architecture is not None else None
    if image.format == "fatbin":
        return _fatbin_refusal(read_fatbin(image.data, image.name), device)
    return None


def _incompatible(
    module: str, refusal: _Refusal, device: _Device, *, code_name: str = "", log: str = ""
) -> ModuleLoadError:
    remedies = f" {_sentence('; or '.join(refusal.remedies))}" if refusal.remedies else ""
    attached = f"\nThe driver's log:\n{log}" if log else ""
    answer = f" The driver answered {code_name}." if code_name else ""
    reasons = "; ".join(refusal.reasons)
    return IncompatibleCode(
        f"module {module!r} is {refusal.needs}: {reasons}. {device}.{answer}{remedies}{attached}",
        module=module,
        needs=refusal.needs,
        device_architecture=str(device.architecture),
        driver_version=device.driver_version,
        ptx_version=refusal.ptx_version,
        code_name=code_name,
        log=log,
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


# ---------------------------------------------------------------- PTX


def _ptx_refusal(header: PtxHeader, device: _Device) -> _Refusal | None:
    target = f" for {header.target}" if header.target is not None else ""
    refusal = _Refusal(f"PTX {shown_version(header.version)}{target}", header.version)
    highest = highest_ptx_version(device.driver_version)
    if highest is not None and header.version > highest:
        _add_version(refusal, header.version, highest, device)
    if header.target is not None and not header.target.ptx_runs_on(device.capability):
        refusal.reasons.append(f"{header.target} code runs on {header.target.devices('ptx')}")
        refusal.remedies.append(_compile_for(device, "ptx"))
    return refusal if refusal.reasons else None


def _add_version(refusal: _Refusal, version: tuple[int, int], highest: tuple[int, int], device: _Device) -> None:
    needed = needed_driver_version(version)
    by = f"the driver of CUDA {shown_version(needed)} or later" if needed is not None else "a later driver"
    shown = shown_version(device.driver_version)
    refusal.reasons.append(
        f"PTX {shown_version(version)} takes {by}, and that of CUDA {shown} takes PTX up to {shown_version(highest)}"
    )
    refusal.remedies.append(
        f"update the driver{f' to that of CUDA {shown_version(needed)}' if needed is not None else ''}, "
        f"or compile with a toolkit of CUDA {shown} or earlier, or load a cubin for {device.architecture}, which needs "
        "no compiler in the driver (CUDA C given as source is compiled to one where that is needed)"
    )


def _compile_for(device: _Device, form: str) -> str:
    """How to compile for a device: plain PTX of an earlier architecture would do too."""
    number = device.architecture.number
    arch = f"compute_{number}" if form == "ptx" else f"sm_{number}"
    return f"compile it for this device (nvcc -{form} -arch={arch}), or give CUDA C as source to be compiled for it"


# ---------------------------------------------------------------- cubins and fatbins


def _cubin_refusal(architecture: Architecture, device: _Device) -> _Refusal | None:
    if architecture.cubin_runs_on(device.capability):
        return None
    return _Refusal(
        f"a cubin for {architecture}",
        reasons=[f"machine code for {architecture} runs on {architecture.devices('cubin')}"],
        remedies=[_compile_for(device, "cubin")],
    )


def _fatbin_refusal(entries: Sequence[FatbinEntry], device: _Device) -> _Refusal | None:
    if any(_entry_fits(entry, device) for entry in entries):
        return None
    listed = ", ".join(str(entry) for entry in entries) or "nothing"
    refusal = _Refusal(f"a fatbin of {listed}")
    for entry in entries:
        single = None
        if entry.kind == "ptx" and entry.ptx_version is not None:
            single = _ptx_refusal(PtxHeader(entry.ptx_version, entry.architecture), device)
        elif entry.kind == "cubin":
            single = _cubin_refusal(entry.architecture, device)
        elif entry.kind == "ltoir":
            refusal.reasons.append("LTO-IR is linked before it is loaded (load_module(…, link=[…])), not run as it is")
        if single is not None:
            refusal.reasons += single.reasons
            refusal.ptx_version = refusal.ptx_version or single.ptx_version
    refusal.reasons = list(dict.fromkeys(refusal.reasons)) or ["none of it is code that a device runs"]
    number = device.architecture.number
    refusal.remedies.append(f"add an image that fits (nvcc -fatbin -gencode arch=compute_{number},code=sm_{number})")
    return refusal


def _entry_fits(entry: FatbinEntry, device: _Device) -> bool:
    if entry.kind == "cubin":
        return entry.architecture.cubin_runs_on(device.capability)
    if entry.kind == "ptx":
        highest = highest_ptx_version(device.driver_version)
        takes = highest is None or entry.ptx_version is None or entry.ptx_version <= highest
        return takes and entry.architecture.ptx_runs_on(device.capability)
    # A kind that came after this was written: the driver knows it.
    return entry.kind != "ltoir"


# ---------------------------------------------------------------- when the driver refuses


def explain_load_failure(
    image: CodeImage,
    *,
    call: str,
    code: int,
    code_name: str,
    log: str,
    compute_capability: tuple[int, int],
    driver_version: int,
    device: str,
) -> ModuleLoadError:
    """The error for an image that the driver refused: what its code means for this image, and its whole log.

    `code` is the driver's, `log` what its compiler or linker wrote (empty where it wrote nothing). A refusal over
    architecture or PTX version is IncompatibleCode; what its compiler refused is CompileError; the rest is
    ModuleLoadError. Returned, not raised.
    """
    target = _Device(compute_capability, driver_version, device)
    log = log.strip("\0 \n")
    if code in (_NO_BINARY_FOR_GPU, _UNSUPPORTED_PTX_VERSION):
        return _incompatible(image.name, _refused_by_driver(image, target, code), target, code_name=code_name, log=log)
    title = {"ptx": "PTX", "cubin": "a cubin", "fatbin": "a fatbin"}.get(image.format, image.format)
    reason = _REASONS.get(code, "")
    missing = _undefined(image)
    if missing:
        reason += (
            f" It calls {', '.join(missing)}, which it does not define; link it with the code that does: "
            "load_module(name, link=[…])."
        )
    attached = f"\nThe driver's log:\n{log}" if log else ""
    message = (
        f"module {image.name!r}: the driver refused {title}: {call} answered {code_name} ({code}).{reason} {target}."
        f"{attached}"
    )
    if log and code == _INVALID_PTX:
        return CompileError(message, module=image.name, log=log, diagnostics=ptx_diagnostics(image.name, log))
    return ModuleLoadError(message, module=image.name)


_REASONS = {
    _INVALID_IMAGE: " The image is damaged, or of a kind that this driver does not know.",
    _INVALID_PTX: " The PTX was not understood or cannot be compiled for this device.",
    _JIT_COMPILER_NOT_FOUND: (
        " The driver's PTX compiler (libnvidia-ptxjitcompiler) is not installed: install it, or load a cubin."
    ),
    _JIT_COMPILATION_DISABLED: " CUDA_DISABLE_PTX_JIT or CUDA_DISABLE_JIT is set: unset it, or load a cubin.",
    _SHARED_OBJECT_SYMBOL_NOT_FOUND: " A symbol that the code needs is not there.",
}


def _refused_by_driver(image: CodeImage, device: _Device, code: int) -> _Refusal:
    """Why the driver says that nothing here runs: by the rules where they know it, else in the driver's own terms."""
    known = _why_not(image, device)
    if known is not None:
        return known
    header = read_ptx_header(image.data) if image.format == "ptx" else None
    if header is not None:
        target = f" for {header.target}" if header.target is not None else ""
        refusal = _Refusal(f"PTX {shown_version(header.version)}{target}", header.version)
    else:
        refusal = _Refusal({"cubin": "a cubin", "fatbin": "a fatbin"}.get(image.format, image.format))
    if code == _UNSUPPORTED_PTX_VERSION:
        refusal.reasons.append("the driver takes no PTX of this version")
        refusal.remedies.append(
            "update the driver, or compile with an earlier toolkit, or load a cubin for this architecture"
        )
    else:
        refusal.reasons.append("the driver found no code in it for this device")
        refusal.remedies.append(_compile_for(device, "cubin"))
    return refusal


def _undefined(image: CodeImage) -> tuple[str, ...]:
    """Functions that a cubin calls and does not hold."""
    if image.format != "cubin":
        return ()
    try:
        return read_cubin(image.data, image.name).undefined
    except ModuleLoadError:
        # The driver has refused it, and its own words are the better ones.
        return ()


def ptx_diagnostics(name: str, log: str) -> tuple[tuple[str, int, str], ...]:
    """The lines of a log of ptxas, the driver's or nvJitLink's, as (file, line, text), in its order.

    They read `ptxas application ptx input, line 7; error   : …`.
    """
    found = []
    for line in log.splitlines():
        head, separator, text = line.partition(";")
        place, _, number = head.rpartition(", line ")
        if separator and place.startswith("ptxas") and number.isdecimal():
            file = place.removeprefix("ptxas ").strip()
            found.append((name if file == "application ptx input" else file, int(number), text.strip()))
    return tuple(found)
