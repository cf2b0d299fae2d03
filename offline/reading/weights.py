"""The weights of the reader: words in 4 bits, layers in 8.

`reader.npz` has, for the six languages it was taught in, the words of multilingual-e5-small and its
lower layers, taught further (`docs/decisions/0209-a-reader-judges-sentences.md`). `english.npz` has
those of a reranker, taught further, for English alone
(`docs/decisions/0228-english-is-read-by-a-reranker.md`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from offline.embeddings.transformer_graph import Array, Layer, Matrix, Norm
from offline.errors import DamagedFile

WEIGHTS = Path(__file__).with_name("reader.npz")
WEIGHTS_SHA256 = "bcb9baf6de9201165c8dd4430ce0622785baf9090d7685a26542e953f8fb0dc3"
ENGLISH = Path(__file__).with_name("english.npz")
ENGLISH_SHA256 = "bb13f084c693f50e4cdf872e837aea7edba3458bc771fd7c33319534ce06f902"


@dataclass(frozen=True)
class Weights:
    """What the files have, by name."""

    arrays: dict[str, Any]

    @property
    def layers(self) -> int:
        """Return how many layers the encoder has."""
        return int(self.arrays["layers"])

    def layer(self, number: int) -> Layer:
        """Return a layer of the encoder."""
        return Layer(
            self._matrix(f"{number}.query_key_value"),
            self._matrix(f"{number}.out"),
            self.norm(f"{number}.middle"),
            self._matrix(f"{number}.wide"),
            self._matrix(f"{number}.narrow"),
            self.norm(f"{number}.layer"),
        )

    def norm(self, name: str) -> Norm:
        """Return a layer normalisation."""
        return Norm(self.arrays[f"{name}.norm.weight"], self.arrays[f"{name}.norm.bias"])

    def embeddings(self, ids: Sequence[int], question: int) -> Array:
        """Return the sum of word, position and type for each piece, shape (pieces, width), of which
        so many are of the question.
        """
        nibbles = self.arrays["words"][list(ids)]
        numbers = np.concatenate(
            [np.bitwise_and(nibbles, 15), np.right_shift(nibbles, 4)], axis=2
        ).astype(np.float32)
        scales = self.arrays["word_scales"][list(ids)].astype(np.float32)
        words = ((numbers - 8) * scales[:, :, None]).reshape(len(ids), -1)
        result = words + self._positions[: len(ids)]
        if "other_type" in self.arrays:
            result[question:] += self.arrays["other_type"]
        return result

    @cached_property
    def _positions(self) -> Array:
        """The sum of position and the type of a question."""
        return self.arrays["positions"].astype(np.float32)

    def _matrix(self, name: str) -> Matrix:
        return Matrix(self.arrays[name], self.arrays[f"{name}.scales"], self.arrays[f"{name}.bias"])


@cache
def weights() -> Weights:
    """Read the weights. Raises `DamagedFile` when their file is not the known one."""
    return Weights(_arrays(WEIGHTS, WEIGHTS_SHA256))


@cache
def english_weights() -> Weights:
    """Read the weights for English. Raises `DamagedFile` when their file is not the known one."""
    return Weights(_arrays(ENGLISH, ENGLISH_SHA256))


def _arrays(path: Path, sha256: str) -> dict[str, Any]:
    with np.load(BytesIO(verified_content(path, sha256))) as arrays:
        return {name: arrays[name] for name in arrays.files}


def verified_content(path: Path, sha256: str) -> bytes:
    """Return the content of a file. Raises `DamagedFile` when it is not the known one."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DamagedFile(f"{path.name} has another SHA-256: install Lightstream again")
    return content
