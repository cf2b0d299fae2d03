"""The merger's replay: what a rebuild runs to fill a new generation of the graph."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import Any

from contracts.events import ChunksCreated, DescriptionSummarized, DocumentDeleted, EntitiesExtracted, GraphEdited
from contracts.graph import Entity, Generations, Partition, Relation
from runtime.batching import batched
from runtime.bus.port import Delivery, document_bounds
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.domain.contributions import Key
from services.merger.domain.edits import apply_edits
from services.merger.handler import (
    by_workspace,
    edit_of,
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


class GraphReplay:
    """Stores what the log says of entities and relations, and folds each of them once, when all of it is stored.

    Between the two only their names are in memory. Summaries come from the log: no language model is called.
    """

    events = (EntitiesExtracted, ChunksCreated, DocumentDeleted, DescriptionSummarized, GraphEdited)

    def __init__(self, rows: Rows, graph: Graph, settings: MergerSettings) -> None:
        self._merging = MergeDependencies(
            RowContributions(rows), RowSummaries(rows), graph, settings.limits, AggregateCache()
        )
        self._keys: dict[str, set[Key]] = defaultdict(set)
        """Original keys with contributions, by workspace."""

    def handlers(self) -> list[ReplayHandler]:
        """Return the handlers in the order in which each batch goes through them; they return GraphMerged events."""
        merging = self._merging
        return [
            ReplayHandler((DescriptionSummarized,), partial(on_description_summarized, merging=merging)),
            ReplayHandler((EntitiesExtracted,), partial(on_entities_extracted, merging=merging)),
            ReplayHandler((ChunksCreated, DocumentDeleted), partial(on_extents, merging=merging)),
            ReplayHandler((GraphEdited,), partial(on_graph_edited, merging=merging)),
        ]

    async def take(self, batch: Sequence[Delivery[Any]], generations: Generations) -> None:
        """See `BulkReplay.take`."""
        contributions, summaries = self._merging.contributions, self._merging.summaries
        for workspace, deliveries in by_workspace(batch).items():
            partition, keys = Partition(workspace, generations.graph), self._keys[workspace]
            by_type: dict[type, list[Delivery[Any]]] = defaultdict(list)
            for delivery in deliveries:
                by_type[type(delivery.event)].append(delivery)
            changed = await contributions.replace(partition, newest_contributions(by_type[EntitiesExtracted]))
            keys.update(*changed.values())
            for bounds in document_bounds(by_type[ChunksCreated] + by_type[DocumentDeleted]):
                await contributions.apply_bounds(partition, bounds)
            await summaries.put(partition, summaries_by_hash(by_type[DescriptionSummarized]))
            await contributions.put_edits(partition, list(map(edit_of, by_type[GraphEdited])))

    async def finish(self, generations: Generations) -> None:
        """See `BulkReplay.finish`: every batch is stored when it is taken. `pages` and `fold` do the rest."""

    async def pages(self, generations: Generations) -> AsyncGenerator[tuple[str, list[Key]]]:
        """Yield workspaces with the keys to fold, entities before relations."""
        for workspace, keys in self._keys.items():
            edits = await self._merging.contributions.edits(Partition(workspace, generations.graph))
            edited = apply_edits(edits).edited_keys | {(name,) for edit in edits for name in edit.all_names}
            for page in batched(sorted(keys | edited, key=lambda key: (len(key), key)), PAGE):
                yield workspace, page

    async def fold(
        self, workspace: str, keys: Sequence[Key], generations: Generations
    ) -> tuple[list[Entity], list[Relation]]:
        """Return what the graph gets under all canonical keys of these original ones."""
        partition = Partition(workspace, generations.graph)
        folded = await fold_keys(partition, dict.fromkeys(keys, ()), self._merging)
        return folded.entities, folded.relations
