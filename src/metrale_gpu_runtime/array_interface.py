"""The dictionaries by which arrays show their memory, read field by field; a wrong field is refused by its name.

Sources: NumPy, "The array interface protocol" (version 3); Numba, "CUDA Array Interface" (version 3).
"""

from __future__ import annotations

from typing import Any

from .errors import GpuError, ScalarKindError
from .host_address import address_of
from .whole_numbers import is_index

ON_HOST, ON_CUDA = "__array_interface__", "__cuda_array_interface__"

NEWEST = 3
_ADDRESS_LIMIT = 1 << 64


class ArrayInterface:
    """One dictionary that an object has shown. Every method reads one field and raises ScalarKindError for a wrong one.

    `fields` may itself hold what keeps the memory, where it was made for the question.
    """

    __slots__ = ("_name", "_value", "fields")

    def __init__(self, value: object, name: str, fields: dict[str, Any]) -> None:
        self._value, self._name, self.fields = value, name, fields

    def version(self) -> int:
        """Which version of the protocol it follows. Of a newer one nobody here knows what its fields mean."""
        version = self._wanted("version", f"a whole number up to {NEWEST}")
        if not is_index(version) or not 0 <= int(version) <= NEWEST:
            raise self._wrong("version", version, f"a whole number up to {NEWEST}")
        return int(version)

    def shape(self) -> tuple[int, ...]:
        """The extents of its axes."""
        shape = self._wanted("shape", "a tuple of whole numbers")
        if not isinstance(shape, (tuple, list)) or not all(is_index(extent) and int(extent) >= 0 for extent in shape):
            raise self._wrong("shape", shape, "a tuple of whole numbers, none of them negative")
        return tuple(int(extent) for extent in shape)

    def strides(self, axes: int) -> tuple[int, ...] | None:
        """The bytes from one element to the next along each axis; None in C order."""
        strides = self.fields.get("strides")
        if strides is None:
            return None
        wanted = f"None or a tuple of whole numbers, one for each of the {axes} axes"
        if not isinstance(strides, (tuple, list)) or not all(map(is_index, strides)) or len(strides) != axes:
            raise self._wrong("strides", strides, wanted)
        return tuple(int(stride) for stride in strides)

    def typestr(self) -> str:
        """The elements' type: byte order, kind, size."""
        wanted = "text such as '<f4'"
        typestr = self._wanted("typestr", wanted)
        if not isinstance(typestr, str) or len(typestr) < 2 or typestr[0] not in "<>|=":
            raise self._wrong("typestr", typestr, wanted)
        return typestr

    def data(self) -> tuple[int, bool]:
        """The address of its first element, and whether it may only be read.

        On the host it may be an object with the buffer protocol too, the array itself when there is none.
        """
        data = self.fields.get("data")
        wanted = "a tuple (address, is read-only)"
        if self._name == ON_HOST and not isinstance(data, tuple):
            below: Any = self._value if data is None else data
            try:
                view = memoryview(below)
            except TypeError:
                wanted += ", or an object with the buffer protocol"
                raise (
                    self._wrong("data", data, wanted) if "data" in self.fields else self._lacks("data", wanted)
                ) from None
            return address_of(view) + self._offset(), view.readonly
        if data is None and "data" not in self.fields:
            raise self._lacks("data", wanted)
        if not isinstance(data, tuple) or len(data) != 2:
            raise self._wrong("data", data, wanted)
        address, is_read_only = data
        if address is not None and not (is_index(address) and 0 <= int(address) < _ADDRESS_LIMIT):
            raise self._wrong("data", data, f"{wanted}; an address has 64 bits and is not negative")
        return int(address or 0), bool(is_read_only)

    def stream(self) -> int | None:
        """The stream on which its last work is queued (version 3): 1 is the legacy default stream, 2 the thread's.

        None: nothing is. 0 is refused: the interface forbids it because it could mean either.
        """
        stream = self.fields.get("stream")
        if stream is None:
            return None
        if not is_index(stream) or not 0 <= int(stream) < _ADDRESS_LIMIT:
            raise self._wrong("stream", stream, "None or a stream's handle, of 64 bits and not negative")
        if int(stream) == 0:
            raise ScalarKindError(
                "its CUDA array interface names stream 0, which could be the legacy or the thread's default stream; "
                "the interface wants 1 or 2 for those, None for no stream",
                given=0,
            )
        return int(stream)

    def refuse_mask(self) -> None:
        """Raise ScalarKindError for an array of which some elements do not count."""
        if self.fields.get("mask") is not None:
            raise masked()

    def _offset(self) -> int:
        offset = self.fields.get("offset", 0)
        if not is_index(offset) or int(offset) < 0:
            raise self._wrong("offset", offset, "a whole number of bytes, not negative")
        return int(offset)

    def _wanted(self, field: str, wanted: str) -> Any:
        if field not in self.fields:
            raise self._lacks(field, wanted)
        return self.fields[field]

    def _lacks(self, field: str, wanted: str) -> ScalarKindError:
        return ScalarKindError(
            f"the {self._name} of {type(self._value).__name__} has no {field!r}; it should be {wanted}",
            expected=wanted,
        )

    def _wrong(self, field: str, given: object, wanted: str) -> ScalarKindError:
        return ScalarKindError(
            f"{field!r} in the {self._name} of {type(self._value).__name__} is {_shown(given)}; it should be {wanted}",
            expected=wanted,
            given=given,
        )


def interface_of(value: object, name: str) -> ArrayInterface | None:
    """What an object shows by that name, None for one that shows nothing. Raises ScalarKindError for a refusal."""
    try:
        fields = getattr(value, name, None)
    except GpuError:
        raise
    except Exception as error:
        raise refused(value, name, error) from error
    # A class shows what its objects will have.
    if fields is None or isinstance(value, type):
        return None
    if not isinstance(fields, dict):
        raise ScalarKindError(
            f"the {name} of {type(value).__name__} is {_shown(fields)}; it should be a dictionary",
            expected="a dictionary",
            given=fields,
        )
    return ArrayInterface(value, name, fields)


def refused(value: object, call: str, error: Exception) -> ScalarKindError:
    """What an array's own library said, with the next step where we know one."""
    text = str(error).rstrip(".")
    advice = ""
    if "conjugate" in text:
        advice = "; give x.resolve_conj()"
    elif "different CUDA device" in text:
        advice = "; torch hands out tensors of its current device only: with torch.cuda.device(x.device): ..."
    return ScalarKindError(f"{type(value).__name__}.{call} refuses: {text}{advice}", given=type(value).__name__)


def masked() -> ScalarKindError:
    """The error for a masked array."""
    return ScalarKindError(
        "it is a masked array, and a kernel would use the masked elements too; give a.filled(value), or a.data to use "
        "them as they are"
    )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
