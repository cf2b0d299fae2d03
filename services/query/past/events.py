"""Reads from the log what the documents and the graph of one workspace follow from, to be folded at
any place of it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from contracts.events import (
    ChunksCreated,
    DescriptionSummarized,
    DocumentAdded,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    GraphEdited,
    StageFailed,
)
from contracts.graph import DocumentBounds
from contracts.moments import microseconds
from contracts.values import DocumentVersion
from knowledge.contributions import Contribution, Key, contributions
from knowledge.edit import Edit, edit_of
from runtime.bus.codec import decode
from runtime.bus.port import Delivery, Log, Message
from runtime.bus.repetitions import content_hash_of
from runtime.errors import NewerVersion, Poison
from services.query.errors import TooLarge

READ = (
    DocumentAdded,
    DocumentDeleted,
    GraphEdited,
    ChunksCreated,
    EntitiesExtracted,
    StageFailed,
    DescriptionSummarized,
)
"""The types of events that are read, one after the other."""

MAX_CONTRIBUTIONS = 300_000
"""Contributions of one workspace that are kept in memory, 500 to 1,000 bytes each."""

PAUSE = 50
"""Messages that are decoded before other requests get their turn."""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document was added with a text, or deleted: then `content_hash` is empty."""

    sequence: int
    at: int
    """Microseconds since 1970."""
    file_path: str = ""
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """What one version of a chunk says."""

    sequence: int
    at: int
    version: int
    contributions: tuple[Contribution, ...]

    @property
    def rank(self) -> tuple[int, int, str]:
        """Return what decides which of several records of one chunk counts: the greatest, whatever
        came first.
        """
        contributions = sorted(self.contributions, key=lambda contribution: contribution.names)
        text = str(contributions) if contributions else ""
        return self.version, len(contributions), text


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """A summary of a group of descriptions of one key."""

    sequence: int
    at: int
    key: Key
    inputs_hash: str
    text: str
    model: str


@dataclass
class WorkspaceEvents:
    """What the log says of one workspace up to the sequence `end`, by what it is about, each list
    in its order.
    """

    workspace: str
    end: int = 0
    documents: dict[str, list[DocumentRecord]] = field(
        default_factory=lambda: defaultdict[str, Any](list)
    )
    chunks: dict[str, list[ChunkRecord]] = field(
        default_factory=lambda: defaultdict[str, Any](list)
    )
    bounds: dict[str, list[tuple[int, DocumentBounds]]] = field(
        default_factory=lambda: defaultdict[str, Any](list)
    )
    """By document: its bounds, each with the sequence of the event that says them."""
    edits: list[Edit] = field(default_factory=list[Edit])
    summaries: list[SummaryRecord] = field(default_factory=list[SummaryRecord])
    left_out: int = 0
    """Events that cannot be read, or are of a newer version than this code."""
    contributions: int = 0
    exceeded_at: int | None = None
    """Sequence of the event that said too much; None while they fit in memory."""

    async def read(self, log: Log, until: int) -> None:
        """Read on to the sequence `until`. Raises TooLarge, and Unavailable: then `end` stays, and
        nothing counts.
        """
        for kind in READ:
            message_count = 0
            async with aclosing(
                log.history(self.workspace, None, kind.type_name(), self.end)
            ) as messages:
                async for message in messages:
                    if message.sequence > until:
                        break
                    self._take(message)
                    message_count += 1
                    if message_count % PAUSE == 0:
                        await asyncio.sleep(0)
        self.end = max(self.end, until)

    def _take(self, message: Message) -> None:
        try:
            envelope = decode(message.data, message.subject, message.headers)
        except (NewerVersion, Poison):
            self.left_out += 1
            return
        self.note(Delivery(envelope, message.sequence, 1, message.published_at))

    def _count(self, statements: Sequence[Contribution], sequence: int) -> None:
        self.contributions += len(statements)
        if self.contributions > MAX_CONTRIBUTIONS:
            self.exceeded_at = sequence
            raise TooLarge(
                f"chunks of workspace {self.workspace!r} say more than {MAX_CONTRIBUTIONS:,} "
                "things of entities and relations: its past does not fit in memory"
            )

    def note(self, delivery: Delivery[Event]) -> None:
        """Note one event. Raises TooLarge when there are too many contributions."""
        sequence = delivery.sequence
        at = microseconds(delivery.happened_at)
        match delivery.event:
            case DocumentAdded() as event:
                record = DocumentRecord(sequence, at, event.file_path, content_hash_of(event))
                self.documents[event.document_id].append(record)
            case DocumentDeleted() as event:
                self.documents[event.document_id].append(DocumentRecord(sequence, at))
                self.bounds[event.document_id].append((sequence, DocumentBounds(sequence, 0)))
            case ChunksCreated() as event if event.chunk_count is not None:
                bounds = DocumentBounds(event.document.version, event.chunk_count, event.text_count)
                self.bounds[event.document.id].append((sequence, bounds))
            case EntitiesExtracted() as event:
                statements = tuple(contributions(event))
                record = ChunkRecord(sequence, at, event.document.version, statements)
                self.chunks[event.chunk.id].append(record)
                self._count(statements, sequence)
            case (
                StageFailed(
                    document=DocumentVersion() as document, stage="extractor" | "merger"
                ) as event
            ):
                # A chunk that failed for good says nothing: what an older version of it said is
                # retracted.
                for chunk in event.chunks:
                    self.chunks[chunk.id].append(ChunkRecord(sequence, at, document.version, ()))
            case GraphEdited() as event:
                self.edits.append(edit_of(sequence, at, event))
            case DescriptionSummarized() as event:
                record = SummaryRecord(
                    sequence, at, event.key, event.inputs_hash, event.text, event.model
                )
                self.summaries.append(record)
            case _:
                pass
