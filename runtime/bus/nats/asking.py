"""Questions to JetStream that whoever is elected next answers, too."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

AGAIN = 1.0
"""Seconds after which a question without an answer is asked once more: hundreds of times what an
answer takes.
"""


async def first_answer(ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the first answer to a question that changes nothing; raise what the first asking that
    ends raises.

    A leader that is lost answers nothing, and the one that is elected a few seconds later knows
    nothing of what it was asked: whoever asked once would wait for his whole time-out. So it is
    asked again while the earlier ones wait on.
    """
    tasks = set[asyncio.Task[T]]()
    try:
        while True:
            tasks.add(asyncio.create_task(ask()))
            done_tasks, _ = await asyncio.wait(
                tasks, timeout=AGAIN, return_when=asyncio.FIRST_COMPLETED
            )
            if done_tasks:
                return done_tasks.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
