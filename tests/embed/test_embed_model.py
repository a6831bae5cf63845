"""Embeddings that come out of the launches, against the reference and against the model in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_minilm import NumpyMiniLm

from examples.embed.model import SentenceEncoder, packed_batches
from examples.embed.sentences import TOLERANCE, read_reference
from examples.embed.tokenizer import TOKEN_LIMIT, TextTokenizer
from examples.embed.weights import ModelFiles
from metrale_gpu_runtime.drivers.mock import Launch
from metrale_gpu_runtime.testing import MockGpuBackend

WORDS = "the tide carried seven painted boats past an empty lighthouse while nobody listened to its horn "


def text_of(tokens: int, tokenize: TextTokenizer) -> str:
    """A text of exactly so many tokens, [CLS] and [SEP] included."""
    text = " ".join((WORDS * tokens).split()[: tokens - 2])
    assert len(tokenize(text).ids) == tokens
    return text


def test_reference_components(encoder: SentenceEncoder) -> None:
    """The first eight components of each reference sentence are right to 1e-4."""
    reference = read_reference()
    embeddings = encoder.embed(reference.token_ids)
    np.testing.assert_allclose(embeddings[:, :8], reference.first8, rtol=0, atol=TOLERANCE)


def test_reference_cosines(encoder: SentenceEncoder) -> None:
    """Every cosine between two reference sentences is right to 1e-4."""
    reference = read_reference()
    embeddings = encoder.embed(reference.token_ids)
    np.testing.assert_allclose(embeddings @ embeddings.T, reference.cosine, rtol=0, atol=TOLERANCE)


def test_other_sentences_agree_with_numpy(encoder: SentenceEncoder, tokenize: TextTokenizer, twin: NumpyMiniLm) -> None:
    """Sentences of many lengths in one batch agree with NumPy in all 384 components."""
    texts = ["Ja.", "", "Où est la gare ?", "ﬁne — 東京 🙂", text_of(33, tokenize), text_of(65, tokenize)]
    sequences = [tokenize(text).ids for text in texts]
    expected = np.stack([twin.embed(ids) for ids in sequences])
    np.testing.assert_allclose(encoder.embed(sequences), expected, rtol=0, atol=1e-5)


def test_empty_text(encoder: SentenceEncoder, tokenize: TextTokenizer, twin: NumpyMiniLm) -> None:
    """An empty text is [CLS] [SEP] and has an embedding of length 1 like any other."""
    tokens = tokenize("")
    assert tokens.ids == (101, 102)
    embedding = encoder.embed([tokens.ids])[0]
    assert abs(float(np.linalg.norm(embedding)) - 1) < 1e-6
    np.testing.assert_allclose(embedding, twin.embed(tokens.ids), rtol=0, atol=1e-5)


def test_long_text(encoder: SentenceEncoder, tokenize: TextTokenizer, twin: NumpyMiniLm) -> None:
    """A text of 200 tokens, more than the 128 that tokenizer.json would cut it to, is read to its end."""
    tokens = tokenize(text_of(200, tokenize))
    assert tokens.dropped_count == 0
    np.testing.assert_allclose(encoder.embed([tokens.ids])[0], twin.embed(tokens.ids), rtol=0, atol=1e-5)


def test_text_over_the_limit(encoder: SentenceEncoder, tokenize: TextTokenizer, twin: NumpyMiniLm) -> None:
    """Of a text over the limit the first 254 pieces are embedded, and the rest is counted."""
    tokens = tokenize(" ".join((WORDS * 30).split()[:300]))
    assert len(tokens.ids) == TOKEN_LIMIT
    assert tokens.dropped_count == 300 - (TOKEN_LIMIT - 2)
    assert tokens.ids[:-1] == tokenize(text_of(TOKEN_LIMIT, tokenize)).ids[:-1]
    assert tokens.ids[-1] == 102
    np.testing.assert_allclose(encoder.embed([tokens.ids])[0], twin.embed(tokens.ids), rtol=0, atol=1e-5)


def test_neighbours_do_not_matter(encoder: SentenceEncoder) -> None:
    """A sentence has the same embedding alone and between others, bit for bit."""
    sequences = read_reference().token_ids
    alone = np.concatenate([encoder.embed([ids]) for ids in sequences])
    np.testing.assert_array_equal(encoder.embed([sequences[2], sequences[0], sequences[1]]), alone[[2, 0, 1]])


def test_every_launch_is_timed(encoder: SentenceEncoder) -> None:
    """One batch adds the launches of the six layers to the kernels' times."""
    before = {name: entry.launches for name, entry in encoder.times.by_kernel.items()}
    before_ms = sum(entry.total_ms for entry in encoder.times.by_kernel.values())
    encoder.embed([(101, 2023, 102)])
    added = {name: entry.launches - before.get(name, 0) for name, entry in encoder.times.by_kernel.items()}
    assert added == {
        "embed_tokens_f32": 1,
        "layer_norm_f32": 1,
        "matmul_bias_f32": 24,
        "attention_f32": 6,
        "add_layer_norm_f32": 12,
        "gelu_f32": 6,
        "mean_pool_f32": 1,
        "l2_normalise_f32": 1,
    }
    assert sum(entry.total_ms for entry in encoder.times.by_kernel.values()) > before_ms


@pytest.mark.parametrize("profile", ["A100", "RTX 4090"])
def test_launches_on_a_gpu(files: ModelFiles, profile: str) -> None:
    """The same host code stays within a GPU's limits and launches the model's steps in order."""
    with MockGpuBackend(profile, strict_pointers=True) as gpu:
        SentenceEncoder(gpu, files).embed([(101, 102), (101,) * 70])
        launches = gpu.log.of(Launch)
    layer = ["matmul_bias_f32", "attention_f32", "matmul_bias_f32", "add_layer_norm_f32"]
    layer += ["matmul_bias_f32", "gelu_f32", "matmul_bias_f32", "add_layer_norm_f32"]
    assert [launch.function for launch in launches] == [
        "embed_tokens_f32",
        "layer_norm_f32",
        *(layer * 6),
        "mean_pool_f32",
        "l2_normalise_f32",
    ]
    assert [(launch.grid, launch.block) for launch in launches[:7]] == [
        ((72, 1, 1), (96, 1, 1)),
        ((18, 1, 1), (64, 1, 1)),
        ((18, 3, 1), (64, 1, 1)),
        ((3, 12, 2), (32, 1, 1)),
        ((6, 3, 1), (64, 1, 1)),
        ((18, 1, 1), (64, 1, 1)),
        ((24, 3, 1), (64, 1, 1)),
    ]
    assert len({launch.stream for launch in launches}) == 1


def test_progress_reports_layers(encoder: SentenceEncoder) -> None:
    """The callback is called once for each of the six layers."""
    calls: list[int] = []
    encoder.embed([(101, 102)], lambda: calls.append(1))
    assert len(calls) == 6


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        ([], "at least one sequence"),
        ([(101, 102), ()], "sequence 1 has 0 tokens; the model takes 1 to 512"),
        ([(101,) * 513], "sequence 0 has 513 tokens"),
        ([(101, 30522, 102)], "token id 30522; the vocabulary is 0 to 30521"),
        ([(101, -1, 102)], "token id -1"),
    ],
)
def test_wrong_batches_are_refused(encoder: SentenceEncoder, batch: list[tuple[int, ...]], complaint: str) -> None:
    """A batch that would index past the model's tables is refused before anything is launched."""
    launches = sum(entry.launches for entry in encoder.times.by_kernel.values())
    with pytest.raises(ValueError, match=complaint):
        encoder.embed(batch)
    assert sum(entry.launches for entry in encoder.times.by_kernel.values()) == launches


def test_batches_keep_order_and_budget() -> None:
    """Sequences are batched in order, up to the budget; one that is longer goes alone."""
    assert list(packed_batches([4, 3, 9, 1, 6, 1], 7)) == [range(2), range(2, 3), range(3, 5), range(5, 6)]
    assert list(packed_batches([], 7)) == []
