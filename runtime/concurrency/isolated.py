"""Work of libraries that cancel the task they run in: apart from ours, and with a time limit.

The neo4j driver takes a cancellation while it closes a socket, goes on, and cancels the current
task once more. For `asyncio.timeout` that is somebody else's wish: it lets the cancellation out,
and a request or a worker ends with it.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from runtime.errors import Unavailable

T = TypeVar("T")

CANCELLATION_GRACE = 1.0
"""Seconds that cancelled work has for putting its things away before nobody waits for it any
more.
"""


async def run_isolated(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, run in a task of its own. Raises `Unavailable` when it cancels
    itself.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait([task])
    finally:
        if not task.done():  # we are cancelled
            task.cancel()
            await asyncio.wait([task], timeout=CANCELLATION_GRACE)
    try:
        if task.cancelled():
            raise Unavailable("the work was given up by something it called")
        return task.result()
    finally:
        # It has the error, and the error this frame: a cycle that only a search for garbage would
        # find.
        del task


async def run_with_timeout(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives, run in a task of its own. Raises TimeoutError when it takes longer, or
    cancels itself.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_looked_at)
    try:
        await asyncio.wait([task], timeout=seconds)
    finally:
        task.cancel()
    if not task.done():
        await asyncio.wait([task], timeout=CANCELLATION_GRACE)
        raise TimeoutError
    if task.cancelled():
        raise TimeoutError
    return task.result()


def _looked_at(task: asyncio.Task[Any]) -> None:
    """So that what is raised after the time is over is no error that nobody ever looked at."""
    if not task.cancelled():
        task.exception()
