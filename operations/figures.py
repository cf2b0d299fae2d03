"""Figures of documents that were added before a model was there to describe them, or that another
one described: which they are, and having them described.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from contracts import subjects
from contracts.envelope import Envelope, wrap
from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    FigureDescribed,
    FiguresListed,
)
from contracts.ids import event_id
from contracts.values import Chunk, Figure
from operations.command_bus import SOURCE
from operations.estimate import EstimateSettings
from publishing.documents import reprocess_document
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Blobs, Log, Message
from runtime.errors import NewerVersion, NotFound, Poison
from runtime.models.open import open_tokenizer
from services.chunker.settings import ChunkerSettings
from services.chunker.wiring import cut, figures_by_others, list_later
from services.extractor.wiring import chunks_to_extract

E = TypeVar("E", ChunksCreated, EntitiesExtracted, FigureDescribed, FiguresListed)


@dataclass(frozen=True)
class _Version:
    """The newest version of a document with figures: its place in the log, and what it says."""

    sequence: int
    event: DocumentAdded

    def is_among(self, names: Collection[str]) -> bool:
        """Return whether its id or its file name is among these; without any it is."""
        return not names or bool({self.event.document_id, self.event.file_path} & set(names))


@dataclass(frozen=True)
class WaitingFigures:
    """Figures of a document that nobody describes: its id, and the event that has them
    described.
    """

    document_id: str
    listing: FiguresListed

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return the figures."""
        return tuple(listed_figure.figure for listed_figure in self.listing.figures)


@dataclass(frozen=True)
class OutdatedFigures:
    """A document with figures that another model, prompt or language has described: its id, its
    version, all its figures that are to be paid for, and what it says.
    """

    document_id: str
    version: int
    figures: tuple[Figure, ...]
    event: DocumentAdded


class Requested(NamedTuple):
    """A document whose figures are to be described: the sequence of the event that says so, chunks
    that it is to have at least, and the time of its version in microseconds; 0 where it keeps its
    own.
    """

    sequence: int
    chunk_count: int = 0
    at: int = 0


async def find_waiting(
    log: Log, workspace: str, names: Collection[str], settings: ChunkerSettings
) -> list[WaitingFigures]:
    """Return the documents of a workspace that have figures nobody describes, in the order of the
    log; with `names`, ids or file names, only those. Raises NotFound for a name that no document
    has, and Unavailable.
    """
    waiting: list[WaitingFigures] = []
    for id, version in (await _with_figures(log, workspace, names)).items():
        parts = await _events(log, workspace, id, ChunksCreated, version.sequence)
        listings = await _events(log, workspace, id, FiguresListed, version.sequence)
        listing = list_later(version.event.figures, parts, listings, settings.figure_limits)
        if listing:
            waiting.append(WaitingFigures(id, listing))
    return waiting


async def find_outdated(
    log: Log, workspace: str, names: Collection[str], settings: ChunkerSettings
) -> list[OutdatedFigures]:
    """Return the documents of a workspace with figures that another model, prompt or language has
    described, in the order of the log; with `names`, ids or file names, only those. Raises NotFound
    for a name that no document has, and Unavailable.
    """
    outdated_figures: list[OutdatedFigures] = []
    for id, version in (await _with_figures(log, workspace, names)).items():
        descriptions = await _events(log, workspace, id, FigureDescribed, version.sequence)
        if figures := figures_by_others(version.event.figures, descriptions, settings):
            outdated_figures.append(
                OutdatedFigures(id, version.sequence, tuple(figures), version.event)
            )
    return outdated_figures


async def text_to_extract(
    log: Log, blobs: Blobs, workspace: str, document: OutdatedFigures, settings: EstimateSettings
) -> list[Chunk]:
    """Return the chunks of a document's text that are not extracted as the settings have it now: a
    new version of it has them extracted. Raises Poison for a text that cannot be cut, Unavailable.
    """
    event = document.event
    text = event.text if event.blob is None else await blobs.get(event.blob)
    chunking = settings.chunker.chunking_defaults.of(workspace, event.chunking)
    chunks = await cut(text or "", open_tokenizer(), chunking)
    extractions = await _events(
        log, workspace, document.document_id, EntitiesExtracted, document.version
    )
    return chunks_to_extract(
        chunks, {extraction.cache_key for extraction in extractions}, settings.extractor
    )


async def request_descriptions(
    log: Log, workspace: str, item: WaitingFigures | OutdatedFigures
) -> Requested | None:
    """Have these figures described; None where the document has changed meanwhile. Repeats change
    nothing. Raises Unavailable.

    Descriptions stand in the version of a document. So other ones make a new version of it: texts
    that did not change keep what was extracted and embedded of them.
    """
    if isinstance(item, WaitingFigures):
        sequence = await _list_figures(log, workspace, item)
        return Requested(sequence, item.listing.chunk_count)
    addition = await reprocess_document(
        log, workspace=workspace, id=item.document_id, version=item.version, source=SOURCE
    )
    return addition and Requested(addition.sequence, at=addition.at)


async def _list_figures(log: Log, workspace: str, waiting: WaitingFigures) -> int:
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


async def _with_figures(log: Log, workspace: str, names: Collection[str]) -> dict[str, _Version]:
    unknown_names = dict.fromkeys(names)
    versions: dict[str, _Version] = {}
    kinds = (DocumentAdded, DocumentDeleted)
    filters = [subjects.of_type_in(workspace, kind.type_name()) for kind in kinds]
    async for page in log.read(0, filters):
        for message in page:
            event = _event(message)
            if event is None:
                continue
            versions.pop(event.aggregate_id, None)
            if isinstance(event, DocumentAdded):
                unknown_names.pop(event.document_id, None)
                unknown_names.pop(event.file_path, None)
                if event.figures:
                    versions[event.document_id] = _Version(message.sequence, event)
    for name in unknown_names:
        raise NotFound(f"no document {name!r} in workspace {workspace}")
    return {id: version for id, version in versions.items() if version.is_among(names)}


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
