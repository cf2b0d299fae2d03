"""How a document enters the log: checked, cleaned, its text put beside the log when it is long."""

from collections.abc import Mapping
from datetime import UTC, datetime

from contracts.envelope import Envelope, seal
from contracts.events import Chunking, DocumentAdded, Event, Scalar
from contracts.ids import UNKNOWN_SOURCE, added_event_id, document_id, sha256
from contracts.text import INLINE_LIMIT, encodable, sanitize
from runtime.bus.port import Blobs, Log
from runtime.errors import InvalidInput
from runtime.telemetry import traceparent_for

MAX_TEXT_BYTES = 20 * 1024 * 1024
"""The longest text a document may have, as UTF-8."""


async def add_document(
    log: Log,
    blobs: Blobs,
    *,
    workspace: str,
    text: str,
    source: str,
    file_path: str = UNKNOWN_SOURCE,
    id: str | None = None,
    track_id: str | None = None,
    metadata: Mapping[str, Scalar] | None = None,
    chunking: Chunking | None = None,
) -> tuple[str, int]:
    """Publish a DocumentAdded and return the document's id and the log sequence, once the log has it durably.

    The same text under the same id is the same event. Raises InvalidInput for a text that is blank or too long,
    `Unavailable` when the log does not take it.
    """
    text = encodable(text)
    if not sanitize(text):
        raise InvalidInput("the text is empty; give at least one printable character")
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise InvalidInput(f"the text has {size:,} bytes, at most {MAX_TEXT_BYTES:,} are taken: split the document")
    file_path = encodable(file_path) or UNKNOWN_SOURCE
    name = encodable(id) if id else document_id(sanitize(text), file_path)
    blob = await blobs.put(text) if size > INLINE_LIMIT else None
    event = DocumentAdded(
        document_id=name,
        text=None if blob else text,
        blob=blob,
        file_path=file_path,
        track_id=track_id,
        metadata=dict(metadata or {}),
        chunking=chunking,
    )
    envelope: Envelope[Event] = seal(
        event,
        id=added_event_id(workspace, name, sha256(text)),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        traceparent=traceparent_for(),
    )
    return name, await log.publish(envelope)
