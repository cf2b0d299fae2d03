"""Whether a message that the log took for a repetition is one: another publisher may have used its
id before.
"""

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import DocumentAdded, Event
from contracts.ids import sha256
from runtime.bus.codec import decode
from runtime.bus.port import Message
from runtime.errors import ServiceError


def subject_of(envelope: Envelope[Event]) -> str:
    """Return the event's subject, on which its id stands for it alone."""
    event = envelope.data
    return subjects.subject(envelope.workspace, event.aggregate_id, event.type_name())


def is_repetition(envelope: Envelope[Event], stored_message: Message) -> bool:
    """Return whether the stored message is this event: same place, same id, and of a document the
    same content.
    """
    try:
        before = decode(stored_message.data, stored_message.subject, stored_message.headers)
    except ServiceError:
        return False
    if before.id != envelope.id or subject_of(before) != subject_of(envelope):
        return False
    if not isinstance(envelope.data, DocumentAdded):
        return True
    return isinstance(before.data, DocumentAdded) and content_hash_of(
        before.data
    ) == content_hash_of(envelope.data)


def content_hash_of(event: DocumentAdded) -> str:
    """Return the SHA-256 of the text or the knowledge."""
    if event.blob:
        return event.blob.sha256
    return sha256(event.knowledge.model_dump_json() if event.knowledge else event.text or "")
