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
    dependencies: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Merge a batch of extractions. A key that several of its chunks name is folded once.

    A chunk that failed for good says nothing: what an older version of it said is retracted, as if
    it were replaced.
    """
    events: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        keys_by_chunk = await dependencies.contributions.replace(
            partition, newest_contributions(deliveries)
        )
        edits, revisions = await refold(
            partition,
            _chunks_by_key((key, chunk) for chunk, keys in keys_by_chunk.items() for key in keys),
            dependencies,
        )
        for delivery in deliveries:
            event = delivery.event
            document = event.document.id if event.document else ""
            originals: set[Key] = set()
            for chunk in chunks_of(event):
                originals |= keys_by_chunk[chunk.id]
            keys = _canonical_keys(originals, document, edits)
            if isinstance(event, EntitiesExtracted):
                graph_merged = _graph_merged_events(
                    event.document, keys, revisions, generations, event.chunk
                )
            elif keys:
                graph_merged = _graph_merged_events(event.document, keys, revisions, generations)
            else:
                graph_merged = []
            events[delivery.sequence] = graph_merged
    return [events[delivery.sequence] for delivery in batch]


async def on_extents(
    batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]],
    generations: Generations,
    *,
    dependencies: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Retract the contributions of deleted documents, and of chunks that a shorter version no
    longer has.
    """
    events: dict[int, list[GraphMerged]] = {delivery.sequence: [] for delivery in batch}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        retracted_ids: dict[str, set[ContributionId]] = defaultdict(set)
        for bounds in document_bounds(deliveries):
            ids_by_document = await dependencies.contributions.apply_bounds(partition, bounds)
            for document, ids in ids_by_document.items():
                retracted_ids[document] |= ids
        edits, revisions = await refold(
            partition, _chunks_by_key(chain.from_iterable(retracted_ids.values())), dependencies
        )
        for delivery in deliveries:
            event = delivery.event
            document = event.aggregate_id
            originals = {original for original, _ in retracted_ids.get(document, ())}
            keys = _canonical_keys(originals, document, edits)
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
    dependencies: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Store the summaries, and fold the keys they describe."""
    events: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        await dependencies.summaries.put(partition, summaries_by_hash(deliveries))
        hashes: dict[Key, set[str]] = defaultdict(set)
        for delivery in deliveries:
            hashes[delivery.event.key].add(delivery.event.inputs_hash)
        edits, revisions = await refold(partition, dict.fromkeys(hashes, ()), dependencies, hashes)
        for delivery in deliveries:
            keys = edits.all_canonical_keys([delivery.event.key])
            events[delivery.sequence] = _graph_merged_events(None, keys, revisions, generations)
    return [events[delivery.sequence] for delivery in batch]


async def on_graph_edited(
    batch: Sequence[Delivery[GraphEdited]],
    generations: Generations,
    *,
    dependencies: MergeDependencies,
) -> list[list[GraphMerged]]:
    """Store the edits, and fold every key that has, or ever had, one of their names."""
    events: dict[int, list[GraphMerged]] = {}
    for workspace, deliveries in by_workspace(batch).items():
        partition = Partition(workspace, generations.graph)
        new_edits = edits_in(deliveries)
        await dependencies.contributions.put_edits(partition, new_edits)
        # All edits are read again, not only the new ones: an undo, or an edit of an earlier place
        # in the log, changes what others mean (decision 18).
        edits = await dependencies.edits.current(partition, dependencies.contributions)
        keys_by_edit = await affected_keys(partition, new_edits, edits, dependencies.contributions)
        no_chunks: dict[Key, set[str]] = {}
        for keys in keys_by_edit.values():
            no_chunks |= {key: set() for key in keys}
        edits, revisions = await refold(partition, no_chunks, dependencies)
        for delivery in deliveries:
            keys = edits.all_canonical_keys(keys_by_edit[delivery.sequence])
            events[delivery.sequence] = _graph_merged_events(None, keys, revisions, generations)
    return [events[delivery.sequence] for delivery in batch]


async def affected_keys(
    partition: Partition, new_edits: Sequence[Edit], edits: Edits, contributions: Contributions
) -> dict[int, set[Key]]:
    """Return by sequence of edit the original keys whose fold it may change: its entities, and
    their relations.
    """
    names = {edit.sequence: edits.all_original_names(edit.all_names) for edit in new_edits}
    all_names = set[str]().union(*names.values())
    relations: dict[str, set[Key]] = defaultdict(set)
    for key in await contributions.keys_with_names(partition, all_names):
        for name in key:
            relations[name].add(key)
    keys_by_edit: dict[int, set[Key]] = {}
    for sequence, names_of_edit in names.items():
        keys = edits.edited_keys_with(names_of_edit)
        for name in names_of_edit:
            keys.add((name,))
            keys |= relations.get(name, set())
        keys_by_edit[sequence] = keys
    return keys_by_edit


def _canonical_keys(originals: Iterable[Key], document: str, edits: Edits) -> set[Key]:
    """Return the canonical keys of the keys of a document; a relation whose two ends are one entity
    has none.
    """
    keys = {edits.canonical_key(original, document) for original in originals}
    return {key for key in keys if key is not None}


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
    newest_by_chunk: dict[str, tuple[int, list[Contribution]]] = {}
    for delivery in deliveries:
        event = delivery.event
        version = event.document.version if event.document else 0
        of_event = contributions(event) if isinstance(event, EntitiesExtracted) else []
        for chunk in chunks_of(event):
            newest_version, newest_rows = newest_by_chunk.get(chunk.id, (-1, []))
            # Of one version a chunk may have failed and, tried again, been extracted after all:
            # what it says counts, whichever event comes first (decision 29).
            if (version, bool(of_event)) > (newest_version, bool(newest_rows)):
                newest_by_chunk[chunk.id] = (version, of_event)
    return newest_by_chunk


def chunks_of(event: EntitiesExtracted | StageFailed) -> Sequence[ChunkRef]:
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
    summaries: dict[str, tuple[int, str]] = {}
    # By their place in the log, not by arrival: a rebuild must keep the same one (decision 19).
    for delivery in sorted(deliveries, key=lambda delivery: delivery.sequence):
        summaries.setdefault(delivery.event.inputs_hash, (delivery.sequence, delivery.event.text))
    return summaries


def _graph_merged_events(
    document: DocumentVersion | None,
    keys: Collection[Key],
    revisions: Revisions,
    generations: Generations,
    chunk: ChunkRef | None = None,
) -> list[GraphMerged]:
    """Return the events that name these keys: a single one for a chunk, else in parts."""
    ordered_keys = sorted(keys)
    size = max(1, len(keys)) if chunk else MAX_KEYS_PER_EVENT
    # Without keys there is one event, of no key.
    starts = range(0, max(1, len(keys)), size)
    events: list[GraphMerged] = []
    for part, start in enumerate(starts):
        entities: list[EntityRevision] = []
        relations: list[RelationRevision] = []
        for key in ordered_keys[start : start + size]:
            revision = revisions[key]
            if len(key) == 1:
                entities.append(EntityRevision(name=key[0], revision=revision))
            else:
                relations.append(RelationRevision(source=key[0], target=key[1], revision=revision))
        events.append(
            GraphMerged(
                document=document,
                chunks=(chunk,) if chunk else (),
                entities=tuple(entities),
                relations=tuple(relations),
                part=part,
                parts=len(starts),
                generation=generations.graph,
            )
        )
    return events


def edits_in(deliveries: Sequence[Delivery[GraphEdited]]) -> list[Edit]:
    """Return the edits that the events bring."""
    return [
        edit_of(delivery.sequence, microseconds(delivery.happened_at), delivery.event)
        for delivery in deliveries
    ]
