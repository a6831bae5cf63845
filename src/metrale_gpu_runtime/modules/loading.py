"""Loading code into a driver, and what is known of the kernels in it.

Code in a form that the driver takes goes to it as it is; CUDA C for a driver that takes PTX is compiled first. What
the text tells of its kernels, names and signatures, is read when a kernel is first asked for, not before.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..driver import CodeImage, CompiledSource, Driver, FunctionAttributes
from ..errors import (
    CompileError,
    GpuError,
    KernelNotFound,
    ModuleLoadError,
    NotSupported,
    PtxSyntaxError,
    SignatureError,
)
from ..handles import ModuleHandle
from ..signature import (
    DECLARED,
    KernelSignature,
    from_code_object,
    from_driver,
    from_mangled,
    from_ptx,
    merge,
    parse_declaration,
)
from .formats import ANY
from .kernel_names import is_mangled, kernel_not_found, resolve_symbol
from .sources import CodeInput

if TYPE_CHECKING:
    from ..code_objects import CodeObjectKernel
    from ..ptx.syntax import PtxModule
    from .nvrtc import CompiledPtx


@dataclass(slots=True)
class _Described:
    """What the code tells of a module: its PTX or its code object's kernels as values, its debug signatures, and why
    something is not known."""

    ptx: PtxModule | None = None
    code_object: Mapping[str, CodeObjectKernel] | None = None
    lowered_names: Mapping[str, str] = field(default_factory=dict)
    debug: dict[str, KernelSignature] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def symbols(self) -> tuple[str, ...] | None:
        """The symbols of its kernels in the code's order, None where the code does not list them."""
        if self.ptx is not None:
            return tuple(kernel.name for kernel in self.ptx.kernels())
        return tuple(self.code_object) if self.code_object is not None else None


class LoadedModule:
    """Code that a driver has loaded, under one name.

    `notes` say what could not be learned of its kernels and why. Safe to use from several threads at once.
    """

    def __init__(
        self,
        driver: Driver,
        name: str,
        code: CodeInput,
        handle: ModuleHandle,
        *,
        options: Sequence[str] = (),
        names: Sequence[str] = (),
        declared: Mapping[str, str] | None = None,
        compiled: CompiledPtx | None = None,
        image: CodeImage | None = None,
        made: CompiledSource | None = None,
    ) -> None:
        self.name, self.code, self.handle = name, code, handle
        self.compiled = compiled
        # What the driver was given, where it compiled the source itself or took a part of the code.
        self._image, self._made = image, made
        self._driver = driver
        self._options, self._names = tuple(options), tuple(names)
        self._declared = dict(declared or {})
        self._described: _Described | None = None
        self._lock = threading.Lock()

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a signature may know less than it could; empty before the first look-up."""
        return tuple(self._described.notes) if self._described is not None else ()

    # ------------------------------------------------ names

    def function_names(self) -> tuple[str, ...] | None:
        """The symbols of its kernels in the text's order, or None where neither the text nor the driver lists them."""
        symbols = self._description().symbols
        return symbols if symbols is not None else self._driver.function_names(self.handle)

    def resolve(self, function: str) -> str:
        """The symbol that a name means: itself, or the one C++ kernel that can be written so.

        A name that no kernel is known to have is returned as it is: the driver has the last word. Raises
        KernelNotFound for a name that could mean several.
        """
        described = self._description()
        if described.symbols is None:
            return function
        return resolve_symbol(self.name, function, described.symbols, described.lowered_names) or function

    def not_found(self, function: str) -> KernelNotFound:
        """The KernelNotFound to raise for a name that the driver does not know."""
        ptx = self._description().ptx
        device_functions = [f.name for f in ptx.functions.values() if not f.is_kernel] if ptx is not None else []
        return kernel_not_found(
            self.name,
            function,
            self.function_names(),
            device_functions=device_functions,
            hint=self._template_hint(function),
        )

    def _template_hint(self, function: str) -> str:
        """What to do when the source has a template of this name that nothing has instantiated."""
        if not self.code.is_source:
            return ""
        base = re.escape(function.split("<")[0].split("::")[-1])
        if not re.search(rf"\btemplate\s*<[^;{{}}]*>[^;{{}}()]*__global__[^;{{}}]*\b{base}\s*\(", self.code.text()):
            return ""
        wanted = function if "<" in function else f"{function}<float>"
        return (
            f"The source has a template of that name; it becomes a kernel when it is instantiated: "
            f'load_module(…, names=("{wanted}",)).'
        )

    # ------------------------------------------------ signatures

    def declared_for(self, function: str, symbol: str) -> str | None:
        """What the caller declared for a kernel when loading, under the name asked for or under its symbol."""
        return self._declared.get(function, self._declared.get(symbol))

    def require_declared(self) -> None:
        """Raise KernelNotFound when a signature was declared for a kernel that is known not to be there."""
        if not self._declared:
            return
        available = self.function_names()
        for function in self._declared:
            if available is not None and self.resolve(function) not in available:
                raise self.not_found(function)

    def signature(
        self, symbol: str, *, declared: str | None = None, attributes: FunctionAttributes | None = None
    ) -> KernelSignature:
        """All that is known of a kernel's parameters, from the strongest source to the weakest.

        Declared by the caller, debug information, mangled name, PTX, driver. Raises SignatureError when what the
        caller declared contradicts the code.
        """
        described = self._description()
        sources: list[KernelSignature] = []
        if declared is not None:
            sources.append(parse_declaration(declared, kernel=symbol))
        else:
            found = self._debug_signatures(described).get(symbol)
            if found is not None:
                sources.append(found)
        if is_mangled(symbol):
            mangled = from_mangled(symbol)
            if mangled is not None:
                sources.append(mangled)
        function = described.ptx.functions.get(symbol) if described.ptx is not None else None
        if function is not None and function.is_kernel:
            sources.append(from_ptx(function))
        kernel = described.code_object.get(symbol) if described.code_object is not None else None
        if kernel is not None:
            sources.append(from_code_object(kernel))
        if attributes is not None and attributes.parameters is not None:
            sources.append(from_driver(symbol, attributes.parameters))
        return self._merged(symbol, sources, described)

    @staticmethod
    def _merged(symbol: str, sources: Sequence[KernelSignature], described: _Described) -> KernelSignature:
        """The sources as one. What the compiled code says cannot be overruled by what was only derived."""
        if not sources:
            return KernelSignature(symbol)
        merged = sources[-1]
        for stronger in reversed(sources[:-1]):
            try:
                merged = merge(stronger, merged)
            except SignatureError as error:
                if DECLARED in stronger.sources:
                    raise
                described.notes.append(f"{symbol}: its {stronger.sources[0]} was set aside: {error}")
        return merged

    # ------------------------------------------------ reading the text, once

    def _description(self) -> _Described:
        described = self._described
        if described is None:
            with self._lock:
                if self._described is None:
                    self._described = self._describe()
                described = self._described
        return described

    def _describe(self) -> _Described:
        described = _Described()
        compiled = self.compiled
        if self._made is not None:
            described.lowered_names = self._made.lowered_names
        if self._image is not None and self._image.format == "hsaco":
            from .code_objects import kernels_of

            described.code_object = kernels_of(self._image, described.notes)
        elif compiled is None and self.code.format == "cuda-c":
            # A driver that takes source itself, as the mock does, leaves us no PTX: compile it for its names.
            try:
                compiled = self._compile(debug=False)
            except (GpuError, OSError) as error:
                described.notes.append(f"the source was not compiled for its signatures: {error}")
        if compiled is not None:
            described.lowered_names = compiled.lowered_names
        data = compiled.ptx if compiled is not None else self.code.data if self.code.format == "ptx" else None
        if data is not None:
            from ..ptx.parser import parse

            try:
                described.ptx = parse(data, name=self.name)
            except PtxSyntaxError as error:
                # The driver has taken it, so it is the driver's to judge; only the signatures are lost.
                described.notes.append(f"the PTX was not understood, so its signatures are not known: {error}")
        return described

    def _compile(self, *, debug: bool) -> CompiledPtx:
        from .compiling import compile_cuda

        return compile_cuda(
            self.name,
            self.code.text(),
            path=self.code.path,
            options=self._options,
            names=self._names,
            architecture=self._driver.capabilities.cuda_architecture,
            debug=debug,
        )

    def _debug_signatures(self, described: _Described) -> dict[str, KernelSignature]:
        if described.debug is not None:
            return described.debug
        with self._lock:
            if described.debug is None:
                described.debug = self._read_debug_signatures(described)
            return described.debug

    def _read_debug_signatures(self, described: _Described) -> dict[str, KernelSignature]:
        """Names and C types from DWARF: of the PTX itself where it has some, else of a second, debug compile."""
        if described.ptx is None:
            return {}
        from ..ptx.parser import parse
        from .debug_signatures import signatures_from_debug_information

        try:
            if ".debug_info" in described.ptx.sections:
                return signatures_from_debug_information(described.ptx)
            if self.code.format != "cuda-c":
                return {}
            compiled = self._compile(debug=True)
            return signatures_from_debug_information(parse(compiled.ptx, name=f"{self.name} (debug)"))
        except ImportError:
            described.notes.append(
                "debug information was not read: pyelftools is not installed (pip install pyelftools)"
            )
        except (GpuError, OSError) as error:
            described.notes.append(f"debug information was not read: the debug compile failed: {error}")
        except Exception as error:
            # pyelftools has no common root for what it raises over DWARF it does not understand, and no DWARF is
            # worth losing a kernel that runs; the note and the signature's sources say that it is missing.
            described.notes.append(f"debug information was not understood: {type(error).__name__}: {error}")
        return {}


def load(
    driver: Driver,
    name: str,
    code: CodeInput,
    *,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    declared: Mapping[str, str] | None = None,
) -> LoadedModule:
    """Load code into a driver, compiling it first where the driver does not take it as it is.

    `options` go to the compiler where one runs, else to the driver with the code. `names` are C++ name expressions
    to be instantiated. `declared` are signatures by kernel. Raises ModuleLoadError or one of its kinds,
    BackendUnavailable when no compiler is there; nothing stays loaded then.
    """
    capabilities = driver.capabilities
    takes = capabilities.code_formats
    compiled: CompiledPtx | None = None
    made: CompiledSource | None = None
    if code.format in takes or ANY in takes:
        image = CodeImage(name, code.format, code.data, tuple(options))
    elif code.format == "cuda-c" and "ptx" in takes and "cuda-c" in capabilities.source_languages:
        # Imported here, because loading PTX must not pay for the compiler's machinery.
        from .compiling import compile_cuda

        compiled = compile_cuda(
            name,
            code.text(),
            path=code.path,
            options=options,
            names=names,
            architecture=capabilities.cuda_architecture,
        )
        image = CodeImage(name, "ptx", compiled.ptx)
    elif code.is_source and code.format in capabilities.source_languages:
        made = driver.compile(
            CodeImage(name, code.format, code.data, tuple(options)),
            path=str(code.path) if code.path is not None else None,
            names=names,
            folders=[str(code.path.parent)] if code.path is not None else [],
        )
        image = made.image
    else:
        raise NotSupported(
            f"module {name!r}: {capabilities.backend} does not take {code.format} code",
            backend=capabilities.backend,
            feature=code.format,
        )
    if names and not code.is_source:
        raise ModuleLoadError(
            f"module {name!r}: names= instantiates C++ templates, which takes C++ source; this is {code.format}",
            module=name,
        )
    try:
        image = driver.select_code(image)
        handle = driver.load_module(image)
    except ModuleLoadError as error:
        error.module = name
        if compiled is not None and not isinstance(error, CompileError):
            error.add_note(f"The PTX was compiled from {code.path or 'the given source'} by {compiled.compiler}.")
        raise
    return LoadedModule(
        driver,
        name,
        code,
        handle,
        options=options,
        names=names,
        declared=declared,
        compiled=compiled,
        image=image,
        made=made,
    )
