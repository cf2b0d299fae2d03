"""Events as the command `log` shows them: one line each, and which of them it shows."""

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from contracts.events import DocumentAdded
from contracts.ids import UNKNOWN_SOURCE, ids_of_name
from contracts.spelling import spellings
from contracts.subjects import of_document, of_workspace
from runtime.bus.codec import decode
from runtime.bus.event_summary import summarize
from runtime.bus.nats.log import NatsLog
from runtime.bus.points import sequence_at
from runtime.bus.port import Log, Message
from runtime.errors import ServiceError

WINDOW = 1000
"""Messages of the whole log that are looked at first for the last ones of a workspace."""


@dataclass(frozen=True)
class EventLine:
    """One message of the log as it is shown."""

    sequence: int
    time: datetime
    type: str
    document: str
    """In whose history it stands: a document's id, or `_graph` and the like."""
    gist: str
    id: str = ""
    cause: str | None = None
    actor: str | None = None
    """In whose name it was published; None for what a service made of another event."""
    name: str = ""
    """The document's file name, else what `document` says."""


def subjects_of(workspace: str, document: str | None) -> list[str]:
    """The subjects of a workspace's events, or of one document's: by its id, or by the name it was
    added under.
    """
    if document is None:
        return [of_workspace(workspace)]
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


@dataclass
class DocumentNames:
    """The file names of a workspace's documents, as the log has them; each is looked up once."""

    log: Log
    workspace: str
    names: dict[str, str] = field(default_factory=dict[str, str])

    async def named(self, line: EventLine) -> EventLine:
        """Return the line with the name of its document."""
        id = line.document
        if id not in self.names:
            self.names[id] = await self._name(id)
        return replace(line, name=self.names[id] or id)

    async def _name(self, id: str) -> str:
        if id.startswith("_"):  # the graph, or a description: no document
            return ""
        message = await self.log.newest(self.workspace, id, "DocumentAdded")
        if message is None:
            return ""
        try:
            event = decode(message.data, message.subject, message.headers).data
        except ServiceError:
            return ""
        path = event.file_path if isinstance(event, DocumentAdded) else UNKNOWN_SOURCE
        return "" if path == UNKNOWN_SOURCE else path


async def place_before(log: Log, workspace: str, since: str, start: int) -> int:
    """Return the sequence behind which events are shown. Raises InvalidInput for no place."""
    return await sequence_at(log, workspace, since) if since else max(0, start - 1)


async def messages_behind(
    log: NatsLog, subjects: Sequence[str], after: int
) -> AsyncGenerator[Message]:
    """Yield the messages of these subjects behind a sequence, up to the end of the log."""
    async with aclosing(log.read(after, subjects)) as pages:
        async for page in pages:
            for message in page:
                yield message


async def last_messages(
    log: NatsLog, workspace: str, subjects: Sequence[str], count: int, after: int
) -> list[Message]:
    """Return the last messages of these subjects of a workspace, at most `count` and behind a
    sequence, oldest first.

    It looks at the end of the log, and further back until there are enough.
    """
    end = await log.end_of(workspace)
    window = max(count, WINDOW)
    while True:
        begin = max(after, end - window)
        messages: deque[Message] = deque(maxlen=count)
        async with aclosing(messages_behind(log, subjects, begin)) as found_messages:
            async for message in found_messages:
                messages.append(message)
        if len(messages) == count or begin == after:
            return list(messages)
        window *= 8
