"""The stores that questions are answered from, and what reads them through caches."""

from typing import NamedTuple

from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from services.query.adapters.aliases import RowAliases
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.name_indexes import NameIndexes


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


def cached_sources(rows: Rows, graph: Graph, cache: ProjectionCache) -> Sources:
    """Return the stores with what reads them through this cache."""
    documents = RowDocuments(rows)
    passages = RowPassages(rows)
    aliases = RowAliases(rows)
    reader = CachedGraph(graph, cache)
    names = NameIndexes(graph, documents, aliases, cache)
    return Sources(rows, graph, documents, passages, aliases, cache, reader, names)
