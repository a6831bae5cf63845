"""What the host's compiler says of a text, in the words and form in which Metal's says it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .building import NAME

_LINE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error|warning|note): (?P<text>.*)$"
)
_WORDS = (
    (r"\bMSL_THREADGROUP\b|__attribute__\(\(address_space\(3\)\)\)|__tg_static", "threadgroup"),
    (r"\bMSL_DEVICE\b|__attribute__\(\(address_space\(1\)\)\)", "device"),
    (r"(?:const )?(?:MSL_CONSTANT\b|__attribute__\(\(address_space\(2\)\)\))(?: const)?", "constant"),
    (r"\bMSL_CONSTANT\b|__msl_cs\b", "constant"),
    (r"\b_Float16\b", "half"),
    (r"\b__bf16\b", "bfloat"),
    (r"\b__msl_((?:u?(?:char|short|int|long)|half|float|bfloat)[234])\b", r"\1"),
)
_VECTORS = (
    re.compile(r"\b(?:metal::)?vec<([a-z_ ]+), (\d)>"),
    re.compile(r"\b((?:unsigned )?\w+) __attribute__\(\(ext_vector_type\((\d)\)\)\)"),
)
_SHORT = {f"unsigned {name}": f"u{name}" for name in ("char", "short", "int", "long")}
# A structure is copied from any memory in Metal; to the host's compiler the copy would need constructors of its own.
_COPY = re.compile(r"no matching constructor for initialization of|no viable overloaded '='|no viable conversion from")
_IMPLICIT = re.compile(
    r"candidate (?:constructor|function) (?:\(the implicit (?:copy|move|default)|not viable|ignored: cannot be used to construct)"
)


@dataclass(order=True, slots=True)
class Complaint:
    """An error at a place of the user's text."""

    line: int
    column: int
    text: str
    notes: list[tuple[int, int, str]] = field(default_factory=list, compare=False)


class CompileFailure(Exception):
    """The text is not MSL. `log` is what Metal's compiler would print."""

    def __init__(self, log: str) -> None:
        super().__init__(log)
        self.log = log


def read(output: str, *, from_check: bool = False) -> list[Complaint]:
    """The errors in a compiler's output, each at its place in the user's text."""
    groups: list[list[re.Match[str]]] = []
    for line in output.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        if found["kind"] != "note" or not groups:
            groups.append([])
        groups[-1].append(found)
    complaints = []
    for group in groups:
        if "error" not in group[0]["kind"] or (from_check and _is_of_the_check(group)):
            continue
        ours = [found for found in group if found["file"] == NAME]
        place = ours[0] if ours else None
        notes = [(int(n["line"]), int(n["column"]), _worded(n["text"])) for n in ours[1:] if place is group[0]]
        line, column = (int(place["line"]), int(place["column"])) if place else (1, 1)
        text = group[0]["text"]
        if place is not group[0] or "__msl" in text:
            # A rule that the library itself asserts: its words are the error.
            text = re.sub(r"^static assertion failed(?: due to requirement '.*')?: ", "", text)
        complaints.append(Complaint(line, column, _worded(text), notes))
    return complaints


def _is_of_the_check(group: list[re.Match[str]]) -> bool:
    text = group[0]["text"]
    if text.startswith("static assertion failed") and group[0]["file"] == NAME:
        return True  # Sizes are what they are only in the code.
    notes = [found["text"] for found in group[1:] if "candidate" in found["text"]]
    spaces = any("address space" in note for note in notes)
    return _COPY.search(text) is not None and spaces and all(_IMPLICIT.search(note) for note in notes)


def _worded(text: str) -> str:
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    for pattern in _VECTORS:
        text = pattern.sub(lambda found: f"{_SHORT.get(found[1], found[1])}{found[2]}", text)
    return re.sub(r"('[^']*') \(aka \1\)", r"\1", text)


def failure(complaints: Iterable[Complaint], source: str) -> CompileFailure:
    """The exception for these errors, its log with each line of the text and a mark under the column."""
    lines = source.splitlines()
    written: list[str] = []
    seen: set[tuple[int, int, str]] = set()
    for complaint in sorted(complaints):
        if (complaint.line, complaint.column, complaint.text) in seen:
            continue
        seen.add((complaint.line, complaint.column, complaint.text))
        if complaint.line <= len(lines) and complaint.column > len(lines[complaint.line - 1]) + 1:
            complaint.column = 1  # In what rewriting.py adds for a kernel, under its line.
        written += _shown(lines, complaint.line, complaint.column, "error", complaint.text)
        for line, column, text in complaint.notes:
            written += _shown(lines, line, column, "note", text)
    written.append(f"{len(seen)} error{'s' if len(seen) != 1 else ''} generated.")
    return CompileFailure("\n".join(written) + "\n")


def _shown(lines: list[str], line: int, column: int, kind: str, text: str) -> list[str]:
    shown = [f"{NAME}:{line}:{column}: {kind}: {text}"]
    if 1 <= line <= len(lines):
        shown += [lines[line - 1], " " * (column - 1) + "^"]
    return shown
