"""The mode `walk`, for questions of several hops: from the entities a question names along what passages say of them.

No language model. Each hop asks the graph store and the passages once; what a hop decides is a pure function.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from contracts.graph import Hit
from runtime.models.ports import Vector
from services.query.domain.found import Gathered
from services.query.domain.fusion import fused
from services.query.domain.linking import Link, NameIndex, forms_left, linked
from services.query.domain.map import Map
from services.query.domain.paths import bridge, paths
from services.query.domain.pagerank import pagerank
from services.query.domain.passage import Passage
from services.query.domain.question import Keywords, Question
from services.query.domain.reading import NAMED, Asked, lexical, sentences
from services.query.library import Library, Spaces

HOPS = 4
FRONTIER = 16
"""Entities whose ties and passages are read in one hop."""
TIES = 40
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""
COMPARED = 200
"""Ties compared with the question in one hop."""
READ_OF_LINKED, READ_OF_OTHERS = 12, 4
"""Passages read about an entity."""
DENSE = 20
"""Passages most like the question, at least."""
SEEDING = 3
"""Of them, how many stand in for the linked entities where nothing links, and for how many."""
BRIDGE, WALKED, HYBRID = 3.0, 1.0, 0.5
"""What the three lists count."""
FIRST = 2
"""Passages of each linked entity that come before all others."""


async def walk(question: Question, keywords: Keywords, spaces: Spaces, library: Library) -> Gathered:
    """The passages along the ways from the linked entities, and what explains them."""
    index = await library.names.of(spaces)
    links = await _links(question, index, spaces, library)
    asked = Asked.of(question.query, links)
    vector, *said = await library.embed([question.query, *asked.words.values()])
    hits = await _dense(question, vector, spaces, library)
    known = Map(said=dict(zip(asked.words, said, strict=True)))
    near = await library.passages.get(spaces.status, [hit.row.names[0] for hit in hits])
    starts = {name: 1.0 / len(link.names) for link in links for name in link.names}
    if not starts:
        starts = _seeds_of(near, index, asked)
    await _explore(known, starts, asked, index, spaces, library)
    return _ordered(question, links, starts, asked, known, hits, near)


async def _links(question: Question, index: NameIndex, spaces: Spaces, library: Library) -> list[Link]:
    """By the index; what else may be a name is looked up as it is written."""
    found = linked(question.query, index)
    left = forms_left(question.query, [link for link in found if link.by != "spelling"])
    there = await library.graph.entities(spaces.graph, left)
    for said in sorted(there, key=len, reverse=True):
        start = question.query.find(said)
        end = start + len(said)
        covered = any(link.start < end and start < link.end and link.by != "spelling" for link in found)
        if not covered:
            found = [link for link in found if not (link.start < end and start < link.end)]
            found.append(Link(said, start, end, (said,), "name"))
    return found


async def _dense(question: Question, vector: Vector, spaces: Spaces, library: Library) -> list[Hit]:
    most = max(question.chunk_top_k, DENSE)
    return await library.vectors.search(spaces.vectors, "chunks", vector, top_k=most, min_score=library.min_score)


def _seeds_of(near: Mapping[str, Passage], index: NameIndex, asked: Asked) -> dict[str, float]:
    """Where nothing links: the entities that the passages most like the question are about."""
    starts: dict[str, float] = {}
    for rank, passage in enumerate(list(near.values())[:SEEDING], 1):
        about = {name: how for said in sentences(passage, index, asked) for name, how in said.about.items()}
        for name, how in about.items():
            starts[name] = starts.get(name, 0.0) + (how / rank if how > NAMED else 0.0)
    return dict(sorted(starts.items(), key=lambda pair: -pair[1])[:SEEDING])


async def _explore(
    known: Map, starts: dict[str, float], asked: Asked, index: NameIndex, spaces: Spaces, library: Library
) -> None:
    """Hop by hop: the ties and passages of the entities where a walk stands most often and that are not read yet."""
    frontier = list(starts)
    for hop in range(HOPS):
        known.add(await library.graph.neighbourhood(spaces.graph, frontier, limit=TIES))
        most = READ_OF_OTHERS if hop else READ_OF_LINKED
        wanted = dict.fromkeys(chunk for name in frontier for chunk in known.unread(name, most))
        passages = await library.passages.get(spaces.status, wanted)
        known.read(passages, [said for passage in passages.values() for said in sentences(passage, index, asked)])
        called = known.unknown_words(COMPARED)
        known.like |= zip(called, await library.embed(called), strict=True) if called else ()
        starts |= {name: 1.0 for name in known.same(starts)} if hop == 0 else {}
        done = known.degrees.keys() | set(frontier)
        scores = pagerank(known.edges(asked), _at_entities(starts))
        ranked = sorted((e for e in scores if e.startswith("e:") and e[2:] not in done), key=lambda e: -scores[e])
        ends = dict.fromkeys(path.names[-1] for path in paths(known, asked, list(starts)) if path.telling)
        ahead = [name for name in ends if name not in done][: FRONTIER // 2]
        frontier = list(dict.fromkeys([*ahead, *(name[2:] for name in ranked)]))[:FRONTIER]
        if not frontier:
            return


def _at_entities(starts: Mapping[str, float]) -> dict[str, float]:
    return {f"e:{name}": weight for name, weight in starts.items()}


def _ordered(
    question: Question,
    links: Sequence[Link],
    starts: Mapping[str, float],
    asked: Asked,
    known: Map,
    hits: Sequence[Hit],
    near: Mapping[str, Passage],
) -> Gathered:
    walked = _walked(known, asked, starts)
    found = paths(known, asked, list(starts))
    groups = [set(link.names) | known.same(link.names) for link in links] or [set(starts)]
    bridged = bridge(found, known, groups)
    dense = [hit.row.names[0] for hit in hits]
    hybrid = fused((dense, 1.0), (lexical(question.query, {**near, **known.passages}), 1.0))
    first = [chunk for name in starts for chunk in known.defining(name)[:FIRST]] if links else []
    rest = fused((bridged, BRIDGE), (walked, WALKED), (hybrid, HYBRID))
    return Gathered((), (), list(dict.fromkeys([*first, *rest])), {})


def _walked(known: Map, asked: Asked, starts: Mapping[str, float]) -> list[str]:
    """The passages where a walk from the starts stands most often."""
    stood: dict[str, float] = {}
    for node, score in pagerank(known.edges(asked), _at_entities(starts)).items():
        if node.startswith("c:"):
            chunk = node[2:].rpartition(":")[0]
            stood[chunk] = stood.get(chunk, 0.0) + score
    return sorted(stood, key=lambda chunk: -stood[chunk])
