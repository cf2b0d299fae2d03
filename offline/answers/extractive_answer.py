"""An answer without a language model: the sentences that answer, quoted, or that the documents do
not say.

The score of a sentence is the share of the question's words in and around it (0 to 1), plus the
similarity of embeddings (0 to 1), plus small amounts for the kind of answer that is asked for and
for the rank of its passage, less half a point where a number or a time is asked for and it has
none. A passage with none of the names in the question answers nothing, nor does a sentence without
its numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np

from offline.answers.quotable_sentences import quotable
from offline.answers.quotation import Candidate, candidates, quotation
from offline.answers.relevance import agreement, lexical_scores, names, numbers, terms

NO_MODEL = (
    "(No language model is configured: these sentences are quoted from the documents as they "
    "stand.)"
)

NOT_SAID = "The documents do not say."
"""The answer when no sentence fits the question well enough."""

NO_MODEL_READ = (
    "(No language model is configured: no sentence of what was found fits the question; "
    "only_need_context shows what "
    "was found.)"
)

QUOTATIONS = 3
"""Most sentences that are chosen for an answer; each brings what it needs to be understood."""

RELATIVE_SCORE = 0.75
"""Sentences below this share of the best score are not quoted."""

LEAST_SCORE = 1.15
"""Score below which no sentence answers; chosen with `benchmarks/answers.py`."""

BEST_PASSAGE = 0.1
"""Bonus for sentences of the first passage; the second gets half, the third a third."""

CANDIDATES = 16
"""Most sentences that are embedded for one answer, each in up to four readings of a few
milliseconds.
"""

UNRELATED = ("The weather is pleasant today.", "He put the box on the table.")
"""Sentences whose similarity to a question is what the embedding model gives to texts that have
nothing in common.
"""

OVERVIEW = terms(
    "document text file page content topic subject theme summary summarize overview main "
    "point describe"
)
"""Words of questions about the documents as a whole, which no sentence answers and every sentence
may illustrate.
"""


class Embeds(Protocol):
    """The part of an `Embedder` that embeds."""

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector per text, in order."""
        ...


@dataclass(frozen=True)
class SourcePassage:
    """A passage that may be quoted, with the id by which it is cited."""

    reference: str
    text: str
    headings: tuple[str, ...] = ()
    begins_inside: bool = False
    """Whether it is not the first passage of its document, so may begin within a sentence."""


async def extractive_answer(
    question: str, passages: Sequence[SourcePassage], embedder: Embeds
) -> str:
    """Return the best sentences with their references, or that the documents do not say; passages
    are given best first.
    """
    scored = await scored_candidates(question, passages, embedder)
    if not scored or (scored[0][0] < LEAST_SCORE and not terms(question) <= OVERVIEW):
        return f"{NOT_SAID}\n\n{NO_MODEL_READ}"
    least = RELATIVE_SCORE * scored[0][0]
    best = [candidate for score, candidate in scored if score >= least][:QUOTATIONS]
    return f"{quotation(question, best)}\n\n{NO_MODEL}"


async def scored_candidates(
    question: str, passages: Sequence[SourcePassage], embedder: Embeds
) -> list[tuple[float, Candidate]]:
    """Return the `CANDIDATES` sentences that share most words with the question, with their scores,
    best first. Only these are embedded.
    """
    sentences = _sentences(question, passages)
    lexical = lexical_scores(
        question,
        [(terms(sentence.part.plain), terms(sentence.context)) for sentence in sentences],
    )
    order = sorted(range(len(sentences)), key=lambda i: (-lexical[i], sentences[i].passage, i))
    order = order[:CANDIDATES]
    if not order:
        return []
    similar = await _similarities(question, [sentences[i].readings for i in order], embedder)
    scores = [
        lexical[i]
        + meaning
        + agreement(question, sentences[i].part.plain)
        + BEST_PASSAGE / (1 + sentences[i].passage)
        for i, meaning in zip(order, similar, strict=True)
    ]
    ranked = sorted(zip(scores, order, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [(score, sentences[i]) for score, i in ranked]


def _sentences(question: str, passages: Sequence[SourcePassage]) -> list[Candidate]:
    """Return the sentences that have the numbers of the question, of passages that have any of its
    names.
    """
    sources = (
        (
            passage.reference,
            quotable(passage.text, passage.headings, begins_inside=passage.begins_inside),
        )
        for passage in passages
        if _speaks_of(question, passage)
    )
    asked = numbers(question)
    return [
        candidate
        for candidate in candidates(sources)
        if asked <= numbers(f"{candidate.part.plain} {candidate.context}")
    ]


async def _similarities(
    question: str, readings: Sequence[Sequence[str]], embedder: Embeds
) -> list[float]:
    """Return for each sentence the mean cosine of the question to those two of its readings that
    are most similar.

    One alone would decide by chance, and all would let a heading that says nothing count against a
    sentence. Cosines are scaled so that unrelated texts have 0 with every model.
    """
    texts = list(dict.fromkeys([*UNRELATED, *chain.from_iterable(readings)]))
    vector, *vectors = await embedder.embed([question, *texts])
    cosines = dict(zip(texts, (np.array(vectors) @ np.array(vector)).tolist(), strict=True))
    unrelated = max(0.0, sum(cosines[text] for text in UNRELATED) / len(UNRELATED))
    best = [sum(sorted(cosines[text] for text in reading)[-2:]) / 2 for reading in readings]
    return [(cosine - unrelated) / (1 - unrelated or 1.0) for cosine in best]


def _speaks_of(question: str, passage: SourcePassage) -> bool:
    """Return whether the passage has any of the names in the question; True for a question without
    names.
    """
    return not names(question) or not names(question).isdisjoint(
        terms(f"{passage.text} {passage.headings}")
    )
