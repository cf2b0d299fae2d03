"""What questions about the past are answered from: documents, graph and vectors of then, in stores
in memory.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from cachetools import TTLCache

from contracts.graph import Partition, VectorKind, VectorRow
from contracts.ids import chunk_vector_id, sha256
from knowledge.passage_vectors import mean_vector, texts_to_embed
from knowledge.vector_rows import entity_row, relation_row, window_rows
from runtime.batching import batched
from runtime.bus.memory import MemoryLog
from runtime.bus.port import Log
from runtime.models.port import Vector
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows
from runtime.stores.vectors.memory import MemoryVectors
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.answering.dependencies import QueryDependencies
from services.query.errors import TooLarge
from services.query.partitions import Partitions
from services.query.past import reading
from services.query.past.documents import read_documents
from services.query.past.provenance import PastProvenance
from services.query.past.reading import KEPT_SECONDS, Past
from services.query.past.state import REVISION, PastState
from services.query.past.stored_present import GENERATIONS
from services.query.past.turns import PastTurns
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.retrieval.dependencies import EmbedTexts
from services.query.retrieval.port import AliasEdit
from services.query.visibility.port import VisibilityAsOf
from services.query.visibility.restricted_items import RestrictedItems

MAX_VECTORS = 30_000
MAX_VECTOR_BYTES = 128 * 1024 * 1024
"""Chunks, entities and relations of one workspace that have a vector in memory: so many, and more
of small vectors.
"""

MAX_KEPT = 2
"""Pasts that are kept for further questions."""

TEXTS_AT_ONCE = 200
"""Texts that are embedded before other requests get their turn."""


@dataclass
class _NamedEmbedder:
    """The embedder of a generation, under the name that the cache of embeddings knows it by."""

    model: str
    dimension: int
    embed_texts: EmbedTexts

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return await self.embed_texts(texts)

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True)
class PastAliases:
    """`EntityAliases` of a state: the names that documents use for entities; nothing is edited any
    more.
    """

    state: PastState

    async def edits(self, partition: Partition) -> list[AliasEdit]:
        return []

    async def of(self, partition: Partition) -> list[tuple[str, str]]:
        return self.state.edits.other_names()

    async def changes(self, partition: Partition) -> int:
        return len(self.state.edits.other_names())


@dataclass
class MemoryPastAnswers:
    """Gives questions the dependencies of then. Texts that were embedded before are not embedded
    again.

    `rows`: the document store, of which only the cache of embeddings is used.
    """

    log: Log
    rows: Rows
    _cache: TTLCache[tuple[str, int, str], QueryDependencies] = field(
        default_factory=lambda: TTLCache(MAX_KEPT, KEPT_SECONDS)
    )
    _turns: PastTurns = field(default_factory=PastTurns)

    async def at(
        self, past: Past, workspace: str, sequence: int, deps: QueryDependencies, generation: int
    ) -> tuple[QueryDependencies, Partitions]:
        """See `PastAnswers` of the API's context."""
        async with self._turns.of_workspace(workspace), deps.for_generation(generation) as by:
            key = (workspace, sequence, by.vectors.model)
            if key not in self._cache:
                size = await past.size(workspace, sequence)
                async with self._turns.of_size(workspace, size):
                    self._cache[key] = await self._opened(past, workspace, sequence, by)
            return self._cache[key], Partitions.of(workspace, GENERATIONS)

    async def _opened(
        self, past: Past, workspace: str, sequence: int, deps: QueryDependencies
    ) -> QueryDependencies:
        state, rows = await self._past(past, workspace, sequence)
        graph, _ = await past.graph(workspace, sequence)
        vectors = MemoryVectors(deps.vectors.model, deps.vectors.dimension)
        documents = RowDocuments(rows)
        passages = RowPassages(rows)
        aliases = PastAliases(state)
        await self._index(workspace, state, passages, vectors, deps)
        # The log of the present says nothing of the past: nothing that is cached here ever changes.
        cache = ProjectionCache(MemoryLog(), 0)
        return replace(
            deps,
            graph=graph,
            graph_reader=CachedGraph(graph, cache),
            vectors=vectors,
            vector_reader=CachedVectors(vectors, cache),
            cache_invalidation=cache,
            documents=documents,
            passages=passages,
            provenance=PastProvenance(state),
            aliases=aliases,
            visibility=VisibilityAsOf(deps.visibility, sequence),
            restricted_items=RestrictedItems(),
            entity_names=NameIndexes(graph, documents, aliases),
            passage_reader=passages,
            answer_cache=None,
            vector_searches=None,
        )

    async def _past(self, past: Past, workspace: str, sequence: int) -> tuple[PastState, Rows]:
        """Return the state, and the rows of documents and chunks: of a large past from the
        present.
        """
        if await past.size(workspace, sequence) > reading.MAX_BYTES:
            present_state, state = await past.of_present(workspace, sequence)
            return state, present_state.rows
        (state,) = await past.states(workspace, sequence)
        rows = MemoryRows()
        await read_documents(self.log, workspace, sequence, rows)
        return state, rows

    async def _index(
        self,
        workspace: str,
        state: PastState,
        passages: RowPassages,
        vectors: MemoryVectors,
        deps: QueryDependencies,
    ) -> None:
        partition = Partition(workspace, REVISION)
        rows: dict[VectorKind, list[VectorRow]] = {
            "chunks": await _chunk_rows(passages, partition, vectors.model),
            "entities": [entity_row(entity) for entity in state.entities.values()],
            "relations": [relation_row(relation) for relation in state.relations.values()],
        }
        max_vectors = max(MAX_VECTORS, MAX_VECTOR_BYTES // (4 * deps.vectors.dimension))
        if (count := sum(map(len, rows.values()))) > max_vectors:
            raise TooLarge(
                f"workspace {workspace!r} had {count:,} vectors by then, "
                f"at most {max_vectors:,} are made"
            )
        embedder = _NamedEmbedder(
            deps.vectors.model, deps.vectors.dimension, deps.embed_documents or deps.embed
        )
        embeddings = CachedEmbeddings(self.rows, embedder)
        for kind, of_kind in rows.items():
            for batch in batched(of_kind, TEXTS_AT_ONCE):
                texts = [
                    texts_to_embed(row, embeddings.model) if kind == "chunks" else [row.text]
                    for row in batch
                ]
                of_texts = await embeddings.embed(workspace, [*chain.from_iterable(texts)])
                remaining = iter(of_texts)
                with_vectors = [
                    replace(row, vector=mean_vector([*islice(remaining, len(texts_of_row))]))
                    for row, texts_of_row in zip(batch, texts, strict=True)
                ]
                await vectors.put(partition, kind, with_vectors)
                await asyncio.sleep(0)


async def _chunk_rows(passages: RowPassages, partition: Partition, model: str) -> list[VectorRow]:
    """Return the rows of all passages and of their windows, as the indexer has them."""
    rows: list[VectorRow] = []
    after = ""
    while page := await passages.page(partition, after, TEXTS_AT_ONCE):
        for passage in page.values():
            whole_row = VectorRow(
                id=chunk_vector_id(passage.document_id, passage.order),
                text=passage.content,
                text_hash=sha256(passage.content),
                names=(passage.id,),
                document_id=passage.document_id,
                file_path=passage.file_path,
                order=passage.order,
            )
            rows += [whole_row, *window_rows(whole_row, model)]
        after = list(page)[-1]
    return rows
