"""The headers of the user's own that a C-like text reaches, without a preprocessor: more than are read, never fewer.

Conditions are not evaluated and every file of a name that is found counts, so that a header in a branch not taken, or
behind another of the same name, only makes a key finer. What cannot be told so raises `HeadersUnknown`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

# A directive begins a line, behind white space and comments; what ends on its line may be a comment of several lines.
# A zero byte is white space to Clang.
_GAP = r"(?:[ \t\v\f\0]|/\*(?:[^*]|\*(?!/))*\*/)*"
_DIRECTIVE = re.compile(
    rf"(?:^|\*/){_GAP}(?:#|%:|\?\?=){_GAP}(?P<word>include_next|include|import|embed)\b{_GAP}(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_ASKED = re.compile(
    r"(?P<before>\b(?:defined[ \t(]*|ifn?def[ \t]+|elifn?def[ \t]+))?"
    rf"\b__has_(?:include|include_next|embed)\b(?P<opened>{_GAP}\({_GAP})?(?=(?P<rest>[^\n]*))"
)
# What another time, or another time of the file's, makes another.
_CLOCK = re.compile(r"\b__(?:DATE|TIME|TIMESTAMP)__\b")
_NAMED = re.compile(r"(?P<open>[<\"])(?P<name>[^>\"\n]+)[>\"]")
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\n")
_LINE_END = re.compile(r"\r\n?")
# -Ifolder, -I=folder, "-I folder", and -I or --include-path followed by the folder.
_FOLDER_OPTION = re.compile(r"\s*(?:-I|--include-path)(?:=|\s*)(?P<folder>.*?)\s*", re.DOTALL)
# Options that make a compiler read files that are not looked for here: pre-includes, folders of other kinds, files of
# options, precompiled headers, profiles, plug-ins, libraries of device code; and several options in one string.
_OPAQUE_OPTION = re.compile(
    r"\S\s+-|[iI]ncl|pch|^\s*(?:@|-i[a-z]|-B|-F|-X|-mlink|-f(?:modul|plugin|pass|profile)|-fsanitize-[a-z]*list"
    r"|--?(?:sysroot|options-file|optf|config|specs|resource-dir|ccbin|compiler-bindir)|--[a-z-]+-path)"
)
# Where compilers of the GCC and Clang families look as well.
_FOLDER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")

Name = tuple[str, str]
"""How a header is named: the opening sign (< or ") and what stands behind it."""


class HeadersUnknown(Exception):
    """A header is named by a macro, or by an option that is not read here, or the text asks what time it is: only the
    compiler knows what it reads."""


@dataclass(slots=True)
class UserHeaders:
    """`digests` by absolute path; `elsewhere` are the names found in no folder of the user's: the compiler's own."""

    digests: dict[str, str] = field(default_factory=dict)
    elsewhere: list[Name] = field(default_factory=list)


def folders_of(options: Sequence[str], own: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The folders that are looked through: a compilation's own, those of its options, those of the environment."""
    folders = [os.fspath(each) for each in own]
    given = iter(options)
    for option in given:
        match = _FOLDER_OPTION.fullmatch(option)
        if match is not None:
            folders.append(match["folder"] or next(given, ""))
        elif _OPAQUE_OPTION.search(option):
            raise HeadersUnknown
    for variable in _FOLDER_VARIABLES:
        value = os.environ.get(variable)
        folders += [each or "." for each in value.split(os.pathsep)] if value else []
    return folders


def user_headers(text: str, folders: Sequence[str]) -> UserHeaders:
    """What a text reaches in these folders. Raises HeadersUnknown, and OSError for a header that cannot be read."""
    found = UserHeaders()
    waiting = [("", names_in(text))]
    while waiting:
        beside, names = waiting.pop()
        for name in names:
            places = [beside, *folders] if name[0] == '"' else folders
            paths = [path for place in places if os.path.isfile(path := os.path.join(place, name[1]))]
            if not paths and name not in found.elsewhere:
                found.elsewhere.append(name)
            # Some compilers look in the working folder as well, for any name, and others do not: PoCL's does.
            if os.path.isfile(name[1]) and name[1] not in paths:
                paths.append(name[1])
            for path in paths:
                if (whole := os.path.abspath(path)) not in found.digests:
                    with open(path, "rb") as file:
                        data = file.read()
                    found.digests[whole] = hashlib.sha256(data).hexdigest()
                    waiting.append((os.path.dirname(path), names_in(data.decode(errors="replace"))))
    return found


def names_in(text: str) -> tuple[Name, ...]:
    """What a text includes or asks for, once each, in order. Raises HeadersUnknown."""
    # Clang passes over a byte order mark, and ends lines at a lone carriage return.
    text = _SPLICE.sub("", _LINE_END.sub("\n", text.removeprefix("\ufeff")))
    if _CLOCK.search(text) is not None:
        raise HeadersUnknown
    names = []
    for match in _DIRECTIVE.finditer(text):
        named = _NAMED.match(match["rest"])
        if named is None or match["word"] == "embed":
            raise HeadersUnknown
        names.append((named["open"], named["name"]))
    for match in _ASKED.finditer(text):
        if match["before"] is not None:
            continue
        named = _NAMED.match(match["rest"]) if match["opened"] is not None else None
        if named is None:
            raise HeadersUnknown
        names.append((named["open"], named["name"]))
    return tuple(dict.fromkeys(names))
