"""Facts in, GraphMerged out: write what is said, fold again what that touches."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from contracts.events import ChunksCreated, DocumentDeleted, EntitiesExtracted, Event, GraphEdited, GraphMerged
from contracts.graph import Entity, Generations, Relation, Space
from contracts.values import DocumentVersion, EntityRevision, RelationRevision
from runtime.bus.port import Delivery, extents, version_deleted
from runtime.stores.graph.port import Graph
from services.merger.domain.contributions import Key, contributions
from services.merger.domain.edits import Edit, Edits, applied
from services.merger.domain.fold import fold
from services.merger.ports import Contributions

E = TypeVar("E", bound=Event)
Revisions = Mapping[Key, int]

KEYS_OF_ONE_EVENT = 1000
"""Entities and relations that one GraphMerged names at most; a deletion or an edit that touches more makes several."""


async def on_entities_extracted(
    batch: Sequence[Delivery[EntitiesExtracted]],
    generations: Generations,
    *,
    said: Contributions,
    graph: Graph,
) -> list[list[GraphMerged]]:
    """Merge a batch. A key that several of its chunks touch is folded once."""
    merged: dict[int, GraphMerged] = {}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Space(workspace, generations.graph)
        newest: dict[str, EntitiesExtracted] = {}
        for event in sorted((delivery.event for delivery in deliveries), key=lambda e: e.document.version):
            newest[event.chunk.id] = event
        touched = await said.replace(
            space, {chunk: (event.document.version, contributions(event)) for chunk, event in newest.items()}
        )
        edits, revisions = await _refold(space, {key for keys in touched.values() for key in keys}, said, graph)
        for delivery in deliveries:
            event = delivery.event
            keys = {key for raw in touched[event.chunk.id] if (key := edits.key(raw))}
            (merged[delivery.sequence],) = _merged(event.document, keys, revisions, chunk=event)
    return [[merged[delivery.sequence]] for delivery in batch]


async def on_extents(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    generations: Generations,
    *,
    said: Contributions,
    graph: Graph,
) -> list[list[GraphMerged]]:
    """Take back what deleted documents said, and what chunks said that a shorter version no longer has."""
    merged: dict[int, list[GraphMerged]] = {delivery.sequence: [] for delivery in batch}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Space(workspace, generations.graph)
        touched: dict[str, set[Key]] = defaultdict(set)
        for reached in extents(deliveries):
            for document, keys in (await said.limit(space, reached)).items():
                touched[document] |= keys
        edits, revisions = await _refold(space, {key for keys in touched.values() for key in keys}, said, graph)
        for delivery in deliveries:
            event = delivery.event
            keys = {key for raw in touched.get(event.about, ()) if (key := edits.key(raw))}
            if isinstance(event, DocumentDeleted):
                merged[delivery.sequence] = _merged(version_deleted(delivery, event), keys, revisions)
            elif keys:
                merged[delivery.sequence] = _merged(event.document, keys, revisions)
    return [merged[delivery.sequence] for delivery in batch]


async def on_graph_edited(
    batch: Sequence[Delivery[GraphEdited]], generations: Generations, *, said: Contributions, graph: Graph
) -> list[list[GraphMerged]]:
    """Keep what people said, and fold again whatever has, or ever had, a name they spoke of."""
    merged: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in _by_workspace(batch).items():
        space = Space(workspace, generations.graph)
        new = [_edit(delivery) for delivery in deliveries]
        await said.put_edits(space, new)
        edits = applied(await said.edits(space))
        raws = {edit.sequence: await _concerned(space, edit, edits, said) for edit in new}
        edits, revisions = await _refold(space, {raw for of_one in raws.values() for raw in of_one}, said, graph)
        for delivery in deliveries:
            merged[delivery.sequence] = _merged(None, edits.keys_ever(raws[delivery.sequence]), revisions)
    return [merged[delivery.sequence] for delivery in batch]


async def _concerned(space: Space, edit: Edit, edits: Edits, said: Contributions) -> set[Key]:
    """The keys whose fold the edit may change: those of its names, and of the relations at them."""
    names = edits.raw_names_ever(edit.concerned)
    return {(name,) for name in names} | await said.at(space, names) | edits.spoken_of(names)


async def _refold(
    space: Space, raws: Collection[Key], said: Contributions, graph: Graph
) -> tuple[Edits, dict[Key, int]]:
    """Fold the keys that raw keys belong to, or once belonged to, and write them.

    Edits are read again after each counting: whoever counts a key last has read every edit made before.
    """
    edits = applied(await said.edits(space))
    revisions: dict[Key, int] = {}
    while new := edits.keys_ever(raws) - revisions.keys():
        revisions |= await said.revisions(space, sorted(new))
        edits = applied(await said.edits(space))
    sources = {key: edits.raws(key) for key in revisions}
    found = await said.of(space, {raw for of_key in sources.values() for raw in of_key})
    folded = [
        fold(key, (c for raw in sources[key] for c in found[raw]), revision, edits)
        for key, revision in revisions.items()
    ]
    await graph.put(
        space,
        [thing for thing in folded if isinstance(thing, Entity)],
        [thing for thing in folded if isinstance(thing, Relation)],
    )
    return edits, revisions


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
    return Edit(delivery.sequence, event.operation, event.names, event.target, event.values)


def _by_workspace(batch: Sequence[Delivery[E]]) -> dict[str, list[Delivery[E]]]:
    found: dict[str, list[Delivery[E]]] = defaultdict(list)
    for delivery in batch:
        found[delivery.workspace].append(delivery)
    return found
