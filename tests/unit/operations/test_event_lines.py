"""The log as a person reads it."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from contracts.envelope import Lineage, wrap
from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    StageFailed,
    VectorsIndexed,
)
from contracts.ids import md5
from contracts.subjects import subject
from contracts.values import BlobRef, ChunkRef, DocumentVersion
from operations.event_lines import DocumentNames, event_line, subjects_of
from runtime.bus.codec import encode
from runtime.bus.memory import MemoryLog
from runtime.bus.port import Message
from tests.support.events import sealed

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DOCUMENT = DocumentVersion(id="doc-1", version=1, added_at=NOW)


class StoredMessage:
    """A message of the log."""

    sequence = 7
    attempt = 1
    published_at = NOW
    headers: Mapping[str, str] = {}

    def __init__(self, data: bytes, subject: str) -> None:
        self.data, self.subject = data, subject

    async def ack(self) -> None: ...
    async def nak(self, delay: float) -> None: ...
    async def heartbeat(self) -> None: ...


def stored(event: Event) -> StoredMessage:
    """The event as the log holds it."""
    envelope = wrap(
        event, id="e-1", source="/test", workspace="default", time=NOW, lineage=Lineage("e-0")
    )
    return StoredMessage(
        encode(envelope), subject("default", event.aggregate_id, event.type_name())
    )


@pytest.mark.parametrize(
    ("event", "gist"),
    [
        (DocumentAdded(document_id="doc-1", text="Grüße", file_path="a.md"), "a.md, 7 bytes"),
        (
            DocumentAdded(
                document_id="doc-1", blob=BlobRef(sha256="0" * 64, size=300_000, parts=1)
            ),
            "unknown_source, 300,000 bytes",
        ),
        (
            ChunksCreated(document=DOCUMENT, part=1, parts=3, chunk_count=90, chunks=()),
            "0 of 90 chunks, part 2 of 3",
        ),
        (
            EntitiesExtracted(
                document=DOCUMENT,
                chunk=ChunkRef(id="c", order=4),
                entities=(),
                relations=(),
                model="m",
                prompt_version="1",
                cache_key="k",
                cached=True,
            ),
            "chunk 5: 0 entities, 0 relations (m, cached)",
        ),
        (
            VectorsIndexed(
                document=DOCUMENT, kind="graph", chunks=(), embedded=3, model="m", dimension=8
            ),
            "graph: 0 chunks, 3 texts embedded (m)",
        ),
        (
            StageFailed(
                stage="extractor",
                document_id="doc-1",
                cause_type="ChunksCreated",
                error_type="Poison",
                message="no",
                attempt=1,
                retry_may_help=False,
            ),
            "extractor gave up a ChunksCreated: Poison: no",
        ),
        (DocumentDeleted(document_id="doc-1", reason="old"), "deleted: old"),
        (DocumentDeleted(document_id="doc-1"), "deleted"),
    ],
)
def test_an_event_is_one_line(event: Event, gist: str) -> None:
    result = event_line(stored(event))
    assert (result.sequence, result.time, result.type, result.document) == (
        7,
        NOW,
        event.type_name(),
        "doc-1",
    )
    assert result.gist == gist
    assert (result.id, result.cause) == ("e-1", "e-0")


def test_what_cannot_be_read_is_a_line_too() -> None:
    result = event_line(StoredMessage(b"{", "kb.v1.default.doc-1.DocumentAdded"))
    assert (result.type, result.document) == ("DocumentAdded", "doc-1")
    assert result.gist.startswith("not readable: not JSON")


def test_a_document_is_found_by_its_id_and_by_its_name() -> None:
    assert subjects_of("default", None) == ["kb.v1.default.*.*"]
    assert f"kb.v1.default.doc-{md5('a/b.md')}.*" in subjects_of("default", "a/b.md")
    assert "kb.v1.default.doc-1.*" in subjects_of("default", "doc-1")


class CountingLog(MemoryLog):
    """A log that counts how often it is asked for the newest event of a document."""

    lookup_count = 0

    async def newest(
        self, workspace: str, about: str, event_type: str, *, exact: bool = True
    ) -> Message | None:
        self.lookup_count += 1
        return await super().newest(workspace, about, event_type, exact=exact)


async def test_names_that_the_events_shown_give_are_not_looked_up() -> None:
    log = CountingLog()
    events: list[Event] = [
        DocumentAdded(document_id="doc-1", text="a", file_path="before.md"),
        DocumentDeleted(document_id="doc-1"),
        DocumentAdded(document_id="doc-1", text="b", file_path="after.md"),
        DocumentDeleted(document_id="doc-1"),
        DocumentDeleted(document_id="doc-2"),
    ]
    for number, event in enumerate(events):
        await log.publish(sealed(event, id=f"e-{number}"))
    pages = [page async for page in log.read()]
    lines = [event_line(message) for page in pages for message in page]
    names = DocumentNames(log, "w")
    assert [line.name for line in await names.named(lines)] == [
        "before.md",
        "before.md",
        "after.md",
        "after.md",
        "doc-2",
    ]
    assert log.lookup_count == 1, "of what was never added alone"
    behind = DocumentNames(log, "w")
    assert [line.name for line in await behind.named(lines[3:])] == ["after.md", "doc-2"]
