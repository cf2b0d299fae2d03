"""A chat model that passes everything on to another one."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from runtime.models.port import AnswerPiece, Chat, Completion, Message


class ChatProxy:
    """`Chat` by another one; what is done differently is for subclasses."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.model = chat.model

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """See `Chat.complete`."""
        return await self._chat.complete(messages, json=json)

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        """See `Chat.stream`."""
        async with aclosing(self._chat.stream(messages)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """See `Chat.close`."""
        await self._chat.close()
