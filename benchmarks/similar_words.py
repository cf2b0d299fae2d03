"""Makes the table of words of about the same meaning that the mode `walk` reads; not a benchmark.

    python -m benchmarks.similar_words

The words are the first `MAX_STEMS` stems of the packaged embedder's vocabulary, where frequent
words come first. Each is embedded alone: fifteen seconds of CPU.
"""

import asyncio

import numpy as np

from offline.embeddings.wordpiece import VOCABULARY
from offline.language.stems import stem
from offline.language.stop_words import STOPWORDS
from runtime.models.minilm import MiniLmEmbedder
from services.query.retrieval.multihop.similar_words import TABLE

MAX_STEMS = 5_000
MIN_LIKENESS = 0.5
"""Cosine of two words from which on they are listed."""
MAX_SIMILAR = 12
"""Words listed with each, which are listed with these too; so a line may have twice as many."""
SHORTEST = 3
"""Letters of a word."""


def vocabulary() -> dict[str, str]:
    """Return the most frequent word of each stem, the most frequent stems first."""
    words: dict[str, str] = {}
    for word in VOCABULARY.read_text("utf-8").split("\n"):
        if word.isascii() and word.isalpha() and len(word) >= SHORTEST and word not in STOPWORDS:
            words.setdefault(stem(word), word)
    return dict(list(words.items())[:MAX_STEMS])


async def table() -> str:
    """Return the lines of the table."""
    words = vocabulary()
    vectors = np.array(await MiniLmEmbedder().embed(list(words.values())), np.float32)
    return lines(list(words), vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def lines(stems: list[str], vectors: np.ndarray) -> str:
    """Return a line for each stem that has similar ones, or that is one of another's. The vectors
    are of length 1.
    """
    similar: list[dict[int, int]] = [{} for _ in stems]
    for number in range(len(stems)):
        likeness = vectors @ vectors[number]
        best = np.argsort(-likeness, kind="stable")[: MAX_SIMILAR + 1].tolist()
        for other in best:
            if other != number and likeness[other] >= MIN_LIKENESS:
                # Both ways: "university" has many that are more alike than "degree", which has few.
                similar[number][other] = similar[other][number] = round(100 * likeness[other])
    return "".join(
        _line(stems, own, some) for own, some in zip(stems, similar, strict=True) if some
    )


def _line(stems: list[str], own: str, similar: dict[int, int]) -> str:
    """Return the line of a stem: the most similar ones first, of equals the most frequent."""
    best = sorted(similar.items(), key=lambda some: (-some[1], some[0]))[: 2 * MAX_SIMILAR]
    return " ".join([own, *(f"{stems[number]} {likeness}" for number, likeness in best)]) + "\n"


if __name__ == "__main__":
    TABLE.write_text(asyncio.run(table()), "ascii")
