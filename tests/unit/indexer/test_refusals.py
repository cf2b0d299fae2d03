"""What the embedding model refuses fails alone: all else of its event is indexed, and a retry heals
it.
"""

from collections.abc import Sequence

from contracts.events import ChunksCreated, GraphMerged, StageFailed, VectorsIndexed
from contracts.graph import Generations, Partition, VectorKind
from contracts.values import ChunkRef
from offline.embeddings.lexical import LexicalEmbedder
from runtime.errors import ModelRefused
from runtime.models.port import Vector
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.vectors.memory import MemoryVectors
from services.indexer.handler import Indexing, on_chunks, on_graph_merged
from tests.support.events import chunked, delivered, document, entity, extracted, relation
from tests.support.merging import Merger

SENTENCE = "the provider says: input is too large"


class RefusingEmbedder(LexicalEmbedder):
    """An embedder that refuses every call with a text that has the word `forbidden`."""

    refuses = True

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.refuses and any("forbidden" in text for text in texts):
            raise ModelRefused(SENTENCE, "text")
        return await super().embed(texts)


class Index:
    """The handlers with stores in memory and a model that refuses."""

    def __init__(self) -> None:
        self.embedder = RefusingEmbedder(16)
        self.embeddings = CachedEmbeddings(MemoryRows(), self.embedder)
        self.vectors = MemoryVectors(self.embedder.model, 16)
        self.extents = RowDocumentBounds(MemoryRows(), "vector_extents")
        self.merger = Merger()

    async def chunks(self, *events: ChunksCreated) -> list[list[Indexing]]:
        return await on_chunks(
            [delivered(event, n) for n, event in enumerate(events, 1)],
            Generations(),
            vectors=self.vectors,
            embeddings=self.embeddings,
            extents=self.extents,
        )

    async def merged(self, *events: GraphMerged) -> list[list[Indexing]]:
        return await on_graph_merged(
            [delivered(event, n) for n, event in enumerate(events, 1)],
            Generations(),
            graph=self.merger.graph,
            vectors=self.vectors,
            embeddings=self.embeddings,
        )

    async def texts(self, kind: VectorKind) -> set[str]:
        return {row.text for row in await self.vectors.scan(Partition("w", 1), kind)}


def orders(chunks: Sequence[ChunkRef]) -> list[int]:
    return [chunk.order for chunk in chunks]


async def test_a_refused_chunk_fails_alone_and_heals() -> None:
    index = Index()
    event = chunked(document("d", 7), "one", "forbidden", "three")
    beside, other_events = await index.chunks(event, chunked(document("e", 8), "another"))
    success, failure = beside
    assert isinstance(success, VectorsIndexed) and isinstance(failure, StageFailed)
    assert (orders(success.chunks), success.embedded) == ([0, 2], 2)
    assert (orders(failure.chunks), failure.stage, failure.cause_type) == (
        [1],
        "indexer",
        "ChunksCreated",
    )
    assert failure.message == SENTENCE
    assert len(other_events) == 1
    assert await index.texts("chunks") == {"one", "three", "another"}
    index.embedder.refuses = False
    ((recovery,),) = await index.chunks(event.model_copy(update={"chunks": event.chunks[1:2]}))
    assert isinstance(recovery, VectorsIndexed) and orders(recovery.chunks) == [1]
    assert await index.texts("chunks") == {"one", "forbidden", "three", "another"}


async def test_a_refused_chunk_leaves_no_vector_of_the_version_before() -> None:
    index = Index()
    await index.chunks(chunked(document("d", 1), "one", "two"))
    await index.chunks(chunked(document("d", 2), "one", "forbidden"))
    assert await index.texts("chunks") == {"one"}


async def test_a_refused_description_keeps_no_other_from_its_vector_and_heals() -> None:
    index = Index()
    results = await index.merger.merge(
        extracted(
            document("d"),
            0,
            [entity("A", "t", "forbidden"), entity("B", "t", "good")],
            [relation("A", "B")],
        ),
        extracted(document("e"), 0, [entity("C", "t", "fine")]),
    )
    events = [event for (event,) in results if isinstance(event, GraphMerged)]
    (success, failure), (other_success,) = await index.merged(*events)
    assert isinstance(success, VectorsIndexed) and isinstance(failure, StageFailed)
    assert (success.chunks, orders(failure.chunks), failure.message) == ((), [0], SENTENCE)
    assert isinstance(other_success, VectorsIndexed) and orders(other_success.chunks) == [0]
    assert await index.texts("entities") == {"B\ngood", "C\nfine"}
    assert len(await index.texts("relations")) == 1
    index.embedder.refuses = False
    ((recovery,),) = await index.merged(events[0])
    assert isinstance(recovery, VectorsIndexed) and orders(recovery.chunks) == [0]
    assert await index.texts("entities") == {"A\nforbidden", "B\ngood", "C\nfine"}
