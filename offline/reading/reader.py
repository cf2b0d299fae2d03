"""Judges whether a sentence answers a question, by reading both together: English, German, French,
Spanish, Russian and Chinese, question and sentence in one language or in two. English has upper
layers of its own.

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
from offline.language.languages import ENGLISH, is_foreign
from offline.reading.excerpt import Excerpt
from offline.reading.pieces import Pieces
from offline.reading.weights import OWN_LAYERS, Weights, english_weights, weights

HEADS = 12
INPUT, OUTPUT = "before", "after"


class Reader:
    """The reader; several threads may call it. Loading takes 0.2 s of one core and 61 MB, what
    English has of its own 0.3 s and 32 MB more.

    Raises `DamagedFile` when one of its files is not the known one.
    """

    def judgements(
        self, question: str, excerpts: Sequence[Excerpt], language: str = ""
    ) -> list[float]:
        """Return for each excerpt the logarithm of the odds that it answers the question, which is
        in this language, or in an unknown one.
        """
        return [
            _english_model().judgement(question, excerpt)
            if language == ENGLISH and not is_foreign(excerpt.sentence, ENGLISH)
            else _model().judgement(question, excerpt)
            for excerpt in excerpts
        ]


@cache
def _model() -> "_Model":
    return _Model(weights())


@cache
def _english_model() -> "_Model":
    return _Model(english_weights())


@cache
def _shared_layers() -> Any:
    """Return a session of the layers that all languages share."""
    known_weights = weights()
    layers = range(known_weights.layers - OWN_LAYERS)
    return session(encoder_graph(known_weights, layers, signed=multiplies_signed_bytes()))


class _Model:
    def __init__(self, model_weights: Weights) -> None:
        self._weights = model_weights
        self._pieces = Pieces()
        self._shared_layers = _shared_layers()
        layers = range(model_weights.layers - OWN_LAYERS, model_weights.layers)
        graph = encoder_graph(model_weights, layers, signed=multiplies_signed_bytes())
        self._own_layers = session(graph)

    def judgement(self, question: str, excerpt: Excerpt) -> float:
        """Return the logarithm of the odds that the excerpt answers the question."""
        state: Any = self._weights.embeddings(self._pieces.pair(question, excerpt))[None]
        for layers in (self._shared_layers, self._own_layers):
            (state,) = layers.run(None, {INPUT: state})
        hidden_state = state[0]
        pooled_state = np.concatenate([hidden_state.mean(axis=0), hidden_state[0]])
        inner = pooled_state @ self._head["hidden.weight"].T + self._head["hidden.bias"]
        active = np.array([0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in inner.tolist()])
        return float(active @ self._head["out.weight"][0] + self._head["out.bias"][0])

    @cached_property
    def _head(self) -> dict[str, Array]:
        names = ("hidden.weight", "hidden.bias", "out.weight", "out.bias")
        return {name: self._weights.arrays[f"head.{name}"] for name in names}


def encoder_graph(model_weights: Weights, layers: range, *, signed: bool) -> bytes:
    """Return a model of some layers that stand together, which takes the state before the first of
    them, shape (1, pieces, width), and gives that after the last. `signed`: see
    `TransformerGraph`.
    """
    graph = TransformerGraph("reader", heads=HEADS, signed=signed)
    graph.input(INPUT, onnx.FLOAT, [1, "pieces", "width"])
    graph.output(OUTPUT, onnx.FLOAT, [1, "pieces", "width"])
    state = INPUT
    if not layers.start:
        state = graph.normalized(state, model_weights.norm("words"), "normalized")
    for number in layers:
        result = OUTPUT if number == layers[-1] else f"state_{number}"
        state = graph.layer(number, model_weights.layer(number), state, result)
    return graph.serialized()
