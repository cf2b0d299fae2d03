"""Keywords and answers without a language model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from runtime.models.port import Vector
from services.query.context.prompt import Prompt
from services.query.offline.answers import Candidate, best, compose, lexical_scores
from services.query.offline.keywords import keywords
from services.query.offline.quotable_sentences import quotable_sentences
from services.query.passage import Passage
from services.query.question import Keywords

NO_MODEL = "(No language model is configured: these sentences are quoted from the documents as they stand.)"


NOTHING_TO_QUOTE = "No sentence of what was found can be quoted; only_need_context shows what was found."


SENTENCES = 5
"""Sentences of an answer."""


BEST_PASSAGE = 0.3
"""Bonus for sentences of the first passage; the second gets half, the third a third (see `benchmarks/answers.py`)."""


CANDIDATES = 32
"""Most sentences that are embedded for one answer; each takes a few milliseconds."""


class OfflineKeywordExtractor:
    """Extracts names and content words of the question."""

    async def extract(self, workspace: str, question: str) -> Keywords:
        """Return the keywords; no model is called."""
        return offline_keywords(question)


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
    """Quotes the best sentences; the score is the share of the question's words plus the similarity of embeddings."""

    uses_model = False

    def __init__(self, embedder: Embeds) -> None:
        self._embedder = embedder

    def stream(self, prompt: Prompt) -> None:
        """Return None: quotations are not streamed."""

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> str:
        """Return the best `SENTENCES` sentences; at most `CANDIDATES` are embedded."""
        candidates = [
            Candidate(sentence.text, rank, sentence.place, reference, sentence.terms)
            for rank, (reference, passage) in enumerate(passages)
            for sentence in quotable_sentences(passage.content)
        ]
        lexical = lexical_scores(prompt.query, candidates)
        order = sorted(range(len(candidates)), key=lambda i: (-lexical[i], candidates[i].passage, i))[:CANDIDATES]
        if not order:
            return f"{NOTHING_TO_QUOTE}\n\n{NO_MODEL}"
        shortlist = [candidates[i] for i in order]
        question_vector, *sentence_vectors = await self._embedder.embed(
            [prompt.query, *(candidate.text for candidate in shortlist)]
        )
        meaning: list[float] = (np.array(sentence_vectors) @ np.array(question_vector)).tolist()
        scores = [
            lexical[i] + similar + BEST_PASSAGE / (1 + candidates[i].passage)
            for i, similar in zip(order, meaning, strict=True)
        ]
        return f"{compose(best(shortlist, scores, SENTENCES))}\n\n{NO_MODEL}"
