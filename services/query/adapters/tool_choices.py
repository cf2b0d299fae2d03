"""A model that chooses tools, and what it chose before."""

import json
from collections.abc import Sequence
from typing import Any

import structlog

from contracts.ids import sha256
from runtime.errors import Poison, Retryable, Unavailable
from runtime.models.call_scope import calls_to
from runtime.models.port import Completion, Message, ToolCall, ToolChat
from runtime.stores.documents.port import Row
from services.query.adapters.row_cache import RowCache
from services.query.context.tools import TOOLS, TOOLS_VERSION

logger = structlog.get_logger(__name__)


class ModelToolChoices:
    """`ToolChoices` by a model. With a cache an equal conversation is paid for once."""

    def __init__(self, chat: ToolChat, cache: RowCache | None = None) -> None:
        self._chat = chat
        self._cache = cache

    async def choose(self, workspace: str, messages: Sequence[Message]) -> Completion:
        """See `ToolChoices.choose`."""
        if self._cache is None:
            return await self._request(messages)
        key = sha256("\x1f".join((self._chat.model, TOOLS_VERSION, *map(_turn_text, messages))))
        async with self._cache.alone(workspace, key):
            if row := await self._cache.get(workspace, key):
                return _completion(row)
            completion = await self._request(messages)
            # What is not whole is not cached, because a later one may be better.
            if not completion.cut:
                try:
                    await self._cache.put(workspace, key, _row(completion))
                except Unavailable as error:
                    logger.warning("a round is not remembered", error=str(error))
            return completion

    async def _request(self, messages: Sequence[Message]) -> Completion:
        try:
            with calls_to("assessment"):
                return await self._chat.call_tools(messages, TOOLS)
        except (Retryable, Poison) as error:
            logger.warning("no tools are chosen", model=self._chat.model, error=str(error))
            raise


def _turn_text(message: Message) -> str:
    calls = [vars(call) for call in message.calls]
    return json.dumps([message.role, message.content, calls], default=str)


def _row(completion: Completion) -> Row:
    # As a text: no store takes every name of a field that a model may write.
    calls = json.dumps([dict(vars(call)) for call in completion.calls])
    return {"text": completion.text, "calls": calls, "native": json.dumps(completion.native)}


def _completion(row: Row) -> Completion:
    calls: list[dict[str, Any]] = json.loads(row["calls"])
    return Completion(
        row["text"],
        calls=tuple(ToolCall(**fields) for fields in calls),
        native=json.loads(row["native"]),
    )
