"""Publishes texts as documents. A request has one track id; repeated with its Idempotency-Key it
adds nothing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from contracts.ids import UNKNOWN_SOURCE, canonical_name, sha256
from contracts.text import sanitize
from contracts.values import Chunking, Scalar
from publishing.documents import Added, Submission, add_document
from runtime.bus.port import Blobs, Log
from runtime.errors import InvalidInput
from runtime.parsing.names import validated_name
from runtime.text.ballast import clean_text
from services.query.event_source import SOURCE


@dataclass(frozen=True)
class DocumentPublisher:
    """The log and the object store that take the documents of one workspace."""

    log: Log
    blobs: Blobs
    workspace: str


@dataclass(frozen=True)
class IngestRequest:
    """One request that adds documents; `id` is its track id."""

    id: str
    key: str = ""
    """The hash of its Idempotency-Key, from which the ids of its events derive; empty without a
    key.
    """

    @classmethod
    def of(cls, kind: str, key: str | None = None, body: str = "") -> "IngestRequest":
        """Return a request whose id begins with its kind: `insert`, `upload` or `scan`.

        With a key the id is a function of key and body, without one it has the time and a random
        part, as LightRAG's.
        """
        if not key:
            return cls(f"{kind}_{datetime.now(UTC):%Y%m%d_%H%M%S}_{uuid4().hex[:8]}")
        key_hash = sha256(key)[:32]
        return cls(f"{kind}_{key_hash}_{sha256(body)[:16]}", key_hash)


@dataclass(frozen=True)
class NewDocument:
    """A document to add."""

    text: str
    name: str = UNKNOWN_SOURCE
    """What answers cite; the document's id derives from its base name."""
    id: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    pages: Sequence[int] = ()
    chunking: Chunking | None = None
    warnings: Sequence[str] = ()
    """What may be missing or wrong in the text."""


async def new_document(text: str, name: str, chunking: Chunking | None = None) -> NewDocument:
    """Return the document of a text, without inline pictures and other binary data, which its
    warnings tell.

    Raises InvalidInput for a text that has nothing else.
    """
    clean = await asyncio.to_thread(clean_text, text)
    if clean.warnings and not sanitize(clean.text):
        raise InvalidInput(f"the text is empty: {'; '.join(clean.warnings)}")
    return NewDocument(clean.text, name, chunking=chunking, warnings=clean.warnings)


async def publish_documents(
    publisher: DocumentPublisher, request: IngestRequest, documents: Sequence[NewDocument]
) -> list[Added]:
    """Publish each document, and return what was added, in the same order.

    Raises InvalidInput before anything is published when a name is invalid; what `publish_document`
    raises leaves the documents before it published.
    """
    for document in documents:
        validated_name(document.name)
    return [
        await publish_document(publisher, request, document, number)
        for number, document in enumerate(documents)
    ]


async def publish_document(
    publisher: DocumentPublisher, request: IngestRequest, document: NewDocument, number: int = 0
) -> Added:
    """Publish the `number`-th document of a request.

    Raises InvalidInput for what `add_document` rejects and for a key that another request has used,
    Unavailable when the log does not accept it.
    """
    name = document.name if document.id else canonical_name(document.name)
    added = await add_document(
        publisher.log,
        publisher.blobs,
        Submission(
            text=document.text,
            file_path=name or UNKNOWN_SOURCE,
            id=document.id,
            track_id=request.id,
            metadata=document.metadata,
            chunking=document.chunking,
            pages=document.pages,
            warnings=document.warnings,
        ),
        workspace=publisher.workspace,
        source=SOURCE,
        key=f"{request.key}/{number}" if request.key else "",
    )
    if request.key and added.track_id != request.id and f"_{request.key}_" in added.track_id:
        raise InvalidInput(
            "this Idempotency-Key was used with another request: choose a new one for each"
        )
    return added
