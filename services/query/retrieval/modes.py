"""LightRAG's modes: searches side by side, the graph around what they found, and the passages behind it.

Each store is asked at most once per stage, always in batches. What each stage decides is a pure function of `domain`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contracts.graph import Entity, Hit, Relation, VectorKind
from runtime.models.port import Vector
from services.query.context.layout import count_context_tokens, entity_line, relation_line
from services.query.partitions import Partitions
from services.query.question import Keywords, ProgressStep, Question
from services.query.retrieval.chunk_selection import chunks_of, round_robin, select_chunks
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.ranking import interleave, rank_relations
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import DocumentIds, restrict_to_documents
from services.query.retrieval.token_budget import read_within_budget

QueryText = Literal["query", "low", "high"]

MAX_RELATIONS = 200
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""

MAX_COMPARED = 100
"""Passages behind entities, and behind relations, whose likeness to the question is looked at; at most so many."""

ENTITIES_BY_NAME = {"local", "hybrid", "mix"}
RELATIONS_BY_THEME = {"global", "hybrid", "mix"}
PASSAGES_BY_QUESTION = {"naive", "mix"}

PROGRESS_STEPS: Mapping[VectorKind, ProgressStep] = {
    "entities": "retrieving_entities",
    "relations": "retrieving_relations",
    "chunks": "retrieving_chunks",
}


@dataclass(frozen=True)
class GraphKeys:
    """Entities and relations by name, the best first."""

    names: Sequence[str] = ()
    pairs: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class GraphContext:
    """Entities and relations within the token budgets."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    tokens: int = 0
    """Tokens of their lines in the context."""


async def search_by_mode(
    question: Question,
    keywords: Keywords,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds = None,
) -> SearchResult:
    """Return entities, relations and chunk ids for one of LightRAG's modes, restricted to `documents` if given."""
    asked, _ = await asyncio.gather(_embed_texts(question, keywords, deps), _refresh_caches(question, partitions, deps))
    by_question = asked["query"] if question.mode in PASSAGES_BY_QUESTION else None
    entity_hits, relation_hits, chunk_hits = await asyncio.gather(
        _search("entities", asked.get("low"), question.top_k, partitions, deps),
        _search("relations", asked.get("high"), question.top_k, partitions, deps),
        _search("chunks", by_question, question.chunk_top_k, partitions, deps, documents),
    )
    found = await _graph_keys(entity_hits, relation_hits, partitions, deps)
    kept = await _restrict(await _read_within_budgets(question, found, partitions, deps), documents, partitions, deps)
    behind = await _related_chunks(kept, asked["query"], partitions, deps)
    direct = [hit.names[0] for hit in chunk_hits]
    merged = interleave(direct, *behind, key=lambda id: id)
    return SearchResult(
        kept.entities, kept.relations, merged, kept.tokens, _processing_info(question, found, kept, direct, merged)
    )


async def _refresh_caches(question: Question, partitions: Partitions, deps: RetrievalDependencies) -> None:
    if question.mode in ENTITIES_BY_NAME | RELATIONS_BY_THEME:
        await deps.cache_invalidation.refresh(partitions.graph, partitions.vectors)


async def _embed_texts(
    question: Question, keywords: Keywords, deps: RetrievalDependencies
) -> Mapping[QueryText, Vector]:
    """Embed all texts that this mode searches by, in one call."""
    texts: dict[QueryText, str] = {"query": question.query}
    if question.mode in ENTITIES_BY_NAME and keywords.low:
        texts["low"] = ", ".join(keywords.low)
    if question.mode in RELATIONS_BY_THEME and keywords.high:
        texts["high"] = ", ".join(keywords.high)
    return dict(zip(texts, await deps.embed(list(texts.values())), strict=True))


async def _search(
    kind: VectorKind,
    vector: Vector | None,
    top_k: int,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds = None,
) -> list[Hit]:
    if vector is None:
        return []
    deps.on_progress(PROGRESS_STEPS[kind])
    return await deps.vectors.search(
        partitions.vectors, kind, vector, top_k=top_k, min_score=deps.min_score, documents=documents
    )


async def _graph_keys(
    entities: Sequence[Hit], relations: Sequence[Hit], partitions: Partitions, deps: RetrievalDependencies
) -> GraphKeys:
    """Return names and pairs: hits interleaved with the relations of entity hits and the ends of relation hits."""
    names = [hit.names[0] for hit in entities]
    pairs = [(hit.names[0], hit.names[1]) for hit in relations]
    ties = await deps.graph_reader.relation_summaries(partitions.graph, names, limit=MAX_RELATIONS) if names else {}
    at_entities = rank_relations(tie for some in ties.values() for tie in some)
    return GraphKeys(
        interleave(names, [name for ends in pairs for name in ends], key=lambda name: name),
        interleave([tie.key for tie in at_entities], pairs, key=lambda ends: ends),
    )


async def _read_within_budgets(
    question: Question, found: GraphKeys, partitions: Partitions, deps: RetrievalDependencies
) -> GraphContext:
    """What the budgets hold of them, read from the graph."""
    read_entities, read_relations = deps.graph_reader.entities, deps.graph_reader.relations
    (entities, of_entities), (relations, of_relations) = await asyncio.gather(
        read_within_budget(
            found.names,
            lambda names: read_entities(partitions.graph, names),
            question.max_entity_tokens,
            lambda entity: deps.count_tokens(entity_line(entity)),
        ),
        read_within_budget(
            found.pairs,
            lambda pairs: read_relations(partitions.graph, pairs),
            question.max_relation_tokens,
            lambda relation: deps.count_tokens(relation_line(relation)),
        ),
    )
    return GraphContext(entities, relations, of_entities + of_relations)


async def _restrict(
    kept: GraphContext, documents: DocumentIds, partitions: Partitions, deps: RetrievalDependencies
) -> GraphContext:
    """Of them what these documents say."""
    if documents is None:
        return kept
    entities = await restrict_to_documents(kept.entities, documents, partitions, deps)
    relations = await restrict_to_documents(kept.relations, documents, partitions, deps)
    return GraphContext(entities, relations, count_context_tokens(entities, relations, deps.count_tokens))


async def _related_chunks(
    kept: GraphContext, asked: Vector, partitions: Partitions, deps: RetrievalDependencies
) -> tuple[list[str], list[str]]:
    """Passages of the entities, and of the relations without those, by likeness; by weight where a vector lacks."""
    of_entities, of_relations = chunks_of(kept.entities), chunks_of(kept.relations)
    scores: Mapping[str, float] = {}
    if deps.chunk_pick_method == "VECTOR":
        candidates = {*round_robin(of_entities, MAX_COMPARED), *round_robin(of_relations, MAX_COMPARED)}
        found = await deps.similarities.similarities(partitions.vectors, candidates, asked)
        scores = found if len(found) == len(candidates) else {}
    by_entities = select_chunks(of_entities, scores, deps.related_chunks)
    left = chunks_of(kept.relations, taken=by_entities)
    return by_entities, select_chunks(left, scores, deps.related_chunks)


def _processing_info(
    question: Question, found: GraphKeys, kept: GraphContext, direct: Sequence[str], merged: Sequence[str]
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
