"""Progress of documents, stage by stage, and waiting until their processing is over."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from lightstream_rag.client import AsyncLightstream
from lightstream_rag.models import Document
from runtime.errors import BudgetSpent, ServiceError, Unavailable

INTERVAL = 0.5
"""Seconds between two polls, more when a poll itself takes long."""

PREFIX = f"{BudgetSpent.__name__}: "
"""What an error that is kept with an event begins with."""

STALLED = 10.0
"""Seconds without any progress after which it is asked why."""

MAX_SILENCE = 120.0
"""Seconds the query service may be silent while it is started again."""


@dataclass(frozen=True)
class Stage:
    """Something that is done to every document (`chunked`) or to every chunk."""

    name: str
    done: int
    total: int


class Additions:
    """Shows how many of the documents are added, and how far the pages of a scan are."""

    def __init__(self, show: Callable[[list[Stage]], None], total: int) -> None:
        self._show = show
        self._total = total
        self._count = 0

    def count(self, _name: str) -> None:
        """Show one document more."""
        self._count += 1
        self._show([self._stage()])

    def show_page(self, number: int, count: int) -> None:
        """Show that a page of the next document was recognized, the `number`-th of `count`."""
        self._show([self._stage(), Stage("recognized", number, count)])

    def _stage(self) -> Stage:
        return Stage("added", self._count, self._total)


def stages(documents: Sequence[Document], document_count: int) -> list[Stage]:
    """The four stages over these documents' statuses; `wanted` is how many documents there will be.

    Totals of the later stages grow while documents are still being cut.
    """
    progress = [_progress(document) for document in documents]
    cut = sum(1 for document in documents if document.chunks_count or document.is_final)
    chunks = sum(counts["chunks"] for counts in progress)
    return [
        Stage("chunked", cut, document_count),
        Stage("extracted", sum(counts["extracted"] for counts in progress), chunks),
        Stage("merged", sum(counts["merged"] for counts in progress), chunks),
        Stage(
            "indexed",
            sum(min(counts["embedded"], counts["indexed"]) for counts in progress),
            chunks,
        ),
    ]


async def wait_for_documents(
    client: AsyncLightstream,
    sequences: Mapping[str, int],
    caught_up: Callable[[], Awaitable[bool]],
    show: Callable[[list[Stage]], None],
    chunk_counts: Mapping[str, int] | None = None,
) -> list[Document]:
    """Wait until every wanted document is through, and return their statuses. `show` gets each new
    look.

    `sequences` gives when each document's text was added: a status of an older text does not count.
    `chunk_counts`: chunks that a document has at least, where it is to have more than before.
    `caught_up` says whether statuses show all of the log that is meant; before that a document
    without a status is still to come. It is not asked about documents with one, as one event that
    has to be tried again would hold up all the others.

    Raises `Unavailable` when the query service is silent for long, BudgetSpent when nothing moves
    because the budget of the workspace is spent.
    """
    answered_at = moved_at = time.monotonic()
    shown_stages: list[Stage] = []
    while True:
        since = time.monotonic()
        try:
            is_current = await caught_up()
            documents = await client.documents_by_id(sequences)
        except Unavailable:
            if time.monotonic() - answered_at > MAX_SILENCE:
                raise
            await asyncio.sleep(INTERVAL)
            continue
        answered_at = time.monotonic()
        new_stages = stages(documents, len(sequences))
        moved_at = moved_at if new_stages == shown_stages else answered_at
        shown_stages = new_stages
        show(shown_stages)
        # Once caught up, a document that has no status was deleted meanwhile.
        complete = is_current or len(documents) == len(sequences)
        unfinished_documents = [
            document
            for document in documents
            if not _is_final(document, sequences[document.id])
            or (document.chunks_count or 0) < (chunk_counts or {}).get(document.id, 0)
        ]
        if complete and not unfinished_documents:
            return documents
        if answered_at - moved_at >= STALLED:
            final_count = sum(document.is_final for document in documents)
            await _refuse_spent_budget(client, f"{final_count} of {len(sequences)} documents")
        await asyncio.sleep(max(INTERVAL, 4 * (time.monotonic() - since)))


async def _refuse_spent_budget(client: AsyncLightstream, progress: str) -> None:
    """Raise BudgetSpent if events of the workspace wait for money. They stay, and go on with it."""
    try:
        waiting_events = await client.parked_events()
    except ServiceError:
        return
    for waiting in waiting_events:
        if waiting.reason == "over-budget":
            raise BudgetSpent(
                f"{waiting.error.removeprefix(PREFIX)}: {progress} are worked on, and the others "
                "wait until it begins anew or is raised: lightstream budget set --workspace "
                f"{waiting.workspace}"
            )


def _is_final(document: Document, at: int) -> bool:
    """Return True if the processing of the text that was added then is over."""
    return document.is_final and document.sequence >= at


def _progress(document: Document) -> dict[str, int]:
    """The counts of one document, none above the number of its chunks."""
    chunks = int(document.metadata.get("chunks") or document.chunks_count or 0)
    names = ("extracted", "merged", "embedded", "indexed")
    return {
        "chunks": chunks,
        **{name: min(chunks, int(document.metadata.get(name) or 0)) for name in names},
    }
