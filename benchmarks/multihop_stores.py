"""Stores in memory, filled by the handlers of the services, and an embedder that caches its vectors
on disk.
"""

import sqlite3
import tempfile
import time
from array import array
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.multihop_world import Document
from contracts.chunking import Chunking
from contracts.graph import Generations, Hit, Partition, VectorKind
from contracts.ids import document_id, sha256
from runtime.bus.memory import MemoryBlobs
from runtime.models.open import open_tokenizer
from runtime.models.port import Embedder, Vector
from runtime.models.sentence_vectors import sentence_vector
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.vectors.memory import MemoryVectors
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.handler import on_chunks_created
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.handler import on_entities_extracted
from tests.support.events import added, delivered
from tests.support.merging import merge_dependencies
from tests.support.querying import QueryHarness

LIVE = Generations()
CHUNKING = Chunking(size=400, overlap=40, strategy="token")
BATCH = 200
CACHE_FOLDER = Path(tempfile.gettempdir())
CACHE = "lightstream-multihop-embeddings.sqlite"


class CachedEmbedder:
    """An embedder that caches its vectors on disk."""

    def __init__(self, inner: Embedder, folder: Path = CACHE_FOLDER) -> None:
        self._inner = inner
        self.cpu_seconds = 0.0
        """Spent in here so far, by the whole process."""
        self.model, self.dimension = inner.model, inner.dimension
        self._kept = sqlite3.connect(folder / CACHE, timeout=120)
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB)")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text."""
        began = time.process_time()
        keys = {text: sha256(f"{self.model} {text}") for text in texts}
        result: dict[str, Vector] = {}
        for text, key in keys.items():
            row = self._kept.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row:
                result[text] = tuple(array("d", row[0]))
        new = [text for text in keys if text not in result]
        result |= zip(new, await self._inner.embed(new), strict=True)
        rows = [(keys[text], array("d", result[text]).tobytes()) for text in new]
        self._kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._kept.commit()
        self.cpu_seconds += time.process_time() - began
        return [result[text] for text in texts]

    async def close(self) -> None:
        """Keep what there is."""
        self._kept.close()


class FastVectors(MemoryVectors):
    """The same hits, from one matrix per kind that is made once: nothing is written after the first
    search.
    """

    def __init__(self, model: str, dimension: int) -> None:
        super().__init__(model, dimension)
        self._matrices: dict[tuple[Partition, str], tuple[list[Any], Any]] = {}

    async def search(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: Sequence[float],
        *,
        top_k: int,
        min_score: float = -1.0,
        documents: Collection[str] | None = None,
    ) -> list[Hit]:
        """See `Vectors`. Not for a part of the documents."""
        assert documents is None
        if (partition, kind) not in self._matrices:
            rows = list(self._table(partition, kind).values())
            self._matrices[partition, kind] = rows, np.array([row.vector for row in rows])
        rows, matrix = self._matrices[partition, kind]
        scores = matrix @ np.array(vector)
        best = np.argsort(-scores, kind="stable")[: top_k + 20]
        hits = sorted(
            (Hit(rows[n].id, rows[n].names, float(scores[n])) for n in best),
            key=lambda h: (-h.score, h.id),
        )
        return [hit for hit in hits[:top_k] if hit.score > min_score]


async def filled(
    documents: Sequence[Document], embedder: Embedder, chunking: Chunking = CHUNKING
) -> QueryHarness:
    """Stores that hold these documents, by the handlers of the services."""
    stores = QueryHarness(embedder=embedder)  # type: ignore[arg-type]
    stores.vectors = FastVectors(embedder.model, embedder.dimension)
    for start in range(0, len(documents), BATCH):
        await _batch(stores, documents[start : start + BATCH], 1 + 100 * start, chunking)
    return stores


async def _batch(
    stores: QueryHarness, documents: Sequence[Document], sequence: int, chunking: Chunking
) -> None:
    embeddings = CachedEmbeddings(stores.rows, stores.embedder)
    extents, tokens = RowDocumentBounds(stores.rows, "vector_extents"), open_tokenizer()
    extractor, extractions = OfflineExtractor(), ExtractionCache(stores.rows)
    cut: list[Any] = []
    for number, document in enumerate(documents, sequence):
        id = document_id(document.text, document.name)
        fact = delivered(added(id, document.text, file_path=document.name), number, id=id)
        made = await on_document_added(
            fact,
            LIVE,
            blobs=MemoryBlobs(),
            cutters=Cutters(tokens, sentence_vector=sentence_vector),
            chunking=ChunkingDefaults(chunking),
            limits=DocumentLimits(1 << 20),
        )
        cut += [delivered(event, number, correlation=id) async for event in made]
    await stores.project(*cut)
    await on_chunks(cut, LIVE, vectors=stores.vectors, embeddings=embeddings, extents=extents)
    said: list[Any] = []
    for fact in cut:
        facts = await on_chunks_created(
            fact, LIVE, extractor=extractor, extractions=extractions, clock=time.monotonic
        )
        said += [delivered(event, fact.sequence + n) for n, event in enumerate(facts, 1)]
    said = [delivered(fact.event, sequence + n) for n, fact in enumerate(said)]
    merged = await on_entities_extracted(
        said, LIVE, dependencies=merge_dependencies(stores.rows, stores.graph)
    )
    facts = [delivered(fact, sequence + 5000 + n) for n, (fact,) in enumerate(merged)]
    await on_graph_merged(
        facts, LIVE, graph=stores.graph, vectors=stores.vectors, embeddings=embeddings
    )
