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


def scope_of(envelope: Envelope[Event], once_per_workspace: bool) -> str:
    """Return where an id stands for one event: the event's subject, or all subjects of its type in
    its workspace.
    """
    workspace = envelope.workspace
    about = envelope.data.aggregate_id
    event_type = envelope.data.type_name()
    if once_per_workspace:
        return subjects.of_type_in(workspace, event_type)
    return subjects.subject(workspace, about, event_type)


def is_repetition(
    envelope: Envelope[Event], stored_message: Message, once_per_workspace: bool = False
) -> bool:
    """Return whether the stored message is this event: same place, same id, and of a document the
    same content.

    With `once_per_workspace` the first document of an id stands for all, whatever the others say.
    """
    try:
        before = decode(stored_message.data, stored_message.subject, stored_message.headers)
    except ServiceError:
        return False
    scope = scope_of(envelope, once_per_workspace)
    if before.id != envelope.id or scope_of(before, once_per_workspace) != scope:
        return False
    if once_per_workspace or not isinstance(envelope.data, DocumentAdded):
        return True
    return isinstance(before.data, DocumentAdded) and content_hash_of(
        before.data
    ) == content_hash_of(envelope.data)


def content_hash_of(event: DocumentAdded) -> str:
    """Return the SHA-256 of the text or the knowledge."""
    if event.blob:
        return event.blob.sha256
    return sha256(event.knowledge.model_dump_json() if event.knowledge else event.text or "")
