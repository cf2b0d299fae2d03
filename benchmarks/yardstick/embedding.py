"""Vectors by feature hashing: texts that share words, or parts of words, point the same way."""

import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.yardstick.text import STOP, WORD

Vector = NDArray[np.float32]
DIMENSION = 384
COMMON = 0.6
"""Length of the component that all vectors share. With it unrelated texts have a cosine near 0.26,
as with real models; without it the usual threshold of 0.2 would drop most hits, and questions would
look cheaper than they are.
"""


def embed(text: str, dimension: int = DIMENSION) -> Vector:
    """A vector of length 1."""
    weights: dict[str, float] = {}
    for word in WORD.findall(text):
        low = word.lower()
        weights[low] = weights.get(low, 0.0) + _weight(word)
    weights = {word: weight for word, weight in weights.items() if weight} or {
        text.strip().lower() or "∅": 1.0
    }
    table = np.frombuffer(b"".join(_word(word, dimension) for word in weights), dtype=np.float32)
    total = np.sqrt(np.fromiter(weights.values(), dtype=np.float32)) @ table.reshape(
        len(weights), dimension
    )
    total = total / (float(np.linalg.norm(total)) or 1.0) + COMMON / dimension**0.5
    return (total / float(np.linalg.norm(total))).astype(np.float32)


@lru_cache(maxsize=400_000)
def _word(word: str, dimension: int) -> bytes:
    """Signed hashes of a word and of its runs of four characters."""
    vector = np.zeros(dimension, dtype=np.float32)
    padded = f"^{word}$"
    runs = [padded[i : i + 4] for i in range(len(padded) - 3)]
    for feature, weight in [(word, 1.0), *((run, 0.45 / len(runs) ** 0.5) for run in runs)]:
        data = feature.encode("utf-8", "surrogatepass")
        bits = zlib.crc32(data) ^ zlib.crc32(b"#" + data) << 32
        for slot in (bits & 0xFFFF, (bits >> 16) & 0xFFFF, (bits >> 32) & 0xFFFF):
            vector[slot % dimension] += weight if (slot >> 15) & 1 else -weight
    return vector.tobytes()


def _weight(word: str) -> float:
    """How much a word says, without a corpus: names and long words count more."""
    if word.lower() in STOP:
        return 0.0
    if word.isdigit():
        return 0.6
    length = 0.5 if len(word) <= 4 else 1.0 if len(word) <= 7 else 1.3
    return length * (1.5 if word[0].isupper() else 1.0)
