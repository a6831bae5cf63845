"""What the code of a module tells of its kernels and their parameters, read when a kernel is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..cuda_images import Cubin, KernelFacts, best_entry, read_cubin, read_fatbin
from ..driver import CodeImage, KernelBinding
from ..errors import GpuError, ModuleLoadError, PtxSyntaxError, SignatureError
from ..signature import (
    DECLARED,
    KernelSignature,
    from_bindings,
    from_code_object,
    from_cubin,
    from_mangled,
    from_msl,
    from_ptx,
    kernels_of_msl,
    merge,
)
from ..signature.bindings import in_argument_order
from .kernel_names import is_mangled
from .parts import Part

if TYPE_CHECKING:
    from ..code_objects import CodeObjectKernel
    from ..ptx.syntax import Function, PtxModule
    from ..signature.msl import MslParameter
    from ..signature.wgsl import WgslEntryPoint
    from ..spirv import SpirvKernel
    from .nvrtc import CompiledPtx

Capability = tuple[int, int]
_OPENCL = ("opencl-c", "spirv")
CompilePart = Callable[[Part, bool], "CompiledPtx"]


@dataclass(slots=True)
class Described:
    """The code as values: PTX of the parts, the kernels of a cubin, of a code object, of SPIR-V or of WGSL; and why
    something is not known.

    `symbols` are its kernels in the code's order, None where the code does not list them. `format` is the form of code
    that the driver has loaded.
    """

    format: str | None = None
    texts: tuple[tuple[Part, PtxModule], ...] = ()
    cubin: Mapping[str, KernelFacts] | None = None
    cubin_variables: tuple[str, ...] = ()
    code_object: Mapping[str, CodeObjectKernel] | None = None
    msl: Mapping[str, tuple[MslParameter, ...] | None] = field(default_factory=dict)
    wgsl: Mapping[str, WgslEntryPoint] | None = None
    spirv: Mapping[str, SpirvKernel] | None = None
    lowered_names: Mapping[str, str] = field(default_factory=dict)
    debug: dict[str, KernelSignature] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def symbols(self) -> tuple[str, ...] | None:
        written = tuple(dict.fromkeys(kernel.name for _, text in self.texts for kernel in text.kernels()))
        if self.cubin is not None:
            # A linker adds the kernels of inputs that have no PTX, and leaves out what it was told to.
            ordered = [name for name in written if name in self.cubin]
            return (*ordered, *(name for name in self.cubin if name not in ordered))
        if self.texts:
            return written
        listed = next((each for each in (self.code_object, self.wgsl, self.spirv) if each is not None), None)
        return tuple(listed) if listed is not None else None

    def read(self, cubin: Cubin) -> None:
        """Take in what a cubin lists."""
        self.cubin, self.cubin_variables = cubin.kernels, cubin.variables

    @property
    def variables(self) -> tuple[str, ...] | None:
        """The symbols of its variables in global and constant memory, None where the code does not list them.

        Those of one file alone are among them; which the driver finds by name is the driver's to say.
        """
        if self.cubin is not None:
            return self.cubin_variables
        if not self.texts:
            return None
        declared = [each for _, text in self.texts for each in text.variables.values()]
        return tuple(
            dict.fromkeys(
                each.name
                for each in declared
                if each.space in ("global", "const") and each.linkage != "extern" and not each.name.startswith("$")
            )
        )

    def device_functions(self) -> list[str]:
        """The functions that are no kernels, as far as the PTX tells."""
        return [each.name for _, text in self.texts for each in text.functions.values() if not each.is_kernel]

    def function(self, symbol: str) -> Function | None:
        """A kernel as its PTX declares it."""
        for _, text in self.texts:
            found = text.functions.get(symbol)
            if found is not None and found.is_kernel:
                return found
        return None

    def block_bounds(self, symbol: str) -> tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]:
        """(required block, largest block) that the code declares for a kernel."""
        function = self.function(symbol)
        if function is not None:
            return function.bounds.reqntid, function.bounds.maxntid
        facts = self.cubin.get(symbol) if self.cubin is not None else None
        if facts is not None:
            return facts.required_block, facts.max_block
        entry = self.wgsl.get(symbol) if self.wgsl is not None else None
        if entry is not None:
            return entry.fixed_workgroup_size, None
        compiled = self.spirv.get(symbol) if self.spirv is not None else None
        return (compiled.required_block if compiled is not None else None), None

    def signatures(self, symbol: str, bindings: Sequence[KernelBinding] | None = None) -> list[KernelSignature]:
        """What the code itself says of a kernel, strongest first: mangled name, PTX, code object or cubin; the text of
        Metal or WGSL, `bindings`, which are the driver's reflection or argument info, and SPIR-V."""
        sources: list[KernelSignature] = []
        if self.format in _OPENCL:
            sources += self._opencl_signatures(symbol, bindings)
        elif self.wgsl is not None:
            from ..signature.wgsl_signature import from_wgsl

            entry = self.wgsl.get(symbol)
            sources += [from_wgsl(entry)] if entry is not None else []
        else:
            sources += bound_signatures(symbol, self.msl.get(symbol), bindings, self.notes)
        mangled = from_mangled(symbol) if is_mangled(symbol) else None
        if mangled is not None:
            sources.append(mangled)
        function = self.function(symbol)
        if function is not None:
            sources.append(from_ptx(function))
        kernel = self.code_object.get(symbol) if self.code_object is not None else None
        if kernel is not None:
            sources.append(from_code_object(kernel))
        facts = self.cubin.get(symbol) if self.cubin is not None else None
        if facts is not None and facts.parameters is not None:
            sources.append(from_cubin(symbol, facts.parameters))
        return sources

    def _opencl_signatures(self, symbol: str, bindings: Sequence[KernelBinding] | None) -> list[KernelSignature]:
        sources: list[KernelSignature] = []
        if bindings is not None:
            from ..signature.opencl_info import from_argument_info

            sources.append(from_argument_info(symbol, bindings))
        compiled = self.spirv.get(symbol) if self.spirv is not None else None
        if compiled is not None:
            from ..signature.spirv_signature import from_spirv

            sources.append(from_spirv(compiled))
        return sources


def describe(
    module: str, parts: Sequence[Part], image: CodeImage | None, capability: Capability | None, notes: Sequence[str]
) -> Described:
    """Read what there is. `image` is what the driver has loaded; it has taken it, so nothing here is an error: what is
    not understood becomes a note."""
    described = Described(image.format if image is not None else None, notes=list(notes))
    if image is not None and image.format == "hsaco":
        from .code_objects import kernels_of

        described.code_object = kernels_of(image, described.notes)
    elif image is not None and image.format in ("cubin", "fatbin"):
        _read_machine_code(described, module, image, capability)
    texts = []
    lowered: dict[str, str] = {}
    for part in parts:
        if part.compiled is not None:
            lowered.update(part.compiled.lowered_names)
        if part.code.format == "msl":
            described.msl = kernels_of_msl(part.code.text(), part.options)
        elif part.code.format == "wgsl":
            _read_wgsl(described, part)
        elif part.code.format == "spirv":
            _read_spirv(described, part)
        ptx = part.ptx
        if ptx is not None:
            text = _parsed(described, part.name, ptx)
            if text is not None:
                texts.append((part, text))
    described.texts = (*described.texts, *texts)
    described.lowered_names = lowered
    return described


def _parsed(described: Described, name: str, ptx: bytes) -> PtxModule | None:
    from ..ptx.parser import parse

    try:
        return parse(ptx, name=name)
    except PtxSyntaxError as error:
        # The driver has taken it, so it is the driver's to judge; only the signatures are lost.
        described.notes.append(f"the PTX was not understood, so its signatures are not known: {error}")
        return None


def _read_wgsl(described: Described, part: Part) -> None:
    from ..signature.wgsl import parse_wgsl

    try:
        described.wgsl = parse_wgsl(part.code.text(), part.name).entry_points
    except SignatureError as error:
        described.notes.append(f"the WGSL was not understood, so its signatures are not known: {error}")


def _read_spirv(described: Described, part: Part) -> None:
    from ..spirv import read_spirv

    try:
        described.spirv = read_spirv(part.code.data, part.name).kernels
    except ModuleLoadError as error:
        described.notes.append(f"the SPIR-V was not understood, so its signatures are not known: {error}")


def _read_machine_code(described: Described, module: str, image: CodeImage, capability: Capability | None) -> None:
    """The kernels of a cubin, or of the image of a fatbin that the driver takes for this device."""
    try:
        if image.format == "cubin":
            described.read(read_cubin(image.data, module))
            return
        entries = read_fatbin(image.data, module)
        chosen = best_entry(entries, capability) if capability is not None else None
        if chosen is None:
            described.notes.append("the fatbin's kernels were not read: it is not known which image the driver took")
        elif chosen.payload is None:
            described.notes.append(f"the fatbin's kernels were not read: its {chosen} is compressed")
        elif chosen.kind == "cubin":
            described.read(read_cubin(chosen.payload, module))
        else:
            from .sources import CodeInput

            text = _parsed(described, module, chosen.payload)
            if text is not None:
                described.texts = ((Part(module, CodeInput("ptx", chosen.payload)), text),)
    except ModuleLoadError as error:
        described.notes.append(f"the machine code was not understood, so its signatures are not known: {error}")


def bound_signatures(
    symbol: str,
    written: Sequence[MslParameter] | None,
    bindings: Sequence[KernelBinding] | None,
    notes: list[str],
) -> list[KernelSignature]:
    """What Metal's text and the driver's reflection say of a kernel, in one order. A text that does not agree with
    reflection in places and names is set aside with a note."""
    if bindings is None:
        return [from_msl(symbol, written)] if written is not None else []
    if written is not None:
        places = {(each.kind, each.index): each.name for each in bindings}
        read = {(each.kind, each.index): each.name for each in written}
        if places.keys() == read.keys() and all(
            not name or not places[at] or name == places[at] for at, name in read.items()
        ):
            order = [(each.kind, each.index) for each in in_argument_order(written)]
            return [from_msl(symbol, written), from_bindings(symbol, bindings, order)]
        notes.append(
            f"{symbol}: its text was set aside: it was read as {from_msl(symbol, written)}, "
            f"and the driver has {from_bindings(symbol, bindings)}"
        )
    return [from_bindings(symbol, bindings)]


def merged_signature(symbol: str, sources: Sequence[KernelSignature], notes: list[str]) -> KernelSignature:
    """The sources, strongest first, as one. What the compiled code says cannot be overruled by what was only derived.

    A source that contradicts a weaker one becomes a note; raises SignatureError when the caller declared it.
    """
    if not sources:
        return KernelSignature(symbol)
    merged = sources[-1]
    for stronger in reversed(sources[:-1]):
        try:
            merged = merge(stronger, merged)
        except SignatureError as error:
            if DECLARED in stronger.sources:
                raise
            notes.append(f"{symbol}: its {stronger.sources[0]} was set aside: {error}")
    return merged


def debug_signatures(
    described: Described,
    image: CodeImage | None,
    compile_part: CompilePart,
    remake: Callable[[], CodeImage] | None = None,
) -> dict[str, KernelSignature]:
    """Names and C types from DWARF: of the code itself where it has some, else of a second, debug compile.

    `compile_part(part, debug)` compiles; `remake` lets the driver compile once more, for debugging, what it has
    compiled. What fails becomes a note.
    """
    found: dict[str, KernelSignature] = {}
    try:
        from .debug_signatures import (
            signatures_from_amd_code,
            signatures_from_cubin,
            signatures_from_debug_information,
        )

        if described.code_object is not None and image is not None:
            found.update(signatures_from_amd_code(image.data, described.code_object))
            if not found and remake is not None:
                found.update(signatures_from_amd_code(remake().data, described.code_object))

        if described.cubin is not None and image is not None and image.format == "cubin":
            found.update(signatures_from_cubin(image.data, described.cubin))
        for part, text in described.texts:
            if ".debug_info" in text.sections:
                found.update(signatures_from_debug_information(text))
            elif part.code.format == "cuda-c":
                from ..ptx.parser import parse

                debug = compile_part(part, True)
                found.update(signatures_from_debug_information(parse(debug.ptx, name=f"{part.name} (debug)")))
    except ImportError:
        described.notes.append("debug information was not read: pyelftools is not installed (pip install pyelftools)")
    except (GpuError, OSError) as error:
        described.notes.append(f"debug information was not read: the debug compile failed: {error}")
    except Exception as error:
        # pyelftools has no common root for what it raises over DWARF it does not understand, and no DWARF is
        # worth losing a kernel that runs; the note and the signature's sources say that it is missing.
        described.notes.append(f"debug information was not understood: {type(error).__name__}: {error}")
    return found
