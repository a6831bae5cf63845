"""Makes a failing text small: takes away lines as long as two ways to run it still disagree.

    python tests/cpu/differential/minimise.py failures/ptx188.ptx 188 0 2

The numbers are the seed, the way that fails and the one to compare it with (launching.WAYS). Barriers stay, since
without them a program has races, and so do the stores of results. What is left is to be read with that in mind.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

_KEPT = re.compile(r"\b(bar|barrier)\.|^\s*[{})]|^\s*\.|^\s*$|\$\w+:\s*$|\.entry|\.func|^\s*ret;")


def smaller(lines: list[str], still_fails: Callable[[list[str]], bool]) -> list[str]:
    """Fewer lines that still fail: halves first, then quarters, down to single lines."""
    size = max(1, len(lines) // 2)
    while True:
        at, changed = 0, False
        while at < len(lines):
            part = [n for n in range(at, min(at + size, len(lines))) if not _KEPT.search(lines[n])]
            rest = [line for n, line in enumerate(lines) if n not in part]
            if part and still_fails(rest):
                lines, changed = rest, True
            else:
                at += size
        if size == 1 and not changed:
            return lines
        size = max(1, size // 2) if not changed else size


def main() -> None:
    from generate import generate
    from launching import WAYS, run

    path, seed, fails, right = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    program = generate(seed)

    def outcome(text: str, way: int) -> object:
        try:
            return {name: values.tobytes() for name, values in run(program, text, WAYS[way]).items()}
        except Exception as error:
            return type(error).__name__

    def still_fails(lines: list[str]) -> bool:
        text = "\n".join(lines)
        good = outcome(text, right)
        return not isinstance(good, str) and outcome(text, fails) != good

    lines = path.read_text(encoding="utf-8").splitlines()
    if not still_fails(lines):
        raise SystemExit("the two ways agree")
    lines = smaller(lines, still_fails)
    names = "\n".join(lines)
    unused = re.compile(r"^\s*(\$\w+):\s*$")
    lines = [x for x in lines if not (m := unused.match(x)) or len(re.findall(re.escape(m[1]) + r"\b", names)) > 1]
    path.with_suffix(".small.ptx").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
