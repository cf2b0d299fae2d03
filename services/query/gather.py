"""LightRAG's modes: searches side by side, the graph around what they found, and the passages behind it.

Each store is asked at most once per stage, always in batches. What each stage decides is a pure function of `domain`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contracts.graph import Entity, Hit, Relation, VectorKind
from contracts.ids import chunk_place, chunk_vector_id
from runtime.models.ports import Vector
from services.query.domain.context import entity_line, relation_line
from services.query.domain.found import Gathered
from services.query.domain.picking import by_likeness, by_weight, quota, round_robin, sources
from services.query.domain.question import Keywords, Question, Step
from services.query.domain.retrieval import interleave, ranked, within
from services.query.library import Library, Spaces

By = Literal["query", "low", "high"]

INCIDENT_LIMIT = 200
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""

COMPARED = 200
"""Passages behind entities, and behind relations, whose likeness to the question is computed at most."""

ENTITIES_BY_NAME = {"local", "hybrid", "mix"}
RELATIONS_BY_THEME = {"global", "hybrid", "mix"}
PASSAGES_BY_QUESTION = {"naive", "mix"}

STEPS: Mapping[VectorKind, Step] = {
    "entities": "retrieving_entities",
    "relations": "retrieving_relations",
    "chunks": "retrieving_chunks",
}


@dataclass(frozen=True)
class Graphs:
    """Entities and relations of one side, local or global, the best first."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()


async def gather(question: Question, keywords: Keywords, spaces: Spaces, library: Library) -> Gathered:
    """The stages up to the passages' ids."""
    asked = await _embedded(question, keywords, library)
    by_question = asked["query"] if question.mode in PASSAGES_BY_QUESTION else None
    entity_hits, relation_hits, chunk_hits = await asyncio.gather(
        _search("entities", asked.get("low"), question.top_k, spaces, library),
        _search("relations", asked.get("high"), question.top_k, spaces, library),
        _search("chunks", by_question, question.chunk_top_k, spaces, library),
    )
    by_name, by_theme = await asyncio.gather(
        _at_entities(entity_hits, spaces, library), _of_relations(relation_hits, spaces, library)
    )
    found = _mixed(by_name, by_theme)
    kept = _within_budgets(question, found, library)
    of_entities = await _picked(sources(kept.entities), asked["query"], spaces, library)
    taken = set(of_entities)
    of_relations = await _picked(sources(kept.relations, taken=taken), asked["query"], spaces, library)
    direct = [hit.row.names[0] for hit in chunk_hits]
    merged = interleave(direct, of_entities, of_relations, key=lambda id: id)
    return Gathered(kept.entities, kept.relations, merged, _info(question, found, kept, direct, merged))


async def _embedded(question: Question, keywords: Keywords, library: Library) -> Mapping[By, Vector]:
    """One call for all the texts that this mode searches by."""
    texts: dict[By, str] = {"query": question.query}
    if question.mode in ENTITIES_BY_NAME and keywords.low:
        texts["low"] = ", ".join(keywords.low)
    if question.mode in RELATIONS_BY_THEME and keywords.high:
        texts["high"] = ", ".join(keywords.high)
    return dict(zip(texts, await library.embed(list(texts.values())), strict=True))


async def _search(kind: VectorKind, vector: Vector | None, top_k: int, spaces: Spaces, library: Library) -> list[Hit]:
    if vector is None:
        return []
    library.tell(STEPS[kind])
    return await library.vectors.search(spaces.vectors, kind, vector, top_k=top_k, min_score=library.min_score)


async def _at_entities(hits: Sequence[Hit], spaces: Spaces, library: Library) -> Graphs:
    """The found entities, and the relations at them by rank."""
    names = [hit.row.names[0] for hit in hits]
    if not names:
        return Graphs()
    entities, relations = await asyncio.gather(
        library.graph.entities(spaces.graph, names),
        library.graph.incident(spaces.graph, names, limit=INCIDENT_LIMIT),
    )
    degrees = await library.graph.degrees(spaces.graph, {name for relation in relations for name in relation.key})
    return Graphs([entities[name] for name in names if name in entities], ranked(relations, degrees))


async def _of_relations(hits: Sequence[Hit], spaces: Spaces, library: Library) -> Graphs:
    """The found relations, and the entities at their ends."""
    pairs = [(hit.row.names[0], hit.row.names[1]) for hit in hits]
    if not pairs:
        return Graphs()
    ends = list(dict.fromkeys(name for names in pairs for name in names))
    entities, relations = await asyncio.gather(
        library.graph.entities(spaces.graph, ends), library.graph.relations(spaces.graph, pairs)
    )
    return Graphs(
        [entities[name] for name in ends if name in entities], [relations[p] for p in pairs if p in relations]
    )


def _mixed(left: Graphs, right: Graphs) -> Graphs:
    return Graphs(
        interleave(left.entities, right.entities, key=lambda entity: entity.name),
        interleave(left.relations, right.relations, key=lambda relation: relation.key),
    )


def _within_budgets(question: Question, found: Graphs, library: Library) -> Graphs:
    return Graphs(
        within(found.entities, question.max_entity_tokens, lambda entity: library.count(entity_line(entity))),
        within(found.relations, question.max_relation_tokens, lambda relation: library.count(relation_line(relation))),
    )


async def _picked(lists: Sequence[Sequence[str]], asked: Vector, spaces: Spaces, library: Library) -> list[str]:
    """Passages of the objects' lists, by likeness to the question; by weight where a vector is missing."""
    if library.pick == "VECTOR" and lists:
        candidates = round_robin(lists, COMPARED)
        scores = await _likeness(candidates, asked, spaces, library)
        if len(scores) == len(candidates):
            return by_likeness(scores, quota(len(lists), library.related_chunks))
    return by_weight(lists, library.related_chunks)


async def _likeness(chunks: Sequence[str], asked: Vector, spaces: Spaces, library: Library) -> dict[str, float]:
    """The cosine similarity of those chunks that have a vector."""
    ids = {chunk_vector_id(*place): chunk for chunk in chunks if (place := chunk_place(chunk))}
    return {
        ids[id]: score
        for id, score in (await library.vectors.likeness(spaces.vectors, "chunks", asked, list(ids))).items()
    }


def _info(
    question: Question, found: Graphs, kept: Graphs, direct: Sequence[str], merged: Sequence[str]
) -> dict[str, Any]:
    if question.mode == "naive":
        return {"total_chunks_found": len(direct)}
    return {
        "total_entities_found": len(found.entities),
        "total_relations_found": len(found.relations),
        "entities_after_truncation": len(kept.entities),
        "relations_after_truncation": len(kept.relations),
        "merged_chunks_count": len(merged),
    }
