"""When a source may have changed: at once for a folder, from time to time for others."""

import asyncio
from collections.abc import AsyncGenerator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from operations.sources.open import local_folder
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from watchfiles import Change

QUIET = 1000
"""Milliseconds without a change in a folder, after which it is looked at: files are whole then."""

ABSENCE = 2.0
"""Seconds between two looks whether a folder that is gone is back."""


async def changes_of(address: str, interval: float) -> AsyncGenerator[None]:
    """Yield now, then whenever a folder changes, and after `interval` seconds in any case: a disk
    of another machine tells no changes.

    Raises InvalidInput where what watches folders is not installed.
    """
    folder = local_folder(address)
    if folder is not None and find_spec("watchfiles") is None:
        raise InvalidInput(
            "`watch` needs what is not installed: pip install 'lightstream-rag[sources]'"
        )
    while folder is None:
        yield
        await asyncio.sleep(interval)
    folder = folder.resolve()
    is_absence_told = False
    while True:
        async for _ in _changes_of_one(folder, interval):
            is_absence_told = False
            yield
        if not is_absence_told and _identity(folder) is None:
            is_absence_told = True
            yield
        await asyncio.sleep(ABSENCE)


async def _changes_of_one(folder: Path, interval: float) -> AsyncGenerator[None]:
    """Yield now, and at changes, until another folder or none stands at the path.

    What changes while the caller looks at the folder is told afterwards.
    """
    import watchfiles  # noqa: PLC0415

    identity = _identity(folder)
    if identity is None:
        return

    def is_shown(_: "Change", path: str) -> bool:
        inside = path.removeprefix(str(folder))
        return not any(part.startswith(".") for part in Path(inside).parts)

    watcher = watchfiles.awatch(
        folder,
        watch_filter=is_shown,
        step=QUIET,
        debounce=10 * QUIET,
        rust_timeout=int(interval * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    change = asyncio.create_task(_next_of(watcher))
    await asyncio.sleep(0)  # it watches before the first look
    try:
        while _identity(folder) == identity:
            yield
            await change
            change = asyncio.create_task(_next_of(watcher))
            await asyncio.sleep(0)
    except FileNotFoundError:
        return  # it went before it was watched
    finally:
        change.cancel()
        await asyncio.gather(change, return_exceptions=True)
        await watcher.aclose()


async def _next_of(watcher: AsyncGenerator[object]) -> None:
    """Wait for the next change."""
    await anext(watcher)


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what tells the folder from another one at its path, None where there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if folder.is_dir() else None
