"""Several inputs made one cubin by nvJitLink. It is a library of the CUDA toolkit and needs no device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ...code_cache import library_identity
from ...cuda_images import Architecture
from ...driver import CodeImage
from ...errors import BackendUnavailable, CompileError, ModuleLoadError
from .images import ptx_diagnostics
from .link_inputs import check_input, is_lto, refuse_second_definitions, users_of

if TYPE_CHECKING:
    from types import ModuleType

INSTALL_HINT: Final = "pip install 'metrale-gpu-runtime[cuda13]' (or [cuda12], as the driver is)"
_ARCHITECTURE_OPTION: Final = re.compile(r"-arch=(?P<name>.*)")
_UNDEFINED: Final = re.compile(r"(?:Undefined reference to|Unresolved extern \w+) '([^']+)'")
_LTO_NOT_ENABLED: Final = "ERROR_LTO_NOT_ENABLED"
_NOTHING_TO_OPTIMISE: Final = "NVVM_ERROR_NO_MODULE_IN_PROGRAM"


def link(name: str, images: Sequence[CodeImage], *, architecture: str, options: Sequence[str] = ()) -> CodeImage:
    """Link images into one cubin for an architecture ("sm_90"), by nvJitLink.

    `options` are nvJitLink's; `-lto` is added where an input is LTO-IR, an `-arch=` among them wins. Raises
    CompileError with the linker's whole log, and the names that it lacks, when it refuses; IncompatibleCode for an
    input that the architecture cannot run; ModuleLoadError for a damaged input; BackendUnavailable without nvJitLink.
    """
    if not images:
        raise ModuleLoadError(f"module {name!r}: there is nothing to link: link= is empty", module=name)
    given = [match["name"] for option in options if (match := _ARCHITECTURE_OPTION.fullmatch(option))]
    target = Architecture.parse(given[-1] if given else architecture)
    if target is None:
        raise ModuleLoadError(
            f"module {name!r}: {given[-1] if given else architecture!r} is no architecture that code is linked for; "
            "they read sm_90 or sm_90a",
            module=name,
        )
    for image in images:
        check_input(name, image, target)
    refuse_second_definitions(name, images, target)
    all_options = list(options) if given else [f"-arch={architecture}", *options]
    if "-lto" not in all_options and any(is_lto(image) for image in images):
        all_options.append("-lto")
    return CodeImage(name, "cubin", _Link(name, all_options, target).run(images))


class _Link:
    """One nvJitLink handle, destroyed at the end of `run`."""

    def __init__(self, module: str, options: Sequence[str], target: Architecture) -> None:
        self._module, self._options, self._target = module, list(options), target
        self._library = _nvjitlink()
        self._version = ".".join(map(str, self._library.version()))

    def run(self, images: Sequence[CodeImage]) -> bytes:
        library = self._library
        try:
            handle = library.create(len(self._options), self._options)
        except library.nvJitLinkError as error:
            raise CompileError(
                f"module {self._module!r}: nvJitLink {self._version} does not take the options "
                f"{' '.join(self._options)}: {error}",
                module=self._module,
                log="",
            ) from error
        try:
            try:
                for image in images:
                    kind = getattr(library.InputType, image.format.upper())
                    library.add_data(handle, kind, image.data, len(image.data), image.name)
                library.complete(handle)
                cubin = bytearray(library.get_linked_cubin_size(handle))
                library.get_linked_cubin(handle, cubin)
            except library.nvJitLinkError as error:
                raise self._refused(str(error), self._log(handle), images) from error
            return bytes(cubin)
        finally:
            library.destroy(handle)

    def _log(self, handle: int) -> str:
        """The linker's errors and, behind them, what else it wrote."""
        texts = []
        for kind in ("error", "info"):
            nbytes = getattr(self._library, f"get_{kind}_log_size")(handle)
            if nbytes:
                buffer = bytearray(nbytes)
                getattr(self._library, f"get_{kind}_log")(handle, buffer)
                texts.append(buffer.decode(errors="replace").strip("\0 \n"))
        return "\n".join(text for text in texts if text)

    def _refused(self, answer: str, log: str, images: Sequence[CodeImage]) -> CompileError:
        # The log names the last input given, whichever uses the symbol.
        undefined = {symbol: users_of(symbol, images, self._target) for symbol in _UNDEFINED.findall(log)}
        parts = [f"module {self._module!r}: nvJitLink {self._version} refused the link ({answer})"]
        shown = log
        if undefined:
            shown = "\n".join(line for line in log.splitlines() if not _UNDEFINED.search(line))
            listed = ", ".join(
                f"{symbol} (used in {', '.join(users)})" if users else symbol for symbol, users in undefined.items()
            )
            parts.append(f"nothing defines {listed}; add the input that does, compiled with -rdc=true")
        if _LTO_NOT_ENABLED in answer:
            parts.append('an input is LTO-IR: pass link_options=("-lto",)')
        if _NOTHING_TO_OPTIMISE in answer or _NOTHING_TO_OPTIMISE in log:
            parts.append("-lto optimises LTO-IR, and no input is any: give CUDA C or .ltoir, or leave -lto out")
        diagnostics = [*ptx_diagnostics(self._module, log)]
        for symbol, users in undefined.items():
            diagnostics += [(where, 0, f"undefined reference to {symbol}") for where in users or [""]]
        text = "; ".join(parts) + (f"\n{shown}" if shown else "")
        return CompileError(text, module=self._module, log=log, diagnostics=diagnostics)


def _nvjitlink() -> ModuleType | Any:
    """NVIDIA's binding with its library loaded. Raises BackendUnavailable when either is missing."""
    try:
        from cuda.bindings import nvjitlink

        nvjitlink.version()
    except Exception as error:
        # The binding's loader raises kinds of its own, which differ by version, when the library is not there.
        raise BackendUnavailable(
            f"linking takes nvJitLink, and it is not here ({type(error).__name__}: {error}). {INSTALL_HINT}",
            backend="nvjitlink",
        ) from error
    return nvjitlink


def linker_identity() -> str | None:
    """nvJitLink's version and build; None where it is not told which file that is. Raises BackendUnavailable."""
    library = _nvjitlink()
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib("nvJitLink").abs_path
    except Exception:
        # Bindings before 13.0 come without it, and it has errors of its own for what it does not find.
        return None
    return f"nvJitLink {library.version()} {library_identity(str(path))}" if path is not None else None


def is_available() -> bool:
    """True when code can be linked on this machine."""
    try:
        _nvjitlink()
    except BackendUnavailable:
        return False
    return True
