"""Metal Shading Language made a library by the system's own compiler, in this process.

Source: MTLDevice newLibraryWithSource:options:error:, MTLCompileOptions, MTLLibraryError (MTLLibrary.h).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from ...driver import CodeImage
from ...errors import CompileError, NotSupported
from .bindings import Bindings

_SHOWN_ERRORS: Final = 3
# What Metal calls text that was handed to it as text.
_UNNAMED: Final = "program_source"
_DIAGNOSTIC: Final = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):\d+: (?P<text>(?:fatal )?(?:error|warning|note): [^\n]*)$", re.MULTILINE
)
_MACRO: Final = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)
_STANDARD: Final = re.compile(r"-std=metal(\d+)\.(\d+)")


def compile_source(bindings: Bindings, device: Any, image: CodeImage) -> Any:
    """The MTLLibrary of a source. The caller holds an autorelease pool.

    Raises CompileError with Metal's log, under the name of the caller's file, and NotSupported for an option that it
    has no word for.
    """
    library, error = device.newLibraryWithSource_options_error_(
        image.data.decode(), _compile_options(bindings, image), None
    )
    # With a library, the error holds warnings.
    if library is None:
        log = str(error.localizedDescription()) if error is not None else ""
        raise _refused(image, log.strip())
    return library


def _compile_options(bindings: Bindings, image: CodeImage) -> Any:
    """MTLCompileOptions of the options' words. Raises NotSupported, naming the first that is none of them."""
    options = bindings.metal.MTLCompileOptions.alloc().init()
    # Metal's own default is fast math, which lets it assume that there are no infinities and no NaNs.
    is_fast = False
    macros: dict[str, str] = {}
    words = iter(image.options)
    for word in words:
        standard = _STANDARD.fullmatch(word)
        if word.startswith("-D"):
            macro = _MACRO.fullmatch(word[2:] or next(words, ""))
            if macro is None:
                raise _unknown(image, word)
            # As the compiler's command line has it, a macro without a value is 1.
            macros[macro[1]] = "1" if macro[2] is None else macro[2]
        elif standard is not None:
            options.setLanguageVersion_(_language_version(bindings, image, word, standard))
        elif word in ("-ffast-math", "-fno-fast-math"):
            is_fast = word == "-ffast-math"
        else:
            raise _unknown(image, word)
    options.setFastMathEnabled_(is_fast)
    if macros:
        options.setPreprocessorMacros_(macros)
    return options


def _language_version(bindings: Bindings, image: CodeImage, word: str, standard: re.Match[str]) -> int:
    known = dict(_language_versions(bindings.metal))
    version = (int(standard[1]), int(standard[2]))
    if version not in known:
        there = ", ".join(f"-std=metal{major}.{minor}" for major, minor in known)
        raise NotSupported(
            f"module {image.name!r}: {word} is no version of Metal's language that these bindings know; there are "
            f"{there}",
            backend="metal",
            feature=word,
        )
    return known[version]


def _language_versions(metal: Any) -> Iterator[tuple[tuple[int, int], int]]:
    for major in range(1, 10):
        for minor in range(10):
            number = getattr(metal, f"MTLLanguageVersion{major}_{minor}", None)
            if number is not None:
                yield (major, minor), number


def _unknown(image: CodeImage, word: str) -> NotSupported:
    return NotSupported(
        f"module {image.name!r}: option {word!r} is none that the Metal backend passes on; it knows -DNAME, "
        "-DNAME=value, -std=metal3.1 (any version of the language), -ffast-math and -fno-fast-math (which is the "
        "default). Compile with `xcrun metal` for others, and load the .metallib",
        backend="metal",
        feature=word,
    )


def _refused(image: CodeImage, log: str) -> CompileError:
    shown = image.path or f"{image.name}.metal"
    found = list(_DIAGNOSTIC.finditer(log))
    files = [shown if each["file"] == _UNNAMED else each["file"] for each in found]
    diagnostics = tuple((file, int(each["line"]), each["text"]) for file, each in zip(files, found, strict=True))
    # Up to the next diagnostic: the source line and the mark under it.
    ends = [*(each.start() for each in found), len(log)][1:]
    blocks = [
        f"{file}:{each['line']}: {each['text']}{log[each.end() : end].rstrip()}"
        for file, each, end in zip(files, found, ends, strict=True)
        if "error" in each["text"].split(":")[0]
    ]
    said = "\n".join(f"  {line}" for block in blocks[:_SHOWN_ERRORS] for line in block.splitlines())
    if any(each["text"].endswith("file not found") for each in found):
        said += (
            "\n  Metal compiles this as a text without a folder: only the system's own headers can be included. Put "
            "the file's text in, or compile with `xcrun metal -I …` and load the .metallib"
        )
    more = f"\n  … and {len(blocks) - _SHOWN_ERRORS} more" if len(blocks) > _SHOWN_ERRORS else ""
    return CompileError(
        f"{shown}: Metal's compiler refused it\n{said or '  ' + (log or 'it says nothing')}{more}",
        module=image.name,
        log=log,
        diagnostics=diagnostics,
    )
