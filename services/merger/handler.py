"""Facts in, GraphMerged out: write what is said, fold again what that touches."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from contracts.events import (
    ChunksCreated,
    DescriptionSummarized,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    GraphEdited,
    GraphMerged,
)
from contracts.graph import Generations, Partition
from contracts.moments import microseconds
from contracts.values import DocumentVersion, EntityRevision, RelationRevision
from runtime.bus.port import Delivery, document_bounds, version_deleted
from services.merger.domain.contributions import Key, contributions
from services.merger.domain.edits import Edit, Edits, applied
from services.merger.port import Contributions, Line, Merging
from services.merger.refold import refold

E = TypeVar("E", bound=Event)
Revisions = Mapping[Key, int]

KEYS_OF_ONE_EVENT = 1000
"""Entities and relations that one GraphMerged names at most; a deletion or an edit that touches more makes several."""


async def on_entities_extracted(
    batch: Sequence[Delivery[EntitiesExtracted]],
    generations: Generations,
    *,
    merging: Merging,
) -> list[list[GraphMerged]]:
    """Merge a batch. A key that several of its chunks touch is folded once."""
    merged: dict[int, GraphMerged] = {}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Partition(workspace, generations.graph)
        newest: dict[str, EntitiesExtracted] = {}
        for event in sorted((delivery.event for delivery in deliveries), key=lambda e: e.document.version):
            newest[event.chunk.id] = event
        touched = await merging.said.replace(
            space, {chunk: (event.document.version, contributions(event)) for chunk, event in newest.items()}
        )
        edits, revisions = await refold(
            space, _by_key((k, chunk) for chunk, of in touched.items() for k in of), merging
        )
        for delivery in deliveries:
            event = delivery.event
            keys = {key for raw in touched[event.chunk.id] if (key := edits.key(raw))}
            (merged[delivery.sequence],) = _merged(event.document, keys, revisions, chunk=event)
    return [[merged[delivery.sequence]] for delivery in batch]


async def on_extents(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    generations: Generations,
    *,
    merging: Merging,
) -> list[list[GraphMerged]]:
    """Take back what deleted documents said, and what chunks said that a shorter version no longer has."""
    merged: dict[int, list[GraphMerged]] = {delivery.sequence: [] for delivery in batch}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Partition(workspace, generations.graph)
        touched: dict[str, set[Line]] = defaultdict(set)
        for reached in document_bounds(deliveries):
            for document, lines in (await merging.said.limit(space, reached)).items():
                touched[document] |= lines
        edits, revisions = await refold(space, _by_key(chain.from_iterable(touched.values())), merging)
        for delivery in deliveries:
            event = delivery.event
            keys = {key for raw, _ in touched.get(event.aggregate_id, ()) if (key := edits.key(raw))}
            if isinstance(event, DocumentDeleted):
                merged[delivery.sequence] = _merged(version_deleted(delivery, event), keys, revisions)
            elif keys:
                merged[delivery.sequence] = _merged(event.document, keys, revisions)
    return [merged[delivery.sequence] for delivery in batch]


async def on_description_summarized(
    batch: Sequence[Delivery[DescriptionSummarized]], generations: Generations, *, merging: Merging
) -> list[list[GraphMerged]]:
    """Keep the summaries, and fold again what they describe."""
    merged: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Partition(workspace, generations.graph)
        # Of two for one group in a batch the first in the log stands, whichever comes first here.
        places = sorted(deliveries, key=lambda delivery: -delivery.sequence)
        await merging.summaries.put(space, {d.event.inputs_hash: (d.sequence, d.event.text) for d in places})
        hashes = {delivery.event.inputs_hash for delivery in deliveries}
        edits, revisions = await refold(space, {delivery.event.key: () for delivery in deliveries}, merging, hashes)
        for delivery in deliveries:
            keys = edits.keys_ever([delivery.event.key])
            merged[delivery.sequence] = _merged(None, keys, revisions)
    return [merged[delivery.sequence] for delivery in batch]


async def on_graph_edited(
    batch: Sequence[Delivery[GraphEdited]], generations: Generations, *, merging: Merging
) -> list[list[GraphMerged]]:
    """Keep what people said, and fold again whatever has, or ever had, a name they spoke of."""
    merged: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Partition(workspace, generations.graph)
        new = [_edit(delivery) for delivery in deliveries]
        await merging.said.put_edits(space, new)
        edits = applied(await merging.said.edits(space))
        raws = {edit.sequence: await _concerned(space, edit, edits, merging.said) for edit in new}
        edits, revisions = await refold(space, {raw: () for of_one in raws.values() for raw in of_one}, merging)
        for delivery in deliveries:
            merged[delivery.sequence] = _merged(None, edits.keys_ever(raws[delivery.sequence]), revisions)
    return [merged[delivery.sequence] for delivery in batch]


async def _concerned(space: Partition, edit: Edit, edits: Edits, said: Contributions) -> set[Key]:
    """The keys whose fold the edit may change: those of its names, and of the relations at them."""
    names = edits.raw_names_ever(edit.concerned)
    return {(name,) for name in names} | await said.at(space, names) | edits.spoken_of(names)


def _by_key(lines: Iterable[Line]) -> dict[Key, set[str]]:
    """The chunks of these lines, by key."""
    found: dict[Key, set[str]] = defaultdict(set)
    for key, chunk in lines:
        found[key].add(chunk)
    return found


def _merged(
    document: DocumentVersion | None,
    keys: Collection[Key],
    revisions: Revisions,
    chunk: EntitiesExtracted | None = None,
) -> list[GraphMerged]:
    ordered, size = sorted(keys), max(1, len(keys)) if chunk else KEYS_OF_ONE_EVENT
    parts = [ordered[start : start + size] for start in range(0, max(1, len(ordered)), size)]
    return [
        GraphMerged(
            document=document,
            chunks=(chunk.chunk,) if chunk else (),
            entities=tuple(EntityRevision(name=key[0], revision=revisions[key]) for key in part if len(key) == 1),
            relations=tuple(
                RelationRevision(source=key[0], target=key[1], revision=revisions[key]) for key in part if len(key) == 2
            ),
            part=number,
            parts=len(parts),
        )
        for number, part in enumerate(parts)
    ]


def _edit(delivery: Delivery[GraphEdited]) -> Edit:
    event = delivery.event
    at = microseconds(delivery.happened_at)
    return Edit(delivery.sequence, event.operation, event.names, event.target, event.values, at)


def _by_workspace(batch: Sequence[Delivery[E]]) -> dict[str, list[Delivery[E]]]:
    found: dict[str, list[Delivery[E]]] = defaultdict(list)
    for delivery in batch:
        found[delivery.workspace].append(delivery)
    return found
