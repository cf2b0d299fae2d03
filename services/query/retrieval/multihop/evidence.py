"""How much passages, sentences and places account for the terms of a question, and how alike
passages are to it.

Where words of about the same meaning count too, a term has the likeness of the most similar one
instead of 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.similar_words import similar_words
from services.query.retrieval.passage_index.index import PassageIndex

Array = Any

UNSEEN_TERM_WEIGHT = 0.7
"""The weight of a term in no passage, as a share of the mean of the others."""
WHOLE_PASSAGE = 0.5
"""What a passage accounts for counts this much at a place in it whose own sentences do not."""


@dataclass(frozen=True)
class Evidence:
    """What the index says of one question. Terms × sentences, × passages, × places: 1 where it has
    the term, else 0.
    """

    weights: Array
    """Of the terms, by their rarity; they add up to 1."""
    sentences: Array
    passages: Array
    places: Array
    likeness: Array
    """Of each passage to the question, 0 to 1: words (BM25) and vector, half each."""
    similarity: Array
    """Of each passage to the question by its vector, the greatest as 1."""
    usable: Array
    """Whether a path may lead to each place."""


def gather_evidence(
    index: PassageIndex,
    terms: QueryTerms,
    similarities: Mapping[str, float],
    allowed: Array,
    fragments: Sequence[int] = (),
) -> Evidence:
    """Return the evidence for a question. `similarities` are cosines by id; others are no greater
    than the least.

    `allowed`: whether each passage may be used, as 0 or 1. The others neither count nor have
    evidence. `fragments`: entities that no path may lead to.
    """
    rows = _Rows.of(len(terms.stems), index, allowed)
    for row, stem in enumerate(terms.stems):
        rows.fill(row, {stem: 1.0})
    similarity = _largest_one(_similarity(index, similarities) * allowed)
    likeness = 0.5 * _largest_one(_bm25(index, terms.all_stems, allowed)) + 0.5 * similarity
    usable = allowed[index.passage_of] > 0
    usable[np.isin(index.entity_of, fragments)] = False
    return Evidence(
        rows.weights(), rows.sentences, rows.passages, rows.places, likeness, similarity, usable
    )


def with_similar_words(
    index: PassageIndex, terms: QueryTerms, evidence: Evidence, allowed: Array
) -> Evidence:
    """Return the evidence in which a word of about the same meaning as a term counts for it as much
    as they are alike.

    A term is as rare as it is itself; where it is in no passage, as rare as what is similar.
    """
    rows = _Rows.of(len(terms.stems), index, allowed)
    for row, stem in enumerate(terms.stems):
        rows.fill(row, {stem: 1.0, **similar_words(stem)})
    return replace(
        evidence,
        weights=rows.weights(),
        sentences=rows.sentences,
        passages=rows.passages,
        places=rows.places,
    )


@dataclass(frozen=True)
class _Rows:
    """Terms × sentences, × passages and × places, which are filled only where a word occurs: that
    is in few of them.
    """

    index: PassageIndex
    allowed: Array
    sentences: Array
    passages: Array
    places: Array

    @classmethod
    def of(cls, count: int, index: PassageIndex, allowed: Array) -> "_Rows":
        sizes = (index.sentence_count, len(index), len(index.places))
        return cls(index, allowed, *(np.zeros((count, size)) for size in sizes))

    def fill(self, row: int, words: Mapping[str, float]) -> None:
        """Fill the row of a term with the words that count for it: one, or at least a half for one
        that is similar.
        """
        index, numbers = self.index, self.index.words.numbers
        known = sorted((alike, numbers[word]) for word, alike in words.items() if word in numbers)
        if not known:
            return
        # The most alike last: of several values for one place the last one stays. No whole passage
        # has above 0.5.
        alike, some = (
            np.array([alike for alike, _ in known]),
            np.array([number for _, number in known]),
        )
        sentences, in_sentences = index.words.sentences.spread(some, alike)
        passages, in_passages = index.words.passages.spread(some, alike)
        allowed = self.allowed[passages] > 0
        passages, in_passages = passages[allowed], in_passages[allowed]
        self.sentences[row, sentences] = in_sentences
        self.passages[row, passages] = in_passages
        places, beside = index.places_in.spread(passages, WHOLE_PASSAGE * in_passages)
        self.places[row, places] = beside
        places, about = index.places_about.spread(sentences, in_sentences)
        self.places[row, places] = about

    def weights(self) -> Array:
        """Return the weights of terms by the passages that have them, or else similar words."""
        exact: Array = (self.passages == 1.0).sum(axis=1)
        return _weights(
            np.where(exact > 0, exact, self.passages.sum(axis=1)), float(self.allowed.sum())
        )


def _weights(having: Array, total: float) -> Array:
    rarity = np.log(1 + (total - having + 0.5) / (having + 0.5))
    seen = having > 0
    weights = np.where(
        seen, rarity, UNSEEN_TERM_WEIGHT * (rarity[seen].mean() if seen.any() else 1.0)
    )
    return weights / (weights.sum() or 1.0)


def _similarity(index: PassageIndex, similarities: Mapping[str, float]) -> Array:
    least = max(0.0, min(similarities.values(), default=0.0))
    similarity = np.full(len(index), least)
    for id, score in similarities.items():
        if (number := index.numbers.get(id)) is not None:
            similarity[number] = max(score, 0.0)
    return similarity


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
        scores[some] += (
            rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * index.lengths[some] / mean))
        )
    return scores * allowed


def _largest_one(values: Array) -> Array:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values
