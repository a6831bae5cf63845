"""`python -m examples.embed`: embed sentences on whatever device there is and show what it cost.

TEXT, FILE and BACKEND in the environment do what --text, --file and --backend do; `make run` passes them on.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import metrale_gpu_runtime as mg

from .errors import EmbedError
from .model import KERNEL_SUFFIXES, SentenceEncoder, packed_batches
from .report import kernel_table, sentence_table, similarity_table
from .sentences import TOLERANCE, read_reference, read_sentences, split_lines
from .tokenizer import TOKEN_LIMIT, TextTokenizer, TokenizedText
from .weights import ModelFiles, find_model_files

TOKENS_PER_BATCH = 1024

console = Console()
errors = Console(stderr=True)


def main(
    text: Annotated[list[str] | None, typer.Option(help="A sentence; may be given several times.")] = None,
    file: Annotated[Path | None, typer.Option(help="A UTF-8 file of one sentence a line.", envvar="FILE")] = None,
    backend: Annotated[str, typer.Option(help="cpu, cuda, … as open_backend takes it.", envvar="BACKEND")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Write the embeddings to this .npy file.")] = None,
) -> None:
    """Embed sentences with all-MiniLM-L6-v2: those given, or three with a known answer, which is then checked."""
    if text is None and file is None and os.environ.get("TEXT"):
        text = [os.environ["TEXT"]]
    try:
        agrees = run(text, file, backend or "auto", out)
    except (EmbedError, mg.GpuError) as error:
        errors.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    if not agrees:
        raise typer.Exit(1)


def run(text: Sequence[str] | None, file: Path | None, backend: str, out: Path | None) -> bool:
    """One run. False when the reference's sentences were embedded and came out wrong."""
    if text is not None and file is not None:
        raise EmbedError("sentences come from --text or from --file, not from both")
    reference = None
    if file is not None:
        sentences = read_sentences(file)
    elif text is not None:
        # An empty --text is the empty sentence; otherwise one sentence a line, as in a file.
        sentences = [line for part in text for line in split_lines(part) or [part]]
    else:
        reference = read_reference()
        sentences = reference.sentences

    files = find_model_files()
    tokenize = TextTokenizer(files.tokenizer)
    texts = [tokenize(sentence) for sentence in sentences]
    console.print(sentence_table(texts))
    say_truncated(texts)

    with open_device(backend) as gpu:
        encoder = ready_encoder(gpu, files)
        began = time.perf_counter()
        embeddings = embed_all(encoder, texts)
        elapsed_s = time.perf_counter() - began
        console.print(similarity_table(embeddings))
        console.print(kernel_table(encoder.times.by_kernel))
    tokens = sum(len(text.ids) for text in texts)
    count = f"{len(texts)} sentence{'s' if len(texts) > 1 else ''}, {tokens} tokens"
    console.print(f"{count} in {elapsed_s:.3f} s: {tokens / elapsed_s:,.0f} tokens per second")
    if out is not None:
        save(embeddings, out)
    return reference is None or say_agreement(reference.largest_difference(embeddings))


def open_device(backend: str) -> mg.GpuBackend:
    """The device that was asked for. What the runtime warns of, such as why no GPU was taken, is shown as one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", mg.GpuWarning)
        try:
            gpu = mg.open_backend(backend, loads=KERNEL_SUFFIXES)
        except ValueError as error:
            raise EmbedError(str(error)) from error
    for warning in caught:
        console.print(str(warning.message), style="yellow", markup=False, highlight=False, soft_wrap=True)
    return gpu


def ready_encoder(gpu: mg.GpuBackend, files: ModelFiles) -> SentenceEncoder:
    """The model on the device, with every kernel ready to run."""
    began = time.perf_counter()
    with console.status("weights and kernels to the device"):
        encoder = SentenceEncoder(gpu, files)
        gpu.synchronize()
        loaded = time.perf_counter()
        encoder.warm_up()
    device = f"{gpu.capabilities.backend}: {gpu.capabilities.device}"
    console.print(
        f"{device}; weights there in {loaded - began:.2f} s, kernels ready in {time.perf_counter() - loaded:.2f} s",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    return encoder


def embed_all(encoder: SentenceEncoder, texts: Sequence[TokenizedText]) -> np.ndarray:
    """The embeddings of all texts, batch by batch, under a progress bar that counts tokens through layers."""
    lengths = [len(text.ids) for text in texts]
    layers = encoder.shape.layers
    parts = []
    columns = (
        TextColumn("embedding"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tokens x layers"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("embedding", total=sum(lengths) * layers)
        for batch in packed_batches(lengths, TOKENS_PER_BATCH):
            finished = partial(progress.advance, task, sum(lengths[i] for i in batch))
            parts.append(encoder.embed([texts[i].ids for i in batch], finished))
    return np.concatenate(parts)


def say_truncated(texts: Sequence[TokenizedText]) -> None:
    """One line for each text that was longer than the model's limit."""
    for number, text in enumerate(texts, 1):
        if text.dropped_count:
            console.print(
                f"sentence {number} was truncated: the model reads {TOKEN_LIMIT} tokens with [CLS] and [SEP]; "
                f"the last {text.dropped_count} were left out",
                style="yellow",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )


def say_agreement(difference: float) -> bool:
    """The verdict on the reference's sentences."""
    agrees = difference <= TOLERANCE  # False for NaN as well
    verdict = "agree with" if agrees else "DIFFER from"
    console.print(
        f"the embeddings {verdict} the reference: {difference:.1e} apart at most, {TOLERANCE:.0e} allowed",
        style="green" if agrees else "bold red",
        highlight=False,
    )
    return agrees


def save(embeddings: np.ndarray, out: Path) -> None:
    """Write the embeddings as a .npy file of exactly that name."""
    try:
        with out.open("wb") as stream:
            np.save(stream, embeddings)
    except OSError as error:
        raise EmbedError(f"{out}: cannot be written: {error.strerror}") from error
    console.print(f"{embeddings.shape[0]} x {embeddings.shape[1]} float32 written to {out}", markup=False)


if __name__ == "__main__":
    typer.run(main)
