"""The merger's replay: what a rebuild runs to fill a new generation of the graph."""

from collections import defaultdict
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from contracts.events import (
    ChunksCreated,
    DescriptionSummarized,
    DocumentDeleted,
    EntitiesExtracted,
    GraphEdited,
    StageFailed,
)
from contracts.graph import Entity, Generations, Partition, Relation
from knowledge.contributions import Key
from knowledge.edit import Edit
from runtime.batching import batched
from runtime.bus.batches import by_workspace, document_bounds
from runtime.bus.port import Delivery
from runtime.replay import ReplayHandler
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from services.merger.adapters.contributions import BOUNDS_TABLE, RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import (
    affected_keys,
    chunks_of,
    edits_in,
    newest_contributions,
    on_description_summarized,
    on_entities_extracted,
    on_extents,
    on_graph_edited,
    summaries_by_hash,
)
from services.merger.port import MergeDependencies
from services.merger.refold import fold_keys
from services.merger.settings import MergerSettings

PAGE = 1000
"""Entities and relations that are folded at a time."""

MAX_CHUNKS = 1_000_000
"""Chunks of entities and relations that are noted in memory, 100 to 300 bytes each."""

CHUNKS_PER_NOTE = 64
"""Chunks that one change of an entity or relation names: its history is read with it for long."""


@dataclass(frozen=True)
class ChangedKeys:
    """Original keys of one workspace with the chunks that contribute to them, and the groups that
    were summarised.
    """

    workspace: str
    chunks: Mapping[Key, Sequence[str]]
    summary_hashes: Mapping[Key, Collection[str]]


@dataclass
class _Changes:
    """What has come of one workspace since its keys were folded. Keys in the order of the log: one
    chunk's together.
    """

    chunks: dict[Key, list[str]] = field(default_factory=dict[Key, list[str]])
    chunk_count: int = 0
    summary_hashes: dict[Key, set[str]] = field(
        default_factory=lambda: defaultdict[Key, set[str]](set)
    )
    edits: list[Edit] = field(default_factory=list[Edit])

    def note(self, chunk: str, keys: Collection[Key]) -> None:
        """Note that the chunk contributes to these keys; entities stand before relations."""
        for key in sorted(keys, key=lambda key: (len(key), key)):
            self.chunks.setdefault(key, []).append(chunk)
        self.chunk_count += len(keys)


class GraphReplay:
    """Stores what the log says of entities and relations, and folds each of them once, when all of
    it is stored.

    Between the two only their names and their chunks' ids are in memory; when that is too much,
    what has come so far is folded, and again if more comes. Summaries come from the log: no
    language model is called.
    """

    events = (
        EntitiesExtracted,
        StageFailed,
        ChunksCreated,
        DocumentDeleted,
        DescriptionSummarized,
        GraphEdited,
    )

    def __init__(self, rows: Rows, graph: Graph, settings: MergerSettings) -> None:
        self._dependencies = MergeDependencies(
            RowContributions(rows),
            RowSummaries(rows),
            graph,
            settings.limits,
            AggregateCache(settings.cache_bytes),
        )
        self._bounds = RowDocumentBounds(rows, BOUNDS_TABLE)
        self._changes: dict[str, _Changes] = defaultdict(_Changes)
        """By workspace."""
        self.unsummarized_keys: dict[str, set[Key]] = defaultdict(set)
        """By workspace, the folded keys whose summaries the log lacks. Live services make them."""

    @property
    def is_full(self) -> bool:
        """Return whether what has come so far must be folded now."""
        return sum(changes.chunk_count for changes in self._changes.values()) >= MAX_CHUNKS

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers in the order in which each batch goes through them; they return
        GraphMerged events.
        """
        dependencies = self._dependencies
        return [
            ReplayHandler(
                (DescriptionSummarized,),
                partial(on_description_summarized, dependencies=dependencies),
            ),
            ReplayHandler(
                (EntitiesExtracted, StageFailed),
                partial(on_entities_extracted, dependencies=dependencies),
            ),
            ReplayHandler(
                (ChunksCreated, DocumentDeleted), partial(on_extents, dependencies=dependencies)
            ),
            ReplayHandler((GraphEdited,), partial(on_graph_edited, dependencies=dependencies)),
        ]

    async def take_bounds(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """See `BoundedReplay.take_bounds`."""
        for workspace, deliveries in by_workspace(batch).items():
            partition = Partition(workspace, generations.graph)
            for bounds in document_bounds(deliveries):
                await self._bounds.put(partition, bounds)

    async def take(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """See `BulkReplay.take`. What chunks said that their document no longer has is not
        stored.
        """
        contributions = self._dependencies.contributions
        summaries = self._dependencies.summaries
        for workspace, deliveries in by_workspace(batch).items():
            partition = Partition(workspace, generations.graph)
            changes = self._changes[workspace]
            by_type: dict[type, list[Delivery[Any]]] = defaultdict(list)
            for delivery in deliveries:
                by_type[type(delivery.event)].append(delivery)
            extractions = await self._of_present_chunks(
                partition, by_type[EntitiesExtracted] + by_type[StageFailed]
            )
            keys_by_chunk = await contributions.replace(
                partition, newest_contributions(extractions)
            )
            for chunk, keys in keys_by_chunk.items():
                changes.note(chunk, keys)
            await summaries.put(partition, summaries_by_hash(by_type[DescriptionSummarized]))
            for delivery in by_type[DescriptionSummarized]:
                changes.summary_hashes[delivery.event.key].add(delivery.event.inputs_hash)
            edits = edits_in(by_type[GraphEdited])
            if edits:
                await contributions.put_edits(partition, edits)
                changes.edits += edits

    async def _of_present_chunks(
        self, partition: Partition, deliveries: Sequence[Delivery[Any]]
    ) -> list[Delivery[Any]]:
        """Return the deliveries about a chunk that is within the bounds of its document."""
        documents = {
            delivery.event.document.id for delivery in deliveries if delivery.event.document
        }
        bounds = await self._bounds.get(partition, documents)
        present_deliveries: list[Delivery[Any]] = []
        for delivery in deliveries:
            document = delivery.event.document
            of_document = bounds.get(document.id) if document else None
            if of_document is None or not all(
                of_document.is_obsolete_chunk(chunk.order, document.version)
                for chunk in chunks_of(delivery.event)
            ):
                present_deliveries.append(delivery)
        return present_deliveries

    async def finish(self, generations: Generations) -> None:
        """Add what edits may have changed to what is to be folded. `pages` and `fold` do the
        rest.
        """
        for workspace, changes in self._changes.items():
            await self._add_edited(Partition(workspace, generations.graph), changes)

    def pages(self) -> Generator[ChangedKeys]:
        """Yield what is to be folded, after `finish`, and forget it."""
        while self._changes:
            workspace, changes = self._changes.popitem()
            for page in batched(changes.chunks.items(), PAGE):
                hashes = {key: changes.summary_hashes.get(key, set()) for key, _ in page}
                yield ChangedKeys(workspace, dict(page), hashes)

    async def fold(
        self, changed_keys: ChangedKeys, generations: Generations
    ) -> tuple[list[Entity], list[Relation]]:
        """Return what the graph gets under all canonical keys of these original ones."""
        partition = Partition(changed_keys.workspace, generations.graph)
        last_chunks = await self._count_all_but_the_last(partition, changed_keys.chunks)
        folded_keys = await fold_keys(
            partition, last_chunks, self._dependencies, changed_keys.summary_hashes
        )
        unsummarized_keys = self.unsummarized_keys[changed_keys.workspace]
        unsummarized_keys.difference_update(folded_keys.revisions)
        unsummarized_keys.update(folded_keys.unsummarized_keys)
        return folded_keys.entities, folded_keys.relations

    async def _count_all_but_the_last(
        self, partition: Partition, chunks: Mapping[Key, Sequence[str]]
    ) -> dict[Key, Sequence[str]]:
        """Count the changes of keys with so many chunks that their history needs several notes, but
        for the last note of each key, which is that of the fold. Returns the chunks of the last
        notes.
        """
        notes = {key: list(batched(of_key, CHUNKS_PER_NOTE)) for key, of_key in chunks.items()}
        for number in range(max(map(len, notes.values())) - 1):
            counted_chunks = {
                key: of_key[number] for key, of_key in notes.items() if number + 1 < len(of_key)
            }
            await self._dependencies.contributions.count_changes(
                partition, counted_chunks, counted_chunks, {}
            )
        return {key: of_key[-1] if of_key else () for key, of_key in notes.items()}

    async def _add_edited(self, partition: Partition, changes: _Changes) -> None:
        """Add the keys that edits may have changed; those that were never folded are there
        already.
        """
        for key in changes.summary_hashes:
            changes.chunks.setdefault(key, [])
        if changes.edits:
            edits = await self._dependencies.edits.current(
                partition, self._dependencies.contributions
            )
            keys_by_edit = await affected_keys(
                partition, changes.edits, edits, self._dependencies.contributions
            )
            for keys in keys_by_edit.values():
                for key in sorted(keys):
                    changes.chunks.setdefault(key, [])
