"""Two sources about one kernel become one signature: the stronger speaks, the weaker fills in, contradictions raise."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import NoReturn

from ..errors import SignatureError
from .c_types import same_element
from .kernel_signature import KernelSignature
from .parameter import MANY, Parameter

_FACTS = ("kind", "nbytes", "floating", "signed")
_WORDS = {
    "kind": "kind",
    "nbytes": "size in bytes",
    "floating": "being a float",
    "signed": "being signed",
    "offset": "offset",
    "align": "alignment",
}


def merge(stronger: KernelSignature, weaker: KernelSignature) -> KernelSignature:
    """One signature from two: what the stronger does not know is taken from the weaker.

    Raises SignatureError, naming the parameter and what each source says, when they disagree in the number of
    parameters, in size, offset or alignment, in pointer or value, float, signedness or type.
    """
    if stronger.parameters is None or weaker.parameters is None:
        known = weaker.parameters if stronger.parameters is None else stronger.parameters
        return replace(stronger, parameters=known, sources=_sources(stronger, weaker))
    if len(stronger.parameters) != len(weaker.parameters):
        raise SignatureError(
            f"{stronger.kernel}: {_name(stronger)} has {len(stronger.parameters)} parameters, {_name(weaker)} has "
            f"{len(weaker.parameters)}:\n  {stronger}\n  {weaker}",
            kernel=stronger.kernel,
        )
    merged: list[Parameter] = []
    follows_weaker = False
    for ours, theirs in zip(stronger.parameters, weaker.parameters, strict=True):
        both = _Pair(stronger, weaker, ours, theirs)
        result, realigned = both.merge(follows_weaker)
        follows_weaker = follows_weaker or realigned
        merged.append(result)
    return KernelSignature(stronger.kernel, tuple(merged), _sources(stronger, weaker))


def _sources(stronger: KernelSignature, weaker: KernelSignature) -> tuple[str, ...]:
    return (*stronger.sources, *(each for each in weaker.sources if each not in stronger.sources))


def _name(signature: KernelSignature) -> str:
    return signature.sources[0] if signature.sources else "one source"


class _Pair:
    def __init__(self, stronger: KernelSignature, weaker: KernelSignature, ours: Parameter, theirs: Parameter) -> None:
        self.stronger, self.weaker, self.ours, self.theirs = stronger, weaker, ours, theirs

    def merge(self, follows_weaker: bool) -> tuple[Parameter, bool]:
        """The merged parameter, and whether its alignment was corrected, which moves those behind it."""
        ours, theirs = self.ours, self.theirs
        if (ours.by_reference is None) != (theirs.by_reference is None):
            return self._merge_reference(), False
        for fact in _FACTS:
            self._compare(fact)
        self._compare_types()
        realigned = self._realigns()
        if not realigned:
            if not self._is_placed_stricter():
                self._compare("align")
            if not follows_weaker:
                self._compare("offset")
        filled = {
            each.name: getattr(theirs, each.name)
            for each in fields(Parameter)
            if getattr(ours, each.name) is None and getattr(theirs, each.name) is not None
        }
        if (realigned or follows_weaker) and theirs.offset is not None:
            filled["offset"] = theirs.offset
        if realigned:
            filled["align"] = theirs.align
        if ours.name is None and ours.kind is None and ours.nbytes is None:
            filled["source"] = theirs.source
        return replace(ours, **filled), realigned

    def _merge_reference(self) -> Parameter:
        """What one source takes by reference, a value or memory that holds it, the other knows as one of the two."""
        ours, theirs = self.ours, self.theirs
        reference, plain = (ours, theirs) if ours.by_reference is not None else (theirs, ours)
        if plain.space == "local":
            words = {True: "threadgroup memory", False: "a buffer or a value"}
            self._disagree("place", words[ours is plain], words[theirs is plain])
        # Their sizes are those of different things unless both are values.
        taken: dict[str, object] = {"by_reference": None}
        if plain.kind == "pointer":
            if plain.element is not None and reference.element is not None:
                named = plain.element_name if plain.element_name is not None else reference.element_name
                if not same_element(plain.element, reference.element, named):
                    first, second = (ours.element, theirs.element)
                    self._disagree("element type", first, second)
            if plain.element is None and plain.element_name in (None, "void"):
                taken["element"] = reference.element
        else:
            self._compare_sizes(reference, plain)
            self._compare("floating")
            self._compare("signed")
            self._compare_types()
            if reference.align is not None:
                taken["align"] = reference.align
        if reference is ours:
            taken["c_type"], taken["source"] = reference.c_type, reference.source
        return replace(plain, name=ours.name if ours.name is not None else theirs.name, **taken)  # type: ignore[arg-type]

    def _compare_sizes(self, reference: Parameter, plain: Parameter) -> None:
        one, given = reference.nbytes, plain.nbytes
        if one is None or given is None or given == one:
            return
        if reference.by_reference != MANY or given % one:
            self._disagree(_WORDS["nbytes"], self.ours.nbytes, self.theirs.nbytes)

    def _realigns(self) -> bool:
        """Whether the code's alignment of an opaque value takes the place of the declared one.

        Stricter code is code with alignas. A tensor map's alignment went from 64 to 128 with CUDA 13, so either may be
        met.
        """
        ours, theirs = self.ours, self.theirs
        if ours.align is None or theirs.align is None or ours.scalar is not None or ours.kind == "pointer":
            return False
        if ours.by_reference is not None:
            return False
        is_tensor_map = ours.c_type is not None and "CUtensorMap" in ours.c_type
        return theirs.align > ours.align or (is_tensor_map and theirs.align < ours.align)

    def _is_placed_stricter(self) -> bool:
        """Whether the weaker source tells where a buffer may be bound, which is no alignment of the type in it.

        GPUs that are not Apple's bind constant memory at multiples of 32 or 256 bytes (Metal Feature Set Tables,
        "Minimum constant buffer offset alignment").
        """
        ours, theirs = self.ours, self.theirs
        if ours.by_reference is None or ours.align is None or theirs.align is None:
            return False
        return theirs.align % ours.align == 0

    def _compare(self, fact: str) -> None:
        first, second = getattr(self.ours, fact), getattr(self.theirs, fact)
        if first is not None and second is not None and first != second:
            self._disagree(_WORDS[fact], first, second)

    def _compare_types(self) -> None:
        ours, theirs = self.ours, self.theirs
        if ours.scalar is not None and theirs.scalar is not None and ours.scalar != theirs.scalar:
            self._disagree("type", ours.scalar.name, theirs.scalar.name)
        if ours.element is not None and theirs.element is not None:
            named = ours.element_name if ours.element_name is not None else theirs.element_name
            alike = same_element(ours.element, theirs.element, named)
            if not alike and not same_element(ours.element, theirs.element, theirs.element_name):
                self._disagree("element type", ours.element.name, theirs.element.name)
        # A type that may be several things for one source must be among them for the other: bool against a u16.
        readings, others = ours.readings(), theirs.readings()
        if readings is not None and others is not None and not set(readings) & set(others):
            self._disagree("type", _listed(ours), _listed(theirs))

    def _disagree(self, what: str, first: object, second: object) -> NoReturn:
        index = self.ours.index
        name = self.ours.name or self.theirs.name
        raise SignatureError(
            f"{self.stronger.kernel}: parameter {index}{f' ({name})' if name else ''}: {what} is {first} by "
            f"{_name(self.stronger)} (`{self.ours}`) but {second} by {_name(self.weaker)} (`{self.theirs}`); correct "
            "the declaration, or load the code it belongs to",
            kernel=self.stronger.kernel,
            index=index,
        )


def _listed(parameter: Parameter) -> str:
    return " or ".join(each.name for each in parameter.readings() or ())
