"""Keywords and answers, with a language model and without one."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import structlog

from contracts.ids import sha256
from runtime.errors import Poison, Retryable, TextFailure, Unavailable
from runtime.metrics.instruments import count_lookups
from runtime.models.call_scope import calls_to
from runtime.models.port import AnswerPiece, Chat, Completion, Message
from services.query.adapters.offline import offline_keywords
from services.query.adapters.read_ahead import read_ahead
from services.query.adapters.row_cache import RowCache
from services.query.context.follow_up import FOLLOW_UP_VERSION, parse_follow_up
from services.query.context.prompt import KEYWORDS_VERSION, Prompt, keywords_prompt, parse_keywords
from services.query.passage import Passage
from services.query.question import Keywords

logger = structlog.get_logger(__name__)


NO_KEYWORDS_BY_MODEL = (
    "the language model gave no keywords: the words of the question were searched for instead, "
    "which finds less, above all in other languages than English"
)

UNREAD = 256 * 1024
"""Most buffered characters of a streamed answer for a slow client; longer than any model's
answer.
"""


class ModelKeywordExtractor:
    """Extracts keywords with the model, once per question if there is a cache.

    If the model rejects the request, or fails for it alone, the names and words of the question are
    the keywords.
    """

    def __init__(self, chat: Chat, language: str, cache: RowCache | None = None) -> None:
        self._chat = chat
        self._language = language
        self._cache = cache

    async def extract(self, workspace: str, question: str) -> Keywords:
        """Return the keywords, with at most one call of the model."""
        try:
            return await self._extract_cached(workspace, question)
        except (Poison, TextFailure) as error:
            logger.warning("no keywords by the model", model=self._chat.model, error=str(error))
            return replace(offline_keywords(question), note=NO_KEYWORDS_BY_MODEL)

    async def _extract_cached(self, workspace: str, question: str) -> Keywords:
        if self._cache is None:
            return await self._request_keywords(question)
        key = sha256("\x1f".join((self._chat.model, KEYWORDS_VERSION, self._language, question)))
        async with self._cache.alone(workspace, key):
            row = await self._cache.get(workspace, key)
            count_lookups("keywords", hits=bool(row), misses=not row)
            if row:
                return Keywords(tuple(row["high"]), tuple(row["low"]))
            # An empty result is not cached, because a later call may succeed.
            if keywords := await self._request_keywords(question):
                self._cache.put_soon(
                    workspace, key, {"high": list(keywords.high), "low": list(keywords.low)}
                )
            return keywords

    async def close(self) -> None:
        """Return when the keywords are stored."""
        if self._cache:
            await self._cache.close()

    async def _request_keywords(self, question: str) -> Keywords:
        messages = [Message("user", keywords_prompt(question, self._language))]
        with calls_to("keywords"):
            completion = await self._chat.complete(messages, json=True)
        return parse_keywords(completion.text)


class ModelFollowUps:
    """`FollowUps` by a model. With a cache an equal prompt is paid for once."""

    def __init__(self, chat: Chat, cache: RowCache | None = None) -> None:
        self._chat = chat
        self._cache = cache

    async def reply(self, workspace: str, prompt: str) -> str:
        """See `FollowUps.reply`."""
        if self._cache is None:
            return (await self._request(prompt)).text
        key = sha256("\x1f".join((self._chat.model, FOLLOW_UP_VERSION, prompt)))
        async with self._cache.alone(workspace, key):
            if row := await self._cache.get(workspace, key):
                return str(row["reply"])
            completion = await self._request(prompt)
            reply = completion.text
            # A reply that cannot be read or is not whole is not cached, because a later one may be
            # better.
            if parse_follow_up(reply) is not None and not completion.cut:
                try:
                    await self._cache.put(workspace, key, {"reply": reply})
                except Unavailable as error:
                    logger.warning("a round is not remembered", error=str(error))
            return reply

    async def _request(self, prompt: str) -> Completion:
        try:
            with calls_to("assessment"):
                return await self._chat.complete([Message("user", prompt)], json=True)
        except (Retryable, Poison) as error:
            logger.warning(
                "what was found is not assessed", model=self._chat.model, error=str(error)
            )
            raise


class ModelAnswerGenerator:
    """Generates answers from the context with the model."""

    uses_model = True

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def answer(
        self,
        prompt: Prompt,
        passages: Sequence[tuple[str, Passage]],
        levels: Mapping[str, int] | None = None,
    ) -> Completion:
        """One call."""
        return await self._chat.complete(_messages(prompt))

    def stream(self, prompt: Prompt) -> AsyncGenerator[AnswerPiece]:
        """Stream one call of the model; closing the generator closes its connection."""
        return read_ahead(self._chat.stream(_messages(prompt)), UNREAD)


def _messages(prompt: Prompt) -> list[Message]:
    system = [Message("system", prompt.system)] if prompt.system else []
    history = [Message(turn.role, turn.content) for turn in prompt.history]
    return [*system, *history, Message("user", prompt.query)]


class Reranker(Protocol):
    """A model that scores how well texts answer a question."""

    model: str

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[tuple[int, float]]:
        """Return at most `top_n` indexes into `texts` with scores from 0 to 1, the best first.

        Without texts there is no request.

        Raises `RateLimited`; `Unavailable`, also for a response without any usable score; `Poison`
        if the provider rejects this request for good.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ModelReranker:
    """`PassageReranker` by a model. If the model fails, the passages keep their order and the
    question is answered.
    """

    def __init__(self, model: Reranker, cut: Callable[[str], str]) -> None:
        """`cut` shortens a text to what the model reads."""
        self._model = model
        self._cut = cut

    async def rerank(
        self, question: str, passages: Sequence[Passage], top_n: int
    ) -> Sequence[tuple[Passage, float | None]]:
        """One call."""
        try:
            scores = await self._model.rerank(
                question, [self._cut(passage.content) for passage in passages], top_n
            )
        except (Retryable, Poison) as error:
            logger.warning("passages are not reranked", model=self._model.model, error=str(error))
            return [(passage, None) for passage in passages]
        unscored_places = sorted(set(range(len(passages))) - {place for place, _ in scores})
        ranking = [*scores, *((place, None) for place in unscored_places)]
        return [(passages[place], score) for place, score in ranking[:top_n]]
