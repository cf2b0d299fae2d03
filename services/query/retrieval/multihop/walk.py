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
from services.query.context.layout import entity_line, relation_line, tokens
from services.query.passage import Passage
from services.query.question import Keywords, Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.fusion import fused
from services.query.retrieval.linking import Link, NameIndex, forms_left, linked
from services.query.retrieval.multihop.paths import Path, bridge, paths, telling
from services.query.retrieval.multihop.sentences import NAMED, Asked, Sentence, lexical, sentences
from services.query.retrieval.multihop.subgraph import Map
from services.query.retrieval.provenance import told_by
from services.query.retrieval.ranking import within
from services.query.retrieval.results import SearchResult
from services.query.retrieval.scoping import MOST_SUPPORTS, Documents, held_to
from services.query.spaces import Spaces

HOPS = 6
FRONTIER, OF_PATHS = 16, 8
"""Entities whose ties and passages are read in one hop, and how many of them are ends of promising paths."""
MARGIN = 3.0
"""How much less than the best path's value a path may promise to be followed: where none does, the walk ends."""
TIES = 40
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""
READ_OF_LINKED, READ_OF_OTHERS, LIKE = 12, 6, 4
"""Passages read about an entity; where more name it, so many more, those most like the question."""
COMPARED = 64
"""Words of sentences that are newly compared with the question in one hop."""
DENSE = 20
"""Passages most like the question, at least."""
SEEDING = 3
"""Where nothing links, how many of them stand in for the linked entities, and for how many."""
FIRST = 2
"""Passages about each linked entity that come before all others."""
BRIDGE, WALKED, HYBRID = 24.0, 1.0, 0.5
"""What the three lists count,"""
FLATTENING = 5
"""and how little their first places stand out: each list is good at its top only."""
SHOWN = 20
"""Paths, and hubs that were not read whole, that are told of."""


@dataclass(frozen=True)
class _Quest:
    """A question on its way: where it may be answered from, what it names and what it asks beside the names."""

    question: Question
    spaces: Spaces
    deps: RetrievalDependencies
    index: NameIndex
    links: Sequence[Link]
    asked: Asked
    documents: Documents = None


async def walk(
    question: Question, keywords: Keywords, spaces: Spaces, deps: RetrievalDependencies, documents: Documents = None
) -> SearchResult:
    """The passages along the ways from the linked entities, and what explains them. Keywords are not needed."""
    fresh = deps.cache_invalidation.refresh(spaces.graph, spaces.vectors)
    index, _ = await asyncio.gather(deps.entity_names.of(spaces), fresh)
    links = await _links(question, index, spaces, deps)
    quest = _Quest(question, spaces, deps, index, links, Asked.of(question.query, links), documents)
    vector, *said = await deps.embed([question.query, *quest.asked.words.values()])
    hits = await _dense(quest, vector)
    near = await deps.passages.get(spaces.status, [hit.names[0] for hit in hits])
    starts = {name: 1.0 / len(link.names) for link in links for name in link.names} or _seeds_of(quest, hits, near)
    known = Map(said=dict(zip(quest.asked.words, said, strict=True)))
    starts |= await _explore(quest, known, starts, vector)
    found = await asyncio.to_thread(paths, known, quest.asked, list(starts))
    ways = telling(found)
    entities, relations = await _things(quest, starts, ways)
    hybrid = await asyncio.to_thread(_hybrid, quest, known, hits, near)
    ranked = await asyncio.to_thread(_ranked, quest, known, ways, starts, hybrid)
    spent = tokens(entities, relations, deps.count_tokens)
    return SearchResult(entities, relations, ranked, spent, _info(quest, known, ways, entities, relations))


async def _links(question: Question, index: NameIndex, spaces: Spaces, deps: RetrievalDependencies) -> list[Link]:
    """By the index; what else may be a name is looked up as it is written: the index is not there for a workspace of
    very many names, and a moment behind otherwise.
    """
    found = await asyncio.to_thread(linked, question.query, index)
    sure = [link for link in found if link.by != "spelling"]
    there = await deps.graph_reader.entities(spaces.graph, forms_left(question.query, sure))
    for said in sorted(there, key=len, reverse=True):
        start = question.query.find(said)
        new = Link(said, start, start + len(said), (said,), "name")
        if not any(_overlap(link, new) for link in sure):
            sure.append(new)
    guessed = [link for link in found if link not in sure and not any(_overlap(link, other) for other in sure)]
    return sorted([*sure, *guessed], key=lambda link: link.start)


def _overlap(one: Link, other: Link) -> bool:
    return one.start < other.end and other.start < one.end


async def _dense(quest: _Quest, vector: Vector) -> list[Hit]:
    most, least = max(quest.question.chunk_top_k, DENSE), quest.deps.min_score
    return await quest.deps.vectors.search(
        quest.spaces.vectors, "chunks", vector, top_k=most, min_score=least, documents=quest.documents
    )


def _seeds_of(quest: _Quest, hits: Sequence[Hit], near: Mapping[str, Passage]) -> dict[str, float]:
    """Where nothing links: the entities that the passages most like the question are about."""
    starts: dict[str, float] = {}
    first = [near[hit.names[0]] for hit in hits if hit.names[0] in near][:SEEDING]
    for rank, passage in enumerate(first, 1):
        about = {name: how for s in sentences(passage, quest.index, quest.asked) for name, how in s.about.items()}
        for name, how in about.items():
            if how > NAMED:
                starts[name] = starts.get(name, 0.0) + how / rank
    return dict(sorted(starts.items(), key=lambda pair: -pair[1])[:SEEDING])


async def _wanted(quest: _Quest, known: Map, frontier: Sequence[str], most: int, vector: Vector) -> list[str]:
    """The first passages about these entities, and of those that many name also the ones most like the question: what
    says what a hub is seldom comes first.
    """
    unread = {name: known.unread(name) for name in frontier}
    rest = {chunk for chunks in unread.values() for chunk in chunks[most:]}
    like = await quest.deps.similarities.similarities(quest.spaces.vectors, rest, vector)
    best = {name: sorted(chunks[most:], key=lambda chunk: -like.get(chunk, -1.0)) for name, chunks in unread.items()}
    return list(dict.fromkeys(chunk for name in frontier for chunk in [*unread[name][:most], *best[name][:LIKE]]))


async def _around(quest: _Quest, frontier: Sequence[str]) -> Neighbourhood:
    """What lies around these entities, as the quest's documents tell of it where it is held to some. The graph names
    the first passages of an entity only: of a hub those of these documents are looked up one by one.
    """
    space, documents = quest.spaces.graph, quest.documents
    around = await quest.deps.graph_reader.neighbourhood(space, frontier, limit=TIES)
    if documents is None:
        return around
    hubs = [name for name in frontier if name in around.nodes and around.nodes[name].support > MOST_SOURCES]
    of = quest.deps.provenance.of
    found = await asyncio.gather(*(of(space, (name,), limit=MOST_SUPPORTS, among=documents) for name in hubs))
    more = {name: [support.chunk_id for support in some] for name, some in zip(hubs, found, strict=True)}
    return told_by(around, documents, more)


async def _explore(quest: _Quest, known: Map, starts: Mapping[str, float], vector: Vector) -> dict[str, float]:
    """Hop by hop, what lies around the starts. Returns other names of the starts, which the first hop finds."""
    deps, spaces, frontier = quest.deps, quest.spaces, list(starts)
    others: dict[str, float] = {}
    for hop in range(HOPS):
        if not frontier:
            break
        known.add(await _around(quest, frontier))
        wanted = await _wanted(quest, known, frontier, READ_OF_OTHERS if hop else READ_OF_LINKED, vector)
        passages = await deps.passages.get(spaces.status, wanted)
        known.read(passages, await asyncio.to_thread(_said, quest, passages))
        new = known.unknown_words(COMPARED)
        known.like |= zip(new, await deps.embed_words(new), strict=True)
        others = others or dict.fromkeys(known.same(starts), 1.0)
        done = {*known.degrees, *frontier}
        frontier = await asyncio.to_thread(_ahead, quest, known, {**starts, **others}, done)
    return others


def _said(quest: _Quest, passages: Mapping[str, Passage]) -> list[Sentence]:
    return [said for passage in passages.values() for said in sentences(passage, quest.index, quest.asked)]


def _ahead(quest: _Quest, known: Map, starts: Mapping[str, float], done: Collection[str]) -> list[str]:
    """Where to go on: half from the ends of the best paths, the rest where a walk stands most often. Nowhere when no
    path promises as much as the best one is worth.
    """
    found = paths(known, quest.asked, list(starts))
    ahead = sorted((path for path in found if path.telling and path.names[-1] not in done), key=lambda p: -p.promise)
    if found and (not ahead or ahead[0].promise <= found[0].value - MARGIN):
        return []
    ends = list(dict.fromkeys(path.names[-1] for path in ahead))
    entities, _ = known.walked(quest.asked, starts)
    often = [name for name in entities if name not in done]
    return list(dict.fromkeys([*ends[:OF_PATHS], *often]))[:FRONTIER]


def _hybrid(quest: _Quest, known: Map, hits: Sequence[Hit], near: Mapping[str, Passage]) -> list[str]:
    """By likeness and by words, without the graph."""
    by_words = lexical(quest.question.query, {**near, **known.passages})
    return fused(([hit.names[0] for hit in hits], 1.0), (by_words, 1.0))


def _ranked(
    quest: _Quest, known: Map, ways: Sequence[Path], starts: Mapping[str, float], hybrid: Sequence[str]
) -> list[str]:
    """The passages about the linked entities first. Nothing is sorted by likeness to the question after this."""
    groups = [{*link.names, *known.same(link.names)} for link in quest.links] or [set(starts)]
    _, walked = known.walked(quest.asked, starts)
    first = [chunk for name in starts for chunk in known.defining(name)[:FIRST]] if quest.links else []
    rest = fused((bridge(ways, known, groups), BRIDGE), (walked, WALKED), (hybrid, HYBRID), flattening=FLATTENING)
    return list(dict.fromkeys([*first, *rest]))


async def _things(
    quest: _Quest, starts: Mapping[str, float], found: Sequence[Path]
) -> tuple[list[Entity], list[Relation]]:
    """The entities and relations on the best paths, within the question's budgets."""
    question, count, space = quest.question, quest.deps.count_tokens, quest.spaces.graph
    names = list(dict.fromkeys([*starts, *(name for path in found for name in path.names)]))[: question.top_k]
    steps = [pair(*step) for path in found for step in zip(path.names, path.names[1:], strict=False)]
    pairs = list(dict.fromkeys(steps))[: question.top_k]
    entities, relations = await asyncio.gather(
        quest.deps.graph_reader.entities(space, names), quest.deps.graph_reader.relations(space, pairs)
    )
    held = partial(held_to, documents=quest.documents, spaces=quest.spaces, deps=quest.deps)
    return (
        within(
            await held([entities[name] for name in names if name in entities]),
            question.max_entity_tokens,
            lambda entity: count(entity_line(entity)),
        ),
        within(
            await held([relations[key] for key in pairs if key in relations]),
            question.max_relation_tokens,
            lambda relation: count(relation_line(relation)),
        ),
    )


def _info(
    quest: _Quest, known: Map, found: Sequence[Path], entities: Sequence[Entity], relations: Sequence[Relation]
) -> dict[str, Any]:
    cut = {name: degree - TIES for name, degree in known.degrees.items() if degree > TIES}
    links = [link for link in quest.links if quest.documents is None or known.nodes.keys() & {*link.names}]
    return {
        "total_entities_found": len(known.nodes),
        "total_relations_found": len(known.ties),
        "entities_after_truncation": len(entities),
        "relations_after_truncation": len(relations),
        "merged_chunks_count": len(known.passages),
        "linked": [{"said": link.said, "entities": list(link.names), "by": link.by} for link in links],
        "paths": [{"entities": list(path.names), "chunks": list(path.chunks)} for path in found[:SHOWN]],
        "relations_not_read": dict(sorted(cut.items(), key=lambda pair: -pair[1])[:SHOWN]),
    }
