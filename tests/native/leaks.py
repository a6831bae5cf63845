"""What the native core loses: LeakSanitizer over launches in every form, on each kind of driver.

By hand: `python tests/native/leaks.py [COUNT]`. It ends with 1 where a block is lost that the core allocated, or that was
allocated below a call of it. What the interpreter itself never gives back has no frame of the core; what a driver
allocates is its own to give back.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sanitizers

HERE = Path(__file__).parent
KINDS = ("cuda", "mock", "cpu", "opencl", "addresses", "memory-objects")

_DRIVERS = re.compile(r"/lib(pocl|OpenCL)[^/]*\.so")
_PROGRAM = "import sys, test_native_hazards as t; print(t.leaks(int(sys.argv[2]), sys.argv[1]))"


def lost(kind: str, count: int, environment: dict[str, str], folder: Path) -> list[str]:
    """The reports of lost blocks that the core had a part in, after so many launches of each form.

    Raises CalledProcessError where the program itself fails.
    """
    log = folder / f"leaks-{kind}"
    options = f"detect_leaks=1:exitcode=0:log_path={log}:fast_unwind_on_malloc=0:malloc_context_size=24"
    path = os.pathsep.join([environment["PYTHONPATH"], str(HERE), str(HERE.parent)])
    subprocess.run(
        [sys.executable, "-c", _PROGRAM, kind, str(count)],
        env={**os.environ, **environment, "ASAN_OPTIONS": options, "PYTHONPATH": path},
        check=True,
    )
    told = "".join(each.read_text() for each in folder.glob(f"leaks-{kind}.*"))
    reports = re.split(r"\n\n+", told)
    return [each for each in reports if "leak of" in each and f"{folder}/" in each and not _DRIVERS.search(each)]


def main(count: int) -> int:
    with tempfile.TemporaryDirectory(prefix="sanitized-") as name:
        folder = Path(name)
        environment = sanitizers.build(folder)
        found = {kind: lost(kind, count, environment, folder) for kind in KINDS}
    for kind, reports in found.items():
        print(f"{kind}: {count} launches of each form, {len(reports)} lost blocks of the core's", *reports, sep="\n\n")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 500))
