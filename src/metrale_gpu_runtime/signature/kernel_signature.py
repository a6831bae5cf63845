"""KernelSignature: all that is known of a kernel's parameters, and from where."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import ArgumentCountError
from ..layout import ArgumentLayout
from . import checking, encoding
from .mangled import readable_name
from .parameter import ArgumentDescription, Parameter

_BARE = frozenset((int, float, bool))


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """What a kernel declares. `parameters` is None when nothing is known, not even how many there are.

    `sources` names who knew, strongest first: "declared", "debug information", "mangled name", "PTX", "driver".
    What is not known is not checked. Printing it gives a C declaration and the sources of what it shows.
    """

    kernel: str
    parameters: tuple[Parameter, ...] | None = None
    sources: tuple[str, ...] = ()
    _bare_places: dict[int, encoding.BarePlace] = field(default_factory=dict, init=False, repr=False, compare=False)

    def parameter(self, index: int) -> Parameter | None:
        """The parameter at a position, or None when there is none or nothing is known of it."""
        if self.parameters is None or not 0 <= index < len(self.parameters):
            return None
        return self.parameters[index]

    def index_of(self, name: str) -> int:
        """The position of the parameter of this name.

        Raises ArgumentCountError, with near matches, when there is none, or when no source told the names.
        """
        names = [each.name for each in self.parameters or () if each.name is not None]
        for each in self.parameters or ():
            if each.name == name:
                return each.index
        if not names:
            source = f" ({', '.join(self.sources)} tells none)" if self.sources else ""
            message = (
                f"{self.kernel}: argument {name!r} was given by name, but the names of its parameters are not known"
                f'{source}; give it by position, or declare them: signature="const float* x, int n"'
            )
        else:
            import difflib

            close = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            message = f"{self.kernel} has no parameter {name!r}; {hint}it has {', '.join(names)}"
        raise ArgumentCountError(message, kernel=self.kernel, name=name, expected=tuple(names), given=name)

    def check(self, arguments: tuple[ArgumentDescription, ...]) -> ArgumentLayout:
        """Check arguments against everything that is known and lay out their image.

        Count, size and alignment, pointer or value, float, signedness and element type, each where it is known. Where
        no offsets are known the image is what C makes of the arguments given. Raises ArgumentCountError,
        ArgumentSizeError, ArgumentKindError or ElementTypeError.
        """
        return checking.check(self.kernel, self.parameters, arguments)

    def encode(self, index: int, value: object) -> tuple[bytes, ArgumentDescription]:
        """The bytes of a value given without a type, encoded as the parameter's type where that is known.

        Typed values (NumPy, ctypes, `mg.u64(5)`, DevicePtr, structures, bytes) keep their own. Raises
        ArgumentRangeError, ArgumentKindError; ArgumentCountError for a position that does not exist.
        """
        if type(value) in _BARE:
            known = self._bare_places.get(index)
            if known is None:
                parameter = encoding.place(self.kernel, self.parameters, index)
                known = self._bare_places[index] = encoding.BarePlace(self.kernel, parameter)
            return known.encode(value)
        return encoding.encode(self.kernel, self.parameters, index, value)

    def __str__(self) -> str:
        name = readable_name(self.kernel)
        if self.parameters is None:
            return f"void {name}(...)  [nothing known of its parameters]"
        told = {each.source for each in self.parameters}
        sources = [source for source in self.sources if source in told] or list(self.sources[:1])
        listed = ", ".join(str(each) for each in self.parameters)
        return f"void {name}({listed})  [{', '.join(sources)}]"
