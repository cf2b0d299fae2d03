"""A server that answers slowly: a proxy before it that holds back what the server says, until it is
told to go on.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class StallingProxy:
    """Where the proxy listens. It stalls once the server has said `after`, on each connection."""

    after: bytes
    port: int = 0
    flowing: asyncio.Event = field(default_factory=asyncio.Event)

    def go_on(self) -> None:
        """Let everything through from now on."""
        self.flowing.set()


@asynccontextmanager
async def stalling(port: int, *, after: bytes) -> AsyncGenerator[StallingProxy]:
    """The proxy before the server on that port; gone in the end."""
    stall = StallingProxy(after)
    tasks = set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_connection("127.0.0.1", port)
        for task in (_pass(reader, ours, None), _pass(theirs, writer, stall)):
            tasks.add(asyncio.create_task(task))

    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    stall.port = proxy.sockets[0].getsockname()[1]
    try:
        yield stall
    finally:
        proxy.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stall: StallingProxy | None
) -> None:
    stalled = False
    with suppress(OSError):
        while data := await reader.read(65536):
            if stall and stalled:
                await stall.flowing.wait()
            stalled = stalled or bool(stall and stall.after in data)
            writer.write(data)
            await writer.drain()
    writer.close()
