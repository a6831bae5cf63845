"""Compile the C files of this directory to LLVM IR text, which is what users get: they need no compiler.

For developers: `python native/build.py` writes a `.ll` beside each `.c`; with
`--check` it writes nothing and fails when one is stale (without clang it compares the recorded hashes only).

The text holds no triple, data layout or CPU feature, so that it fits any little-endian 64-bit host and is inlined
into kernels compiled for the very CPU.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

CLANG = "clang-19"
DIRECTORY = Path(__file__).parent
# No fast-math and nothing fused: what the C says is what PTX defines. Loops are vectorised once they are part of a
# kernel, for the CPU at hand; doing it here would fix the vector width.
FLAGS = (
    "-std=c17",
    "-O2",
    "-S",
    "-emit-llvm",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-pass-failed",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-fno-unroll-loops",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fPIC",
)

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_HOST_ATTRIBUTES = re.compile(
    r' "(?:target-cpu|target-features|tune-cpu|min-legal-vector-width|stack-protector-buffer-size|frame-pointer|'
    r'no-trapping-math)"="[^"]*"| uwtable(?:\(\w+\))?'
)
_HASH = re.compile(r"^; sha256 (\S+) ([0-9a-f]{64})$", re.MULTILINE)
_FLAGS_LINE = re.compile(r"^; flags (.*)$", re.MULTILINE)


def sources(directory: Path = DIRECTORY) -> list[Path]:
    """The C files, in the order of their names."""
    return sorted(directory.glob("*.c"))


def _files_read(source: Path) -> Iterator[Path]:
    """The file and those of this directory that it includes, each once."""
    waiting, seen = [source], {source.name}
    while waiting:
        file = waiting.pop(0)
        yield file
        for name in _INCLUDE.findall(file.read_text(encoding="utf-8")):
            if name not in seen:
                seen.add(name)
                waiting.append(source.parent / name)


def stamp(source: Path) -> str:
    """The comment on top of a generated file: what it was made from, and how."""
    lines = [f"; Made by build.py from {source.name}: do not edit.", f"; flags {' '.join(FLAGS)}"]
    for file in sorted(_files_read(source)):
        lines.append(f"; sha256 {file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}")
    return "\n".join(lines) + "\n"


def is_fresh(source: Path) -> bool:
    """True when the `.ll` beside the source was made from this very text with these flags."""
    generated = source.with_suffix(".ll")
    return generated.exists() and generated.read_text(encoding="utf-8").startswith(stamp(source))


def portable(ir: str, name: str) -> str:
    """IR text without what ties it to the compiler's host: triple, layout, CPU, module flags, the compiler's name."""
    ir = re.sub(r"^target (?:triple|datalayout) = .*\n", "", ir, flags=re.MULTILINE)
    ir = re.sub(r"^; ModuleID = .*\n", "", ir)
    ir = re.sub(r'^source_filename = ".*"', f'source_filename = "{name}"', ir, flags=re.MULTILINE)
    ir = _HOST_ATTRIBUTES.sub("", ir)
    # A group that held nothing else is now empty, which the parser refuses; C never unwinds.
    ir = re.sub(r"^(attributes #\d+ =) \{ *\}", r"\1 { nounwind }", ir, flags=re.MULTILINE)
    unused: set[str] = set()
    for listing in re.findall(r"^!llvm\.(?:module\.flags|ident) = !\{(.*)\}\n", ir, flags=re.MULTILINE):
        unused.update(re.findall(r"!(\d+)", listing))
    ir = re.sub(r"^!llvm\.(?:module\.flags|ident) = .*\n", "", ir, flags=re.MULTILINE)
    # -fno-unroll-loops forbids unrolling in the kernel as well, and `vectorize(assume_safety)` demands it even where it
    # does not pay; wanted are its other half, that the iterations are independent, and LLVM's own judgement.
    marks = r'^!(\d+) = !\{!"llvm.loop.(?:unroll.disable|vectorize.enable)".*\}$'
    for number in re.findall(marks, ir, flags=re.MULTILINE):
        ir = re.sub(rf", !{number}(?=[,}}])", "", ir)
        unused.add(number)
    for number in unused:
        ir = re.sub(rf"^!{number} = .*\n", "", ir, flags=re.MULTILINE)
    return ir.rstrip("\n") + "\n"


def compile_to_ir(source: Path, clang: str) -> str:
    """The text that belongs into the `.ll` beside the source."""
    command = [clang, *FLAGS, "-o", "-", source.name]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return stamp(source) + portable(done.stdout, source.name)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    parser.add_argument("--clang", default=CLANG, help=f"the compiler (default {CLANG}: another one's text differs)")
    options = parser.parse_args(arguments)
    clang = shutil.which(options.clang)
    if clang is None and not options.check:
        raise SystemExit(f"{options.clang} is not on PATH; it is needed to compile {DIRECTORY.name}/*.c")
    stale = []
    for source in sources():
        generated = source.with_suffix(".ll")
        if options.check:
            fresh = is_fresh(source)
            if fresh and clang is not None:
                fresh = compile_to_ir(source, clang) == generated.read_text(encoding="utf-8")
            if not fresh:
                stale.append(source.name)
        else:
            generated.write_text(compile_to_ir(source, clang or ""), encoding="utf-8")
    if stale:
        print(f"stale: the .ll of {', '.join(stale)}; run python {Path(__file__).name}", file=sys.stderr)
    elif options.check and clang is None:
        print(f"{options.clang} is not on PATH: only the recorded hashes were compared", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
