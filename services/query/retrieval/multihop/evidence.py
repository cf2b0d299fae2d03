"""How much passages, sentences and mentions account for the terms of a question, and how alike
passages are to it.

Where words of about the same meaning count too, a term has the likeness of the most similar one
instead of 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.query.retrieval.arrays import Booleans, Floats, Integers
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.similar_words import similar_words
from services.query.retrieval.passage_index.index import PassageIndex

UNSEEN_TERM_WEIGHT = 0.7
"""The weight of a term in no passage, as a share of the mean of the others."""
WHOLE_PASSAGE = 0.5
"""What a passage accounts for counts this much at a mention in it whose own sentences do not."""


@dataclass(frozen=True)
class Evidence:
    """What the index says of one question. An item of (terms, sentences), (terms, passages) and
    (terms, mentions) is 1 where the term occurs, else 0.
    """

    weights: Floats
    """(terms,): by their rarity; they add up to 1."""
    sentences: Floats
    """(terms, sentences)"""
    passages: Floats
    """(terms, passages)"""
    mentions: Floats
    """(terms, mentions)"""
    bm25: Floats
    """(passages,): likeness to the question by words, the greatest as 1."""
    likeness: Floats
    """(passages,): to the question, 0 to 1, by words (BM25) and by vector, half each."""
    similarity: Floats
    """(passages,): to the question by its vector, the greatest as 1."""
    usable: Booleans
    """(mentions,): whether a path may lead to the mention."""


def gather_evidence(
    index: PassageIndex,
    terms: QueryTerms,
    similarities: Mapping[str, float],
    allowed_passages: Floats,
    fragments: Sequence[int] = (),
) -> Evidence:
    """Return the evidence for a question. `similarities` are cosines by id; others are no greater
    than the least.

    `allowed_passages`: (passages,), 1 for a passage that may be used, else 0. The others neither
    count nor have evidence. `fragments`: entities that no path may lead to.
    """
    occurrences = _Occurrences.of(len(terms.stems), index, allowed_passages)
    for row, stem in enumerate(terms.stems):
        occurrences.fill(row, {stem: 1.0})
    similarity = _scaled(_similarity(index, similarities) * allowed_passages)
    bm25 = _scaled(_bm25(index, terms.all_stems, allowed_passages))
    usable = allowed_passages[index.passage_of] > 0
    usable[np.isin(index.entity_of, fragments)] = False
    return Evidence(
        weights=occurrences.weights(),
        sentences=occurrences.sentences,
        passages=occurrences.passages,
        mentions=occurrences.mentions,
        bm25=bm25,
        likeness=0.5 * bm25 + 0.5 * similarity,
        similarity=similarity,
        usable=usable,
    )


def with_similar_words(
    index: PassageIndex, terms: QueryTerms, evidence: Evidence, allowed_passages: Floats
) -> Evidence:
    """Return the evidence in which a word of about the same meaning as a term counts for it as much
    as they are alike.

    A term is as rare as it is itself; where it is in no passage, as rare as what is similar.
    """
    occurrences = _Occurrences.of(len(terms.stems), index, allowed_passages)
    for row, stem in enumerate(terms.stems):
        occurrences.fill(row, {stem: 1.0, **similar_words(stem)})
    return replace(
        evidence,
        weights=occurrences.weights(),
        sentences=occurrences.sentences,
        passages=occurrences.passages,
        mentions=occurrences.mentions,
    )


@dataclass(frozen=True)
class _Occurrences:
    """The arrays of `Evidence` by terms, which are filled only where a word occurs: that is in few
    of their items.
    """

    index: PassageIndex
    allowed_passages: Floats
    sentences: Floats
    passages: Floats
    mentions: Floats

    @classmethod
    def of(cls, terms: int, index: PassageIndex, allowed_passages: Floats) -> "_Occurrences":
        return cls(
            index,
            allowed_passages,
            sentences=np.zeros((terms, index.sentence_count)),
            passages=np.zeros((terms, len(index))),
            mentions=np.zeros((terms, len(index.entity_of))),
        )

    def fill(self, row: int, likeness_by_word: Mapping[str, float]) -> None:
        """Fill the row of a term with the words that count for it: 1 for its own, at least a half
        for one that is similar.
        """
        index = self.index
        numbers = index.words.numbers
        # The most alike last: of several values for one item the last one stays. And a sentence
        # comes after its passage, because no whole passage has above 0.5.
        by_likeness = sorted(
            (likeness, numbers[word])
            for word, likeness in likeness_by_word.items()
            if word in numbers
        )
        if not by_likeness:
            return
        likeness = np.array([likeness for likeness, _ in by_likeness])
        word_numbers = np.array([number for _, number in by_likeness])
        passages, passage_values = index.words.passages.spread(word_numbers, likeness)
        is_allowed = self.allowed_passages[passages] > 0
        passages = passages[is_allowed]
        passage_values = passage_values[is_allowed]
        self.passages[row, passages] = passage_values
        mentions, mention_values = index.mentions_in.spread(
            passages, WHOLE_PASSAGE * passage_values
        )
        self.mentions[row, mentions] = mention_values
        sentences, sentence_values = index.words.sentences.spread(word_numbers, likeness)
        self.sentences[row, sentences] = sentence_values
        mentions, mention_values = index.mentions_about.spread(sentences, sentence_values)
        self.mentions[row, mentions] = mention_values

    def weights(self) -> Floats:
        """Return (terms,): their weights by the passages that have them, or else similar words."""
        exact: Integers = (self.passages == 1.0).sum(axis=1)
        frequencies: Floats = np.where(exact > 0, exact, self.passages.sum(axis=1))
        return _weights(frequencies, float(self.allowed_passages.sum()))


def _weights(frequencies: Floats, total: float) -> Floats:
    """Return (terms,): weights by rarity that add up to 1. `frequencies`: in how many passages each
    term is, of `total`.
    """
    rarity = np.log(1 + (total - frequencies + 0.5) / (frequencies + 0.5))
    is_seen = frequencies > 0
    mean = rarity[is_seen].mean() if is_seen.any() else 1.0
    weights = np.where(is_seen, rarity, UNSEEN_TERM_WEIGHT * mean)
    return weights / (weights.sum() or 1.0)


def _similarity(index: PassageIndex, similarities: Mapping[str, float]) -> Floats:
    """Return (passages,): the cosine of each, at least 0."""
    least = max(0.0, min(similarities.values(), default=0.0))
    similarity = np.full(len(index), least)
    for id, score in similarities.items():
        number = index.numbers.get(id)
        if number is not None:
            similarity[number] = max(score, 0.0)
    return similarity


def _bm25(index: PassageIndex, stems: Sequence[str], allowed_passages: Floats) -> Floats:
    """Return (passages,): the BM25 of each (Robertson and Zaragoza, 2009)."""
    scores = np.zeros(len(index))
    total = float(allowed_passages.sum())
    mean_length = float((index.lengths * allowed_passages).sum()) / (total or 1.0) or 1.0
    for stem in stems:
        number = index.words.numbers.get(stem)
        if number is None:
            continue
        begin, end = index.words.passages.starts[number : number + 2]
        passages = index.words.passages.values[begin:end]
        counts = index.words.counts[begin:end]
        frequency = float(allowed_passages[passages].sum())
        rarity = np.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        length_norm = 0.25 + 0.75 * index.lengths[passages] / mean_length
        scores[passages] += rarity * counts * 2.2 / (counts + 1.2 * length_norm)
    return scores * allowed_passages


def _scaled(values: Floats) -> Floats:
    """Return the values divided by the largest, so that it is 1; unchanged where none is above
    0.
    """
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values
