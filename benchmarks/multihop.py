"""Of questions of two to four hops, how many have every passage they need among the first eight?

    python -m benchmarks.multihop [--seeds 1] [--distractors 300] [--modes walk,mix] [--embedder minilm|lexical]

The world of `benchmarks/multihop_world.py` goes through the chunker, the offline extractor, the merger and the indexer,
with stores in memory, and is asked in each mode with `chunk_top_k` 8. Embeddings are kept in a folder of the machine's
temporary files, so that a second run takes a minute. Prints tables in Markdown.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from array import array
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.multihop_world import Document, MultihopQuestion, World, world
from contracts.graph import VECTOR_KINDS, Generations, Hit, Partition, VectorKind
from contracts.ids import document_id, sha256
from contracts.values import Chunking
from runtime.bus.memory import MemoryBlobs
from runtime.models.lexical import LexicalEmbedder
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.open import open_tokenizer
from runtime.models.port import Embedder, Vector
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.vectors.memory import MemoryVectors
from services.chunker.handler import DocumentLimits, on_document_added
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.handler import on_chunks_created
from services.indexer.adapters import CachedEmbeddings
from services.indexer.handler import on_chunks, on_graph_merged
from services.merger.handler import on_entities_extracted
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.retrieve import retrieve
from tests.support.events import added, delivered
from tests.support.merging import merging
from tests.support.querying import QueryHarness

LIVE = Generations()
MODES = ("walk", "naive", "local", "global", "hybrid", "mix")
TOP = 8
CHUNKING = Chunking(size=400, overlap=40, strategy="token")
BATCH = 200
CACHE = Path(tempfile.gettempdir()) / "lightstream-multihop-embeddings.sqlite"


class CachedEmbedder:
    """An embedder that caches its vectors on disk."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.model, self.dimension = inner.model, inner.dimension
        self._kept = sqlite3.connect(CACHE, timeout=120)
        self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB)")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text."""
        keys = {text: sha256(f"{self.model} {text}") for text in texts}
        found: dict[str, Vector] = {}
        for text, key in keys.items():
            row = self._kept.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row:
                found[text] = tuple(array("d", row[0]))
        new = [text for text in keys if text not in found]
        found |= zip(new, await self._inner.embed(new), strict=True)
        rows = [(keys[text], array("d", found[text]).tobytes()) for text in new]
        self._kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._kept.commit()
        return [found[text] for text in texts]

    async def close(self) -> None:
        """Keep what there is."""
        self._kept.close()


class FastVectors(MemoryVectors):
    """The same hits, from one matrix per kind that is made once: nothing is written after the first search."""

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
        hits = sorted((Hit(rows[n].id, rows[n].names, float(scores[n])) for n in best), key=lambda h: (-h.score, h.id))
        return [hit for hit in hits[:top_k] if hit.score > min_score]


@dataclass
class Row:
    """What one question brought in one mode."""

    asking: MultihopQuestion
    mode: str
    whole: bool
    seconds: float


async def filled(documents: Sequence[Document], embedder: Embedder, chunking: Chunking = CHUNKING) -> QueryHarness:
    """Stores that hold these documents, by the handlers of the services."""
    stores = QueryHarness(embedder=embedder)  # type: ignore[arg-type]
    stores.vectors = FastVectors(embedder.model, embedder.dimension)
    for start in range(0, len(documents), BATCH):
        await _batch(stores, documents[start : start + BATCH], 1 + 100 * start, chunking)
    return stores


async def _batch(stores: QueryHarness, documents: Sequence[Document], sequence: int, chunking: Chunking) -> None:
    embeddings = CachedEmbeddings(stores.rows, stores.embedder)
    extents, tokens = RowDocumentBounds(stores.rows, "vector_extents"), open_tokenizer()
    extractor, extractions = OfflineExtractor(), ExtractionCache(stores.rows)
    cut: list[Any] = []
    for number, document in enumerate(documents, sequence):
        id = document_id(document.text, document.name)
        fact = delivered(added(id, document.text, file_path=document.name), number, id=id)
        made = await on_document_added(
            fact, LIVE, blobs=MemoryBlobs(), tokens=tokens, chunking=chunking, limits=DocumentLimits(1 << 20)
        )
        cut += [delivered(event, number, correlation=id) async for event in made]
    await stores.project(*cut)
    await on_chunks(cut, LIVE, vectors=stores.vectors, embeddings=embeddings, extents=extents)
    said: list[Any] = []
    for fact in cut:
        facts = await on_chunks_created(fact, LIVE, extractor=extractor, extractions=extractions, clock=time.monotonic)
        said += [delivered(event, fact.sequence + n) for n, event in enumerate(facts, 1)]
    said = [delivered(fact.event, sequence + n) for n, fact in enumerate(said)]
    merged = await on_entities_extracted(said, LIVE, merging=merging(stores.rows, stores.graph))
    facts = [delivered(fact, sequence + 5000 + n) for n, (fact,) in enumerate(merged)]
    await on_graph_merged(facts, LIVE, graph=stores.graph, vectors=stores.vectors, embeddings=embeddings)


async def ask_all(stores: QueryHarness, questions: Sequence[MultihopQuestion], mode: Any) -> list[Row]:
    """Every question in one mode."""
    deps = stores.deps(embed=stores.embedder.embed, min_score=0.2)
    partitions = Partitions.of("w", LIVE)
    rows: list[Row] = []
    for asking in questions:
        began = time.perf_counter()
        found = await retrieve(Question(asking.text, mode, chunk_top_k=TOP), partitions, deps)
        seconds = time.perf_counter() - began
        first = [passage for _, passage in found.passages[:TOP]]
        whole = all(any(p.file_path == file and said in p.content for p in first) for file, said in asking.needed)
        rows.append(Row(asking, mode, whole, seconds))
    return rows


def table(rows: Sequence[Row], modes: Sequence[str]) -> str:
    """Shares by hops and by variant."""
    groups: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for group in ("all", f"{row.asking.hops} hops", row.asking.variant):
            groups[group][row.mode].append(row.whole)
    lines = [
        "| questions | number | " + " | ".join(f"`{mode}`" for mode in modes) + " |",
        "|---|---|" + "---|" * len(modes),
    ]
    for group in sorted(groups, key=lambda name: (name != "all", not name[0].isdigit(), name)):
        shares = [f"{100 * sum(found) / len(found):.1f} %" for mode in modes if (found := groups[group][mode])]
        lines.append(f"| {group} | {len(groups[group][modes[0]])} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


async def measured(made: World, modes: Sequence[str], embedder: Embedder) -> list[Row]:
    """Fill, and ask every question in every mode."""
    began = time.perf_counter()
    stores = await filled(made.documents, embedder)
    partition = Partition("w", 1)
    counts = [await stores.vectors.count(partition, kind) for kind in VECTOR_KINDS]
    print(f"{len(made.documents)} documents, {counts[0]} passages, {counts[1]} entities, {counts[2]} relations")
    print(f"(filled in {time.perf_counter() - began:.0f} s)\n")
    return [row for mode in modes for row in await ask_all(stores, made.questions, mode)]


def print_results(rows: Sequence[Row], modes: Sequence[str], failures: int) -> None:
    """Print what was found and how long it took."""
    print(table(rows, modes))
    for mode in modes:
        spent = sorted(row.seconds for row in rows if row.mode == mode)
        print(f"\n{mode}: median {1000 * spent[len(spent) // 2]:.0f} ms, slowest {1000 * spent[-1]:.0f} ms")
    for row in [row for row in rows if not row.whole and row.mode == "walk"][:failures]:
        print(f"- {row.asking.hops} {row.asking.variant}: {row.asking.text}\n    {row.asking.needed}")


def main() -> None:
    """Run it and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument(
        "--seeds", default="1", help="worlds, separated by commas; their questions are counted together"
    )
    arguments.add_argument("--things", type=int, default=300)
    arguments.add_argument("--distractors", type=int, default=300)
    arguments.add_argument("--questions", type=int, default=300)
    arguments.add_argument("--modes", default=",".join(MODES))
    arguments.add_argument("--embedder", default="minilm", choices=("minilm", "lexical"))
    arguments.add_argument("--failures", type=int, default=0, help="questions of `walk` to show")
    given = arguments.parse_args()
    embedder = CachedEmbedder(MiniLmEmbedder() if given.embedder == "minilm" else LexicalEmbedder(384))
    modes, rows = given.modes.split(","), list[Row]()
    for seed in map(int, given.seeds.split(",")):
        made = world(seed, things=given.things, distractors=given.distractors, questions=given.questions)
        found = asyncio.run(measured(made, modes, embedder))
        whole = [row.whole for row in found if row.mode == modes[0]]
        print(f"seed {seed}: {100 * sum(whole) / len(whole):.1f} % by {modes[0]}\n")
        rows += found
    print_results(rows, modes, given.failures)


if __name__ == "__main__":
    main()
