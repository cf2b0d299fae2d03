"""Events as the command `log` shows them: one line each, and which of them it shows."""

from collections import deque
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from contracts.ids import UNKNOWN_SOURCE, ids_of_name
from contracts.spelling import spellings
from contracts.subjects import of_document, of_workspace
from runtime.bus.event_summary import EventSummary, summarize
from runtime.bus.points import sequence_at
from runtime.bus.port import Log, Message
from runtime.concurrency.bounded_gathering import gather_bounded

WINDOW = 1000
"""Messages of the whole log that are looked at first for the last ones of a workspace."""

NAMES_AT_ONCE = 64
"""Documents whose names the log is asked for at the same time."""


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
    """The document's file name: of a message alone, only where that gives one."""


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
        _given_name(event),
    )


@dataclass
class DocumentNames:
    """The file names of a workspace's documents: as the events that are shown give them, and what
    was given before is looked up once.
    """

    log: Log
    workspace: str
    names: dict[str, str] = field(default_factory=dict[str, str])

    async def named(self, lines: Sequence[EventLine]) -> list[EventLine]:
        """Return these lines, in the order of the log, with the names of their documents."""
        given_ids: set[str] = set()
        unknown_ids: dict[str, None] = {}
        for line in lines:
            if line.name:
                given_ids.add(line.document)
            elif line.document not in given_ids and line.document not in self.names:
                unknown_ids[line.document] = None
        names = await gather_bounded(self._name, unknown_ids, at_once=NAMES_AT_ONCE)
        self.names |= dict(zip(unknown_ids, names, strict=True))
        return [self._named(line) for line in lines]

    def _named(self, line: EventLine) -> EventLine:
        if line.name:
            self.names[line.document] = line.name
        return replace(line, name=self.names.get(line.document) or line.document)

    async def _name(self, id: str) -> str:
        if id.startswith("_"):  # the graph, or a description: no document
            return ""
        message = await self.log.newest(self.workspace, id, "DocumentAdded", exact=False)
        return _given_name(summarize(message)) if message else ""


def _given_name(event: EventSummary) -> str:
    return "" if event.file_path == UNKNOWN_SOURCE else event.file_path


async def place_before(log: Log, workspace: str, since: str, start: int) -> int:
    """Return the sequence behind which events are shown. Raises InvalidInput for no place."""
    return await sequence_at(log, workspace, since) if since else max(0, start - 1)


async def last_messages(
    log: Log, workspace: str, subjects: Sequence[str], count: int, after: int
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
        async with aclosing(log.read(begin, subjects)) as pages:
            async for page in pages:
                messages.extend(page)
        if len(messages) == count or begin == after:
            return list(messages)
        window *= 8
