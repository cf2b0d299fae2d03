"""The current version of a document, read from the log."""

import asyncio
from datetime import UTC, datetime
from typing import NamedTuple

from contracts.events import DocumentAdded
from contracts.ids import UNKNOWN_SOURCE, former_ids
from contracts.spelling import name_spelling
from runtime.bus.codec import decode
from runtime.bus.port import Log
from runtime.bus.repetitions import content_hash_of
from runtime.errors import ServiceError


class CurrentVersion(NamedTuple):
    """The newest sequence at which a document was added, deleted or erased; what was added there,
    if readable; when.
    """

    sequence: int
    event: DocumentAdded | None = None
    at: datetime = datetime.fromtimestamp(0, UTC)


async def current_version(log: Log, workspace: str, id: str) -> CurrentVersion:
    """Return the current version of the document of this id. Raises Unavailable."""
    addition, deletion, erasure = await asyncio.gather(
        *(
            log.newest(workspace, id, kind)
            for kind in ("DocumentAdded", "DocumentDeleted", "DocumentErased")
        )
    )
    sequence = max(message.sequence if message else 0 for message in (addition, deletion, erasure))
    if not addition or addition.sequence != sequence:
        return CurrentVersion(sequence)
    try:
        envelope = decode(addition.data, addition.subject, addition.headers)
    except ServiceError:
        return CurrentVersion(sequence)
    assert isinstance(envelope.data, DocumentAdded)
    return CurrentVersion(sequence, envelope.data, envelope.time or addition.published_at)


async def is_known(log: Log, workspace: str, id: str) -> bool:
    """Return whether the log says of the document of this id that it was added, deleted or erased.
    Raises Unavailable.
    """
    return bool((await current_version(log, workspace, id)).sequence)


async def existing_id(log: Log, *, workspace: str, id: str, file_path: str = UNKNOWN_SOURCE) -> str:
    """Return the id under which the log has the document: this one, or one from before names had
    one spelling.

    Where it has none, the id in the one spelling of names. Raises Unavailable.
    """
    usual_id = name_spelling(id)
    if old_ids := former_ids(id, file_path):
        for candidate in dict.fromkeys((usual_id, *old_ids)):
            if (await current_version(log, workspace, candidate)).event:
                return candidate
    return usual_id


async def current_content_hash(
    log: Log, *, workspace: str, id: str, file_path: str = UNKNOWN_SOURCE
) -> str | None:
    """Return the SHA-256 of what the document says now; None when the log has none of that id and
    name, or it is deleted. Raises Unavailable.
    """
    id = await existing_id(log, workspace=workspace, id=id, file_path=file_path)
    event = (await current_version(log, workspace, id)).event
    return content_hash_of(event) if event else None
