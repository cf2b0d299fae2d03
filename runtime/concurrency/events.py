"""Waiting for one of several events."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress


async def first_of(events: Sequence[asyncio.Event], seconds: float) -> None:
    """Return when one of the events is set, at the latest after so many seconds."""
    if any(event.is_set() for event in events):
        return
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waits, return_exceptions=True)
