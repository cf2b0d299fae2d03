"""Waiting for one of several events."""

import asyncio
from collections.abc import Sequence


async def first_of(events: Sequence[asyncio.Event], seconds: float) -> None:
    """Return when one of the events is set, at the latest after so many seconds."""
    if any(event.is_set() for event in events):
        return
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        # Nobody waits for their end, in which a cancellation of the caller could be lost.
        for wait in waits:
            wait.cancel()
