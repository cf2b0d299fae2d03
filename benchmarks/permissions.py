"""What a question costs more that sees a part of the documents.

    python -m benchmarks.permissions [--documents 10000] [--principals 1000] [--asked 200]
        [--first 20]

Rows, graph and vectors are written into the stores as the services write them, without the
services: SQLite for rows, memory for the graph and the vectors. Each document speaks of a person of
its own and of three hubs, and three of five are for groups, drawn at random. Prints milliseconds of
CPU, reads and rows of a `mix` question (retrieval without a model), asked in turns by who sees
everything and by four viewers; and how much dearer the median is. The first questions of each do
not count. Then the first questions of other viewers, of whom nothing is kept, and what a look at
the graph costs: its hubs, and what is around an entity, at the first look and again.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring.tables import number, table
from benchmarks.permissions_corpus import Corpus, drawn_access, names_of
from contracts.graph import Generations, Partition, VectorRow
from contracts.ids import chunk_vector_id, sha256
from knowledge.contribution_rows import (
    CONTRIBUTIONS_TABLE,
    MENTIONS_TABLE,
)
from knowledge.vector_rows import entity_row, relation_row
from offline.embeddings.lexical import LexicalEmbedder
from runtime.batching import batched
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.models.open import open_tokenizer
from runtime.stores.documents.port import Row, Rows, Table, Where
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.query.adapters.aliases import RowAliases
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.adapters.offline import OfflineKeywordExtractor
from services.query.adapters.provenance import RowProvenance
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Question
from services.query.retrieval.caches.cached_graph import CachedGraph
from services.query.retrieval.caches.cached_vectors import CachedVectors
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.retrieve import retrieve
from services.query.visibility.followed_log import FollowedVisibility
from services.query.visibility.graph import graph_seen_by
from services.query.visibility.restricted_items import RestrictedItems
from services.query.visibility.viewer import Viewer

PARTITION = Partition("w", 1)
CACHE_BYTES = 64 * 1024 * 1024
WARMING = 20
"""Questions of each side that do not count."""

SHARE_OF_GROUPS = 0.1
"""Share of all groups that a viewer is in: with what everyone sees, about half of the documents."""


async def open_stores(rows: Rows, corpus: Corpus) -> RetrievalDependencies:
    """Write the corpus into the stores, and return what questions are answered from."""
    embedder = LexicalEmbedder(256)
    graph, vectors = MemoryGraph(), MemoryVectors(embedder.model, embedder.dimension)
    documents, passages = RowDocuments(rows), RowPassages(rows)
    for part in batched(corpus.statuses, 1000):
        await documents.put(PARTITION, part)
    for part in batched(corpus.passages, 1000):
        await passages.put(PARTITION, part)
    for name, of_table in (
        (CONTRIBUTIONS_TABLE, corpus.contributions),
        (MENTIONS_TABLE, corpus.mentions),
    ):
        for part in batched(of_table.items(), 1000):
            await rows.put(Table(name, PARTITION), dict(part))
    entities, relations = corpus.entities(), corpus.relations()
    await graph.put(PARTITION, entities, relations)
    chunk_rows = map(_chunk_row, corpus.passages)
    await put_vectors(vectors, embedder, "chunks", chunk_rows)
    await put_vectors(vectors, embedder, "entities", map(entity_row, entities))
    await put_vectors(vectors, embedder, "relations", map(relation_row, relations))
    log = MemoryLog()
    cache = ProjectionCache(log, CACHE_BYTES)
    aliases = RowAliases(rows)
    return RetrievalDependencies(
        graph=graph,
        graph_reader=CachedGraph(graph, cache),
        vectors=vectors,
        vector_reader=CachedVectors(vectors, cache),
        cache_invalidation=cache,
        documents=documents,
        passages=passages,
        provenance=RowProvenance(rows),
        aliases=aliases,
        entity_names=NameIndexes(graph, documents, aliases),
        passage_reader=passages,
        visibility=FollowedVisibility(log, MemoryLiveGenerations(), documents),
        keyword_extractor=OfflineKeywordExtractor(),
        embed=embedder.embed,
        count_tokens=open_tokenizer().count,
    )


async def put_vectors(
    vectors: MemoryVectors, embedder: LexicalEmbedder, kind: str, rows: Iterable[VectorRow]
) -> None:
    """Embed rows and put them into the vector store."""
    for part in batched(rows, 500):
        embedded = await embedder.embed([row.text for row in part])
        with_vectors = [replace(row, vector=v) for row, v in zip(part, embedded, strict=True)]
        await vectors.put(PARTITION, kind, with_vectors)  # pyright: ignore[reportArgumentType]


def _chunk_row(passage: Passage) -> VectorRow:
    return VectorRow(
        id=chunk_vector_id(passage.document_id, passage.order),
        text=passage.content,
        text_hash=sha256(passage.content),
        names=(passage.id,),
        document_id=passage.document_id,
        file_path=passage.file_path,
        order=passage.order,
    )


class Cost(NamedTuple):
    """What something took: milliseconds of CPU, reads of the document store, rows that these
    returned.
    """

    milliseconds: float
    reads: int
    rows: int


class CountedRows(SqliteRows):
    """Counts what is read."""

    reads = 0
    rows = 0

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        rows = await super().get(table, keys)
        self.count_read(rows)
        return rows

    async def find(self, table: Table, where: Where, **options: Any) -> list[tuple[str, Row]]:
        rows = await super().find(table, where, **options)
        self.count_read(rows)
        return rows

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        rows = await super().scan(table, after, limit)
        self.count_read(rows)
        return rows

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        rows = await super().under(table, prefixes)
        self.count_read(rows)
        return rows

    def count_read(self, rows: Collection[Any]) -> None:
        """Count a read that returned these rows."""
        self.reads += 1
        self.rows += len(rows)

    async def cost(self, work: Awaitable[Any]) -> Cost:
        """Return what something takes. Nothing else may be at work."""
        start, reads, rows = time.process_time(), self.reads, self.rows
        await work
        spent = 1000 * (time.process_time() - start)
        return Cost(spent, self.reads - reads, self.rows - rows)


@dataclass(frozen=True)
class Stores:
    """The stores of the benchmark."""

    rows: CountedRows
    deps: RetrievalDependencies

    async def question(self, question: str, viewer: Viewer | None) -> Cost:
        """Return what the retrieval for a question takes."""
        partitions = Partitions.of("w", Generations())
        asked = Question(question, "mix", viewer=viewer)
        return await self.rows.cost(retrieve(asked, partitions, self.deps))

    async def look(self, view: str, viewer: Viewer | None, items: RestrictedItems) -> Cost:
        """Return what a look at the graph takes: at the `hubs`, or around an entity."""
        return await self.rows.cost(self._look(view, viewer, items))

    async def _look(self, view: str, viewer: Viewer | None, items: RestrictedItems) -> None:
        deps = self.deps
        graph = await graph_seen_by(
            viewer, deps.graph, deps.provenance, deps.visibility, "w", items
        )
        names = await graph.hubs(PARTITION, limit=50) if view == "hubs" else [view]
        await graph.entities(PARTITION, names)
        await graph.relation_summaries(PARTITION, names, limit=100)


def drawn_viewer(choice: random.Random, principals: int) -> Viewer:
    """Return a viewer who is in some of the groups."""
    groups = choice.sample(range(principals), round(SHARE_OF_GROUPS * principals))
    return Viewer.of(f"group:g{group}" for group in groups)


def drawn_question(choice: random.Random, documents: int, turn: int) -> str:
    """Return a question about an office of which several documents speak."""
    _, office, town, _ = names_of(choice.randrange(documents))
    return f"Who leads {office} in {town} since {1800 + turn % 200}?"


async def first_questions(
    stores: Stores, choice: random.Random, options: argparse.Namespace
) -> dict[str, list[Cost]]:
    """Return what the first question of viewers costs of whom nothing is kept, beside the same
    question of who sees everything.
    """
    costs: dict[str, list[Cost]] = {"everything": [], "a part, first question": []}
    for turn in range(options.first):
        question = drawn_question(choice, options.documents, turn)
        viewer = drawn_viewer(choice, options.principals)
        costs["everything"].append(await stores.question(question, None))
        costs["a part, first question"].append(await stores.question(question, viewer))
    return costs


async def looks_at_the_graph(
    stores: Stores, choice: random.Random, options: argparse.Namespace
) -> dict[str, list[Cost]]:
    """Return what looks at the graph cost, by what is looked at and who looks."""
    costs: defaultdict[str, list[Cost]] = defaultdict(list)
    for _ in range(options.first):
        viewer = drawn_viewer(choice, options.principals)
        _, office, town, country = names_of(choice.randrange(options.documents))
        views = (("hubs", "hubs"), ("an office", office), ("a town", town), ("a country", country))
        for view, name in views:
            items = RestrictedItems()
            for row, who in (("everything", None), ("first look", viewer), ("again", viewer)):
                costs[f"{view}, {row}"].append(await stores.look(name, who, items))
    return costs


def print_costs(title: str, costs: dict[str, list[Cost]]) -> None:
    """Print a table; each row is compared with the last one before it of who sees everything."""
    lines: list[list[str]] = []
    base = 0.0
    for name, of_name in costs.items():
        milliseconds = [cost.milliseconds for cost in of_name]
        median = statistics.median(milliseconds)
        base = median if name.endswith("everything") else base
        reads = statistics.median(cost.reads for cost in of_name)
        rows = statistics.median(cost.rows for cost in of_name)
        times = f"{median / base:.2f}"
        lines.append(
            [name, number(median), number(statistics.mean(milliseconds)), times]
            + [f"{round(count):,}" for count in (reads, rows)]
        )
    print(table([title, "CPU ms, median", "mean", "times", "reads", "rows"], lines), "\n")


async def measure(options: argparse.Namespace) -> None:
    """Build the stores, ask, and print tables."""
    choice = random.Random(7)
    corpus = Corpus()
    for place in range(options.documents):
        corpus.add(place, drawn_access(choice, options.principals))
    viewers = [drawn_viewer(choice, options.principals) for _ in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        rows = CountedRows(Path(folder) / "rows.db")
        await rows.prepare()
        stores = Stores(rows, await open_stores(rows, corpus))
        costs: dict[str, list[Cost]] = {"everything": [], "a part": []}
        for turn in range(WARMING + options.asked):
            question = drawn_question(choice, options.documents, turn)
            for name, viewer in (("everything", None), ("a part", viewers[turn % len(viewers)])):
                cost = await stores.question(question, viewer)
                if turn >= WARMING:
                    costs[name].append(cost)
        visibility = stores.deps.visibility
        seen = [len((await visibility.of("w", viewer)).ids) for viewer in viewers]
        print(f"{options.documents:,} documents, {options.principals:,} principals", end="; ")
        print(f"viewers see {seen}\n")
        print_costs("who asks sees", costs)
        print_costs("who asks sees", await first_questions(stores, choice, options))
        look_costs = await looks_at_the_graph(stores, choice, options)
        print_costs("who looks at the graph sees", look_costs)
        await rows.close()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--principals", type=int, default=1_000)
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--first", type=int, default=20, help="viewers of whom nothing is kept")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
