"""The merger's replay handlers: what a rebuild runs to fill a new generation of the graph."""

from functools import partial

from contracts.events import ChunksCreated, DescriptionSummarized, DocumentDeleted, EntitiesExtracted, GraphEdited
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import on_description_summarized, on_entities_extracted, on_extents, on_graph_edited
from services.merger.port import MergeDependencies
from services.merger.settings import MergerSettings


def replay_handlers(rows: Rows, graph: Graph, settings: MergerSettings) -> list[ReplayHandler]:
    """Return the handlers in the order in which each batch goes through them; they return GraphMerged events.

    Summaries come from the log: no language model is called.
    """
    merging = MergeDependencies(RowContributions(rows), RowSummaries(rows), graph, settings.limits, AggregateCache())
    return [
        ReplayHandler((DescriptionSummarized,), partial(on_description_summarized, merging=merging)),
        ReplayHandler((EntitiesExtracted,), partial(on_entities_extracted, merging=merging)),
        ReplayHandler((ChunksCreated, DocumentDeleted), partial(on_extents, merging=merging)),
        ReplayHandler((GraphEdited,), partial(on_graph_edited, merging=merging)),
    ]
