"""The mode `walk`, for questions of several hops: from the entities a question names along what passages say of them.

No language model. Each hop asks the graph store and the passages once; what a hop decides is a pure function.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from contracts.graph import Hit
from services.query.domain.found import Gathered
from services.query.domain.fusion import fused
from services.query.domain.linking import Link, NameIndex, forms_left, linked
from services.query.domain.map import Map, Path, paths
from services.query.domain.pagerank import pagerank
from services.query.domain.passage import Passage
from services.query.domain.question import Keywords, Question
from services.query.domain.reading import MENTION, Asked, lexical, mentions
from services.query.library import Library, Spaces

HOPS = 4
FRONTIER = 16
"""Entities whose ties and passages are read in one hop."""
TIES = 40
"""Relations read per entity: a hub costs a bounded read, its heaviest relations first."""
READ_OF_LINKED, READ_OF_OTHERS = 12, 3
"""Passages read about an entity."""
DENSE = 20
"""Passages most like the question, at least."""
SEEDING = 3
"""Of them, how many stand in for the linked entities where nothing links, and for how many."""
FIRST = 2
"""Passages of each linked entity that come before all others."""


async def walk(question: Question, keywords: Keywords, spaces: Spaces, library: Library) -> Gathered:
    """The passages along the ways from the linked entities, and what explains them."""
    index = await library.names.of(spaces)
    links, hits = await asyncio.gather(_links(question, index, spaces, library), _dense(question, spaces, library))
    asked = Asked.of(question.query, links)
    known = Map()
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


async def _dense(question: Question, spaces: Spaces, library: Library) -> list[Hit]:
    (vector,) = await library.embed([question.query])
    most = max(question.chunk_top_k, DENSE)
    return await library.vectors.search(spaces.vectors, "chunks", vector, top_k=most, min_score=library.min_score)


def _seeds_of(near: Mapping[str, Passage], index: NameIndex, asked: Asked) -> dict[str, float]:
    """Where nothing links: the entities that the passages most like the question are about."""
    starts: dict[str, float] = {}
    for rank, passage in enumerate(list(near.values())[:SEEDING], 1):
        for mention in mentions(passage, index, asked):
            if mention.about > MENTION:
                starts[mention.name] = starts.get(mention.name, 0.0) + mention.about / rank
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
        known.read(passages, [said for passage in passages.values() for said in mentions(passage, index, asked)])
        starts |= {name: 1.0 for name in known.same(starts)} if hop == 0 else {}
        done = known.degrees.keys() | set(frontier)
        scores = pagerank(known.edges(asked), _at_entities(starts))
        ranked = sorted((e for e in scores if e.startswith("e:") and e[2:] not in done), key=lambda e: -scores[e])
        frontier = [name[2:] for name in ranked[:FRONTIER]]
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
    scores = pagerank(known.edges(asked), _at_entities(starts))
    walked = [c[2:] for c in sorted(scores, key=lambda c: -scores[c]) if c.startswith("c:")]
    found = paths(known, asked, list(starts))
    bridge = list(dict.fromkeys(chunk for path in found for chunk in path.chunks))
    dense = [hit.row.names[0] for hit in hits]
    hybrid = fused((dense, 1.0), (lexical(question.query, {**near, **known.passages}), 1.0))
    first = [c for name in starts for c in known.chunks_of(name)[:FIRST]] if links else []
    rest = fused((bridge, 1.0), (walked, 1.0), (hybrid, 0.5))
    return Gathered((), (), list(dict.fromkeys([*first, *rest])), {})
