"""The mode `walk`: follows names from passage to passage, for questions of several hops.

Names in the question are linked to entities. Over an index of the passages around them six rankings
are made and fused: by paths from the passages of these names and from those most like the question,
by paths that lead only onward from the names, by the first steps of these, by the neighbourhood of
the names alone, and by likeness to the question in words and in vectors. No model is asked but the
embedder, once, for the question.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from contracts.graph import Hit
from knowledge.nearest_passages import PassageSearch, nearest_passages
from runtime.models.port import Vector
from runtime.stores.graph.port import MOST_SOURCES, Neighbourhood
from services.query.context.layout import count_context_tokens
from services.query.partitions import Partitions
from services.query.question import Keywords, Question
from services.query.retrieval.arrays import Floats
from services.query.retrieval.concurrency import in_turn
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence, gather_evidence, with_similar_words
from services.query.retrieval.multihop.link_question import link_question
from services.query.retrieval.multihop.name_paths import by_first_steps, by_name_paths, name_paths
from services.query.retrieval.multihop.names_read import ReadNames
from services.query.retrieval.multihop.neighbour_ranking import by_neighbourhood
from services.query.retrieval.multihop.neighbourhood import (
    MAX_RELATIONS,
    Seeds,
    read_neighbourhood,
)
from services.query.retrieval.multihop.path_search import (
    Path,
    passage_values,
    search_paths,
)
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.ranking_weights import ranking_weights
from services.query.retrieval.multihop.starts import (
    name_fragments,
    starts,
    sure_links,
    whole_names,
    with_titles,
    without_homonyms,
)
from services.query.retrieval.multihop.walk_context import Trail, graph_context, processing_info
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.index import NO_MENTION, PassageIndex
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import DocumentIds
from services.query.visibility.restricted_reads import visible_chunks

MAX_HITS = 200
"""Passages most similar to the question that are asked of the vector store."""
MAX_NAMING_HITS = 100
"""Passages similar to the question whose names it is searched for, where not all names are in
memory.
"""
MAX_RANKED = 40
"""Passages that are returned, or `chunk_top_k` if that is more."""
LIKENESS_WEIGHT = 0.05
"""Of likeness to the question in the order of passages; the rest is the paths that a passage is
on.
"""
MAX_TRAILS = 20
"""Paths that the processing info lists, and whose entities and relations are returned; also
passages it explains.
"""


@dataclass(frozen=True)
class _WalkSources:
    """What is read of the stores for a walk."""

    index: PassageIndex
    links: Sequence[Link]
    hits: Sequence[Hit]
    around: Neighbourhood


@dataclass(frozen=True)
class _WalkResult:
    """What a walk finds in the index."""

    links: Sequence[Link]
    chunk_ids: Sequence[str]
    trails: Sequence[Trail]
    order: Sequence[Mapping[str, Any]]
    """The first passages with their places in the rankings that were fused."""


async def walk(
    question: Question,
    keywords: Keywords,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds = None,
) -> SearchResult:
    """Return chunks ranked by the paths they are on, with the entities and relations on the best
    paths.

    `keywords` is not used. `documents` restricts the result to these documents. Raises
    `Unavailable`.
    """
    all_names, (vector,) = await asyncio.gather(
        _current_names(partitions, deps), deps.embed([question.query])
    )
    hits = await _hits(question, vector, partitions, deps, documents)
    names = ReadNames(all_names, partitions.graph, deps)
    await names.read(hit.names[0] for hit in hits[:MAX_NAMING_HITS])
    links = await link_question(question, names.index, partitions, deps)
    linked_names = [name for link in links for name in link.names]
    around = await _neighbourhood(linked_names, partitions, deps, documents)
    seeds = Seeds(question.query, around, hits)
    index = await read_neighbourhood(seeds, names, partitions, deps, documents)
    walk_sources = _WalkSources(index, links, hits, around)
    result = await in_turn(_walk_passages, question, walk_sources, documents)
    names_first = [name for link in result.links for name in link.names if name in around.nodes]
    entities, relations = await graph_context(
        question, names_first, result.trails, partitions, deps, documents
    )
    context_tokens = count_context_tokens(entities, relations, deps.count_tokens)
    info = processing_info(result.links, result.trails, around, entities, relations, documents)
    info["order"] = result.order
    if names.note:
        info["names_note"] = names.note
    return SearchResult(entities, relations, result.chunk_ids, context_tokens, info)


async def _current_names(partitions: Partitions, deps: RetrievalDependencies) -> NameIndex:
    """Return the names of the workspace as they are now, after all that is cached."""
    await deps.cache_invalidation.refresh(partitions.graph, partitions.vectors)
    return await deps.entity_names.of(partitions)


async def _hits(
    question: Question,
    vector: Vector,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds,
) -> list[Hit]:
    top_k = max(question.chunk_top_k, MAX_HITS)
    search = PassageSearch(partitions.vectors, vector, top_k, deps.min_score, documents)
    return await nearest_passages(deps.vector_reader, deps.vectors.model, search)


async def _neighbourhood(
    names: Sequence[str],
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds,
) -> Neighbourhood:
    """Return the neighbours of these entities, restricted to the documents of the walk if there are
    any.

    A node lists its first chunks only, so the chunks of a hub are looked up per document.
    """
    if not names:
        return Neighbourhood({}, [], {})
    partition = partitions.graph
    around = await deps.graph_reader.neighbourhood(partition, names, limit=MAX_RELATIONS)
    if documents is None:
        return around
    nodes = around.nodes
    hubs = [name for name in names if name in nodes and nodes[name].support > MOST_SOURCES]
    entities = await deps.graph_reader.entities(partition, hubs)
    chunks_of_hubs = await visible_chunks(
        list(entities.values()), documents, partition, deps.provenance
    )
    return restrict_neighbourhood(around, documents, chunks_of_hubs)


def _walk_passages(question: Question, read: _WalkSources, documents: DocumentIds) -> _WalkResult:
    """Rank the passages by an index of these alone."""
    index = read.index
    around = read.around
    links = whole_names(question.query, sure_links(index, read.links))
    links = with_titles(index, question.query, links)
    terms = QueryTerms.of(question.query, links)
    allowed_passages = without_homonyms(index, links, index.allowed(documents))
    similarities = {hit.names[0]: hit.score for hit in read.hits}
    evidence = gather_evidence(
        index, terms, similarities, allowed_passages, name_fragments(index, links)
    )
    sources = {name: node.source_ids for name, node in around.nodes.items()}
    paths = search_paths(index, evidence, starts(index, evidence, links, sources, allowed_passages))
    with_synonyms = evidence
    if links:
        with_synonyms = with_similar_words(index, terms, evidence, allowed_passages)
    onward = name_paths(index, with_synonyms, links, sources, allowed_passages)
    limit = max(MAX_RANKED, question.chunk_top_k)
    rankings = {
        "paths": _by_paths(index, evidence, paths, limit),
        "paths_from_names": by_name_paths(onward)[:limit],
        "first_steps": by_first_steps(onward),
        "neighbourhood": by_neighbourhood(index, evidence, links, sources, allowed_passages)[
            :limit
        ],
        "words": _by_score(evidence.bm25, limit),
        "vectors": _by_vectors(index, read.hits, allowed_passages)[:limit],
    }
    weights = ranking_weights(index, links, onward)
    weighted_rankings = [(ranking, weights[name]) for name, ranking in rankings.items()]
    fused_ranking = reciprocal_rank_fusion(*weighted_rankings, k=0)
    ranked_ids = [index.ids[number] for number in fused_ranking[:limit]]
    all_paths = list(paths)
    for link_paths in onward:
        all_paths += link_paths
    return _WalkResult(
        links=links,
        chunk_ids=ranked_ids,
        trails=_trails(index, sorted(all_paths, key=lambda path: -path.value)),
        order=_order(index, fused_ranking, rankings),
    )


def _order(
    index: PassageIndex, fused_ranking: Sequence[int], rankings: Mapping[str, Sequence[int]]
) -> list[dict[str, Any]]:
    """Return for the first passages which place, from 1, they have in each ranking that has
    them.
    """
    places_by_passage: dict[int, dict[str, int]] = defaultdict(dict)
    for name, ranking in rankings.items():
        for place, passage in enumerate(ranking, 1):
            places_by_passage[passage][name] = place
    return [
        {"chunk": index.ids[passage], **places_by_passage[passage]}
        for passage in fused_ranking[:MAX_TRAILS]
    ]


def _by_paths(
    index: PassageIndex, evidence: Evidence, paths: Sequence[Path], limit: int
) -> list[int]:
    """Return the first `limit` passages by all paths that each is on, and a little by likeness to
    the question.
    """
    values = passage_values(paths)
    by_paths = np.zeros(len(index))
    by_paths[list(values)] = list(values.values())
    by_paths /= by_paths.max(initial=0.0) or 1.0
    scores = (1 - LIKENESS_WEIGHT) * by_paths + LIKENESS_WEIGHT * evidence.likeness
    return _by_score(scores, limit)


def _by_vectors(index: PassageIndex, hits: Sequence[Hit], allowed_passages: Floats) -> list[int]:
    """Return the passages of the index among the hits."""
    numbers = [index.numbers[hit.names[0]] for hit in hits if hit.names[0] in index.numbers]
    return [number for number in numbers if allowed_passages[number]]


def _by_score(scores: Floats, limit: int) -> list[int]:
    """Return the first `limit` passages by scores above 0."""
    order = np.argsort(-scores, kind="stable")[:limit]
    return order[scores[order] > 0].tolist()


def _trails(index: PassageIndex, paths: Sequence[Path]) -> list[Trail]:
    """Return the best paths that lead from one entity to another, each sequence of entities
    once.
    """
    names = list(index.entities)
    trails: dict[tuple[str, ...], Trail] = {}
    for path in paths:
        numbers = [int(index.entity_of[m]) for m in path.mentions if m != NO_MENTION]
        # An entity that a path stays at for some steps stands there once.
        entities = tuple(names[number] for number, _ in groupby(numbers))
        if len(entities) > 1:
            chunk_ids = tuple(index.ids[number] for number in path.passages)
            trails.setdefault(entities, Trail(entities, chunk_ids))
        if len(trails) == MAX_TRAILS:
            break
    return list(trails.values())
