"""The mode `walk`, for questions of several hops. It needs no language model.

1. Link the names of the question to entities (`link_question.py`); without a name, start from those of similar chunks.
2. For up to `MAX_HOPS` hops, read the neighbourhood of the frontier and the chunks about it into a `Subgraph`, and take
   the next frontier from the ends of the best paths (`paths.py`, beam search) and from personalised PageRank
   (`pagerank.py`), as HippoRAG 2 does, but over sentences instead of whole passages.
3. Fuse three rankings of chunks (paths, PageRank, and dense search with BM25) by weighted reciprocal rank.

A hop makes one request each to the graph store, the passages and the vectors. The question is embedded in one call; of
words, the vectors are used that are known, and others are embedded for later questions. Decisions are pure functions;
they take milliseconds, so they run in a thread, one after another.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contracts.graph import Hit
from runtime.models.port import Vector
from runtime.stores.graph.port import MOST_SOURCES, Neighbourhood
from services.query.context.layout import count_context_tokens
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Keywords, Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.multihop.analysis import PassageAnalysis, analysed
from services.query.retrieval.multihop.bm25 import bm25_ranking
from services.query.retrieval.multihop.link_question import link_question
from services.query.retrieval.multihop.paths import Path, informative_paths, rank_chunks, search_paths
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.sentences import MENTIONED
from services.query.retrieval.multihop.similar_words import most_frequent, similar_words, words_to_compare
from services.query.retrieval.multihop.subgraph import Subgraph
from services.query.retrieval.multihop.walk_context import graph_context, processing_info
from services.query.retrieval.multihop.walk_state import MAX_RELATIONS, WalkState
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import MAX_PROVENANCE, DocumentIds

Array = Any

MAX_HOPS = 6
"""Rounds of reading: paths longer than this are not found."""
MAX_FRONTIER, MAX_PATH_ENDS = 16, 8
"""Entities that one hop reads at most, and how many of them may be ends of paths; PageRank fills the rest."""
STOP_MARGIN = 3.0
"""Logarithm. The walk ends when no unfinished path's optimistic score is above the best score less this margin."""
CHUNKS_OF_LINKED, CHUNKS_OF_OTHERS, SIMILAR_CHUNKS = 12, 6, 4
"""Chunks read about a linked entity and about any other; then the most similar ones among its remaining chunks."""
MAX_NEW_WORDS = 64
"""Words of sentences that one hop requests vectors for, to compare them with the words of the question."""
MIN_KNOWN_WORDS = 0.5
"""Share of the words of a hop's sentences that have a vector. Below it the walk waits for new vectors, because nothing
was asked before; above it others are embedded meanwhile."""
MIN_DENSE_HITS = 20
"""Chunks that dense search returns at least."""
MAX_SEEDS = 3
"""Where no entity is linked: how many dense hits provide start entities, and how many start entities there are."""
DEFINING_CHUNKS_FIRST = 2
"""Chunks about each linked entity that are ranked before all others."""
PATHS_WEIGHT, PAGERANK_WEIGHT, HYBRID_WEIGHT = 24.0, 1.0, 0.5
"""Weights of the three rankings in the fusion: chunks on paths, chunks by PageRank, dense search with BM25."""
FUSION_K = 5
"""The constant k of reciprocal rank fusion. It is small because each ranking is good at its top only."""


@dataclass(frozen=True)
class _Reading:
    """What one hop has read: passages, their analyses, and the vectors of words in them that are known."""

    passages: Mapping[str, Passage]
    analyses: Sequence[PassageAnalysis]
    vectors: Mapping[str, Array]


async def walk(
    question: Question,
    keywords: Keywords,
    partitions: Partitions,
    deps: RetrievalDependencies,
    documents: DocumentIds = None,
) -> SearchResult:
    """Return chunks ranked by paths from the linked entities, with the entities and relations on these paths.

    `keywords` is not used. `documents` restricts the result to these documents. Raises `Unavailable`.
    """
    fresh = deps.cache_invalidation.refresh(partitions.graph, partitions.vectors)
    index, _ = await asyncio.gather(deps.entity_names.of(partitions), fresh)
    links = await link_question(question, index, partitions, deps)
    state = WalkState(question, partitions, deps, index, links, QueryTerms.of(question.query, links), documents)
    vector, stems = await _embed_question(state)
    hits = await _dense_hits(state, vector)
    dense_passages = await deps.passages.get(partitions.status, [hit.names[0] for hit in hits])
    starts = {name: 1.0 / len(link.names) for link in links for name in link.names} or _seed_entities(
        state, hits, dense_passages
    )
    subgraph = Subgraph(state.terms)
    aliases, found = await _explore(state, subgraph, starts, vector, stems)
    starts, informative = {**starts, **aliases}, informative_paths(found)
    hybrid = await asyncio.to_thread(_hybrid_ranking, state, subgraph, hits, dense_passages)
    ranked = await asyncio.to_thread(_rank_chunks, state, subgraph, informative, starts, hybrid)
    entities, relations = await graph_context(state, starts, informative)
    spent = count_context_tokens(entities, relations, deps.count_tokens)
    return SearchResult(
        entities, relations, ranked, spent, processing_info(state, subgraph, informative, entities, relations)
    )


async def _dense_hits(state: WalkState, vector: Vector) -> list[Hit]:
    most, least = max(state.question.chunk_top_k, MIN_DENSE_HITS), state.deps.min_score
    return await state.deps.vectors.search(
        state.partitions.vectors, "chunks", vector, top_k=most, min_score=least, documents=state.document_ids
    )


def _seed_entities(state: WalkState, hits: Sequence[Hit], dense_passages: Mapping[str, Passage]) -> dict[str, float]:
    """Return start entities with weights, taken from the most similar passages, for a question without links."""
    starts: dict[str, float] = {}
    first = [dense_passages[hit.names[0]] for hit in hits if hit.names[0] in dense_passages][:MAX_SEEDS]
    for rank, passage in enumerate(first, 1):
        about = {name: how for s in analysed(passage, state.index).sentences for name, how in s.entity_weights.items()}
        for name, how in about.items():
            if how > MENTIONED:
                starts[name] = starts.get(name, 0.0) + how / rank
    return dict(sorted(starts.items(), key=lambda pair: -pair[1])[:MAX_SEEDS])


async def _chunks_to_read(
    state: WalkState, subgraph: Subgraph, frontier: Sequence[str], most: int, vector: Vector
) -> list[str]:
    """Return ids of the first `most` unread chunks about each entity, then of those most similar to the question.

    Similarity matters for hubs: the chunk that answers the question is seldom among their first.
    """
    unread = {name: subgraph.unread_chunks(name) for name in frontier}
    rest = {chunk for chunks in unread.values() for chunk in chunks[most:]}
    like = await state.deps.similarities.similarities(state.partitions.vectors, rest, vector)
    best = {name: sorted(chunks[most:], key=lambda chunk: -like.get(chunk, -1.0)) for name, chunks in unread.items()}
    return list(
        dict.fromkeys(chunk for name in frontier for chunk in [*unread[name][:most], *best[name][:SIMILAR_CHUNKS]])
    )


async def _neighbourhood(state: WalkState, frontier: Sequence[str]) -> Neighbourhood:
    """Return the neighbours of these entities, restricted to the documents of the walk if there are any.

    A node lists its first chunks only, so the chunks of a hub are looked up per document.
    """
    partition, documents = state.partitions.graph, state.document_ids
    around = await state.deps.graph_reader.neighbourhood(partition, frontier, limit=MAX_RELATIONS)
    if documents is None:
        return around
    hubs = [name for name in frontier if name in around.nodes and around.nodes[name].support > MOST_SOURCES]
    of = state.deps.provenance.of
    found = await asyncio.gather(*(of(partition, (name,), limit=MAX_PROVENANCE, among=documents) for name in hubs))
    more = {name: [support.chunk_id for support in some] for name, some in zip(hubs, found, strict=True)}
    return restrict_neighbourhood(around, documents, more)


async def _embed_question(state: WalkState) -> tuple[Vector, Array]:
    """Return the vectors of the question and of its terms in the order of their stems, by one call of the embedder."""
    deps, terms = state.deps, [state.terms.words[stem] for stem in sorted(state.terms.words)]
    new = [term for term in terms if term not in deps.words.known([term])]
    vector, *of_terms = await deps.embed([state.question.query, *new])
    deps.words.store(new, of_terms)
    known = deps.words.known(terms)
    return vector, np.array([known[term] for term in terms])


async def _explore(
    state: WalkState, subgraph: Subgraph, starts: Mapping[str, float], vector: Vector, stems: Array
) -> tuple[dict[str, float], list[Path]]:
    """Fill the subgraph hop by hop from the starts.

    Return aliases of the starts, with weight 1, from the first hop; and the paths found in the end.
    """
    deps, partitions, frontier = state.deps, state.partitions, list(starts)
    aliases_of_starts: dict[str, float] = {}
    found: list[Path] = []
    for hop in range(MAX_HOPS):
        if not frontier:
            break
        subgraph.add_neighbourhood(await _neighbourhood(state, frontier))
        wanted = await _chunks_to_read(state, subgraph, frontier, CHUNKS_OF_OTHERS if hop else CHUNKS_OF_LINKED, vector)
        passages = await deps.passages.get(partitions.status, wanted)
        read = await _read_sentences(state, passages)
        aliases_of_starts = aliases_of_starts or dict.fromkeys(subgraph.aliases(starts), 1.0)
        done = {*subgraph.degrees, *frontier}
        ends = {**starts, **aliases_of_starts}
        frontier, found = await asyncio.to_thread(_advance, subgraph, read, stems, ends, done)
    return aliases_of_starts, found


async def _read_sentences(state: WalkState, passages: Mapping[str, Passage]) -> _Reading:
    analyses, wanted = await asyncio.to_thread(_analyse, state, passages)
    words = state.deps.words
    vectors = words.known(wanted)
    if len(vectors) < len(wanted):
        said = [sentence for analysis in analyses for sentence in analysis.sentences]
        new = most_frequent([word for word in wanted if word not in vectors], said, MAX_NEW_WORDS)
        if len(vectors) < MIN_KNOWN_WORDS * len(wanted):
            await words.embed(new)
            vectors = words.known(wanted)
        else:
            words.request(new)
    return _Reading(passages, analyses, vectors)


def _analyse(state: WalkState, passages: Mapping[str, Passage]) -> tuple[list[PassageAnalysis], list[str]]:
    analyses = [analysed(passage, state.index) for passage in passages.values()]
    wanted = words_to_compare([sentence for analysis in analyses for sentence in analysis.sentences])
    return analyses, sorted(wanted)


def _advance(
    subgraph: Subgraph, read: _Reading, stems: Array, starts: Mapping[str, float], done: Collection[str]
) -> tuple[list[str], list[Path]]:
    """Add what was read. Return the entities to read next, and the paths found so far."""
    subgraph.add_passages(read.passages, read.analyses, similar_words(read.vectors, stems))
    found = search_paths(subgraph, list(starts))
    return _next_frontier(subgraph, found, starts, done), found


def _next_frontier(
    subgraph: Subgraph, found: Sequence[Path], starts: Mapping[str, float], done: Collection[str]
) -> list[str]:
    """Return the entities to read next: the ends of the best paths, then the first by PageRank.

    Empty when no unfinished path can still score as high as the best one.
    """
    ahead = sorted(
        (path for path in found if path.informative and path.entities[-1] not in done),
        key=lambda p: -p.optimistic_score,
    )
    if found and (not ahead or ahead[0].optimistic_score <= found[0].score - STOP_MARGIN):
        return []
    ends = list(dict.fromkeys(path.entities[-1] for path in ahead))
    entities, _ = subgraph.rank_by_pagerank(starts)
    often = [name for name in entities if name not in done]
    return list(dict.fromkeys([*ends[:MAX_PATH_ENDS], *often]))[:MAX_FRONTIER]


def _hybrid_ranking(
    state: WalkState, subgraph: Subgraph, hits: Sequence[Hit], dense_passages: Mapping[str, Passage]
) -> list[str]:
    """Return chunk ids by dense search and BM25, fused; the graph has no part in it."""
    passages = {**dense_passages, **subgraph.passages}
    counts = {id: analysed(passage, state.index).counts for id, passage in passages.items()}
    by_words = bm25_ranking(state.question.query, counts)
    return reciprocal_rank_fusion(([hit.names[0] for hit in hits], 1.0), (by_words, 1.0))


def _rank_chunks(
    state: WalkState,
    subgraph: Subgraph,
    informative: Sequence[Path],
    starts: Mapping[str, float],
    hybrid: Sequence[str],
) -> list[str]:
    """Return chunk ids, the best first: those defining the linked entities, then the fusion of the three rankings."""
    groups = [{*link.names, *subgraph.aliases(link.names)} for link in state.links] or [set(starts)]
    _, walked = subgraph.rank_by_pagerank(starts)
    first = (
        [chunk for name in starts for chunk in subgraph.defining_chunks(name)[:DEFINING_CHUNKS_FIRST]]
        if state.links
        else []
    )
    rest = reciprocal_rank_fusion(
        (rank_chunks(informative, subgraph, groups), PATHS_WEIGHT),
        (walked, PAGERANK_WEIGHT),
        (hybrid, HYBRID_WEIGHT),
        k=FUSION_K,
    )
    return list(dict.fromkeys([*first, *rest]))
