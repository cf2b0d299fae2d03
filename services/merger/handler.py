"""The merger's event handlers: store contributions, edits, summaries; fold the keys they change;
return GraphMerged.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from contracts.events import (
    ChunksCreated,
    DescriptionSummarized,
    DocumentDeleted,
    EntitiesExtracted,
    GraphEdited,
    GraphMerged,
    StageFailed,
)
from contracts.graph import Generations, Partition
from contracts.moments import microseconds
from contracts.values import ChunkRef, DocumentVersion, EntityRevision, RelationRevision
from knowledge.contributions import Contribution, Key, contributions
from knowledge.edit import Edit, edit_of
from knowledge.edits import Edits
from runtime.bus.batches import by_workspace, document_bounds
from runtime.bus.port import Delivery, version_deleted
from services.merger.port import ContributionId, Contributions, MergeDependencies
from services.merger.refold import refold

Revisions = Mapping[Key, int]

MAX_KEYS_PER_EVENT = 1000
"""Entities and relations that one GraphMerged names at most; a deletion or an edit of more gives
several events.
"""


async def on_entities_extracted(
    batch: Sequence[Delivery[EntitiesExtracted | StageFailed]],
    generations: Generations,
    *,
    merging: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Merge a batch of extractions. A key that several of its chunks name is folded once.

    A chunk that failed for good says nothing: what an older version of it said is retracted, as if
    it were replaced.
    """
    events: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        keys_by_chunk = await merging.contributions.replace(
            partition, newest_contributions(deliveries)
        )
        edits, revisions = await refold(
            partition,
            _chunks_by_key((k, chunk) for chunk, keys in keys_by_chunk.items() for k in keys),
            merging,
        )
        for delivery in deliveries:
            event = delivery.event
            document = event.document.id if event.document else ""
            originals = {key for chunk in _chunks_of(event) for key in keys_by_chunk[chunk.id]}
            keys = {
                key for original in originals if (key := edits.canonical_key(original, document))
            }
            if isinstance(event, EntitiesExtracted):
                merged = _graph_merged_events(
                    event.document, keys, revisions, generations, chunk=event
                )
            else:
                merged = (
                    _graph_merged_events(event.document, keys, revisions, generations)
                    if keys
                    else []
                )
            events[delivery.sequence] = merged
    return [events[delivery.sequence] for delivery in batch]


async def on_extents(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    generations: Generations,
    *,
    merging: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Retract the contributions of deleted documents, and of chunks that a shorter version no
    longer has.
    """
    events: dict[int, list[GraphMerged]] = {delivery.sequence: [] for delivery in batch}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        changed: dict[str, set[ContributionId]] = defaultdict(set)
        for bounds in document_bounds(deliveries):
            for document, contribution_ids in (
                await merging.contributions.apply_bounds(partition, bounds)
            ).items():
                changed[document] |= contribution_ids
        edits, revisions = await refold(
            partition, _chunks_by_key(chain.from_iterable(changed.values())), merging
        )
        for delivery in deliveries:
            event = delivery.event
            document = event.aggregate_id
            keys = {
                key
                for original, _ in changed.get(document, ())
                if (key := edits.canonical_key(original, document))
            }
            if isinstance(event, DocumentDeleted):
                events[delivery.sequence] = _graph_merged_events(
                    version_deleted(delivery, event), keys, revisions, generations
                )
            elif keys:
                events[delivery.sequence] = _graph_merged_events(
                    event.document, keys, revisions, generations
                )
    return [events[delivery.sequence] for delivery in batch]


async def on_description_summarized(
    batch: Sequence[Delivery[DescriptionSummarized]],
    generations: Generations,
    *,
    merging: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Store the summaries, and fold the keys they describe."""
    events: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        await merging.summaries.put(partition, summaries_by_hash(deliveries))
        hashes: dict[Key, set[str]] = defaultdict(set)
        for delivery in deliveries:
            hashes[delivery.event.key].add(delivery.event.inputs_hash)
        edits, revisions = await refold(partition, dict.fromkeys(hashes, ()), merging, hashes)
        for delivery in deliveries:
            keys = edits.all_canonical_keys([delivery.event.key])
            events[delivery.sequence] = _graph_merged_events(None, keys, revisions, generations)
    return [events[delivery.sequence] for delivery in batch]


async def on_graph_edited(
    batch: Sequence[Delivery[GraphEdited]], generations: Generations, *, merging: MergeDependencies
) -> list[list[GraphMerged]]:
    """Store the edits, and fold every key that has, or ever had, one of their names."""
    events: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        new = edits_in(deliveries)
        await merging.contributions.put_edits(partition, new)
        edits = await merging.edits.current(partition, merging.contributions)
        affected = await affected_keys(partition, new, edits, merging.contributions)
        edits, revisions = await refold(
            partition, {key: () for keys in affected.values() for key in keys}, merging
        )
        for delivery in deliveries:
            events[delivery.sequence] = _graph_merged_events(
                None, edits.all_canonical_keys(affected[delivery.sequence]), revisions, generations
            )
    return [events[delivery.sequence] for delivery in batch]


async def affected_keys(
    partition: Partition, new: Sequence[Edit], edits: Edits, contributions: Contributions
) -> dict[int, set[Key]]:
    """Return by sequence of edit the original keys whose fold it may change: its entities, and
    their relations.
    """
    names = {edit.sequence: edits.all_original_names(edit.all_names) for edit in new}
    relations: dict[str, set[Key]] = defaultdict(set)
    for key in await contributions.keys_with_names(partition, set[str]().union(*names.values())):
        for name in key:
            relations[name].add(key)
    return {
        sequence: {(name,) for name in of_edit}.union(
            edits.edited_keys_with(of_edit), *(relations.get(name, ()) for name in of_edit)
        )
        for sequence, of_edit in names.items()
    }


def _chunks_by_key(contribution_ids: Iterable[ContributionId]) -> dict[Key, set[str]]:
    """Return the chunks of these contributions by key."""
    chunks: dict[Key, set[str]] = defaultdict(set)
    for key, chunk in contribution_ids:
        chunks[key].add(chunk)
    return chunks


def newest_contributions(
    deliveries: Sequence[Delivery[EntitiesExtracted | StageFailed]],
) -> dict[str, tuple[int, list[Contribution]]]:
    """Return by chunk the newest version among these, and what it contributes: nothing where it
    failed.
    """
    newest: dict[str, tuple[int, list[Contribution]]] = {}
    for event in (delivery.event for delivery in deliveries):
        said = contributions(event) if isinstance(event, EntitiesExtracted) else []
        for chunk in _chunks_of(event):
            new = event.document.version if event.document else 0, said
            newest[chunk.id] = max(
                newest.get(chunk.id, new), new, key=lambda one: (one[0], bool(one[1]))
            )
    return newest


def _chunks_of(event: EntitiesExtracted | StageFailed) -> Sequence[ChunkRef]:
    """Return the chunks whose contributions the event decides; none for a failure of another
    kind.
    """
    if isinstance(event, EntitiesExtracted):
        return (event.chunk,)
    return event.chunks if event.document and event.stage in ("extractor", "merger") else ()


def summaries_by_hash(
    deliveries: Sequence[Delivery[DescriptionSummarized]],
) -> dict[str, tuple[int, str]]:
    """Return sequence and text by the hash of the group: of two summaries of one group the earlier
    in the log.
    """
    latest_first = sorted(deliveries, key=lambda delivery: -delivery.sequence)
    return {d.event.inputs_hash: (d.sequence, d.event.text) for d in latest_first}


def _graph_merged_events(
    document: DocumentVersion | None,
    keys: Collection[Key],
    revisions: Revisions,
    generations: Generations,
    chunk: EntitiesExtracted | None = None,
) -> list[GraphMerged]:
    ordered, size = sorted(keys), max(1, len(keys)) if chunk else MAX_KEYS_PER_EVENT
    parts = [ordered[start : start + size] for start in range(0, max(1, len(ordered)), size)]
    return [
        GraphMerged(
            document=document,
            chunks=(chunk.chunk,) if chunk else (),
            entities=tuple(
                EntityRevision(name=key[0], revision=revisions[key])
                for key in part
                if len(key) == 1
            ),
            relations=tuple(
                RelationRevision(source=key[0], target=key[1], revision=revisions[key])
                for key in part
                if len(key) == 2
            ),
            part=number,
            parts=len(parts),
            generation=generations.graph,
        )
        for number, part in enumerate(parts)
    ]


def edits_in(deliveries: Sequence[Delivery[GraphEdited]]) -> list[Edit]:
    """Return the edits that the events bring."""
    return [edit_of(one.sequence, microseconds(one.happened_at), one.event) for one in deliveries]
