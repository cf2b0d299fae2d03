"""The past of a large workspace, from the present: what has changed since is read from the log, the
rest from stores.

A document is taken from the stores only if it is whole there and no event about it is newer than
the past. All others are read from the log. Rows are read first and changes afterwards: what changes
meanwhile counts as changed.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from contracts import subjects
from contracts.events import DescriptionSummarized, Event, GraphEdited
from contracts.graph import Generations, Partition
from runtime.bus.codec import decode
from runtime.bus.port import Delivery, LiveGenerations, Log
from runtime.errors import NewerVersion, Poison, Unavailable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Row, Rows, Table
from services.query.adapters.documents import RowDocuments, validity_of
from services.query.errors import TooLarge
from services.query.past.events import MAX_CONTRIBUTIONS, PAUSE, ChunkRecord, WorkspaceEvents
from services.query.past.present import PresentPast
from services.query.past.sizes import ANY_TYPE
from services.query.past.state import REVISION
from services.query.replay import StatusReplay
from services.query.retrieval.port import StoredChunk, StoredContributions
from services.query.status.document_status import DELETED

GENERATIONS = Generations(REVISION, REVISION, REVISION)
"""The generations of stores in memory that hold a past."""

PAGE = 500
"""Rows that are read at once."""

MAX_TEXT = 128 * 1024 * 1024
"""Characters of all chunks that are kept in memory."""

MAX_CHANGED = 2_000
"""Documents that are read from the log, each some milliseconds."""

MAX_READ = 64 * 1024 * 1024
"""Bytes of events that are read from the log."""

HANDLED_SECONDS = 10.0
POLL_SECONDS = 0.1
"""Seconds that the status projection may take to handle what came before the past, and between two
looks at it.
"""


@dataclass
class _StoredRows:
    """The rows of a workspace: documents by id, chunks by document and key; and what chunks say."""

    documents: dict[str, Row] = field(default_factory=dict[str, Row])
    chunks: dict[str, dict[str, Row]] = field(default_factory=dict[str, dict[str, Row]])
    contributions: dict[str, StoredChunk] = field(default_factory=dict[str, StoredChunk])

    def is_whole(self, document: Row) -> bool:
        """Return whether the stores have all that the log says of the document, and nothing
        else.
        """
        if document["status"] == DELETED:
            return True
        version = document["version"]
        chunks = self.chunks.get(document["id"], {}).values()
        orders = sorted(row["order"] for row in chunks)
        return (
            document["status"] == "processed"
            and orders == list(range(document["chunk_count"]))
            and all(row["version"] == version for row in chunks)
            and all(self._has_contributions(row["id"], version) for row in chunks)
        )

    def _has_contributions(self, chunk: str, version: int) -> bool:
        stored_chunk = self.contributions.get(chunk)
        return stored_chunk is not None and stored_chunk.version == version


@dataclass(frozen=True)
class StoredPresent:
    """`Present` over the document store, the contributions, the log and the live generations."""

    log: Log
    rows: Rows
    contributions: StoredContributions
    pointers: LiveGenerations

    async def at(self, workspace: str, sequence: int) -> PresentPast:
        """See `Present.at`."""
        generations = await self.pointers.live("status", "graph")
        await self._until_handled(workspace, sequence)
        stored_rows = await self._stored(workspace, generations)
        changed_tokens = await self._changed(workspace, sequence)
        if await self.pointers.live("status", "graph") != generations:
            raise Unavailable("a rebuild went live while the past was read: ask again")
        past = PresentPast(WorkspaceEvents(workspace, sequence), MemoryRows())
        unchanged_rows = [
            row
            for id, row in stored_rows.documents.items()
            if subjects.token(id) not in changed_tokens and stored_rows.is_whole(row)
        ]
        await _take(past, stored_rows, unchanged_rows)
        changed_ids = sorted(stored_rows.documents.keys() - {row["id"] for row in unchanged_rows})
        await _LogReader(self.log, past, sequence).read(changed_ids)
        return past

    async def _until_handled(self, workspace: str, sequence: int) -> None:
        target_sequence = min(sequence, await self.log.last(workspace))
        seconds_waited = 0.0
        while await self.log.handled("query-status", workspace=workspace) < target_sequence:
            if seconds_waited >= HANDLED_SECONDS:
                raise Unavailable(
                    "the status projection has not handled all that this past consists of: "
                    "ask again"
                )
            await asyncio.sleep(POLL_SECONDS)
            seconds_waited += POLL_SECONDS

    async def _stored(self, workspace: str, generations: Generations) -> _StoredRows:
        stored_rows = _StoredRows()
        characters = 0
        contributions = 0
        status = Partition(workspace, generations.status)
        graph = Partition(workspace, generations.graph)
        async with aclosing(self.contributions.chunks(graph)) as chunks:
            async for chunk in chunks:
                stored_rows.contributions[chunk.chunk_id] = chunk
                contributions += len(chunk.contributions)
                if contributions > MAX_CONTRIBUTIONS:
                    raise _too_large(
                        workspace, f"{MAX_CONTRIBUTIONS:,} things said of entities and relations"
                    )
        async for key, row in self._scan(Table("chunks", status)):
            stored_rows.chunks.setdefault(row["document_id"], {})[key] = row
            characters += len(row["content"])
            if characters > MAX_TEXT:
                raise _too_large(workspace, f"{MAX_TEXT:,} characters in chunks")
        async for _, row in self._scan(Table("documents", status)):
            stored_rows.documents[row["id"]] = row
        return stored_rows

    async def _scan(self, table: Table) -> AsyncGenerator[tuple[str, Row]]:
        after = ""
        while page := await self.rows.scan(table, after, PAGE):
            for key, row in page:
                yield key, row
            after = page[-1][0]

    async def _changed(self, workspace: str, sequence: int) -> set[str]:
        """Return the subject tokens of the documents with events behind the sequence."""
        async with aclosing(self.log.subjects(workspace, sequence)) as behind:
            return {subjects.split(subject)[1] async for subject in behind}


async def _take(past: PresentPast, stored_rows: _StoredRows, documents: Sequence[Row]) -> None:
    """Take whole documents with their chunks, and what these say, as the stores have them."""
    partition = Partition(past.events.workspace, REVISION)
    await past.rows.put(
        Table("documents", partition), {subjects.token(row["id"]): row for row in documents}
    )
    past_documents = RowDocuments(past.rows)
    with_validity = [row["id"] for row in documents if validity_of(row)]
    states = await past_documents.get(partition, with_validity)
    await past_documents.record_supersessions(partition, [state for state, _ in states.values()])
    for document in documents:
        if document["status"] == DELETED:
            continue
        chunks = stored_rows.chunks.get(document["id"], {})
        await past.rows.put(Table("chunks", partition), chunks)
        for chunk in chunks.values():
            stored_chunk = stored_rows.contributions[chunk["id"]]
            record = ChunkRecord(
                stored_chunk.version, 0, stored_chunk.version, stored_chunk.contributions
            )
            past.events.chunks[chunk["id"]].append(record)
        # Stores in memory never wait: other requests get their turn.
        await asyncio.sleep(0)


@dataclass
class _LogReader:
    """Reads from the log into a past, as far as its sequence."""

    log: Log
    past: PresentPast
    sequence: int
    read_bytes: int = 0

    async def read(self, documents: Sequence[str]) -> None:
        """Read these documents, all edits and all summaries. Raises TooLarge, Unavailable."""
        workspace = self.past.events.workspace
        replay = StatusReplay(self.past.rows)
        read = 0
        for id in documents:
            first = await self.log.following(0, subjects.of_document(workspace, id))
            if first is None or first.sequence > self.sequence:
                continue
            read += 1
            if read > MAX_CHANGED:
                raise _too_large(
                    workspace,
                    f"{MAX_CHANGED:,} documents that have changed since, or are under way",
                )
            await replay.take(await self._noted(id, ANY_TYPE), GENERATIONS)
        await replay.finish(GENERATIONS)
        for event_type in (GraphEdited, DescriptionSummarized):
            await self._noted(None, event_type.type_name())

    async def _noted(self, about: str | None, event_type: str) -> list[Delivery[Event]]:
        workspace = self.past.events.workspace
        deliveries: list[Delivery[Event]] = []
        async with aclosing(self.log.history(workspace, about, event_type)) as messages:
            async for message in messages:
                if message.sequence > self.sequence:
                    break
                self.read_bytes += len(message.data)
                if self.read_bytes > MAX_READ:
                    raise _too_large(
                        workspace, f"{MAX_READ >> 20} MiB of events of what has changed since"
                    )
                try:
                    envelope = decode(message.data, message.subject, message.headers)
                except (NewerVersion, Poison):
                    continue
                delivery = Delivery(envelope, message.sequence, 1, message.published_at)
                self.past.events.note(delivery)
                deliveries.append(delivery)
                if len(deliveries) % PAUSE == 0:
                    await asyncio.sleep(0)
        return deliveries


def _too_large(workspace: str, kind: str) -> TooLarge:
    return TooLarge(
        f"the past of workspace {workspace!r} does not fit in memory: it has more than {kind}; "
        "ask of a later moment, or of now without `as_of`"
    )
