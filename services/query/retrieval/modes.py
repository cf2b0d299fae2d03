"""LightRAG's modes: parallel vector searches, the graph around their hits, and the chunks these are
based on.

Each stage reads a store at most once, in batches. The decisions of each stage are pure functions in
other modules.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from contracts.graph import Entity, Hit, Relation, VectorKind
from knowledge.nearest_passages import PassageSearch, nearest_passages
from runtime.models.port import Vector
from services.query.context.layout import (
    count_context_tokens,
    count_entity,
    count_relation,
    entity_line,
    relation_line,
)
from services.query.partitions import Partitions
from services.query.question import Keywords, ProgressStep, Question
from services.query.retrieval.chunk_selection import chunks_of, round_robin, select_chunks
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.ranking import interleave
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import DocumentIds, restrict_to_documents
from services.query.retrieval.token_budget import read_within_budget

QueryText = Literal["query", "low", "high"]

FEWEST_RELATION_TOKENS = 4
"""Tokens that the line of a relation has at least, and much fewer than any has: as many relations
as a budget may hold are ranked.
"""

MAX_COMPARED = 1000
"""Chunks of entities and relations that are compared with the question. Of more the nearest are
asked for first.
"""

ENTITIES_BY_NAME = {"local", "hybrid", "mix"}
RELATIONS_BY_THEME = {"global", "hybrid", "mix"}
PASSAGES_BY_QUESTION = {"naive", "mix"}
READS_GRAPH = ENTITIES_BY_NAME | RELATIONS_BY_THEME

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
    """As many of the relations as a budget may hold."""
    relations_found: int = 0
    """The number of all relations."""


@dataclass(frozen=True)
class GraphContext:
    """Entities and relations within the token budgets."""

    entities: Sequence[Entity] = ()
    relations: Sequence[Relation] = ()
    tokens: int = 0
    """Tokens of the lines of these entities and relations in the context."""


async def search_by_mode(
    question: Question,
    keywords: Keywords,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds = None,
) -> SearchResult:
    """Return entities, relations and chunk ids for one of LightRAG's modes, restricted to
    `documents` if given.
    """
    vectors, _ = await asyncio.gather(
        _embed_texts(question, keywords, deps), _refresh_caches(question, partitions, deps)
    )
    by_question = vectors["query"] if question.mode in PASSAGES_BY_QUESTION else None
    entity_hits, relation_hits, chunk_hits = await asyncio.gather(
        _search(question, "entities", vectors.get("low"), partitions, deps),
        _search(question, "relations", vectors.get("high"), partitions, deps),
        _search(question, "chunks", by_question, partitions, deps, documents),
    )
    keys = await _graph_keys(question, entity_hits, relation_hits, partitions, deps)
    context = await _restrict(
        await _read_within_budgets(question, keys, partitions, deps), documents, partitions, deps
    )
    related_chunks = await _related_chunks(context, vectors["query"], partitions, deps)
    direct_hits = [hit.names[0] for hit in chunk_hits]
    chunk_ids = interleave(direct_hits, *related_chunks, key=lambda id: id)
    return SearchResult(
        context.entities,
        context.relations,
        chunk_ids,
        context.tokens,
        _processing_info(question, keys, context, direct_hits, chunk_ids, documents),
    )


async def _refresh_caches(
    question: Question, partitions: Partitions, deps: RetrievalDependencies
) -> None:
    if question.mode in READS_GRAPH:
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
    question: Question,
    kind: VectorKind,
    vector: Vector | None,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds = None,
) -> list[Hit]:
    if vector is None:
        return []
    deps.on_progress(PROGRESS_STEPS[kind])
    # What is cached is as current as the last look at the log, and a mode that does not read the
    # graph takes none.
    vectors = deps.vector_reader if question.mode in READS_GRAPH else deps.vectors
    if kind != "chunks":
        return await vectors.search(
            partitions.vectors, kind, vector, top_k=question.top_k, min_score=deps.min_score
        )
    return await nearest_passages(
        vectors,
        deps.vectors.model,
        PassageSearch(partitions.vectors, vector, question.chunk_top_k, deps.min_score, documents),
    )


async def _graph_keys(
    question: Question,
    entities: Sequence[Hit],
    relations: Sequence[Hit],
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> GraphKeys:
    """Return names and pairs: hits interleaved with the relations of entity hits and the ends of
    relation hits.
    """
    names = [hit.names[0] for hit in entities]
    pairs = [(hit.names[0], hit.names[1]) for hit in relations]
    relation_limit = max(1, question.max_relation_tokens // FEWEST_RELATION_TOKENS)
    at_entities = await deps.graph_reader.ranked_relations(
        partitions.graph, names, limit=relation_limit, besides=pairs
    )
    return GraphKeys(
        interleave(names, [name for ends in pairs for name in ends], key=lambda name: name),
        interleave(at_entities.pairs, pairs, key=lambda ends: ends),
        at_entities.count,
    )


async def _read_within_budgets(
    question: Question, keys: GraphKeys, partitions: Partitions, deps: RetrievalDependencies
) -> GraphContext:
    """Read these entities and relations from the graph, as many as fit the token budgets."""
    read_entities = deps.graph_reader.entities
    read_relations = deps.graph_reader.relations
    (entities, of_entities), (relations, of_relations) = await asyncio.gather(
        read_within_budget(
            keys.names,
            lambda names: read_entities(partitions.graph, names),
            question.max_entity_tokens,
            partial(count_entity, deps.count_tokens),
            lambda entity: deps.count_tokens(entity_line(entity)),
        ),
        read_within_budget(
            keys.pairs,
            lambda pairs: read_relations(partitions.graph, pairs),
            question.max_relation_tokens,
            partial(count_relation, deps.count_tokens),
            lambda relation: deps.count_tokens(relation_line(relation)),
        ),
    )
    return GraphContext(entities, relations, of_entities + of_relations)


async def _restrict(
    context: GraphContext,
    documents: DocumentIds,
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> GraphContext:
    """Return the entities and relations as these documents alone describe them; unchanged for
    None.
    """
    if documents is None:
        return context
    entities = await restrict_to_documents(context.entities, documents, partitions, deps)
    relations = await restrict_to_documents(context.relations, documents, partitions, deps)
    return GraphContext(
        entities, relations, count_context_tokens(entities, relations, deps.count_tokens)
    )


async def _related_chunks(
    context: GraphContext,
    question_vector: Vector,
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> tuple[list[str], list[str]]:
    """Select chunks of the entities and then of the relations: by similarity, or by weight if a
    vector is missing.
    """
    of_entities = chunks_of(context.entities)
    of_relations = chunks_of(context.relations)
    comparable_chunks: Collection[str] = ()
    if deps.chunk_pick_method == "VECTOR":
        comparable_chunks = await _compared(
            [*of_entities, *of_relations], question_vector, partitions, deps
        )
    scores = (
        await deps.vector_reader.similarities(
            partitions.vectors, comparable_chunks, question_vector
        )
        if comparable_chunks
        else {}
    )
    by_entities = select_chunks(of_entities, comparable_chunks, scores, deps.related_chunks)
    further = [chunks for chunks in chunks_of(context.relations, used_chunks=by_entities) if chunks]
    return by_entities, select_chunks(further, comparable_chunks, scores, deps.related_chunks)


async def _compared(
    lists: Sequence[Sequence[str]],
    question_vector: Vector,
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> Collection[str]:
    """Return the chunks of these lists to compare: all, or of very many the nearest and the first
    of each list.
    """
    candidates = {chunk for chunks in lists for chunk in chunks}
    if len(candidates) <= MAX_COMPARED:
        return candidates
    nearest = await nearest_passages(
        deps.vector_reader,
        deps.vectors.model,
        PassageSearch(partitions.vectors, question_vector, MAX_COMPARED),
    )
    return {
        *candidates.intersection(hit.names[0] for hit in nearest),
        *round_robin(lists, MAX_COMPARED),
    }


def _processing_info(
    question: Question,
    keys: GraphKeys,
    context: GraphContext,
    direct_hits: Sequence[str],
    chunk_ids: Sequence[str],
    documents: DocumentIds,
) -> dict[str, Any]:
    if question.mode == "naive":
        return {"total_chunks_found": len(direct_hits)}
    # Counts of what other documents say would tell of these.
    entities_found, relations_found = len(keys.names), keys.relations_found
    if documents is not None:
        entities_found, relations_found = len(context.entities), len(context.relations)
    return {
        "total_entities_found": entities_found,
        "total_relations_found": relations_found,
        "entities_after_truncation": len(context.entities),
        "relations_after_truncation": len(context.relations),
        "merged_chunks_count": len(chunk_ids),
    }
