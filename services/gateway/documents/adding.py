"""Publishes texts as documents. A request has one track id."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from contracts.access import Access
from contracts.chunking import Chunking
from contracts.ids import path_id, sha256
from contracts.text import is_blank
from contracts.values import Validity
from publishing.documents import Added, add_document, added_with_key
from publishing.draft import DocumentDraft, Submission
from runtime.bus.port import Blobs, Log
from runtime.errors import InvalidInput
from runtime.parsing.files import Parsed
from runtime.text.ballast import clean_text
from services.gateway.documents.request_records import RequestRecords
from services.query.event_source import SOURCE


@dataclass(frozen=True)
class DocumentPublisher:
    """The log and the object store that take the documents of one workspace, and what is known of
    requests that have a key.
    """

    log: Log
    blobs: Blobs
    workspace: str
    requests: RequestRecords


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


async def draft_text(
    request: IngestRequest,
    text: str,
    name: str,
    chunking: Chunking | None = None,
    access: Access | None = None,
    validity: Validity | None = None,
) -> DocumentDraft:
    """Return the draft of a text, without inline pictures and other binary data, which its warnings
    tell.

    Raises InvalidInput for a text that has nothing else, and for what cannot be a document.
    """
    return await asyncio.to_thread(_draft_text, request, text, name, chunking, access, validity)


def _draft_text(
    request: IngestRequest,
    text: str,
    name: str,
    chunking: Chunking | None,
    access: Access | None,
    validity: Validity | None,
) -> DocumentDraft:
    clean = clean_text(text)
    if clean.warnings and is_blank(clean.text):
        raise InvalidInput(f"the text is empty: {'; '.join(clean.warnings)}")
    return DocumentDraft.of(
        Submission(
            text=clean.text,
            file_path=name,
            without_folders=True,
            track_id=request.id,
            chunking=chunking,
            validity=validity,
            warnings=clean.warnings,
            access=access,
        )
    )


async def draft_file(
    request: IngestRequest,
    parsed_file: Parsed,
    name: str,
    *,
    replaces: bool = True,
    access: Access | None = None,
    keeps_original: bool = False,
) -> DocumentDraft:
    """Return the draft of a file. A name with folders is an id of its own, as on the command line.

    Raises InvalidInput for what cannot be a document.
    """
    has_folders = "/" in name
    submission = Submission(
        text=parsed_file.text,
        file_path=name,
        without_folders=not has_folders,
        id=path_id(name) if has_folders else None,
        track_id=request.id,
        metadata=parsed_file.metadata,
        pages=parsed_file.pages,
        chunking=parsed_file.chunking,
        warnings=parsed_file.warnings,
        figures=parsed_file.figures,
        replaces=replaces,
        access=access,
        original=parsed_file.data if keeps_original else b"",
    )
    return await asyncio.to_thread(DocumentDraft.of, submission)


async def publish_drafts(
    publisher: DocumentPublisher, request: IngestRequest, drafts: Sequence[DocumentDraft]
) -> list[Added]:
    """Publish each draft, and return what was added, in the same order. A request that is repeated
    with its Idempotency-Key adds nothing: it gets what the first one got.

    Raises InvalidInput for a key that another request has used, OtherText for a draft that replaces
    nothing, Unavailable when the log does not accept it. The drafts before it are published then.
    """

    async def add(is_repeated: bool) -> list[Added]:
        return [
            await _publish(publisher, request, draft, number, is_repeated)
            for number, draft in enumerate(drafts)
        ]

    if not request.key:
        return await add(False)
    return await publisher.requests.once(publisher.workspace, request.key, request.id, add)


async def _publish(
    publisher: DocumentPublisher,
    request: IngestRequest,
    draft: DocumentDraft,
    number: int,
    is_repeated: bool,
) -> Added:
    """Publish the `number`-th document of a request, unless the first attempt already has."""
    key = f"{request.key}/{number}" if request.key else ""
    if is_repeated:
        earlier = await added_with_key(publisher.log, draft, workspace=publisher.workspace, key=key)
        if earlier:
            return earlier
    return await add_document(
        publisher.log,
        publisher.blobs,
        draft,
        workspace=publisher.workspace,
        source=SOURCE,
        key=key,
    )
