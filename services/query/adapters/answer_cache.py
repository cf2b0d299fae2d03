"""Answers that the model gave before, each with everything it was made of: one that is stale is never found.

There is one row for each question, so what no longer holds makes room for what does.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.bus.port import Log
from runtime.errors import Unavailable
from services.query.adapters.row_cache import RowCache
from services.query.answering.port import CachedAnswer
from services.query.context.prompt import ANSWER_VERSION, Prompt
from services.query.question import Question

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StoredAnswer:
    """`CachedAnswer`: the question's row, and the hash of what the answer must have been made of."""

    cache: RowCache
    workspace: str
    key: str
    basis: str

    async def get(self) -> str | None:
        """See `CachedAnswer.get`."""
        async with self.cache.alone(self.workspace, self.key):
            return await self._read()

    async def get_or_create(self, make: Callable[[], Awaitable[str]]) -> str:
        """See `CachedAnswer.get_or_create`."""
        async with self.cache.alone(self.workspace, self.key):
            text = await self._read()
            if text is None:
                text = await make()
                await self._write(text)
            return text

    async def store_stream(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """See `CachedAnswer.store_stream`."""
        taken: list[str] = []
        async with aclosing(pieces):
            async for piece in pieces:
                taken.append(piece)
                yield piece
        await self._write("".join(taken))

    async def _read(self) -> str | None:
        row = await self.cache.get(self.workspace, self.key)
        return row["text"] if row and row["basis"] == self.basis else None

    async def _write(self, text: str) -> None:
        try:
            await self.cache.put(self.workspace, self.key, {"basis": self.basis, "text": text})
        except Unavailable as error:
            # It was paid for and can be given; that it is paid for again is the lesser evil.
            logger.warning("an answer is not remembered", error=str(error))


class StoredAnswers:
    """`AnswerCache` of one model's answers."""

    def __init__(self, cache: RowCache, log: Log, model: str) -> None:
        self._cache, self._log, self._model = cache, log, model

    async def entry_factory(
        self, question: Question, partitions: Sequence[Partition]
    ) -> Callable[[Prompt], CachedAnswer] | None:
        """See `AnswerCache.entry_factory`."""
        if question.mode == "bypass" or question.history:
            return None
        workspace = partitions[0].workspace
        try:
            newest = await self._log.last(workspace)
        except Unavailable:
            return None
        key = sha256("\x1f".join((self._model, ANSWER_VERSION, repr(question))))
        state = f"{[partition.generation for partition in partitions]} {newest}"
        # What the projections had not yet taken in when they were read is not in the prompt, so that counts too.
        return lambda prompt: StoredAnswer(self._cache, workspace, key, sha256(f"{state}\x1f{prompt.text}"))
