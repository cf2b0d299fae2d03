"""How far documents are, stage by stage, and waiting until they are through."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from runtime.errors import Unavailable
from standalone.client import documents

FINAL = frozenset({"processed", "partial", "failed", "deleting"})
"""Statuses after which nothing more happens to a document by itself."""

INTERVAL = 0.5
"""Seconds between two looks, more when a look itself takes long."""

SILENCE = 120.0
"""Seconds the query service may be silent while it is started again."""


@dataclass(frozen=True)
class Stage:
    """Something that is done to every document (`chunked`) or to every chunk."""

    name: str
    done: int
    total: int


def stages(found: Sequence[dict[str, Any]], wanted: int) -> list[Stage]:
    """The four stages over these documents' statuses; `wanted` is how many documents there will be.

    Totals of the later stages grow while documents are still being cut.
    """
    progress = [_progress(document) for document in found]
    cut = sum(1 for document in found if document.get("chunks_count") or document["status"] in FINAL)
    chunks = sum(counts["chunks"] for counts in progress)
    return [
        Stage("chunked", cut, wanted),
        Stage("extracted", sum(counts["extracted"] for counts in progress), chunks),
        Stage("merged", sum(counts["merged"] for counts in progress), chunks),
        Stage("indexed", sum(min(counts["embedded"], counts["indexed"]) for counts in progress), chunks),
    ]


async def follow(
    client: httpx.AsyncClient,
    wanted: Collection[str],
    caught_up: Callable[[], Awaitable[bool]],
    show: Callable[[list[Stage]], None],
) -> list[dict[str, Any]]:
    """Wait until every wanted document is through, and return their statuses. `show` gets each new look.

    `caught_up` says whether statuses show what was just added; before that an older text of a document may be meant.
    Raises `Unavailable` when the query service is silent for long.
    """
    ids, answered = set(wanted), time.monotonic()
    while True:
        since = time.monotonic()
        try:
            current = await caught_up()
            found = [document for document in await documents(client) if document["id"] in ids]
        except Unavailable:
            if time.monotonic() - answered > SILENCE:
                raise
            await asyncio.sleep(INTERVAL)
            continue
        answered = time.monotonic()
        show(stages(found, len(ids)))
        # Once caught up, a document that has no status was deleted meanwhile.
        if current and all(document["status"] in FINAL for document in found):
            return found
        await asyncio.sleep(max(INTERVAL, 4 * (time.monotonic() - since)))


def _progress(document: dict[str, Any]) -> dict[str, int]:
    """The counts of one document, none above the number of its chunks."""
    metadata: dict[str, Any] = document.get("metadata") or {}
    chunks = int(metadata.get("chunks") or document.get("chunks_count") or 0)
    named = ("extracted", "merged", "embedded", "indexed")
    return {"chunks": chunks, **{name: min(chunks, int(metadata.get(name) or 0)) for name in named}}
