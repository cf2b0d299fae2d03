"""Keywords and answers, with a language model and without one."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

import structlog

from contracts.ids import sha256
from runtime.errors import Poison, Retryable, Unavailable
from runtime.models.port import Chat, Message
from services.query.adapters.read_ahead import read_ahead
from services.query.adapters.row_cache import RowCache
from services.query.context.prompt import KEYWORDS_VERSION, Prompt, keywords_prompt, parse_keywords
from services.query.offline.models import offline_keywords
from services.query.passage import Passage
from services.query.question import Keywords

logger = structlog.get_logger(__name__)


UNREAD = 256 * 1024
"""Characters of a streamed answer that may wait for the client: more than any model writes."""


class ModelKeywordExtractor:
    """Asks the model, once for each question where there is a cache.

    Where it refuses, the names and words of the question stand in.
    """

    def __init__(self, chat: Chat, language: str, cache: RowCache | None = None) -> None:
        self._chat, self._language, self._cache = chat, language, cache

    async def extract(self, workspace: str, question: str) -> Keywords:
        """At most one call."""
        try:
            return await self._once(workspace, question)
        except Poison:
            return offline_keywords(question)

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


class ModelAnswerGenerator:
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


class Reranker(Protocol):
    """A model that scores how well texts answer a question."""

    model: str

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[tuple[int, float]]:
        """At most `top_n` places in `texts` with their scores, the best first. Nothing is asked about no texts.

        Raises `RateLimited`; `Unavailable`, also for an answer without a single usable score; `Poison` when the
        provider never takes this request.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class ModelReranker:
    """`PassageReranker` by a model. Where it does not answer, passages stay as they came: an answer is worth more."""

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
