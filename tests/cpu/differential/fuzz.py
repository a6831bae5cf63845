"""Runs random programs for as long as asked, each batch in a child process, and keeps what fails.

    python tests/cpu/differential/fuzz.py --first 0 --seconds 600 --keep /tmp/failures

A failure is a wrong value, an error, a fault, a crash of the interpreter, or no answer within a time limit. For each,
the text and what is wrong with it are written to the folder; `minimise.py` makes them small.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
BATCH = 40
PATIENCE_S = 120.0


def child(first: int, count: int, cuda: bool, way_numbers: list[int]) -> None:
    """Run seeds one after the other and tell of each on standard output."""
    import faulthandler

    from generate import generate
    from launching import WAYS, check
    from ptx_text import write_ptx
    from reference import TooLong

    faulthandler.enable()
    for seed in range(first, first + count):
        print(json.dumps({"seed": seed}), flush=True)
        program = generate(seed)
        if cuda:
            from cuda_text import compile_cuda

            texts = [("cuda", compile_cuda(program))]
        else:
            texts = [("ptx", write_ptx(program, seed))]
        try:
            wrong = check(program, texts, [WAYS[n] for n in way_numbers] or WAYS)
        except TooLong:
            wrong = []
        print(json.dumps({"seed": seed, "wrong": wrong, "text": texts[0][1] if wrong else ""}), flush=True)


class Batch:
    """A child process and what it told."""

    def __init__(self, first: int, count: int, options: list[str]) -> None:
        self.seed = first
        command = [sys.executable, __file__, "--child", str(first), str(count), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.errors: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def next(self, patience_s: float) -> dict[str, object] | None:
        """The next message; None at a clean end. A crash and a hang are messages as well."""
        try:
            line = self.lines.get(timeout=patience_s)
        except queue.Empty:
            self.process.kill()
            return {"seed": self.seed, "wrong": [f"no answer within {patience_s:g} s"], "text": "", "ended": True}
        if line is not None:
            message: dict[str, object] = json.loads(line)
            self.seed = int(str(message["seed"]))
            return message
        code = self.process.wait()
        if code == 0:
            return None
        return {
            "seed": self.seed,
            "wrong": [f"exit code {code}: {''.join(self.errors[-30:])}"],
            "text": "",
            "ended": True,
        }


def run(first: int, seconds: float, keep: Path, options: list[str]) -> tuple[int, int]:
    """(programs run, failures)."""
    keep.mkdir(parents=True, exist_ok=True)
    ends, seed, count, failures = time.monotonic() + seconds, first, 0, 0
    while time.monotonic() < ends:
        batch, last = Batch(seed, BATCH, options), seed + BATCH
        while (message := batch.next(PATIENCE_S)) is not None:
            if "wrong" not in message:
                continue
            count += 1
            wrong = message["wrong"]
            assert isinstance(wrong, list)
            if wrong:
                failures += 1
                at = int(str(message["seed"]))
                name = f"{'cuda' if '--cuda' in options else 'ptx'}{at}"
                (keep / f"{name}.txt").write_text("\n".join(wrong) + "\n", encoding="utf-8")
                (keep / f"{name}.ptx").write_text(str(message["text"]), encoding="utf-8")
                print(f"seed {at}: {str(wrong[0])[:240]}", flush=True)
            if message.get("ended"):
                last = int(str(message["seed"])) + 1
                break
        seed = last
    return count, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=Path, default=Path("failures"))
    parser.add_argument("--cuda", action="store_true", help="by way of CUDA C and NVRTC")
    parser.add_argument("--ways", default="", help="numbers of launching.WAYS, such as 0,1; all without")
    parser.add_argument("--child", nargs=2, type=int)
    asked = parser.parse_args()
    if asked.child:
        child(*asked.child, asked.cuda, [int(n) for n in asked.ways.split(",") if n])
        return
    options = (["--cuda"] if asked.cuda else []) + (["--ways", asked.ways] if asked.ways else [])
    began = time.monotonic()
    count, failures = run(asked.first, asked.seconds, asked.keep, options)
    print(f"{count} programs from seed {asked.first} in {time.monotonic() - began:.0f} s, {failures} failed")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
