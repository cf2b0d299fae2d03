"""Models whose errors name the model for the caller.

Of a provider's own message the caller sees the sentence on a refused text; the rest is only logged.
"""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, contextmanager

from runtime.errors import ServiceError
from runtime.models.port import (
    AnswerPiece,
    Completion,
    Embedder,
    Message,
    Tool,
    ToolChat,
    Vector,
)


class NamedChat:
    """`ToolChat` by another one, whose errors have `model`."""

    def __init__(self, chat: ToolChat) -> None:
        self._chat = chat
        self.model = chat.model

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """See `Chat.complete`."""
        with _named(f"language model {self.model}"):
            return await self._chat.complete(messages, json=json)

    async def call_tools(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """See `ToolChat.call_tools`."""
        with _named(f"language model {self.model}"):
            return await self._chat.call_tools(messages, tools)

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        """See `Chat.stream`."""
        with _named(f"language model {self.model}"):
            async with aclosing(self._chat.stream(messages)) as pieces:
                async for piece in pieces:
                    yield piece

    async def close(self) -> None:
        """See `Chat.close`."""
        await self._chat.close()


class NamedEmbedder:
    """`Embedder` by another one, whose errors have `model`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.dimension = embedder.dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`."""
        with _named(f"embedding model {self.model}"):
            return await self._embedder.embed(texts)

    async def close(self) -> None:
        """See `Embedder.close`."""
        await self._embedder.close()


@contextmanager
def _named(model: str) -> Generator[None]:
    try:
        yield
    except ServiceError as error:
        error.model = error.model or model
        raise
