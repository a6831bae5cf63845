"""Loading code into a driver, and what is known of the kernels in it.

Code in a form that the driver takes goes to it as it is; CUDA C for a driver that takes PTX is compiled first. What
the code tells of its kernels, names and signatures, is read when a kernel is first asked for, not before.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..driver import CodeImage, CompiledSource, Driver, FunctionAttributes
from ..errors import CompileError, GpuError, KernelNotFound, ModuleLoadError, NotSupported
from ..handles import ModuleHandle
from ..signature import KernelSignature, from_driver, parse_declaration
from .described import Described, debug_signatures, describe, merged_signature
from .formats import ANY, COMPILED_ALREADY, FORMATS, TAKES_OPTIONS
from .kernel_names import kernel_not_found, resolve_symbol
from .parts import LinkRequest, Part, origin
from .sources import CodeInput

if TYPE_CHECKING:
    from .nvrtc import CompiledPtx


class LoadedModule:
    """Code that a driver has loaded, under one name.

    `notes` say what could not be learned of its kernels and why. Safe to use from several threads at once.
    """

    def __init__(
        self,
        driver: Driver,
        name: str,
        parts: Sequence[Part],
        handle: ModuleHandle,
        *,
        declared: Mapping[str, str] | None = None,
        image: CodeImage | None = None,
        made: CompiledSource | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.name, self.parts, self.handle = name, tuple(parts), handle
        # What the driver was given, where that is another form or a part of the code; and what it made of a source.
        self._image, self._made = image, made
        self._driver = driver
        self._declared = dict(declared or {})
        self._load_notes = tuple(notes)
        self._described: Described | None = None
        self._lock = threading.Lock()

    @property
    def compiled(self) -> CompiledPtx | None:
        """What the compiler made of the source; None for what was not compiled here, and for several parts."""
        return self.parts[0].compiled if len(self.parts) == 1 else None

    @property
    def origin(self) -> str:
        """Its file, or how else it was given, for people."""
        return origin(self.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a signature may know less than it could, and what was compiled otherwise than for the device."""
        return tuple(self._described.notes) if self._described is not None else self._load_notes

    # ------------------------------------------------ names

    def function_names(self) -> tuple[str, ...] | None:
        """The symbols of its kernels in the text's order, or None where neither the text nor the driver lists them."""
        symbols = self._description().symbols
        return symbols if symbols is not None else self._driver.function_names(self.handle)

    def variable_names(self) -> tuple[str, ...] | None:
        """The symbols of its variables, or None where the code does not list them."""
        return self._description().variables

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
        return kernel_not_found(
            self.name,
            function,
            self.function_names(),
            device_functions=self._description().device_functions(),
            hint=self._template_hint(function),
        )

    def _template_hint(self, function: str) -> str:
        """What to do when the source has a template of this name that nothing has instantiated."""
        base = re.escape(function.split("<")[0].split("::")[-1])
        if any(part.code.format == "msl" for part in self.parts):
            return self._metal_template_hint(base)
        template = re.compile(rf"\btemplate\s*<[^;{{}}]*>[^;{{}}()]*__global__[^;{{}}]*\b{base}\s*\(")
        if not any(part.code.is_source and template.search(part.code.text()) for part in self.parts):
            return ""
        wanted = function if "<" in function else f"{function}<float>"
        return (
            f"The source has a template of that name; it becomes a kernel when it is instantiated: "
            f'load_module(…, names=("{wanted}",)).'
        )

    def _metal_template_hint(self, base: str) -> str:
        template = re.compile(rf"\btemplate\s*<[^;{{}}]*>[^;{{}}()]*\bkernel\b[^;{{}}]*\b{base}\s*\(")
        if not any(template.search(part.code.text()) for part in self.parts):
            return ""
        return (
            "The source has a template of that name; it becomes a kernel where the source instantiates it under a name "
            f'for the host: template [[host_name("{base}_float")]] kernel void {base}<float>(…);'
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

        Declared by the caller, debug information, mangled name, PTX, cubin or code object, driver. Raises
        SignatureError when what the caller declared contradicts the code.
        """
        described = self._description()
        sources: list[KernelSignature] = []
        if declared is not None:
            sources.append(parse_declaration(declared, kernel=symbol))
        else:
            found = self._debug_signatures(described).get(symbol)
            if found is not None:
                sources.append(found)
        sources += described.signatures(symbol, attributes.bindings if attributes is not None else None)
        if attributes is not None and attributes.parameters is not None:
            sources.append(from_driver(symbol, attributes.parameters))
        return merged_signature(symbol, sources, described.notes)

    # ------------------------------------------------ reading the text, once

    def _description(self) -> Described:
        described = self._described
        if described is None:
            with self._lock:
                if self._described is None:
                    self._described = self._describe()
                described = self._described
        return described

    def _describe(self) -> Described:
        notes = list(self._load_notes)
        parts = list(self.parts)
        for index, part in enumerate(parts):
            # Neither a driver that takes source itself, as the mock does, nor LTO-IR leaves us PTX: compile for that.
            if self._made is None and part.code.format == "cuda-c" and part.ptx is None:
                try:
                    parts[index] = replace(part, compiled=self._compile(part, False))
                except (GpuError, OSError) as error:
                    notes.append(f"the source was not compiled for its signatures: {error}")
        described = describe(self.name, parts, self._image, self._driver.capabilities.compute_capability, notes)
        if self._made is not None:
            described.lowered_names = self._made.lowered_names
        return described

    def _compile(self, part: Part, debug: bool) -> CompiledPtx:
        from .compiling import compile_for_device
        from .nvrtc import LTO_OPTIONS

        capabilities = self._driver.capabilities
        code, path = part.code.text(), part.code.path
        options = [option for option in part.options if option not in LTO_OPTIONS]
        return compile_for_device(
            capabilities,
            self.name,
            code,
            path=path,
            options=options,
            names=part.names,
            debug=debug,
            cache=self._driver.code_cache,
        )[0]

    def _debug_signatures(self, described: Described) -> dict[str, KernelSignature]:
        if described.debug is not None:
            return described.debug
        with self._lock:
            if described.debug is None:
                remake = self._remake if self._made is not None else None
                described.debug = debug_signatures(described, self._image, self._compile, remake)
            return described.debug

    def _remake(self) -> CodeImage:
        return _compile_by_driver(self._driver, self.parts[0], debug=True).image

    def completed(self, symbol: str, attributes: FunctionAttributes) -> FunctionAttributes:
        """What the driver knows of a kernel, and the block sizes that the code declares where the driver tells none."""
        if attributes.required_block is not None and attributes.max_block is not None:
            return attributes
        required, largest = self._description().block_bounds(symbol)
        return replace(
            attributes,
            required_block=attributes.required_block or required,
            max_block=attributes.max_block or largest,
        )


def load(
    driver: Driver,
    name: str,
    code: CodeInput | LinkRequest,
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
    if isinstance(code, LinkRequest):
        from .linking import load_linked

        return load_linked(driver, name, code, options=options, names=names, declared=declared)
    capabilities = driver.capabilities
    takes = capabilities.code_formats
    made: CompiledSource | None = None
    notes: tuple[str, ...] = ()
    part = Part(name, code, options=tuple(options), names=tuple(names))
    if names and not code.is_source:
        raise ModuleLoadError(
            f"module {name!r}: names= instantiates C++ templates, which takes C++ source; this is {code.format}",
            module=name,
        )
    if options and code.format in COMPILED_ALREADY:
        raise ModuleLoadError(
            f"module {name!r}: options {' '.join(options)} were given for {FORMATS[code.format].title}, which is "
            f"compiled already and takes none; {TAKES_OPTIONS}",
            module=name,
        )
    if code.format in takes or ANY in takes:
        path = str(code.path) if code.path is not None else None
        image = CodeImage(name, code.format, code.data, tuple(options), path)
    elif code.format == "cuda-c" and "ptx" in takes and "cuda-c" in capabilities.source_languages:
        # Imported here, because loading PTX must not pay for the compiler's machinery.
        from .compiling import compile_for_device

        compiled, notes = compile_for_device(
            capabilities,
            name,
            code.text(),
            path=code.path,
            options=options,
            names=names,
            cache=driver.code_cache,
        )
        part = replace(part, compiled=compiled)
        image = _compiled_image(name, compiled)
    elif code.is_source and code.format in capabilities.source_languages:
        made = _compile_by_driver(driver, part)
        image = made.image
    else:
        raise NotSupported(
            f"module {name!r}: {capabilities.backend} does not take {code.format} code",
            backend=capabilities.backend,
            feature=code.format,
        )
    image, handle = give_to_driver(driver, name, image, [part])
    return LoadedModule(driver, name, [part], handle, declared=declared, image=image, made=made, notes=notes)


def _compile_by_driver(driver: Driver, part: Part, *, debug: bool = False) -> CompiledSource:
    from .cache import by_drivers

    code = part.code
    image = CodeImage(part.name, code.format, code.data, part.options)
    return by_drivers.compiled(driver, image, path=code.path, names=part.names, debug=debug)


def _compiled_image(name: str, compiled: CompiledPtx) -> CodeImage:
    """What of a compilation is loaded: the cubin where there is one, since it was made because PTX would be refused."""
    if compiled.cubin is not None:
        return CodeImage(name, "cubin", compiled.cubin)
    if not compiled.ptx:
        raise ModuleLoadError(
            f"module {name!r}: {compiled.compiler} gave LTO-IR and no PTX, as -dlto asks: that is linked before it is "
            "loaded (load_module(name, link=[…])); leave the option out",
            module=name,
        )
    return CodeImage(name, "ptx", compiled.ptx)


def give_to_driver(
    driver: Driver, name: str, image: CodeImage, parts: Sequence[Part]
) -> tuple[CodeImage, ModuleHandle]:
    """Load an image: (what of it the driver took, its handle). A refusal of what was compiled here says by whom."""
    try:
        image = driver.select_code(image)
        return image, driver.load_module(image)
    except ModuleLoadError as error:
        error.module = name
        for part in parts:
            if part.compiled is not None and not isinstance(error, CompileError):
                version = ".".join(map(str, part.compiled.version))
                error.add_note(
                    f"The {'PTX' if image.format == 'ptx' else image.format} was compiled from "
                    f"{part.code.path or 'the given source'} by {part.compiled.compiler} {version}."
                )
        raise
