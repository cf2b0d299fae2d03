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
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import (
    affected_keys,
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
    summarized: Mapping[Key, Collection[str]]


@dataclass
class _Changes:
    """What has come of one workspace since its keys were folded. Keys in the order of the log: one
    chunk's together.
    """

    chunks: dict[Key, list[str]] = field(default_factory=dict[Key, list[str]])
    chunk_count: int = 0
    summarized: dict[Key, set[str]] = field(default_factory=lambda: defaultdict[Key, set[str]](set))
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
        self._merging = MergeDependencies(
            RowContributions(rows), RowSummaries(rows), graph, settings.limits, AggregateCache()
        )
        self._changes: dict[str, _Changes] = defaultdict(_Changes)
        """By workspace."""
        self.unsummarized: dict[str, set[Key]] = defaultdict(set)
        """By workspace, the folded keys whose summaries the log lacks. Live services make them."""

    @property
    def is_full(self) -> bool:
        """Return whether what has come so far must be folded now."""
        return sum(changes.chunk_count for changes in self._changes.values()) >= MAX_CHUNKS

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers in the order in which each batch goes through them; they return
        GraphMerged events.
        """
        merging = self._merging
        return [
            ReplayHandler(
                (DescriptionSummarized,), partial(on_description_summarized, merging=merging)
            ),
            ReplayHandler(
                (EntitiesExtracted, StageFailed), partial(on_entities_extracted, merging=merging)
            ),
            ReplayHandler((ChunksCreated, DocumentDeleted), partial(on_extents, merging=merging)),
            ReplayHandler((GraphEdited,), partial(on_graph_edited, merging=merging)),
        ]

    async def take(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """See `BulkReplay.take`."""
        contributions, summaries = self._merging.contributions, self._merging.summaries
        for workspace, deliveries in by_workspace(batch).items():
            partition, changes = Partition(workspace, generations.graph), self._changes[workspace]
            by_type: dict[type, list[Delivery[Any]]] = defaultdict(list)
            for delivery in deliveries:
                by_type[type(delivery.event)].append(delivery)
            said = by_type[EntitiesExtracted] + by_type[StageFailed]
            changed = await contributions.replace(partition, newest_contributions(said))
            for chunk, keys in changed.items():
                changes.note(chunk, keys)
            for bounds in document_bounds(by_type[ChunksCreated] + by_type[DocumentDeleted]):
                for retracted in (await contributions.apply_bounds(partition, bounds)).values():
                    for key, chunk in retracted:
                        changes.note(chunk, [key])
            await summaries.put(partition, summaries_by_hash(by_type[DescriptionSummarized]))
            for delivery in by_type[DescriptionSummarized]:
                changes.summarized[delivery.event.key].add(delivery.event.inputs_hash)
            if edits := edits_in(by_type[GraphEdited]):
                await contributions.put_edits(partition, edits)
                changes.edits += edits

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
                summarized = {key: changes.summarized.get(key, set()) for key, _ in page}
                yield ChangedKeys(workspace, dict(page), summarized)

    async def fold(
        self, changed: ChangedKeys, generations: Generations
    ) -> tuple[list[Entity], list[Relation]]:
        """Return what the graph gets under all canonical keys of these original ones."""
        partition, contributions = (
            Partition(changed.workspace, generations.graph),
            self._merging.contributions,
        )
        for start in range(
            0, max(map(len, changed.chunks.values())) - CHUNKS_PER_NOTE, CHUNKS_PER_NOTE
        ):
            # The last note of each key is that of the fold.
            some = {
                key: chunks[start : start + CHUNKS_PER_NOTE]
                for key, chunks in changed.chunks.items()
                if start + CHUNKS_PER_NOTE < len(chunks)
            }
            await contributions.count_changes(partition, some, some, {})
        last = {
            key: chunks[(max(len(chunks), 1) - 1) // CHUNKS_PER_NOTE * CHUNKS_PER_NOTE :]
            for key, chunks in changed.chunks.items()
        }
        folded = await fold_keys(partition, last, self._merging, changed.summarized)
        self.unsummarized[changed.workspace] -= folded.revisions.keys()
        self.unsummarized[changed.workspace] |= folded.unsummarized
        return folded.entities, folded.relations

    async def _add_edited(self, partition: Partition, changes: _Changes) -> None:
        """Add the keys that edits may have changed; those that were never folded are there
        already.
        """
        for key in changes.summarized:
            changes.chunks.setdefault(key, [])
        if changes.edits:
            edits = await self._merging.edits.current(partition, self._merging.contributions)
            affected = await affected_keys(
                partition, changes.edits, edits, self._merging.contributions
            )
            for keys in affected.values():
                for key in sorted(keys):
                    changes.chunks.setdefault(key, [])
