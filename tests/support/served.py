"""An application that really listens, for clients that know nothing of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

from embedded.processes import free_port


@asynccontextmanager
async def served(app: Starlette) -> AsyncIterator[str]:
    """Its address, on a free port of this machine, until the block ends."""
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(
            app, port=port, log_level="error", lifespan="off", timeout_graceful_shutdown=1
        )
    )
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running
