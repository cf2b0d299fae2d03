"""When a source may have changed: at once for a folder, from time to time for others."""

import asyncio
from collections.abc import AsyncGenerator
from importlib.util import find_spec

from operations.sources.open import local_folder
from runtime.errors import InvalidInput

QUIET = 1000
"""Milliseconds without a change in a folder, after which it is looked at: files are whole then."""


async def changes_of(address: str, interval: float) -> AsyncGenerator[None]:
    """Yield now, and then whenever a folder changes, or after `interval` seconds.

    Raises InvalidInput where what watches folders is not installed.
    """
    folder = local_folder(address)
    yield
    if folder is None:
        while True:
            await asyncio.sleep(interval)
            yield
    if find_spec("watchfiles") is None:
        raise InvalidInput(
            "`watch` needs what is not installed: pip install 'lightstream-rag[sources]'"
        )
    import watchfiles  # noqa: PLC0415

    async for _ in watchfiles.awatch(
        folder, watch_filter=None, step=QUIET, debounce=10 * QUIET, raise_interrupt=False
    ):
        yield
