"""How much passages, sentences and places account for the terms of a question, and how alike passages are to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.passage_index.index import PassageIndex

Array = Any

UNSEEN_TERM_WEIGHT = 0.7
"""The weight of a term in no passage, as a share of the mean of the others."""
WHOLE_PASSAGE = 0.5
"""What a passage accounts for counts this much at a place in it whose own sentences do not."""


@dataclass(frozen=True)
class Evidence:
    """What the index says of one question. Terms × sentences, × passages, × places: 1 where it has the term, else 0."""

    weights: Array
    """Of the terms, by their rarity; they add up to 1."""
    sentences: Array
    passages: Array
    places: Array
    likeness: Array
    """Of each passage to the question, 0 to 1: words (BM25) and vector, half each."""
    similarity: Array
    """Of each passage to the question by its vector, the greatest as 1."""


def evidence(index: PassageIndex, terms: QueryTerms, similarities: Mapping[str, float], allowed: Array) -> Evidence:
    """Return the evidence for a question. `similarities` are cosines by id; others are no greater than the least.

    `allowed`: whether each passage may be used, as 0 or 1. The others neither count nor have evidence.
    """
    total = float(allowed.sum())
    count = len(terms.stems)
    sentences, passages = np.zeros((count, index.sentence_count)), np.zeros((count, len(index)))
    having = np.zeros(count)
    for row, stem in enumerate(terms.stems):
        if (number := index.words.numbers.get(stem)) is not None:
            sentences[row, index.words.sentences.of(number)] = 1.0
            passages[row, index.words.passages.of(number)] = 1.0
            having[row] = (passages[row] * allowed).sum()
    passages *= allowed
    places = np.maximum(_at_places(index, sentences), WHOLE_PASSAGE * passages[:, index.passage_of])
    similarity = _largest_one(_similarity(index, similarities) * allowed)
    likeness = 0.5 * _largest_one(_bm25(index, terms.all_stems, allowed)) + 0.5 * similarity
    return Evidence(_weights(having, total), sentences, passages, places, likeness, similarity)


def _weights(having: Array, total: float) -> Array:
    rarity = np.log(1 + (total - having + 0.5) / (having + 0.5))
    seen = having > 0
    weights = np.where(seen, rarity, UNSEEN_TERM_WEIGHT * (rarity[seen].mean() if seen.any() else 1.0))
    return weights / (weights.sum() or 1.0)


def _at_places(index: PassageIndex, sentences: Array) -> Array:
    """Return terms × places: the most that any sentence about the entity has."""
    grouped = index.sentences_of
    if not len(grouped.values) or not len(sentences):
        return np.zeros((len(sentences), len(index.places)))
    return np.maximum.reduceat(sentences[:, grouped.values], grouped.starts[:-1], axis=1)


def _similarity(index: PassageIndex, similarities: Mapping[str, float]) -> Array:
    least = max(0.0, min(similarities.values(), default=0.0))
    found = np.full(len(index), least)
    for id, score in similarities.items():
        if (number := index.numbers.get(id)) is not None:
            found[number] = max(score, 0.0)
    return found


def _bm25(index: PassageIndex, stems: Sequence[str], allowed: Array) -> Array:
    """Return the BM25 of each passage (Robertson and Zaragoza, 2009)."""
    scores = np.zeros(len(index))
    total = float(allowed.sum())
    mean = float((index.lengths * allowed).sum()) / (total or 1.0) or 1.0
    for stem in stems:
        if (number := index.words.numbers.get(stem)) is None:
            continue
        begin, end = index.words.passages.starts[number : number + 2]
        some, times = index.words.passages.values[begin:end], index.words.counts[begin:end]
        having = float(allowed[some].sum())
        rarity = np.log(1 + (total - having + 0.5) / (having + 0.5))
        scores[some] += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * index.lengths[some] / mean))
    return scores * allowed


def _largest_one(values: Array) -> Array:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values
