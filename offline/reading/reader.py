"""Judges whether a sentence answers a question, by reading both together: English, German, French,
Spanish, Russian and Chinese, question and sentence in one language or in two. English has a model
of its own.

Cross-encoders (Nogueira and Cho, 2019, "Passage Re-ranking with BERT") in 8-bit integers; 4 to
13 ms of one core a sentence.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from offline.embeddings import onnx_messages as onnx
from offline.embeddings.minilm import multiplies_signed_bytes
from offline.embeddings.onnx_sessions import session
from offline.embeddings.transformer_graph import Array, TransformerGraph
from offline.language.languages import ENGLISH, is_foreign
from offline.reading.excerpt import Excerpt
from offline.reading.pieces import Pieces, pieces_of_english, pieces_of_languages
from offline.reading.weights import Weights, english_weights, weights

HEADS = 12
INPUT, OUTPUT = "before", "after"


class Reader:
    """The reader; several threads may call it. Loading takes 0.2 s of one core and 94 MB, the model
    for English 0.4 s and 115 MB.

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
    return _Model(weights(), pieces_of_languages(), _gelu)


@cache
def _english_model() -> "_Model":
    return _Model(english_weights(), pieces_of_english(), math.tanh)


def _gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


class _Model:
    """`active`: what the head makes of each inner value."""

    def __init__(
        self, model_weights: Weights, pieces: Pieces, active: Callable[[float], float]
    ) -> None:
        self._weights = model_weights
        self._pieces = pieces
        self._active = active
        self._encoder = session(encoder_graph(model_weights, signed=multiplies_signed_bytes()))

    def judgement(self, question: str, excerpt: Excerpt) -> float:
        """Return the logarithm of the odds that the excerpt answers the question."""
        pair = self._pieces.pair(question, excerpt)
        embeddings = self._weights.embeddings(pair.pieces, pair.question)
        output: Any = self._encoder.run(None, {INPUT: embeddings[None]})
        hidden_state = output[0][0]
        pooled_state = np.concatenate([hidden_state.mean(axis=0), hidden_state[0]])
        inner = pooled_state @ self._head["hidden.weight"].T + self._head["hidden.bias"]
        active = np.array([self._active(x) for x in inner.tolist()])
        return float(active @ self._head["out.weight"][0] + self._head["out.bias"][0])

    @cached_property
    def _head(self) -> dict[str, Array]:
        names = ("hidden.weight", "hidden.bias", "out.weight", "out.bias")
        return {name: self._weights.arrays[f"head.{name}"] for name in names}


def encoder_graph(model_weights: Weights, *, signed: bool) -> bytes:
    """Return a model that takes the sum of word, position and type, shape (1, pieces, width), and
    gives the state after the last layer. `signed`: see `TransformerGraph`.
    """
    graph = TransformerGraph("reader", heads=HEADS, signed=signed)
    graph.input(INPUT, onnx.FLOAT, [1, "pieces", "width"])
    graph.output(OUTPUT, onnx.FLOAT, [1, "pieces", "width"])
    state = graph.normalized(INPUT, model_weights.norm("words"), "normalized")
    for number in range(model_weights.layers):
        result = OUTPUT if number == model_weights.layers - 1 else f"state_{number}"
        state = graph.layer(number, model_weights.layer(number), state, result)
    return graph.serialized()
