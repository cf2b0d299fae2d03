"""LightRAG's modes: searches side by side, the graph around what they found, and the passages behind it.

Each store is asked at most once per stage, always in batches. What each stage decides is a pure function of `domain`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contracts.graph import Entity, Hit, Relation, VectorKind
from runtime.models.port import Vector
from services.query.context.layout import entity_line, relation_line, tokens
from services.query.question import Keywords, ProgressStep, Question
from services.query.retrieval.chunk_selection import picked, round_robin, sources
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.ranking import interleave, ranked
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import Documents, held_to
from services.query.retrieval.token_budget import filled
from services.query.spaces import Spaces

By = Literal["query", "low", "high"]

TIES_LIMIT = 200
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""

COMPARED = 100
"""Passages behind entities, and behind relations, whose likeness to the question is looked at; at most so many."""

ENTITIES_BY_NAME = {"local", "hybrid", "mix"}
RELATIONS_BY_THEME = {"global", "hybrid", "mix"}
PASSAGES_BY_QUESTION = {"naive", "mix"}

STEPS: Mapping[VectorKind, ProgressStep] = {
    "entities": "retrieving_entities",
    "relations": "retrieving_relations",
    "chunks": "retrieving_chunks",
}


@dataclass(frozen=True)
class Named:
    """Entities and relations by name, the best first."""

    names: Sequence[str] = ()
    pairs: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Budgeted:
    """Those that the budgets hold."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    tokens: int = 0
    """Of their lines."""


async def gather(
    question: Question, keywords: Keywords, spaces: Spaces, deps: RetrievalDependencies, documents: Documents = None
) -> SearchResult:
    """The stages up to the passages' ids, held to these documents where they are given."""
    asked, _ = await asyncio.gather(_embedded(question, keywords, deps), _refreshed(question, spaces, deps))
    by_question = asked["query"] if question.mode in PASSAGES_BY_QUESTION else None
    entity_hits, relation_hits, chunk_hits = await asyncio.gather(
        _search("entities", asked.get("low"), question.top_k, spaces, deps),
        _search("relations", asked.get("high"), question.top_k, spaces, deps),
        _search("chunks", by_question, question.chunk_top_k, spaces, deps, documents),
    )
    found = await _named(entity_hits, relation_hits, spaces, deps)
    kept = await _held(await _within_budgets(question, found, spaces, deps), documents, spaces, deps)
    behind = await _behind(kept, asked["query"], spaces, deps)
    direct = [hit.names[0] for hit in chunk_hits]
    merged = interleave(direct, *behind, key=lambda id: id)
    return SearchResult(
        kept.entities, kept.relations, merged, kept.tokens, _info(question, found, kept, direct, merged)
    )


async def _refreshed(question: Question, spaces: Spaces, deps: RetrievalDependencies) -> None:
    if question.mode in ENTITIES_BY_NAME | RELATIONS_BY_THEME:
        await deps.cache_invalidation.refresh(spaces.graph, spaces.vectors)


async def _embedded(question: Question, keywords: Keywords, deps: RetrievalDependencies) -> Mapping[By, Vector]:
    """One call for all the texts that this mode searches by."""
    texts: dict[By, str] = {"query": question.query}
    if question.mode in ENTITIES_BY_NAME and keywords.low:
        texts["low"] = ", ".join(keywords.low)
    if question.mode in RELATIONS_BY_THEME and keywords.high:
        texts["high"] = ", ".join(keywords.high)
    return dict(zip(texts, await deps.embed(list(texts.values())), strict=True))


async def _search(
    kind: VectorKind,
    vector: Vector | None,
    top_k: int,
    spaces: Spaces,
    deps: RetrievalDependencies,
    documents: Documents = None,
) -> list[Hit]:
    if vector is None:
        return []
    deps.on_progress(STEPS[kind])
    return await deps.vectors.search(
        spaces.vectors, kind, vector, top_k=top_k, min_score=deps.min_score, documents=documents
    )


async def _named(
    entities: Sequence[Hit], relations: Sequence[Hit], spaces: Spaces, deps: RetrievalDependencies
) -> Named:
    """The found entities with the relations at them by rank, and the found relations with their ends, one by one."""
    names = [hit.names[0] for hit in entities]
    pairs = [(hit.names[0], hit.names[1]) for hit in relations]
    ties = await deps.graph_reader.relation_summaries(spaces.graph, names, limit=TIES_LIMIT) if names else {}
    at_entities = ranked(tie for some in ties.values() for tie in some)
    return Named(
        interleave(names, [name for ends in pairs for name in ends], key=lambda name: name),
        interleave([tie.key for tie in at_entities], pairs, key=lambda ends: ends),
    )


async def _within_budgets(question: Question, found: Named, spaces: Spaces, deps: RetrievalDependencies) -> Budgeted:
    """What the budgets hold of them, read from the graph."""
    read_entities, read_relations = deps.graph_reader.entities, deps.graph_reader.relations
    (entities, of_entities), (relations, of_relations) = await asyncio.gather(
        filled(
            found.names,
            lambda names: read_entities(spaces.graph, names),
            question.max_entity_tokens,
            lambda entity: deps.count_tokens(entity_line(entity)),
        ),
        filled(
            found.pairs,
            lambda pairs: read_relations(spaces.graph, pairs),
            question.max_relation_tokens,
            lambda relation: deps.count_tokens(relation_line(relation)),
        ),
    )
    return Budgeted(entities, relations, of_entities + of_relations)


async def _held(kept: Budgeted, documents: Documents, spaces: Spaces, deps: RetrievalDependencies) -> Budgeted:
    """Of them what these documents say."""
    if documents is None:
        return kept
    entities = await held_to(kept.entities, documents, spaces, deps)
    relations = await held_to(kept.relations, documents, spaces, deps)
    return Budgeted(entities, relations, tokens(entities, relations, deps.count_tokens))


async def _behind(
    kept: Budgeted, asked: Vector, spaces: Spaces, deps: RetrievalDependencies
) -> tuple[list[str], list[str]]:
    """Passages of the entities, and of the relations without those, by likeness; by weight where a vector lacks."""
    of_entities, of_relations = sources(kept.entities), sources(kept.relations)
    scores: Mapping[str, float] = {}
    if deps.chunk_pick_method == "VECTOR":
        candidates = {*round_robin(of_entities, COMPARED), *round_robin(of_relations, COMPARED)}
        found = await deps.similarities.similarities(spaces.vectors, candidates, asked)
        scores = found if len(found) == len(candidates) else {}
    by_entities = picked(of_entities, scores, deps.related_chunks)
    left = sources(kept.relations, taken=by_entities)
    return by_entities, picked(left, scores, deps.related_chunks)


def _info(
    question: Question, found: Named, kept: Budgeted, direct: Sequence[str], merged: Sequence[str]
) -> dict[str, Any]:
    if question.mode == "naive":
        return {"total_chunks_found": len(direct)}
    return {
        "total_entities_found": len(found.names),
        "total_relations_found": len(found.pairs),
        "entities_after_truncation": len(kept.entities),
        "relations_after_truncation": len(kept.relations),
        "merged_chunks_count": len(merged),
    }
