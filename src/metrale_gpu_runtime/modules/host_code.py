"""Host code in a CUDA C file: what NVRTC cannot take of it, by name and line.

A light scan, not a C++ parser. It is only asked once NVRTC has refused a file, to choose the compiler and the words;
NVRTC's own diagnostics count as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Headers whose contents run on the host only; a file that includes one is meant for nvcc.
_HOST_HEADERS = frozenset(
    """
    iostream fstream sstream iomanip ostream istream vector string map unordered_map set unordered_set list deque queue
    stack memory mutex thread future chrono random regex filesystem stdexcept exception condition_variable
    sys/time.h sys/stat.h unistd.h getopt.h omp.h mpi.h cublas_v2.h cufft.h curand.h cusparse.h cudnn.h nccl.h
    helper_cuda.h helper_functions.h thrust/device_vector.h thrust/host_vector.h
    """.split()  # noqa: SIM905 -- a column of quoted names would be no easier to read
)
_SPACES = re.compile(r"\b__(?:global|device)__\b")
_OUTSIDE = re.compile(
    r'R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"'  # raw string
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|//(?:[^\n\\]|\\\n|\\.)*"
    r"|/\*.*?\*/",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_DEFINED_SPACE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[^\n]*__(?:device|global)__", re.MULTILINE)
_ATTRIBUTES = re.compile(r"\b(?:__launch_bounds__|__attribute__|__declspec|alignas|__align__|decltype|noexcept)\s*\(")
_TRANSPARENT = re.compile(r"^\s*(?:inline\s+)?namespace\b[^;()]*$|^\s*extern\s*$")
_TYPE = re.compile(r"\b(?:struct|class|union|enum)\b[^()=]*$")


@dataclass(frozen=True, slots=True)
class HostCode:
    """One piece of host code: its kind ("function", "launch", "header", "variable"), its name, its line.

    `file` is empty for the source itself, else the header that holds it.
    """

    kind: str
    name: str
    line: int
    file: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file else f"line {self.line}"
        if self.kind == "launch":
            return f"the launch of {self.name} with <<<…>>> at {where}"
        if self.kind == "variable":
            return f"the host variable {self.name} at {where}"
        return f"the host {self.kind} {self.name}{'()' if self.kind == 'function' else ''} at {where}"


def _blank(text: str) -> str:
    """The same text with everything but line ends replaced by spaces, so that positions stay."""
    return re.sub(r"[^\n]", " ", text)


def _code_only(source: str) -> str:
    without = _OUTSIDE.sub(lambda match: _blank(match[0]), source)
    return _DIRECTIVE.sub(lambda match: _blank(match[0]), without)


def _line_of(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1


def _without_parentheses_of(head: str, pattern: re.Pattern[str]) -> str:
    """`head` with each `word(…)` of the pattern blanked, nested parentheses included."""
    while match := pattern.search(head):
        depth, end = 1, match.end()
        while end < len(head) and depth:
            depth += {"(": 1, ")": -1}.get(head[end], 0)
            end += 1
        head = head[: match.start()] + _blank(head[match.start() : end]) + head[end:]
    return head


def _function_name(head: str) -> tuple[str, int] | None:
    """The function that `head` (all before a `{`) declares and the offset of its name; None when it declares none."""
    bare = _without_parentheses_of(head, _ATTRIBUTES)
    match = re.search(r"((?:\w+\s*::\s*)*(?:operator\s*[^\s(]+|~?\w+))\s*\(", bare)
    if match is None or "=" in re.sub(r"operator\s*[^\s(]+|<[^<>]*>", "", bare[: match.start(1) + 1]):
        return None
    if match[1] in {"if", "for", "while", "switch", "catch", "return", "sizeof"}:
        return None
    return match[1], match.start(1)


def _functions(code: str, annotations: re.Pattern[str]) -> Iterator[HostCode]:
    """Functions at namespace level that are defined without __global__ or __device__."""
    at, start = 0, 0
    while at < len(code):
        character = code[at]
        if character in ";}":
            start = at + 1
        elif character == "{":
            head = code[start:at]
            if _TRANSPARENT.match(head):
                start = at + 1
            else:
                if not _TYPE.search(head) and not annotations.search(head):
                    named = _function_name(head)
                    if named is not None:
                        yield HostCode("function", named[0], _line_of(code, start + named[1]))
                at = _closing_brace(code, at)
                start = at + 1
        at += 1


def _closing_brace(code: str, at: int) -> int:
    depth = 0
    for match in re.finditer(r"[{}]", code[at:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return at + match.start()
    return len(code)


def find_host_code(source: str) -> tuple[HostCode, ...]:
    """The host code of a CUDA C text in the order of its lines: functions, launches and headers.

    A helper function that says neither __device__ nor __global__ counts, as it does for the compiler.
    """
    code = _code_only(source)
    macros = _DEFINED_SPACE.findall(source)
    annotations = re.compile("|".join([_SPACES.pattern, *(rf"\b{re.escape(name)}\b" for name in macros)]))
    found = list(_functions(code, annotations))
    for match in re.finditer(r"([\w:]+)\s*(?:<[^<>;]*>\s*)?<<<", code):
        found.append(HostCode("launch", match[1], _line_of(code, match.start())))
    comments_gone = re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: _blank(match[0]), source, flags=re.DOTALL)
    for match in _INCLUDE.finditer(comments_gone):
        if match[1] in _HOST_HEADERS:
            found.append(HostCode("header", f"<{match[1]}>", _line_of(source, match.start(1))))
    return tuple(sorted(found, key=lambda each: each.line))


def host_code_in(source: str, name: str, diagnostics: Sequence[tuple[str, int, str]]) -> tuple[HostCode, ...]:
    """The host code of a source that NVRTC refused: what its diagnostics say first, then what the scan finds.

    `name` is what the diagnostics call the source.
    """
    lines = source.splitlines()
    found: list[HostCode] = []
    for file, line, text in diagnostics:
        kind = "variable" if "host variable" in text else "function" if _is_about_host_function(text) else None
        if kind is None:
            continue
        if file != name:
            found.append(HostCode(kind, "", line, file))
            continue
        shown = lines[line - 1] if 0 < line <= len(lines) else ""
        named = _function_name(shown) if kind == "function" else None
        words = re.findall(r"\w+", shown.split("=")[0])
        found.append(HostCode(kind, named[0] if named else (words[-1] if words else ""), line))
    known = {(each.kind, each.line) for each in found}
    found += [each for each in find_host_code(source) if (each.kind, each.line) not in known]
    return tuple(found)


def _is_about_host_function(text: str) -> bool:
    return "considered a host function" in text or "marked as a __host__ function" in text
