"""Cache of the model's answers. Each row has the hash of all inputs of its answer, so that no stale
answer is returned.

There is one row per question: a new answer overwrites a stale one.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.bus.port import Log
from runtime.errors import Unavailable
from runtime.metrics.instruments import count_lookups
from runtime.models.port import AnswerPiece, Completion
from services.query.adapters.row_cache import RowCache
from services.query.answering.port import CachedAnswer
from services.query.context.prompt import ANSWER_VERSION, Prompt
from services.query.question import Question

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StoredAnswer:
    """`CachedAnswer` in the question's row; `basis` is the hash of the current inputs of its
    answer.
    """

    cache: RowCache
    workspace: str
    key: str
    basis: str

    async def get(self) -> str | None:
        """See `CachedAnswer.get`."""
        async with self.cache.alone(self.workspace, self.key):
            text = await self._read()
        count_lookups("answers", hits=text is not None, misses=text is None)
        return text

    async def get_or_create(self, make: Callable[[], Awaitable[Completion]]) -> Completion:
        """See `CachedAnswer.get_or_create`."""
        async with self.cache.alone(self.workspace, self.key):
            text = await self._read()
            if text is not None:
                return Completion(text)
            answer = await make()
            if not answer.cut and not answer.narrow:
                await self._write(answer.text)
            return answer

    async def store_stream(
        self, pieces: AsyncGenerator[AnswerPiece]
    ) -> AsyncGenerator[AnswerPiece]:
        """See `CachedAnswer.store_stream`."""
        parts: list[str] = []
        is_whole = True
        async with aclosing(pieces):
            async for piece in pieces:
                if piece.resets:
                    parts.clear()
                parts.append(piece.text)
                is_whole = is_whole and not piece.cut and not piece.narrow
                yield piece
        if is_whole:
            await self._write("".join(parts))

    async def _read(self) -> str | None:
        row = await self.cache.get(self.workspace, self.key)
        return row["text"] if row and row["basis"] == self.basis else None

    async def _write(self, text: str) -> None:
        try:
            await self.cache.put(self.workspace, self.key, {"basis": self.basis, "text": text})
        except Unavailable as error:
            # The answer is returned all the same, although the next equal question must pay for it
            # again.
            logger.warning("an answer is not remembered", error=str(error))


class StoredAnswers:
    """`AnswerCache` for the answers of one model."""

    def __init__(self, cache: RowCache, log: Log, model: str) -> None:
        self._cache = cache
        self._log = log
        self._model = model

    async def entry_factory(
        self, question: Question, partitions: Sequence[Partition]
    ) -> Callable[[Prompt], CachedAnswer] | None:
        """See `AnswerCache.entry_factory`."""
        if question.mode == "bypass" or question.history:
            return None
        workspace = partitions[0].workspace
        try:
            newest_sequence = await self._log.last(workspace)
        except Unavailable:
            return None
        # An answer for one viewer is none for another, who may see less.
        viewer = [repr(question.viewer)] if question.viewer else []
        key = sha256("\x1f".join((self._model, ANSWER_VERSION, repr(question), *viewer)))
        state = f"{[partition.generation for partition in partitions]} {newest_sequence}"
        # The prompt lacks events that the projections had not yet applied, so the newest sequence
        # is hashed, too.
        return lambda prompt: StoredAnswer(
            self._cache, workspace, key, sha256(f"{state}\x1f{prompt.text}")
        )
