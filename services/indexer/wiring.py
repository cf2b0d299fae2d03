"""The indexer's handlers, connected to the stores and the embedding model of the generation that is written."""

from collections.abc import Sequence

from contracts.events import ChunksCreated, DocumentDeleted, GraphMerged
from contracts.graph import EmbeddingModel, Generations
from runtime.bus.port import Delivery, DocumentVersions, Events
from runtime.projections.embedding import EmbeddedVectors, GenerationEmbedders
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from services.indexer.adapters import CachedEmbeddings
from services.indexer.handler import on_chunks, on_graph_merged


class GenerationHandlers:
    """The indexer's handlers, called with the vectors and the embedding model of the generation that is written."""

    def __init__(
        self, embeddings: GenerationEmbedders, rows: Rows, graph: Graph, versions: DocumentVersions, group: int
    ) -> None:
        self._embeddings, self._rows, self._graph, self._group = embeddings, rows, graph, group
        self._versions = versions
        self._extents = RowDocumentBounds(rows, "vector_extents")
        self._caches: dict[EmbeddingModel, CachedEmbeddings] = {}

    async def chunks(
        self, batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]], generations: Generations
    ) -> Sequence[Events]:
        """See `on_chunks`."""
        async with self._embeddings.of(generations.vectors) as target:
            return await on_chunks(
                batch,
                generations,
                vectors=target.vectors,
                embeddings=self._cached(target),
                extents=self._extents,
                versions=self._versions,
            )

    async def graph_merged(self, batch: Sequence[Delivery[GraphMerged]], generations: Generations) -> Sequence[Events]:
        """See `on_graph_merged`."""
        async with self._embeddings.of(generations.vectors) as target:
            return await on_graph_merged(
                batch,
                generations,
                graph=self._graph,
                vectors=target.vectors,
                embeddings=self._cached(target),
            )

    def _cached(self, target: EmbeddedVectors) -> CachedEmbeddings:
        if target.model not in self._caches:
            self._caches[target.model] = CachedEmbeddings(self._rows, target.embedder, self._group)
        return self._caches[target.model]
