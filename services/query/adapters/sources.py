"""The stores that questions are answered from, and what reads them through caches."""

from typing import NamedTuple

from runtime.bus.port import Log
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.open import open_documents, open_graph
from services.query.adapters.aliases import RowAliases
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.retrieval.caches.passage_indexes import PassageIndexCache
from services.query.settings import QuerySettings


class Sources(NamedTuple):
    """The stores, and what reads them through caches of this process."""

    rows: Rows
    graph: Graph
    documents: RowDocuments
    passages: RowPassages
    aliases: RowAliases
    cache: ProjectionCache
    reader: CachedGraph
    names: NameIndexes
    indexes: PassageIndexCache


def open_sources(settings: QuerySettings, log: Log) -> Sources:
    """Open the stores that the settings name."""
    rows = open_documents(settings)
    graph = open_graph(settings)
    documents = RowDocuments(rows)
    passages = RowPassages(rows)
    aliases = RowAliases(rows)
    cache = ProjectionCache(log, settings.graph_cache_mb * 2**20)
    reader = CachedGraph(graph, cache)
    names = NameIndexes(graph, documents, aliases)
    indexes = PassageIndexCache(passages, documents)
    return Sources(rows, graph, documents, passages, aliases, cache, reader, names, indexes)
