"""The example model on a device, against its reference."""

from __future__ import annotations

import time
from typing import Any

import metrale_gpu_runtime as mg
from examples.embed.model import SentenceEncoder
from examples.embed.sentences import TOLERANCE, read_reference
from examples.embed.tokenizer import TextTokenizer
from examples.embed.weights import find_model_files


def run(backend: str) -> tuple[bool, dict[str, Any]]:
    """Embed the reference's sentences; the largest difference, and how long it took once and when warm."""
    reference = read_reference()
    files = find_model_files()
    tokenize = TextTokenizer(files.tokenizer)
    ids = [tokenize(sentence).ids for sentence in reference.sentences]
    with mg.open_backend(backend) as gpu:
        began = time.perf_counter()
        encoder = SentenceEncoder(gpu, files)
        first = encoder.embed(ids)
        ready = time.perf_counter()
        encoder.embed(ids)
        again = time.perf_counter()
    difference = reference.largest_difference(first)
    facts = {
        "sentences": len(ids),
        "largest difference": difference,
        "allowed": TOLERANCE,
        "first_s": round(ready - began, 4),
        "again_s": round(again - ready, 4),
    }
    return bool(difference <= TOLERANCE), facts
