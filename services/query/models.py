"""Keywords and answers, with a language model and without one."""

from array import array
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

import structlog

from contracts.ids import sha256
from runtime.concurrency.read_ahead import read_ahead
from runtime.errors import Poison, Retryable, Unavailable
from runtime.models.offline.answers import LONGEST, Candidate, best, compose, lexical_scores
from runtime.models.offline.keywords import keywords
from runtime.models.offline.quotable import quotable
from runtime.models.ports import Chat, Embedder, Message, Reranker, Vector
from runtime.stores.documents.caches import RowCache
from services.query.domain.passage import Passage
from services.query.domain.prompt import KEYWORDS_VERSION, Prompt, keywords_prompt, parse_keywords
from services.query.domain.question import Keywords

logger = structlog.get_logger(__name__)

NO_MODEL = "(No language model is configured: these sentences are quoted from the documents as they stand.)"

NOTHING_TO_QUOTE = "No sentence of what was found can be quoted; only_need_context shows what was found."

UNREAD = 256 * 1024
"""Characters of a streamed answer that may wait for the client: more than any model writes."""

SENTENCES = 5
BEST_PASSAGE = 0.3
"""What a sentence of the best passage has ahead of others, measured by `benchmarks/answers.py`; of the second, half."""

CANDIDATES = 32
"""Sentences whose meaning is compared with the question's; each costs a few milliseconds."""


class ModelKeywords:
    """Asks the model, once for each question where there is a cache.

    Where it refuses, the names and words of the question stand in.
    """

    def __init__(self, chat: Chat, language: str, cache: RowCache | None = None) -> None:
        self._chat, self._language, self._cache = chat, language, cache

    async def of(self, workspace: str, question: str) -> Keywords:
        """At most one call."""
        try:
            return await self._once(workspace, question)
        except Poison:
            return _offline(question)

    async def _once(self, workspace: str, question: str) -> Keywords:
        if self._cache is None:
            return await self._asked(question)
        key = sha256("\x1f".join((self._chat.model, KEYWORDS_VERSION, self._language, question)))
        async with self._cache.alone(workspace, key):
            if row := await self._cache.get(workspace, key):
                return Keywords(tuple(row["high"]), tuple(row["low"]))
            # What could not be found out today may be found out tomorrow.
            if found := await self._asked(question):
                await self._remember(self._cache, workspace, key, found)
            return found

    async def _remember(self, cache: RowCache, workspace: str, key: str, found: Keywords) -> None:
        try:
            await cache.put(workspace, key, {"high": list(found.high), "low": list(found.low)})
        except Unavailable as error:
            # They were paid for and can be used; that they are paid for again is the lesser evil.
            logger.warning("keywords are not remembered", error=str(error))

    async def _asked(self, question: str) -> Keywords:
        completion = await self._chat.complete([Message("user", keywords_prompt(question, self._language))], json=True)
        return parse_keywords(completion.text)


class OfflineKeywords:
    """Names and content words of the question."""

    async def of(self, workspace: str, question: str) -> Keywords:
        """Computed at once."""
        return _offline(question)


def _offline(question: str) -> Keywords:
    high, low = keywords(question)
    return Keywords(tuple(high), tuple(low))


class ModelAnswers:
    """Lets the model answer from the context."""

    uses_model = True

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> str:
        """One call."""
        return (await self._chat.complete(_messages(prompt))).text

    def stream(self, prompt: Prompt) -> AsyncGenerator[str]:
        """One call, whose connection closes with the iterator, and whose turn ends when the model has finished."""
        return read_ahead(self._chat.stream(_messages(prompt)), UNREAD)


def _messages(prompt: Prompt) -> list[Message]:
    system = [Message("system", prompt.system)] if prompt.system else []
    history = [Message(turn.role, turn.content) for turn in prompt.history]
    return [*system, *history, Message("user", prompt.query)]


class ModelReranker:
    """`Rerankers` by a model. Where it does not answer, passages stay as they came: an answer is worth more."""

    def __init__(self, model: Reranker, cut: Callable[[str], str]) -> None:
        """`cut` shortens a text to what the model reads."""
        self._model, self._cut = model, cut

    async def rerank(
        self, question: str, passages: Sequence[Passage], top_n: int
    ) -> Sequence[tuple[Passage, float | None]]:
        """One call."""
        try:
            scored = await self._model.rerank(question, [self._cut(passage.content) for passage in passages], top_n)
        except (Retryable, Poison) as error:
            logger.warning("passages are not reranked", model=self._model.model, error=str(error))
            return [(passage, None) for passage in passages]
        return [(passages[place], score) for place, score in scored[:top_n]]


class Embeds(Protocol):
    """The part of an `Embedder` that embeds."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order."""
        ...


class RememberedWords:
    """Embeds short texts that come again and again, each once while it is remembered."""

    def __init__(self, embedder: Embedder, most: int = 10_000) -> None:
        self._embedder, self._most = embedder, most
        self._known: OrderedDict[str, array[float]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order, in single precision. Raises what `Embedder.embed` raises."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = dict(zip(new, await self._embedder.embed(new), strict=True)) if new else {}
        found = {text: array("f", made[text]) if text in made else self._known[text] for text in texts}
        self._known |= found
        for text in found:
            self._known.move_to_end(text)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return [tuple(found[text]) for text in texts]


class ExtractiveAnswers:
    """Quotes the sentences that fit best, the best first: half by the question's words they name, half by meaning."""

    uses_model = False

    def __init__(self, embedder: Embeds) -> None:
        self._embedder = embedder

    def stream(self, prompt: Prompt) -> None:
        """Quotations come at once."""

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> str:
        """Compares at most `CANDIDATES` sentences with the question."""
        candidates = [
            Candidate(sentence, rank, place, reference)
            for rank, (reference, passage) in enumerate(passages)
            for place, sentence in enumerate(quotable(passage.content))
            if 20 <= len(sentence) <= LONGEST
        ]
        lexical = lexical_scores(prompt.query, candidates)
        order = sorted(range(len(candidates)), key=lambda i: (-lexical[i], candidates[i].passage, i))[:CANDIDATES]
        if not order:
            return f"{NOTHING_TO_QUOTE}\n\n{NO_MODEL}"
        shortlist = [candidates[i] for i in order]
        asked, *said = await self._embedder.embed([prompt.query, *(candidate.text for candidate in shortlist)])
        meaning = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in said]
        scores = [
            lexical[i] + similar + BEST_PASSAGE / (1 + candidates[i].passage)
            for i, similar in zip(order, meaning, strict=True)
        ]
        return f"{compose(best(shortlist, scores, SENTENCES))}\n\n{NO_MODEL}"
