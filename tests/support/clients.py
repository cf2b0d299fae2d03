"""The client that waits and the one for asyncio, called alike, so that one test speaks for both."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

from lightstream_rag.client import AsyncLightstream, Lightstream
from lightstream_rag.models import Piece

Kind = Literal["waiting", "asyncio"]
KINDS: tuple[Kind, ...] = ("waiting", "asyncio")


class EitherClient:
    """A client of either kind whose methods are awaited. The waiting one works in a thread."""

    def __init__(self, client: Lightstream | AsyncLightstream) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def call(*args: Any, **options: Any) -> Any:
            method = getattr(self.client, name)
            if isinstance(self.client, AsyncLightstream):
                return await method(*args, **options)
            return await asyncio.to_thread(method, *args, **options)

        return call

    async def streamed(self, question: str, *, most: int = 10_000, **options: Any) -> list[Piece]:
        """At most so many pieces of an answer, after which it is closed."""
        if isinstance(self.client, Lightstream):
            return await asyncio.to_thread(_streamed, self.client, question, most, options)
        result: list[Piece] = []
        async with self.client.query_stream(question, **options) as pieces:
            async for piece in pieces:
                result.append(piece)
                if len(result) == most:
                    break
        return result


def _streamed(client: Lightstream, question: str, most: int, options: Any) -> list[Piece]:
    with client.query_stream(question, **options) as pieces:
        return [piece for _, piece in zip(range(most), pieces, strict=False)]


@asynccontextmanager
async def client(
    kind: Kind, url: str = "", *, transport: Any = None, **options: Any
) -> AsyncIterator[EitherClient]:
    """A client of that kind, closed in the end."""
    if kind == "asyncio":
        async with AsyncLightstream(url, transport=transport, **options) as result:
            yield EitherClient(result)
    else:
        with Lightstream(url, transport=transport, **options) as waiting:
            yield EitherClient(waiting)
