"""Judges whether a sentence answers a question, by reading both together: English, German, French,
Spanish, Russian and Chinese, question and sentence in one language or in two.

A cross-encoder (Nogueira and Cho, 2019, "Passage Re-ranking with BERT") in 8-bit integers; 13 ms
of one core a sentence.
"""

import math
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from offline.embeddings import onnx_messages as onnx
from offline.embeddings.minilm import multiplies_signed_bytes
from offline.embeddings.onnx_sessions import session
from offline.embeddings.transformer_graph import Array, TransformerGraph
from offline.reading.excerpt import Excerpt
from offline.reading.pieces import Pieces
from offline.reading.weights import Weights, weights

HEADS = 12


class Reader:
    """The reader; several threads may call it. Loading takes 0.2 seconds of one core and 61 MB.

    Raises `DamagedFile` when one of its files is not the known one.
    """

    def judgements(self, question: str, excerpts: Sequence[Excerpt]) -> list[float]:
        """Return for each excerpt the logarithm of the odds that it answers the question."""
        return [_model().judgement(question, excerpt) for excerpt in excerpts]


@cache
def _model() -> "_Model":
    return _Model(weights())


class _Model:
    def __init__(self, model_weights: Weights) -> None:
        self._weights = model_weights
        self._pieces = Pieces()
        graph = encoder_graph(model_weights, signed=multiplies_signed_bytes())
        self._session = session(graph)

    def judgement(self, question: str, excerpt: Excerpt) -> float:
        """Return the logarithm of the odds that the excerpt answers the question."""
        embeddings = self._weights.embeddings(self._pieces.pair(question, excerpt))
        hidden_state: Any = self._session.run(None, {"embeddings": embeddings[None]})[0][0]
        pooled_state = np.concatenate([hidden_state.mean(axis=0), hidden_state[0]])
        inner = pooled_state @ self._head["hidden.weight"].T + self._head["hidden.bias"]
        active = np.array([0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in inner.tolist()])
        return float(active @ self._head["out.weight"][0] + self._head["out.bias"][0])

    @cached_property
    def _head(self) -> dict[str, Array]:
        names = ("hidden.weight", "hidden.bias", "out.weight", "out.bias")
        return {name: self._weights.arrays[f"head.{name}"] for name in names}


def encoder_graph(model_weights: Weights, *, signed: bool) -> bytes:
    """Return a model with the input `embeddings` and the output `hidden_state`, both of shape (1,
    pieces, width). `signed`: see `TransformerGraph`.
    """
    graph = TransformerGraph("reader", heads=HEADS, signed=signed)
    graph.input("embeddings", onnx.FLOAT, [1, "pieces", "width"])
    graph.output("hidden_state", onnx.FLOAT, [1, "pieces", "width"])
    hidden_state = graph.normalized("embeddings", model_weights.norm("words"), "hidden_0")
    for number in range(model_weights.layers):
        is_last = number == model_weights.layers - 1
        result = "hidden_state" if is_last else f"hidden_{number + 1}"
        hidden_state = graph.layer(number, model_weights.layer(number), hidden_state, result)
    return graph.serialized()
