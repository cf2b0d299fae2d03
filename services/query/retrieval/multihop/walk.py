"""The mode `walk`, for questions of several hops: from the entities a question names along what passages say of them.

No language model. A hop asks the graph store, the passages and the embedder once each; what it decides is a pure
function of `domain`. Those take tens of milliseconds, so they run in a thread, one after another.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from contracts.graph import Entity, Hit, Relation
from contracts.ids import pair
from runtime.models.port import Vector
from runtime.stores.graph.port import MOST_SOURCES, Neighbourhood
from services.query.context.layout import count_context_tokens, entity_line, relation_line
from services.query.passage import Passage
from services.query.question import Keywords, Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.linking import Link, NameIndex, link_entities, unlinked_forms
from services.query.retrieval.multihop.bm25 import bm25_ranking
from services.query.retrieval.multihop.paths import Path, informative_paths, rank_chunks, search_paths
from services.query.retrieval.multihop.query_terms import QueryTerms
from services.query.retrieval.multihop.sentences import NAMED, Sentence, sentences_about_entities
from services.query.retrieval.multihop.subgraph import Subgraph
from services.query.retrieval.provenance import restrict_neighbourhood
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import MAX_PROVENANCE, DocumentIds, restrict_to_documents
from services.query.retrieval.token_budget import fit_budget
from services.query.spaces import Spaces

MAX_HOPS = 6
FRONTIER, OF_PATHS = 16, 8
"""Entities whose ties and passages are read in one hop, and how many of them are ends of promising paths."""
STOP_MARGIN = 3.0
"""How much less than the best path's value a path may promise to be followed: where none does, the walk ends."""
MAX_RELATIONS = 40
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""
READ_OF_LINKED, READ_OF_OTHERS, LIKE = 12, 6, 4
"""Passages read about an entity; where more name it, so many more, those most like the question."""
MAX_NEW_WORDS = 64
"""Words of sentences that are newly compared with the question in one hop."""
MIN_DENSE_HITS = 20
"""Passages most like the question, at least."""
MAX_SEEDS = 3
"""Where nothing links, how many of them stand in for the linked entities, and for how many."""
DEFINING_CHUNKS_FIRST = 2
"""Passages about each linked entity that come before all others."""
BRIDGE, WALKED, HYBRID = 24.0, 1.0, 0.5
"""What the three lists count,"""
FUSION_K = 5
"""and how little their first places stand out: each list is good at its top only."""
MAX_SHOWN = 20
"""Paths, and hubs that were not read whole, that are told of."""


@dataclass(frozen=True)
class _WalkState:
    """A question on its way: where it may be answered from, what it names and what it asks beside the names."""

    question: Question
    spaces: Spaces
    deps: RetrievalDependencies
    index: NameIndex
    links: Sequence[Link]
    terms: QueryTerms
    document_ids: DocumentIds = None


async def walk(
    question: Question, keywords: Keywords, spaces: Spaces, deps: RetrievalDependencies, documents: DocumentIds = None
) -> SearchResult:
    """The passages along the ways from the linked entities, and what explains them. Keywords are not needed."""
    fresh = deps.cache_invalidation.refresh(spaces.graph, spaces.vectors)
    index, _ = await asyncio.gather(deps.entity_names.of(spaces), fresh)
    links = await _links(question, index, spaces, deps)
    quest = _WalkState(question, spaces, deps, index, links, QueryTerms.of(question.query, links), documents)
    vector, *said = await deps.embed([question.query, *quest.terms.words.values()])
    hits = await _dense_hits(quest, vector)
    near = await deps.passages.get(spaces.status, [hit.names[0] for hit in hits])
    starts = {name: 1.0 / len(link.names) for link in links for name in link.names} or _seed_entities(quest, hits, near)
    known = Subgraph(query_vectors=dict(zip(quest.terms.words, said, strict=True)))
    starts |= await _explore(quest, known, starts, vector)
    found = await asyncio.to_thread(search_paths, known, quest.terms, list(starts))
    ways = informative_paths(found)
    entities, relations = await _graph_context(quest, starts, ways)
    hybrid = await asyncio.to_thread(_hybrid_ranking, quest, known, hits, near)
    ranked = await asyncio.to_thread(_rank_chunks, quest, known, ways, starts, hybrid)
    spent = count_context_tokens(entities, relations, deps.count_tokens)
    return SearchResult(entities, relations, ranked, spent, _processing_info(quest, known, ways, entities, relations))


async def _links(question: Question, index: NameIndex, spaces: Spaces, deps: RetrievalDependencies) -> list[Link]:
    """By the index; what else may be a name is looked up as it is written: the index is not there for a workspace of
    very many names, and a moment behind otherwise.
    """
    found = await asyncio.to_thread(link_entities, question.query, index)
    sure = [link for link in found if link.method != "spelling"]
    there = await deps.graph_reader.entities(spaces.graph, unlinked_forms(question.query, sure))
    for said in sorted(there, key=len, reverse=True):
        start = question.query.find(said)
        new = Link(said, start, start + len(said), (said,), "name")
        if not any(_overlap(link, new) for link in sure):
            sure.append(new)
    guessed = [link for link in found if link not in sure and not any(_overlap(link, other) for other in sure)]
    return sorted([*sure, *guessed], key=lambda link: link.start)


def _overlap(one: Link, other: Link) -> bool:
    return one.start < other.end and other.start < one.end


async def _dense_hits(quest: _WalkState, vector: Vector) -> list[Hit]:
    most, least = max(quest.question.chunk_top_k, MIN_DENSE_HITS), quest.deps.min_score
    return await quest.deps.vectors.search(
        quest.spaces.vectors, "chunks", vector, top_k=most, min_score=least, documents=quest.document_ids
    )


def _seed_entities(quest: _WalkState, hits: Sequence[Hit], near: Mapping[str, Passage]) -> dict[str, float]:
    """Where nothing links: the entities that the passages most like the question are about."""
    starts: dict[str, float] = {}
    first = [near[hit.names[0]] for hit in hits if hit.names[0] in near][:MAX_SEEDS]
    for rank, passage in enumerate(first, 1):
        about = {
            name: how
            for s in sentences_about_entities(passage, quest.index, quest.terms)
            for name, how in s.entity_weights.items()
        }
        for name, how in about.items():
            if how > NAMED:
                starts[name] = starts.get(name, 0.0) + how / rank
    return dict(sorted(starts.items(), key=lambda pair: -pair[1])[:MAX_SEEDS])


async def _chunks_to_read(
    quest: _WalkState, known: Subgraph, frontier: Sequence[str], most: int, vector: Vector
) -> list[str]:
    """The first passages about these entities, and of those that many name also the ones most like the question: what
    says what a hub is seldom comes first.
    """
    unread = {name: known.unread_chunks(name) for name in frontier}
    rest = {chunk for chunks in unread.values() for chunk in chunks[most:]}
    like = await quest.deps.similarities.similarities(quest.spaces.vectors, rest, vector)
    best = {name: sorted(chunks[most:], key=lambda chunk: -like.get(chunk, -1.0)) for name, chunks in unread.items()}
    return list(dict.fromkeys(chunk for name in frontier for chunk in [*unread[name][:most], *best[name][:LIKE]]))


async def _neighbourhood(quest: _WalkState, frontier: Sequence[str]) -> Neighbourhood:
    """What lies around these entities, as the quest's documents tell of it where it is held to some. The graph names
    the first passages of an entity only: of a hub those of these documents are looked up one by one.
    """
    space, documents = quest.spaces.graph, quest.document_ids
    around = await quest.deps.graph_reader.neighbourhood(space, frontier, limit=MAX_RELATIONS)
    if documents is None:
        return around
    hubs = [name for name in frontier if name in around.nodes and around.nodes[name].support > MOST_SOURCES]
    of = quest.deps.provenance.of
    found = await asyncio.gather(*(of(space, (name,), limit=MAX_PROVENANCE, among=documents) for name in hubs))
    more = {name: [support.chunk_id for support in some] for name, some in zip(hubs, found, strict=True)}
    return restrict_neighbourhood(around, documents, more)


async def _explore(quest: _WalkState, known: Subgraph, starts: Mapping[str, float], vector: Vector) -> dict[str, float]:
    """Hop by hop, what lies around the starts. Returns other names of the starts, which the first hop finds."""
    deps, spaces, frontier = quest.deps, quest.spaces, list(starts)
    others: dict[str, float] = {}
    for hop in range(MAX_HOPS):
        if not frontier:
            break
        known.add_neighbourhood(await _neighbourhood(quest, frontier))
        wanted = await _chunks_to_read(quest, known, frontier, READ_OF_OTHERS if hop else READ_OF_LINKED, vector)
        passages = await deps.passages.get(spaces.status, wanted)
        known.add_passages(passages, await asyncio.to_thread(_read_sentences, quest, passages))
        new = known.words_without_vector(MAX_NEW_WORDS)
        known.word_vectors |= zip(new, await deps.embed_words(new), strict=True)
        others = others or dict.fromkeys(known.aliases(starts), 1.0)
        done = {*known.degrees, *frontier}
        frontier = await asyncio.to_thread(_next_frontier, quest, known, {**starts, **others}, done)
    return others


def _read_sentences(quest: _WalkState, passages: Mapping[str, Passage]) -> list[Sentence]:
    return [
        said for passage in passages.values() for said in sentences_about_entities(passage, quest.index, quest.terms)
    ]


def _next_frontier(quest: _WalkState, known: Subgraph, starts: Mapping[str, float], done: Collection[str]) -> list[str]:
    """Where to go on: half from the ends of the best paths, the rest where a walk stands most often. Nowhere when no
    path promises as much as the best one is worth.
    """
    found = search_paths(known, quest.terms, list(starts))
    ahead = sorted(
        (path for path in found if path.informative and path.entities[-1] not in done),
        key=lambda p: -p.optimistic_score,
    )
    if found and (not ahead or ahead[0].optimistic_score <= found[0].score - STOP_MARGIN):
        return []
    ends = list(dict.fromkeys(path.entities[-1] for path in ahead))
    entities, _ = known.rank_by_pagerank(quest.terms, starts)
    often = [name for name in entities if name not in done]
    return list(dict.fromkeys([*ends[:OF_PATHS], *often]))[:FRONTIER]


def _hybrid_ranking(quest: _WalkState, known: Subgraph, hits: Sequence[Hit], near: Mapping[str, Passage]) -> list[str]:
    """By likeness and by words, without the graph."""
    by_words = bm25_ranking(quest.question.query, {**near, **known.passages})
    return reciprocal_rank_fusion(([hit.names[0] for hit in hits], 1.0), (by_words, 1.0))


def _rank_chunks(
    quest: _WalkState, known: Subgraph, ways: Sequence[Path], starts: Mapping[str, float], hybrid: Sequence[str]
) -> list[str]:
    """The passages about the linked entities first. Nothing is sorted by likeness to the question after this."""
    groups = [{*link.names, *known.aliases(link.names)} for link in quest.links] or [set(starts)]
    _, walked = known.rank_by_pagerank(quest.terms, starts)
    first = (
        [chunk for name in starts for chunk in known.defining_chunks(name)[:DEFINING_CHUNKS_FIRST]]
        if quest.links
        else []
    )
    rest = reciprocal_rank_fusion(
        (rank_chunks(ways, known, groups), BRIDGE), (walked, WALKED), (hybrid, HYBRID), k=FUSION_K
    )
    return list(dict.fromkeys([*first, *rest]))


async def _graph_context(
    quest: _WalkState, starts: Mapping[str, float], found: Sequence[Path]
) -> tuple[list[Entity], list[Relation]]:
    """The entities and relations on the best paths, within the question's budgets."""
    question, count, space = quest.question, quest.deps.count_tokens, quest.spaces.graph
    names = list(dict.fromkeys([*starts, *(name for path in found for name in path.entities)]))[: question.top_k]
    steps = [pair(*step) for path in found for step in zip(path.entities, path.entities[1:], strict=False)]
    pairs = list(dict.fromkeys(steps))[: question.top_k]
    entities, relations = await asyncio.gather(
        quest.deps.graph_reader.entities(space, names), quest.deps.graph_reader.relations(space, pairs)
    )
    held = partial(restrict_to_documents, documents=quest.document_ids, spaces=quest.spaces, deps=quest.deps)
    return (
        fit_budget(
            await held([entities[name] for name in names if name in entities]),
            question.max_entity_tokens,
            lambda entity: count(entity_line(entity)),
        ),
        fit_budget(
            await held([relations[key] for key in pairs if key in relations]),
            question.max_relation_tokens,
            lambda relation: count(relation_line(relation)),
        ),
    )


def _processing_info(
    quest: _WalkState, known: Subgraph, found: Sequence[Path], entities: Sequence[Entity], relations: Sequence[Relation]
) -> dict[str, Any]:
    cut = {name: degree - MAX_RELATIONS for name, degree in known.degrees.items() if degree > MAX_RELATIONS}
    links = [link for link in quest.links if quest.document_ids is None or known.nodes.keys() & {*link.names}]
    return {
        "total_entities_found": len(known.nodes),
        "total_relations_found": len(known.relations),
        "entities_after_truncation": len(entities),
        "relations_after_truncation": len(relations),
        "merged_chunks_count": len(known.passages),
        "linked": [{"said": link.text, "entities": list(link.names), "by": link.method} for link in links],
        "paths": [{"entities": list(path.entities), "chunks": list(path.chunk_ids)} for path in found[:MAX_SHOWN]],
        "relations_not_read": dict(sorted(cut.items(), key=lambda pair: -pair[1])[:MAX_SHOWN]),
    }
