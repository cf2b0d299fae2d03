"""How far documents are, stage by stage, and waiting until they are through."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
    wanted: Mapping[str, int],
    caught_up: Callable[[], Awaitable[bool]],
    show: Callable[[list[Stage]], None],
) -> list[dict[str, Any]]:
    """Wait until every wanted document is through, and return their statuses. `show` gets each new look.

    `wanted` gives the place in the log of each document's text: a status of an older text does not count. `caught_up`
    says whether statuses show all of the log that is meant; before that a document without a status is still to come.
    It is not asked about documents with one, as one event that has to be tried again would hold up all the others.
    Raises `Unavailable` when the query service is silent for long.
    """
    answered = time.monotonic()
    while True:
        since = time.monotonic()
        try:
            current = await caught_up()
            found = [document for document in await documents(client) if document["id"] in wanted]
        except Unavailable:
            if time.monotonic() - answered > SILENCE:
                raise
            await asyncio.sleep(INTERVAL)
            continue
        answered = time.monotonic()
        show(stages(found, len(wanted)))
        # Once caught up, a document that has no status was deleted meanwhile.
        complete = current or len(found) == len(wanted)
        if complete and all(_through(document, wanted[document["id"]]) for document in found):
            return found
        await asyncio.sleep(max(INTERVAL, 4 * (time.monotonic() - since)))


def _through(document: dict[str, Any], sequence: int) -> bool:
    """Whether nothing more happens by itself to the text that stands at that place of the log."""
    return document["status"] in FINAL and document["metadata"]["added_sequence"] >= sequence


def _progress(document: dict[str, Any]) -> dict[str, int]:
    """The counts of one document, none above the number of its chunks."""
    metadata: dict[str, Any] = document.get("metadata") or {}
    chunks = int(metadata.get("chunks") or document.get("chunks_count") or 0)
    named = ("extracted", "merged", "embedded", "indexed")
    return {"chunks": chunks, **{name: min(chunks, int(metadata.get(name) or 0)) for name in named}}
