"""From a question to an answer: keywords, one embedding call, searches side by side, ranking, budgets, context, answer.

Each store is asked at most once per step, always in batches.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from contracts.graph import Entity, Generations, Hit, Relation, Space
from runtime.models.ports import Vector
from runtime.stores.graph.port import Graph
from runtime.stores.vectors.port import Vectors
from services.query.domain.context import entity_line, layout, passage_line, relation_line
from services.query.domain.passage import Passage
from services.query.domain.retrieval import interleave, polled, ranked, references, sources, within
from services.query.ports import Answers, Keywords, Passages

Mode = Literal["naive", "local", "global", "hybrid", "mix"]

NO_CONTEXT = "Sorry, nothing in the documents answers that question. [no-context]"
"""Clients look for the marker at the end."""

INCIDENT_LIMIT = 200
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""


@dataclass(frozen=True)
class Question:
    """What is asked and within which limits. LightRAG's names and defaults; budgets in tokens."""

    query: str
    mode: Mode = "mix"
    top_k: int = 40
    chunk_top_k: int = 20
    max_entity_tokens: int = 6000
    max_relation_tokens: int = 8000
    max_total_tokens: int = 30000
    high_level: tuple[str, ...] = ()
    low_level: tuple[str, ...] = ()
    only_context: bool = False


@dataclass(frozen=True)
class Found:
    """What retrieval brings to the answer."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    passages: Sequence[tuple[str, Passage]] = ()
    """Reference id ("" without a file) and passage, the best first."""
    references: dict[str, str] = field(default_factory=dict[str, str])
    """File path to reference id."""


@dataclass(frozen=True)
class Answer:
    """The answer with what it rests on."""

    text: str
    found: Found
    by_model: bool


class Count(Protocol):
    """Counts tokens."""

    def __call__(self, text: str, /) -> int: ...


class Embed(Protocol):
    """Embeds texts for a search."""

    async def __call__(self, texts: Sequence[str], /) -> list[Vector]: ...


@dataclass(frozen=True)
class Library:
    """Everything a question is answered from."""

    graph: Graph
    vectors: Vectors
    passages: Passages
    keywords: Keywords
    answers: Answers
    embed: Embed
    count: Count
    min_score: float = 0.2
    related_chunks: int = 5


async def ask(question: Question, workspace: str, generations: Generations, library: Library) -> Answer:
    """Answer the question. Raises `Unavailable` when a store or a model does not answer."""
    found = await retrieve(question, workspace, generations, library)
    if not (found.passages or found.entities or found.relations):
        return Answer(NO_CONTEXT, found, by_model=False)
    context = layout(found.entities, found.relations, found.passages, found.references)
    if question.only_context:
        return Answer(context, found, by_model=False)
    text = await library.answers.answer(question.query, context, found.passages)
    return Answer(text, found, by_model=library.answers.uses_model)


async def retrieve(question: Question, workspace: str, generations: Generations, library: Library) -> Found:
    """What the documents hold about the question, in the question's mode."""
    high, low = await _keywords(question, library)
    texts = {
        "query": question.query,
        "low": ", ".join(low) or question.query,
        "high": ", ".join(high) or question.query,
    }
    vectors = dict(zip(texts, await library.embed(list(texts.values())), strict=True))
    space, graph_space = Space(workspace, generations.vectors), Space(workspace, generations.graph)
    mode = question.mode

    async def search(wanted: bool, kind: Literal["chunks", "entities", "relations"], by: str, top_k: int) -> list[Hit]:
        if not wanted:
            return []
        return await library.vectors.search(space, kind, vectors[by], top_k=top_k, min_score=library.min_score)

    entity_hits, relation_hits, chunk_hits = await asyncio.gather(
        search(mode in {"local", "hybrid", "mix"}, "entities", "low", question.top_k),
        search(mode in {"global", "hybrid", "mix"}, "relations", "high", question.top_k),
        search(mode in {"naive", "mix"}, "chunks", "query", question.chunk_top_k),
    )
    local, of_world = await asyncio.gather(
        _local(graph_space, entity_hits, library), _global(graph_space, relation_hits, library)
    )
    entities = within(
        interleave(local[0], of_world[0], key=lambda entity: entity.name),
        question.max_entity_tokens,
        lambda entity: library.count(entity_line(entity)),
    )
    relations = within(
        interleave(local[1], of_world[1], key=lambda relation: relation.key),
        question.max_relation_tokens,
        lambda relation: library.count(relation_line(relation)),
    )
    passages = await _passages(question, Space(workspace, generations.status), chunk_hits, entities, relations, library)
    ids = references([passage.file_path for passage in passages])
    return Found(entities, relations, [(ids.get(p.file_path, ""), p) for p in passages], ids)


async def _keywords(question: Question, library: Library) -> tuple[Sequence[str], Sequence[str]]:
    if question.mode == "naive" or question.high_level or question.low_level:
        return question.high_level, question.low_level
    return await library.keywords.of(question.query)


async def _local(space: Space, hits: Sequence[Hit], library: Library) -> tuple[list[Entity], list[Relation]]:
    """The found entities, and the relations at them by rank."""
    names = [hit.row.names[0] for hit in hits]
    if not names:
        return [], []
    entities, relations = await asyncio.gather(
        library.graph.entities(space, names), library.graph.incident(space, names, limit=INCIDENT_LIMIT)
    )
    degrees = await library.graph.degrees(space, {name for relation in relations for name in relation.key})
    return [entities[name] for name in names if name in entities], ranked(relations, degrees)


async def _global(space: Space, hits: Sequence[Hit], library: Library) -> tuple[list[Entity], list[Relation]]:
    """The found relations, and the entities at their ends."""
    pairs = [(hit.row.names[0], hit.row.names[1]) for hit in hits]
    if not pairs:
        return [], []
    ends = list(dict.fromkeys(name for names in pairs for name in names))
    entities, relations = await asyncio.gather(
        library.graph.entities(space, ends), library.graph.relations(space, pairs)
    )
    return [entities[name] for name in ends if name in entities], [relations[p] for p in pairs if p in relations]


async def _passages(
    question: Question,
    space: Space,
    hits: Sequence[Hit],
    entities: Sequence[Entity],
    relations: Sequence[Relation],
    library: Library,
) -> list[Passage]:
    """Passages found directly, and those that support the entities and relations, within what room is left."""
    direct = [hit.row.names[0] for hit in hits]
    of_entities = polled(sources(entities), library.related_chunks)
    of_relations = polled(sources(relations, taken=of_entities), library.related_chunks)
    ids = interleave(direct, of_entities, of_relations, key=lambda id: id)
    known = await library.passages.get(space, ids)
    used = sum(library.count(entity_line(e)) for e in entities) + sum(
        library.count(relation_line(r)) for r in relations
    )
    room = question.max_total_tokens - used - library.count(question.query) - 1200
    best = [known[id] for id in ids if id in known][: question.chunk_top_k]
    return within(best, room, lambda passage: library.count(passage_line("1", passage)))
