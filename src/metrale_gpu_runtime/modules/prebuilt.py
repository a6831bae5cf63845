"""PTX that is kept beside its CUDA C, so that it runs where there is no compiler; its first line says what it is of.

`python -m metrale_gpu_runtime.modules.prebuilt FILE.cu …` builds the PTX of each file, or none if one fails.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from .nvrtc import compile_ptx

# The oldest architecture that NVRTC 13 and the drivers of today's GPUs share with every newer one.
ARCHITECTURE = "compute_80"
# Line information lets a fault name the line of the .cu file.
OPTIONS = ("--std=c++17", "--generate-line-info")


def stamp(source: Path) -> str:
    """The first line of the PTX of a source: the digest of the text and of how it is compiled."""
    parts = (source.read_text(encoding="utf-8"), ARCHITECTURE, *OPTIONS)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"// built from {source.name}; sha256 of source and options {digest}"


def is_fresh(source: Path) -> bool:
    """Whether the PTX beside a source was built from this text with these options; needs no compiler."""
    ptx = source.with_suffix(".ptx")
    return ptx.exists() and ptx.read_text(encoding="utf-8").startswith(stamp(source) + "\n")


def compiler_version(ptx: str) -> str:
    """The version of the compiler that made a PTX text ("13.0.88"). Raises ValueError when it does not say."""
    found = re.search(r"^// Cuda compilation tools, release \S+, V(\S+)", ptx, re.MULTILINE)
    if found is None:
        raise ValueError("the PTX does not name the compiler that made it")
    return found[1]


def build(source: Path) -> str:
    """The PTX of one source, the same on every machine that has the same NVRTC. Raises CompileError."""
    text = source.read_text(encoding="utf-8")
    compiled = compile_ptx(text, name=source.name, options=OPTIONS, architecture=ARCHITECTURE)
    return f"{stamp(source)}\n{without_folders(compiled.ptx.decode())}"


def without_folders(ptx: str) -> str:
    """The PTX with bare file names in its `.file` lines: NVRTC writes the folder it was run in before them."""
    return re.sub(r'^(\s*\.file\s+\d+\s+")[^"\n]*[/\\]', r"\1", ptx, flags=re.MULTILINE)


def main(arguments: Sequence[str]) -> None:
    """Build every file named, and write none unless all compile."""
    built = {Path(name).with_suffix(".ptx"): build(Path(name)) for name in arguments}
    for path, ptx in built.items():
        path.write_text(ptx, encoding="utf-8")
        print(f"{path}: {len(ptx.splitlines())} lines by NVRTC {compiler_version(ptx)}")


if __name__ == "__main__":
    main(sys.argv[1:])
