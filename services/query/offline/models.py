"""Keywords and answers without a language model."""

from collections.abc import Sequence
from itertools import chain
from typing import Protocol

import numpy as np

from runtime.models.port import Completion, Vector
from services.query.context.prompt import Prompt
from services.query.offline.answers import Candidate, candidates, quotation
from services.query.offline.keywords import keywords
from services.query.offline.quotable_sentences import quotable
from services.query.offline.relevance import agreement, lexical_scores, names, numbers, terms
from services.query.passage import Passage
from services.query.question import Keywords

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


class OfflineKeywordExtractor:
    """Extracts names and content words of the question."""

    async def extract(self, workspace: str, question: str) -> Keywords:
        """Return the keywords; no model is called."""
        return offline_keywords(question)

    async def close(self) -> None:
        """Do nothing: there is nothing to store."""


def offline_keywords(question: str) -> Keywords:
    """Return names and content words of the question."""
    high, low = keywords(question)
    return Keywords(tuple(high), tuple(low))


class Embeds(Protocol):
    """The part of an `Embedder` that embeds."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order."""
        ...


class ExtractiveAnswerGenerator:
    """Quotes the sentences that answer, or says that the documents do not.

    The score of a sentence is the share of the question's words in and around it (0 to 1), plus the
    similarity of embeddings (0 to 1), plus small amounts for the kind of answer that is asked for
    and for the rank of its passage, less half a point where a number or a time is asked for and it
    has none. A passage with none of the names in the question answers nothing, nor does a sentence
    without its numbers.
    """

    uses_model = False

    def __init__(self, embedder: Embeds) -> None:
        self._embedder = embedder

    def stream(self, prompt: Prompt) -> None:
        """Return None: quotations are not streamed."""

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> Completion:
        """Return the best sentences with their references; at most `CANDIDATES` are embedded."""
        scored = await self.scored(prompt.query, passages)
        if not scored or (scored[0][0] < LEAST_SCORE and not terms(prompt.query) <= OVERVIEW):
            return Completion(f"{NOT_SAID}\n\n{NO_MODEL_READ}")
        best = [candidate for score, candidate in scored if score >= RELATIVE_SCORE * scored[0][0]][
            :QUOTATIONS
        ]
        return Completion(f"{quotation(prompt.query, best)}\n\n{NO_MODEL}")

    async def scored(
        self, question: str, passages: Sequence[tuple[str, Passage]]
    ) -> list[tuple[float, Candidate]]:
        """Return the `CANDIDATES` sentences that share most words with the question, with their
        scores, best first.
        """
        sentences = [
            each
            for each in candidates(
                (
                    reference,
                    quotable(passage.content, passage.headings, begins_inside=passage.order > 0),
                )
                for reference, passage in passages
                if _speaks_of(question, passage)
            )
            if numbers(question) <= numbers(f"{each.part.plain} {each.context}")
        ]
        lexical = lexical_scores(
            question, [(terms(each.part.plain), terms(each.context)) for each in sentences]
        )
        order = sorted(range(len(sentences)), key=lambda i: (-lexical[i], sentences[i].passage, i))[
            :CANDIDATES
        ]
        if not order:
            return []
        similar = await self._similarities(question, [sentences[i].readings for i in order])
        scores = [
            lexical[i]
            + meaning
            + agreement(question, sentences[i].part.plain)
            + BEST_PASSAGE / (1 + sentences[i].passage)
            for i, meaning in zip(order, similar, strict=True)
        ]
        ranked = sorted(zip(scores, order, strict=True), key=lambda pair: (-pair[0], pair[1]))
        return [(score, sentences[i]) for score, i in ranked]

    async def _similarities(self, question: str, readings: Sequence[Sequence[str]]) -> list[float]:
        """Return for each sentence the mean cosine of the question to those two of its readings
        that are most similar.

        One alone would decide by chance, and all would let a heading that says nothing count
        against a sentence. Cosines are scaled so that unrelated texts have 0 with every model.
        """
        texts = list(dict.fromkeys([*UNRELATED, *chain.from_iterable(readings)]))
        vector, *vectors = await self._embedder.embed([question, *texts])
        cosines = dict(zip(texts, (np.array(vectors) @ np.array(vector)).tolist(), strict=True))
        unrelated = max(0.0, sum(cosines[text] for text in UNRELATED) / len(UNRELATED))
        best = [sum(sorted(cosines[text] for text in each)[-2:]) / 2 for each in readings]
        return [(cosine - unrelated) / (1 - unrelated or 1.0) for cosine in best]


def _speaks_of(question: str, passage: Passage) -> bool:
    """Return whether the passage has any of the names in the question; True for a question without
    names.
    """
    return not names(question) or not names(question).isdisjoint(
        terms(f"{passage.content} {passage.headings}")
    )
