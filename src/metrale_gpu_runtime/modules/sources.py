"""Finding the code for a backend: a path, a path without suffix, alternatives by suffix, a text, or bytes.

Where several files would do, the first form in the backend's own order is taken: what its driver takes, then what
can be compiled for it. On the CPU and on CUDA that is a `.ptx` before a `.cu` beside it, on every machine alike,
whether or not a compiler is there and whichever file is newer; name the file with its suffix to choose another.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..capabilities import Capabilities
from ..errors import CodeNotFound, ModuleLoadError
from .formats import (
    BYTE_ORDER_MARK,
    FORMATS,
    CodeFormat,
    accepted_formats,
    describe_accepted,
    describe_contents,
    format_of_contents,
    format_of_suffix,
    is_marked_ptx,
)

_T = TypeVar("_T")
PathGiven = str | os.PathLike[str]
_UNKNOWN = CodeFormat("any", (), "code of an unknown kind", is_text=False)


@dataclass(frozen=True, slots=True)
class CodeInput:
    """Code as it was given: its form, its bytes, its file.

    The form is "any" for what only a backend that takes anything could know.
    """

    format: str
    data: bytes
    path: Path | None = None

    @property
    def is_source(self) -> bool:
        """True when it must be compiled before a driver takes it."""
        return self.format in FORMATS and FORMATS[self.format].is_source

    def text(self) -> str:
        """The code as text. Only for forms that are text, whose encoding `find_code` has checked."""
        return self.data.decode()


def find_code(
    module: str,
    path: PathGiven | Mapping[str, PathGiven] | None = None,
    *,
    source: str | Mapping[str, str] | None = None,
    binary: bytes | bytearray | memoryview | None = None,
    capabilities: Capabilities,
) -> CodeInput:
    """The code that this backend takes, from exactly one of `path`, `source` and `binary`.

    `path` with a known suffix is that file; without one, the best of the files with that stem. A mapping from suffix
    to path, or to text for `source`, gives alternatives. `module` is for messages.

    Raises CodeNotFound when no file is there, ModuleLoadError when the code is empty, not what it says it is, or
    nothing that this backend takes; TypeError when not exactly one of the three is given.
    """
    if sum(each is not None for each in (path, source, binary)) != 1:
        given = [n for n, v in (("path", path), ("source", source), ("binary", binary)) if v is not None]
        raise TypeError(
            f"load_module takes exactly one of path=, source= and binary=; given: {', '.join(given) or 'none'}"
        )
    finder = _Finder(module, capabilities)
    if binary is not None:
        return finder.from_binary(binary)
    if source is not None:
        return finder.from_source(source)
    if isinstance(path, Mapping):
        return finder.from_alternatives(path)
    assert path is not None
    return finder.from_path(Path(path))


def strings_given(what: str, given: Sequence[str]) -> tuple[str, ...]:
    """Options or names as they were given. Raises TypeError for one string, which would be taken letter by letter."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f'{what}= takes a sequence of strings, not {type(given).__name__}: {what}=("…",)')
    strings = tuple(given)
    for each in strings:
        if not isinstance(each, str):
            raise TypeError(f"{what}= takes a sequence of strings; {each!r} among them is {type(each).__name__}")
    return strings


def zero_byte_in_ptx(data: bytes, what: str) -> str | None:
    """What is wrong with PTX that has a zero byte before its end; None where it has none.

    A driver reads PTX up to the first one: what stands behind it would be left out without a word.
    """
    text = data.rstrip(b"\0")
    if b"\0" not in text:
        return None
    line = text[: text.index(b"\0")].count(b"\n") + 1
    return f"{what} is PTX with a zero byte in line {line}, and a driver reads it up to there: save it without"


class _Finder:
    """One search: the module's name and the backend, for what is taken and for what is said."""

    def __init__(self, module: str, capabilities: Capabilities) -> None:
        self.module = module
        self.backend = capabilities.backend
        self.takes = describe_accepted(capabilities)
        self.accepted = accepted_formats(capabilities)
        self.takes_anything = "any" in capabilities.code_formats

    def refuse(self, what: str) -> ModuleLoadError:
        return ModuleLoadError(f"module {self.module!r}: {what}", module=self.module)

    def require_accepted(self, form: CodeFormat, what: str) -> None:
        if form not in self.accepted and not self.takes_anything:
            raise self.refuse(f"{what} is {form.title}; {self.backend} takes {self.takes}")

    # ------------------------------------------------ bytes and texts

    def from_binary(self, binary: bytes | bytearray | memoryview) -> CodeInput:
        if isinstance(binary, str):
            raise TypeError("binary= takes bytes; pass text as source=")
        data = bytes(binary)
        if not data:
            raise self.refuse("the binary is empty")
        form = format_of_contents(data)
        if form is None:
            if self.takes_anything:
                return CodeInput(_UNKNOWN.name, data)
            advice = " Pass source text as source=." if describe_contents(data).startswith("text") else ""
            raise self.refuse(f"the binary is {describe_contents(data)}; {self.backend} takes {self.takes}.{advice}")
        self.require_accepted(form, "the binary")
        if form.name == "ptx":
            self.refuse_zero_byte(data, "the binary")
        return CodeInput(form.name, data)

    def from_source(self, source: str | Mapping[str, str]) -> CodeInput:
        if isinstance(source, Mapping):
            form, text = self.choose(source)
            return self.checked(form, self.encoded(text), f"the {form.suffixes[0]} source", None)
        if isinstance(source, (bytes, bytearray, memoryview)):
            raise TypeError("source= takes text; pass bytes as binary=")
        if not source.strip():
            raise self.refuse("the source is empty")
        data = self.encoded(source)
        found = format_of_contents(data)
        if found is not None:
            self.require_accepted(found, "the source")
            if found.name == "ptx":
                self.refuse_zero_byte(data, "the source")
            return CodeInput(found.name, data)
        if is_marked_ptx(data):
            raise self.refuse(f"the source is {describe_contents(data)}")
        guess = self.source_language(source)
        if guess is None:
            raise self.refuse(f"{self.backend} takes no source text but {self.takes}")
        return CodeInput(guess.name, data)

    def encoded(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise self.refuse(
                f"the source cannot be written as UTF-8: {error.reason} at character {error.start}"
            ) from None

    def source_language(self, source: str) -> CodeFormat | None:
        """What a text that is not PTX is written in: the one source language that the backend takes.

        A backend that takes anything gets CUDA C where the text has its mark, else text of an unknown kind.
        """
        if self.takes_anything:
            return FORMATS["cuda-c"] if "__global__" in source else _UNKNOWN
        languages = [form for form in self.accepted if form.is_text and form.name != "ptx"]
        return languages[0] if languages else None

    # ------------------------------------------------ files

    def from_path(self, path: Path) -> CodeInput:
        form = format_of_suffix(path.suffix)
        if form is not None:
            if not path.exists():
                raise self.not_found(path, [path])
            self.require_accepted(form, str(path))
            return self.read(path, form)
        if path.is_file():
            return self.read(path, None)
        if not path.name:
            raise self.not_found(path, [path])
        looked_for = [path.with_name(path.name + suffix) for each in self.accepted for suffix in each.suffixes]
        for candidate in looked_for:
            if candidate.is_file():
                return self.read(candidate, format_of_suffix(candidate.suffix))
        raise self.not_found(path, looked_for)

    def from_alternatives(self, paths: Mapping[str, PathGiven]) -> CodeInput:
        form, path = self.choose(paths)
        if not Path(path).exists():
            raise self.not_found(Path(path), [Path(path)])
        return self.read(Path(path), form)

    def choose(self, alternatives: Mapping[str, _T]) -> tuple[CodeFormat, _T]:
        """The alternative whose form comes first in the backend's order."""
        given: dict[CodeFormat, _T] = {}
        for suffix, value in alternatives.items():
            form = format_of_suffix(suffix if suffix.startswith(".") else "." + suffix)
            if form is None:
                known = " ".join(s for each in FORMATS.values() for s in each.suffixes)
                raise self.refuse(f"{suffix!r} is no suffix of code; the known ones are {known}")
            given.setdefault(form, value)
        for form in self.accepted:
            if form in given:
                return form, given[form]
        titles = ", ".join(f"{each.title} ({each.suffixes[0]})" for each in given) or "none"
        raise self.refuse(f"none of the alternatives fits: given {titles}; {self.backend} takes {self.takes}")

    def not_found(self, path: Path, looked_for: list[Path]) -> CodeNotFound:
        parts = [f"module {self.module!r}: there is no code at {path}"]
        if path.is_dir():
            parts = [f"module {self.module!r}: {path} is a folder, not a file with code"]
        elif looked_for != [path]:
            parts.append(f"looked for {', '.join(each.name for each in looked_for)} in {path.parent.absolute()}")
        elif not path.parent.is_dir():
            parts.append(f"there is no folder {path.parent.absolute()} either")
        folder = path if path.is_dir() else path.parent
        beside = self.code_in(folder)
        if beside:
            parts.append(f"code in {folder.absolute()}: {', '.join(beside)}")
        parts.append(f"{self.backend} takes {self.takes}")
        return CodeNotFound("; ".join(parts), module=self.module, looked_for=[str(each) for each in looked_for])

    @staticmethod
    def code_in(folder: Path, most: int = 8) -> list[str]:
        """Names of a folder's code files, the first few; none where it cannot be read."""
        try:
            names = sorted(p.name for p in folder.iterdir() if format_of_suffix(p.suffix) and p.is_file())
        except OSError:  # not there, or not ours to read: the message goes without
            return []
        return [*names[:most], *(["…"] if len(names) > most else [])]

    def read(self, path: Path, form: CodeFormat | None) -> CodeInput:
        if path.is_dir():
            raise self.not_found(path, [path])
        try:
            data = path.read_bytes()
        except OSError as error:
            raise self.refuse(f"{path} cannot be read: {error.strerror}") from error
        return self.checked(form, data, str(path), path)

    def checked(self, form: CodeFormat | None, data: bytes, what: str, path: Path | None) -> CodeInput:
        """The input, once its contents are what its suffix says."""
        if not data.strip():
            raise self.refuse(f"{what} is empty")
        found = format_of_contents(data)
        if form is None:
            if found is None and not self.takes_anything:
                known = " ".join(s for each in self.accepted for s in each.suffixes)
                raise self.refuse(f"{what} is {describe_contents(data)}, and its name has none of the suffixes {known}")
            form = found or _UNKNOWN
            self.require_accepted(form, what)
        if form is _UNKNOWN or self.takes_anything:
            return CodeInput(form.name, data, path)
        # Text of another language cannot be told from contents; a binary, or PTX, can.
        if found is not form and (found is not None or not form.is_text or form.name == "ptx"):
            raise self.refuse(f"{what} should be {form.title} by its suffix but is {describe_contents(data)}")
        if form.name == "ptx":
            self.refuse_zero_byte(data, what)
        elif form.is_text:  # PTX may hold paths and comments in any encoding
            data = self.utf8(data, what)
        return CodeInput(form.name, data, path)

    def refuse_zero_byte(self, data: bytes, what: str) -> None:
        refused = zero_byte_in_ptx(data, what)
        if refused is not None:
            raise self.refuse(refused)

    def utf8(self, data: bytes, what: str) -> bytes:
        data = data.removeprefix(BYTE_ORDER_MARK)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            looks = "; it looks like UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ""
            raise self.refuse(
                f"{what} is not UTF-8: line {line} holds the byte {data[error.start]:#04x}{looks}. Save it as UTF-8"
            ) from None
        return data
