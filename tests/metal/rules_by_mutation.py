"""Take away each line that keeps a rule, in a copy of the package, and see the named tests fail.

    python tests/metal/rules_by_mutation.py [words of rules …]

The working tree is left alone: the copy lies in a temporary folder, first on PYTHONPATH. Ends with 1 when a test passed
without the line, or hung.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from metal_rules import RULES, Break

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "metrale_gpu_runtime"
LONGEST_S = 180

_FAILED = re.compile(r"^(?:FAILED|ERROR) tests/([^\s\[]+::[^\s\[]+)(?:\[.*?\])?(?: - (.*))?$", re.MULTILINE)


def broken_copy(each: Break, whole: Path, folder: Path) -> None:
    """The package without the line, in `folder`, made of the copy that is whole."""
    copy = folder / PACKAGE.name
    shutil.copytree(whole, copy)
    for file, kept_by, broken in each.edits:
        text = (copy / file).read_text()
        if text.count(kept_by) != 1:
            raise LookupError(f"{file} has {text.count(kept_by)} times: {kept_by}")
        text = text.replace(kept_by, broken)
        # A file that does not even compile would fail every test.
        compile(text, file, "exec")
        (copy / file).write_text(text)


def run(tests: tuple[str, ...], package_at: Path, longest_s: float = LONGEST_S) -> tuple[dict[str, str], str]:
    """The tests that failed, of these, each with what it said, and what pytest printed. Raises TimeoutExpired."""
    names = [f"tests/{test}" if not test.endswith("]") else f"tests/{test[:-1]}-shared]" for test in tests]
    environment = {**os.environ, "PYTHONPATH": str(package_at), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    where = subprocess.run(
        [sys.executable, "-c", "import metrale_gpu_runtime; print(metrale_gpu_runtime.__file__)"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    if where.returncode == 0:
        assert where.stdout.startswith(str(package_at)), f"the copy is not what is imported: {where.stdout}"
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=line", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider", *names],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=longest_s,
    )  # fmt: skip
    failed: dict[str, str] = {}
    for test, said in _FAILED.findall(told.stdout):
        failed.setdefault(test, said)
    return failed, told.stdout + told.stderr


def without(each: Break, whole: Path) -> tuple[bool, str]:
    """True when every named test fails without the line, and what the first one said; else what happened."""
    with tempfile.TemporaryDirectory(prefix="metrale-rules-") as folder:
        try:
            broken_copy(each, whole, Path(folder))
            failed, printed = run(each.tests, Path(folder))
        except LookupError as error:
            return False, str(error)
        except subprocess.TimeoutExpired:
            return False, f"a test was not done after {LONGEST_S} s"
    passed = [test for test in each.tests if test.partition("[")[0] not in failed]
    if passed:
        return False, f"passed without it: {', '.join(passed)}\n{printed[-2000:]}"
    return True, next(iter(failed.values()))


def main(words: list[str]) -> int:
    chosen = {rule: breaks for rule, breaks in RULES.items() if not words or any(word in rule for word in words)}
    with tempfile.TemporaryDirectory(prefix="metrale-whole-") as folder:
        # One copy for all, whatever happens to the working tree meanwhile.
        whole = Path(folder) / PACKAGE.name
        shutil.copytree(PACKAGE, whole, ignore=shutil.ignore_patterns("__pycache__"))
        tests = dict.fromkeys(test for breaks in chosen.values() for each in breaks for test in each.tests)
        failed, printed = run(tuple(tests), whole.parent, 10 * LONGEST_S)
        if failed:
            print(f"these fail with every line in place:\n{printed[-4000:]}")
            return 1
        unseen = take_away(chosen, whole)
    print(f"{sum(map(len, chosen.values()))} lines taken away, {unseen} of them not missed by their tests")
    return 1 if unseen else 0


def take_away(chosen: dict[str, tuple[Break, ...]], whole: Path) -> int:
    """How many lines are not missed by their tests; tells of each."""
    unseen = 0
    for rule, breaks in chosen.items():
        print(rule)
        for each in breaks:
            begin = time.monotonic()
            is_seen, what = without(each, whole)
            unseen += not is_seen
            line = each.kept_by.strip().splitlines()[0]
            seen = "seen to fail" if is_seen else "NOT SEEN"
            print(f"  {seen} {time.monotonic() - begin:5.1f} s  {each.file}: {line}\n      {what}", flush=True)
    return unseen


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
