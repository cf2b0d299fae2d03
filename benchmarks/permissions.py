"""What a question costs more that sees a part of the documents.

    python -m benchmarks.permissions [--documents 10000] [--principals 1000] [--asked 200]
        [--first 20]

Rows, graph and vectors are written into the stores as the services write them, without the
services: SQLite for rows, memory for the graph and the vectors. Each document speaks of a person of
its own and of two hubs, and three of five are for groups, drawn at random. Prints milliseconds of
CPU of a `mix` question (retrieval without a model), asked in turns by who sees everything and by
four viewers; and how much dearer the median is. The first questions of each do not count. Then the
first questions of other viewers, of whom nothing is kept, and what a look at the graph costs: its
hubs, and what is around an office and a town, at the first look and again.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.measuring.tables import number, table
from contracts.access import Access
from contracts.graph import Entity, Generations, Partition, Relation, VectorRow
from contracts.ids import chunk_id, chunk_vector_id, sha256
from knowledge.contribution_rows import (
    CONTRIBUTIONS_TABLE,
    MENTIONS_TABLE,
    Row,
    chunk_hash,
    chunk_row,
    mention_prefix,
)
from knowledge.vector_rows import entity_row, relation_row
from offline.embeddings.lexical import LexicalEmbedder
from runtime.batching import batched
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.models.open import open_tokenizer
from runtime.stores.documents.port import Rows, Table
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
from services.query.status.document_status import STEPS, DocumentStatus
from services.query.visibility.followed_log import FollowedVisibility
from services.query.visibility.graph import graph_seen_by
from services.query.visibility.restricted_items import RestrictedItems
from services.query.visibility.viewer import Viewer

PARTITION = Partition("w", 1)
OFFICES, TOWNS = 500, 50
"""Hubs: each is in one of so many documents."""

MAX_SOURCES = 200
CACHE_BYTES = 64 * 1024 * 1024
WARMING = 20
"""Questions of each side that do not count."""

SHARE_OF_GROUPS = 0.1
"""Share of all groups that a viewer is in: with what everyone sees, about half of the documents."""


@dataclass
class Corpus:
    """Documents and what they say, as rows."""

    statuses: list[DocumentStatus] = field(default_factory=list[DocumentStatus])
    passages: list[Passage] = field(default_factory=list[Passage])
    contributions: dict[str, Row] = field(default_factory=dict[str, Row])
    mentions: dict[str, Row] = field(default_factory=dict[str, Row])
    supports: defaultdict[tuple[str, ...], list[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict[tuple[str, ...], list[tuple[str, str]]](list)
    )
    """Chunk and description, by the key that the chunk speaks of."""

    def add(self, place: int, access: Access | None) -> None:
        """Add a document of one chunk."""
        id = f"doc-{place:032x}"
        person, office, town = names_of(place)
        text = f"{person} leads {office} since {1800 + place % 200}. {office} is in {town}."
        chunk = chunk_id(id, 0)
        file_path = f"letter-{place}.md"
        status = DocumentStatus(
            id=id,
            file_path=file_path,
            version=place + 1,
            added=place + 1,
            chunk_count=1,
            bits=dict.fromkeys(STEPS, 1),
            access=access,
            access_set=place + 1 if access else 0,
        )
        self.statuses.append(status)
        self.passages.append(Passage(chunk, id, 0, text, file_path, version=place + 1))
        statements = {
            (person,): f"{person} leads {office}",
            (office,): f"{office} is led by {person}",
            (town,): f"{office} is in {town}",
            tuple(sorted((person, office))): f"{person} leads {office}",
            tuple(sorted((office, town))): f"{office} is in {town}",
        }
        fields = {
            "chunk_id": chunk,
            "document_id": id,
            "order": 0,
            "version": place + 1,
            "added_at": place + 1,
            "file_path": file_path,
        }
        self.contributions[chunk_hash(chunk)] = chunk_row(
            fields, map(_statement, statements.items())
        )
        for key, description in statements.items():
            self.mentions[mention_prefix(key) + chunk_hash(chunk)] = {"chunk_id": chunk}
            self.supports[key].append((chunk, description))

    def entities(self) -> list[Entity]:
        """Return the entities, as folds of what the documents say."""
        return [
            Entity(key[0], 1, "other", _joined(supports), _chunks(supports), ("a",), len(supports))
            for key, supports in self.supports.items()
            if len(key) == 1
        ]

    def relations(self) -> list[Relation]:
        """Return the relations."""
        return [
            Relation(
                key[0],
                key[1],
                1,
                float(len(supports)),
                ("leads",),
                _joined(supports),
                _chunks(supports),
                ("a",),
                len(supports),
            )
            for key, supports in self.supports.items()
            if len(key) == 2
        ]


def names_of(place: int) -> tuple[str, str, str]:
    """Return the person, the office and the town of a document."""
    return f"Person {place}", f"Office {place % OFFICES}", f"Town {place % TOWNS}"


def _statement(statement: tuple[tuple[str, ...], str]) -> Row:
    names, description = statement
    kind = "entity" if len(names) == 1 else "relation"
    return {
        "names": list(names),
        "description": description,
        "kind": kind,
        "type": "other",
        "keywords": [],
        "weight": 1.0,
    }


def _joined(supports: Sequence[tuple[str, str]]) -> str:
    return " ".join(dict.fromkeys(description for _, description in supports[:8]))


def _chunks(supports: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(chunk for chunk, _ in supports[:MAX_SOURCES])


def drawn_access(choice: random.Random, principals: int) -> Access | None:
    """Return who may see a document: two of five times everyone."""
    if choice.random() < 0.4:
        return None
    groups = choice.sample(range(principals), choice.randint(1, 5))
    return Access(allow=tuple(f"group:g{group}" for group in groups))


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


async def milliseconds(deps: RetrievalDependencies, question: str, viewer: Viewer | None) -> float:
    """Return milliseconds of CPU that the retrieval for a question takes."""
    partitions = Partitions.of("w", Generations())
    start = time.process_time()
    await retrieve(Question(question, "mix", viewer=viewer), partitions, deps)
    return 1000 * (time.process_time() - start)


async def browsing_milliseconds(
    deps: RetrievalDependencies, view: str, viewer: Viewer | None, items: RestrictedItems
) -> float:
    """Return milliseconds of CPU that a look at the graph takes: `hubs`, or around an entity."""
    start = time.process_time()
    graph = await graph_seen_by(viewer, deps.graph, deps.provenance, deps.visibility, "w", items)
    names = await graph.hubs(PARTITION, limit=50) if view == "hubs" else [view]
    await graph.entities(PARTITION, names)
    await graph.relation_summaries(PARTITION, names, limit=100)
    return 1000 * (time.process_time() - start)


def drawn_viewer(choice: random.Random, principals: int) -> Viewer:
    """Return a viewer who is in some of the groups."""
    groups = choice.sample(range(principals), round(SHARE_OF_GROUPS * principals))
    return Viewer.of(f"group:g{group}" for group in groups)


def drawn_question(choice: random.Random, documents: int, turn: int) -> str:
    """Return a question about an office of which several documents speak."""
    _, office, town = names_of(choice.randrange(documents))
    return f"Who leads {office} in {town} since {1800 + turn % 200}?"


async def first_questions(
    deps: RetrievalDependencies, choice: random.Random, options: argparse.Namespace
) -> dict[str, list[float]]:
    """Return what the first question of viewers costs of whom nothing is kept, beside the same
    question of who sees everything.
    """
    times: dict[str, list[float]] = {"everything": [], "a part, first question": []}
    for turn in range(options.first):
        question = drawn_question(choice, options.documents, turn)
        viewer = drawn_viewer(choice, options.principals)
        times["everything"].append(await milliseconds(deps, question, None))
        times["a part, first question"].append(await milliseconds(deps, question, viewer))
    return times


async def looks_at_the_graph(
    deps: RetrievalDependencies, choice: random.Random, options: argparse.Namespace
) -> dict[str, list[float]]:
    """Return what looks at the graph cost, by what is looked at and who looks."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(options.first):
        viewer = drawn_viewer(choice, options.principals)
        _, office, town = names_of(choice.randrange(options.documents))
        for view, name in (("hubs", "hubs"), ("an office", office), ("a town", town)):
            items = RestrictedItems()
            for row, who in (("everything", None), ("first look", viewer), ("again", viewer)):
                spent = await browsing_milliseconds(deps, name, who, items)
                times[f"{view}, {row}"].append(spent)
    return times


def print_times(title: str, times: dict[str, list[float]]) -> None:
    """Print a table; each row is compared with the last one before it of who sees everything."""
    lines: list[list[str]] = []
    base = 0.0
    for name, of_name in times.items():
        median = statistics.median(of_name)
        base = median if name.endswith("everything") else base
        lines.append(
            [name, number(median), number(statistics.mean(of_name)), f"{median / base:.2f}"]
        )
    print(table([title, "CPU ms, median", "mean", "times"], lines))


async def measure(options: argparse.Namespace) -> None:
    """Build the stores, ask, and print tables."""
    choice = random.Random(7)
    corpus = Corpus()
    for place in range(options.documents):
        corpus.add(place, drawn_access(choice, options.principals))
    viewers = [drawn_viewer(choice, options.principals) for _ in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        rows = SqliteRows(Path(folder) / "rows.db")
        await rows.prepare()
        deps = await open_stores(rows, corpus)
        times: dict[str, list[float]] = {"everything": [], "a part": []}
        for turn in range(WARMING + options.asked):
            question = drawn_question(choice, options.documents, turn)
            for name, viewer in (("everything", None), ("a part", viewers[turn % len(viewers)])):
                spent = await milliseconds(deps, question, viewer)
                if turn >= WARMING:
                    times[name].append(spent)
        seen = [len((await deps.visibility.of("w", viewer)).ids) for viewer in viewers]
        first_times = await first_questions(deps, choice, options)
        look_times = await looks_at_the_graph(deps, choice, options)
        await rows.close()
    print(
        f"{options.documents:,} documents, {options.principals:,} principals; viewers see {seen}\n"
    )
    print_times("who asks sees", times)
    print_times("who asks sees", first_times)
    print_times("who looks at the graph sees", look_times)


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
