"""Long passages have a row for each window, and none of an older text is left."""

import numpy as np

from contracts.ids import chunk_vector_id, is_window
from knowledge.nearest_passages import PassageSearch, nearest_passages
from offline.embeddings.lexical import LexicalEmbedder
from offline.language.windows import MOST_WINDOWS, windows_of
from runtime.models.scripted import CountingEmbedder
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.vectors.memory import MemoryVectors
from tests.support.events import chunked, document
from tests.unit.indexer.test_handler import SPACE, Harness, deletion

MODEL = "all-MiniLM-L6-v2-int8-test"


def rules(word: str, count: int = 60) -> str:
    return " ".join(f"Rule {n} says that the {word} is closed in room {n}." for n in range(count))


class WindowHarness(Harness):
    """A harness whose embedder has the name of one that reads windows."""

    def __init__(self) -> None:
        super().__init__()
        inner = LexicalEmbedder(16)
        inner.model = MODEL
        self.embedder = CountingEmbedder(inner)
        self.embeddings = CachedEmbeddings(MemoryRows(), self.embedder)
        self.vectors = MemoryVectors(MODEL, 16)

    async def windows(self) -> list[str]:
        return [row.text for row in await self.vectors.scan(SPACE, "chunks") if is_window(row.id)]


async def test_a_passage_has_the_mean_of_its_windows_and_is_not_embedded_itself() -> None:
    harness = WindowHarness()
    (event,) = await harness.chunks(chunked(document("d"), rules("pool"), "short"))
    windows = windows_of(MODEL, rules("pool"))
    assert harness.embedder.texts == [*windows, "short"]
    assert await harness.windows() == windows
    assert (event.embedded, len(event.chunks)) == (2, 2)
    rows = await harness.vectors.get(
        SPACE, "chunks", [chunk_vector_id("d", 0), chunk_vector_id("d", 1)], vectors=True
    )
    mean = np.mean([(await harness.embedder.embed([text]))[0] for text in windows], axis=0)
    vector = np.array(rows[chunk_vector_id("d", 0)].vector)
    assert float(vector @ mean / np.linalg.norm(mean)) > 0.999


async def test_windows_of_older_versions_go_and_so_do_those_of_deleted_documents() -> None:
    harness = WindowHarness()
    await harness.chunks(chunked(document("d", 1), rules("pool", 100), rules("bar", 100)))
    assert len(await harness.windows()) > 10
    await harness.chunks(chunked(document("d", 2), rules("sauna", 40)))
    assert await harness.windows() == windows_of(MODEL, rules("sauna", 40))
    await harness.chunks(chunked(document("d", 3), "short"))
    assert await harness.windows() == []
    await harness.chunks(chunked(document("d", 4), rules("gym", 300)))
    assert len(await harness.windows()) <= MOST_WINDOWS
    await harness.handle([deletion("d", 5)])
    assert await harness.vectors.scan(SPACE, "chunks") == []


async def test_of_two_versions_in_one_batch_the_newer_windows_stand() -> None:
    harness = WindowHarness()
    await harness.chunks(
        chunked(document("d", 1), rules("pool", 100)), chunked(document("d", 2), rules("sauna", 40))
    )
    assert await harness.windows() == windows_of(MODEL, rules("sauna", 40))


async def test_a_search_returns_passages_each_once() -> None:
    harness = WindowHarness()
    texts = [rules(word) for word in ("pool", "bar", "sauna", "gym")]
    await harness.chunks(chunked(document("d", 1), *texts))
    (vector,) = await harness.embedder.embed(["Is the sauna closed?"])
    for top_k in (1, 3, 9):
        hits = await nearest_passages(harness.vectors, MODEL, PassageSearch(SPACE, vector, top_k))
        names = [hit.names[0] for hit in hits]
        assert len(names) == len(set(names)) == min(top_k, 4)
        assert hits == sorted(hits, key=lambda hit: -hit.score)
    few = PassageSearch(SPACE, vector, 9, documents=["another"])
    assert await nearest_passages(harness.vectors, MODEL, few) == []
