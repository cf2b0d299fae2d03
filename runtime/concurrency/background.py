"""Work that goes on beside a block and ends with it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

logger = structlog.get_logger(__name__)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Run the work while the block lasts; cancel it in the end, and wait until it has put its
    things away.

    An error that ends the work before is logged at once, and the block goes on.
    """
    task = asyncio.create_task(work, name=work.__qualname__)
    task.add_done_callback(_log_error)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _log_error(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("work in the background ended early", work=task.get_name(), exc_info=error)
