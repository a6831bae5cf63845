"""The forms of code: their file suffixes, whether they are text, and how their contents are told apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class CodeFormat:
    """One form of code: its name in Capabilities, the suffixes of its files, what people call it.

    `is_linked`: it is an input of a link and nothing else.
    """

    name: str
    suffixes: tuple[str, ...]
    title: str
    is_text: bool
    is_source: bool = False
    is_linked: bool = False


# The order is the preference where a backend takes anything.
FORMATS = {
    each.name: each
    for each in (
        CodeFormat("ptx", (".ptx",), "PTX", is_text=True),
        CodeFormat("cuda-c", (".cu", ".cuh"), "CUDA C", is_text=True, is_source=True),
        CodeFormat("cubin", (".cubin",), "a cubin", is_text=False),
        CodeFormat("fatbin", (".fatbin",), "a fatbin", is_text=False),
        CodeFormat("hsaco", (".hsaco", ".co"), "an AMD code object", is_text=False),
        CodeFormat("hip-c", (".hip",), "HIP C", is_text=True, is_source=True),
        CodeFormat("metallib", (".metallib",), "a Metal library", is_text=False),
        CodeFormat("msl", (".metal",), "Metal source", is_text=True),
        CodeFormat("opencl-c", (".cl",), "OpenCL C", is_text=True),
        CodeFormat("spirv", (".spv",), "SPIR-V", is_text=False),
        CodeFormat("wgsl", (".wgsl",), "WGSL", is_text=True),
        # Inputs of a link only: none of them is loaded as it is.
        CodeFormat("ltoir", (".ltoir",), "LTO-IR", is_text=False, is_linked=True),
        CodeFormat("object", (".o", ".obj"), "an object with device code", is_text=False, is_linked=True),
        CodeFormat("library", (".a", ".lib"), "a library with device code", is_text=False, is_linked=True),
        # Never accepted; known so that its refusal can say what it is.
        CodeFormat("llvm-bitcode", (".bc",), "LLVM bitcode", is_text=False),
    )
}
ANY = "any"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

COMPILED_ALREADY = frozenset({"cubin", "hsaco", "metallib", "spirv"})
"""Forms that no option changes any more. (A fatbin may hold PTX.)"""

TAKES_OPTIONS = "options= are for source, which is compiled, and on CUDA for PTX, which the driver compiles"

_BY_SUFFIX = {suffix: each for each in FORMATS.values() for suffix in each.suffixes}
_EM_CUDA, _EM_AMDGPU, _ET_REL = 190, 224, 1
_FATBIN_MAGIC = (b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46")  # the image itself, and nvcc's wrapper around its address
_SPIRV_MAGIC = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
_BITCODE_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_LTOIR_MAGIC = (b"\xedCN\x7f",)  # NVRTC's and nvcc's
_ARCHIVE_MAGIC = (b"!<arch>\n",)
_COMMENTS = re.compile(rb"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)


def format_of_suffix(suffix: str) -> CodeFormat | None:
    """The form of code that files with this suffix hold; None for a suffix that is no code's."""
    return _BY_SUFFIX.get(suffix.lower())


def format_of_contents(data: bytes) -> CodeFormat | None:
    """The form of code these bytes are, where they tell; source text other than PTX does not."""
    if data.startswith(b"\x7fELF"):
        machine = int.from_bytes(data[18:20], "little")
        return {_EM_CUDA: FORMATS["cubin"], _EM_AMDGPU: FORMATS["hsaco"]}.get(machine)
    if data.startswith((b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")):  # an offload bundle, compressed or not
        return FORMATS["hsaco"]
    for magics, name in (
        (_FATBIN_MAGIC, "fatbin"),
        (_SPIRV_MAGIC, "spirv"),
        (_BITCODE_MAGIC, "llvm-bitcode"),
        (_LTOIR_MAGIC, "ltoir"),
        (_ARCHIVE_MAGIC, "library"),
    ):
        if data.startswith(magics):
            return FORMATS[name]
    if data.startswith(b"MTLB"):
        return FORMATS["metallib"]
    return FORMATS["ptx"] if _starts_as_ptx(data) else None


def _starts_as_ptx(data: bytes) -> bool:
    """True when `.version` is the first word, after comments and `.file` lines."""
    at = 0
    while True:
        if blank := _COMMENTS.match(data, at):
            at = blank.end()
        elif data.startswith(b".file", at):
            at = data.find(b"\n", at)
            if at < 0:
                return False
        else:
            return data.startswith(b".version", at)


def is_marked_ptx(data: bytes) -> bool:
    """True for PTX behind a byte order mark, as Windows editors save it."""
    return data.startswith(BYTE_ORDER_MARK) and _starts_as_ptx(data[len(BYTE_ORDER_MARK) :])


def is_host_object(data: bytes) -> bool:
    """True for an ELF object of a host compiler."""
    return (
        data.startswith(b"\x7fELF")
        and int.from_bytes(data[16:18], "little") == _ET_REL
        and int.from_bytes(data[18:20], "little") not in (_EM_CUDA, _EM_AMDGPU)
    )


def describe_contents(data: bytes) -> str:
    """What these bytes look like, for a refusal."""
    known = format_of_contents(data)
    if known is not None:
        return known.title
    if data.startswith(b"\x7fELF"):
        return f"an ELF file for machine {int.from_bytes(data[18:20], 'little')}, which no GPU backend takes"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    if is_marked_ptx(data):
        return "PTX behind a byte order mark (ef bb bf), which no PTX compiler takes; save it as UTF-8 without one"
    if b"\0" not in data[:4096]:
        try:
            data.decode()
        except UnicodeDecodeError:
            pass
        else:
            return "text that is not PTX"
    return f"bytes of an unknown kind (they begin with {data[:8].hex(' ')})"


def accepted_formats(capabilities: Capabilities) -> tuple[CodeFormat, ...]:
    """What the backend takes, best first: what its driver takes, then what can be compiled for it."""
    if ANY in capabilities.code_formats:
        return tuple(each for each in FORMATS.values() if each.name != "llvm-bitcode" and not each.is_linked)
    names = dict.fromkeys((*capabilities.code_formats, *capabilities.source_languages))
    return tuple(FORMATS[name] for name in names if name in FORMATS)


def describe_accepted(capabilities: Capabilities) -> str:
    """The accepted forms with their suffixes, for a refusal: "PTX (.ptx), CUDA C (.cu)"."""
    return ", ".join(f"{each.title} ({each.suffixes[0]})" for each in accepted_formats(capabilities)) or "no code"
