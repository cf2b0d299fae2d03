"""Figures of documents that were added before a model was there to describe them: which they are,
and having them described.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import ChunksCreated, DocumentAdded, DocumentDeleted, Event, FiguresListed
from contracts.ids import event_id
from contracts.values import Figure
from operations.command_bus import SOURCE
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log, Message
from runtime.errors import NewerVersion, Poison
from services.chunker.settings import ChunkerSettings
from services.chunker.wiring import list_later

E = TypeVar("E", ChunksCreated, FiguresListed)


@dataclass(frozen=True)
class _Version:
    """The newest version of a document with figures: its place in the log, its name, its
    figures.
    """

    sequence: int
    name: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class WaitingFigures:
    """Figures of a document that nobody describes: its id and name, and the event that has them
    described.
    """

    document_id: str
    name: str
    listing: FiguresListed

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return the figures."""
        return tuple(listed_figure.figure for listed_figure in self.listing.figures)


async def find_waiting(
    log: Log, workspace: str, names: Collection[str], settings: ChunkerSettings
) -> list[WaitingFigures]:
    """Return the documents of a workspace that have figures nobody describes, in the order of the
    log; with `names`, ids or file names, only those. Raises Unavailable.
    """
    waiting: list[WaitingFigures] = []
    for id, version in (await _with_figures(log, workspace)).items():
        if names and not {id, version.name} & set(names):
            continue
        parts = await _events(log, workspace, id, ChunksCreated, version.sequence)
        listings = await _events(log, workspace, id, FiguresListed, version.sequence)
        listing = list_later(version.figures, parts, listings, settings.figure_limits)
        if listing:
            waiting.append(WaitingFigures(id, version.name, listing))
    return waiting


async def request_descriptions(log: Log, workspace: str, waiting: WaitingFigures) -> int:
    """Have these figures described; return the event's sequence. Repeats change nothing. Raises
    Unavailable.
    """
    listing = waiting.listing
    first_order = listing.figures[0].chunk.order
    cause = f"{workspace}/{waiting.document_id}/{listing.document.version}/{first_order}"
    envelope: Envelope[Event] = wrap(
        listing,
        id=event_id(cause, listing.type_name()),
        source=SOURCE,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return await log.publish(envelope)


async def _with_figures(log: Log, workspace: str) -> dict[str, _Version]:
    versions: dict[str, _Version] = {}
    kinds = (DocumentAdded, DocumentDeleted)
    filters = [subjects.of_type_in(workspace, kind.type_name()) for kind in kinds]
    async for page in log.read(0, filters):
        for message in page:
            event = _event(message)
            if event is None:
                continue
            versions.pop(event.aggregate_id, None)
            if isinstance(event, DocumentAdded) and event.figures:
                version = _Version(message.sequence, event.file_path, event.figures)
                versions[event.document_id] = version
    return versions


async def _events(log: Log, workspace: str, id: str, kind: type[E], version: int) -> list[E]:
    """Return the events of this type about a version of a document."""
    events: list[E] = []
    async for message in log.history(workspace, id, kind.type_name(), version):
        event = _event(message)
        if isinstance(event, kind) and event.document.version == version:
            events.append(event)
    return events


def _event(message: Message) -> Event | None:
    """Return the event of a message; None for what this version of the code cannot read."""
    try:
        return decode(message.data, message.subject, message.headers).data
    except (Poison, NewerVersion):
        return None
