"""Events as the command `log` shows them: one line each."""

from dataclasses import dataclass
from datetime import datetime

from contracts.ids import ids_of_name
from contracts.spelling import spellings
from contracts.subjects import PREFIX, of_document, token
from runtime.bus.event_summary import summarize
from runtime.bus.port import Message


@dataclass(frozen=True)
class EventLine:
    """One message of the log as it is shown."""

    sequence: int
    time: datetime
    type: str
    document: str
    gist: str
    id: str = ""
    cause: str | None = None
    actor: str | None = None
    """In whose name it was published; None for what a service made of another event."""


def subjects_of(workspace: str, document: str | None) -> list[str]:
    """The subjects of a workspace's events, or of one document's: by its id, or by the name it was
    added under.
    """
    if document is None:
        return [f"{PREFIX}.{token(workspace)}.*.*"]
    return [
        of_document(workspace, name)
        for name in dict.fromkeys((*spellings(document), *ids_of_name(document)))
    ]


def event_line(message: Message) -> EventLine:
    """Return the line of one message, also of one that cannot be decoded."""
    event = summarize(message)
    return EventLine(
        event.sequence,
        event.time,
        event.type,
        event.document,
        event.text,
        event.id,
        event.cause,
        event.actor,
    )
