"""Vectors of passages whose embedder reads windows: the mean of those of its windows, so that
nothing is embedded twice.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from contracts.graph import VectorRow
from contracts.ids import is_window
from offline.language.windows import windows_of


def texts_to_embed(row: VectorRow, model: str) -> list[str]:
    """Return the texts whose mean is the vector of a chunk's row: its windows, or its own text."""
    windows = [] if is_window(row.id) else windows_of(model, row.text)
    return windows or [row.text]


def mean_vector(vectors: Sequence[Sequence[float]]) -> Sequence[float]:
    """Return the mean of vectors as one of length 1, in half precision as `CachedEmbeddings` gives
    them; a single one as it is.
    """
    if len(vectors) == 1:
        return vectors[0]
    total = np.sum(np.array(vectors, np.float64), axis=0)
    length = float(np.linalg.norm(total)) or 1.0
    half = (total / length).astype(np.float16)
    return array("f", half.astype(np.float32).tobytes())
