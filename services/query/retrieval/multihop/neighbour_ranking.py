"""Passages around the linked entities, without looking for the words of the question in the paths
between them.

Personalised PageRank over the entities and passages of a bounded neighbourhood, seeded with the
linked entities; a list of the passages that a linked entity's own passages lead to; and likeness to
the question, fused by rank. A place that defines its entity weighs more than one that mentions it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.multihop.starts import defined_in, named_starts
from services.query.retrieval.passage_index.index import ONWARD, PassageIndex

Array = Any

DAMPING, ROUNDS = 0.5, 15
"""Of PageRank: the share that goes on with each step, and the steps."""
DEFINING_WEIGHT = 3.0
"""Of a place that defines its entity, where one that mentions it weighs 1."""
MAX_NEAR = 500
"""Passages of the neighbourhood, those of the linked entities first, then what these lead to,
twice.
"""
MAX_FIRST = 2
"""Passages of each linked entity that come before all others."""
MAX_LISTED = 100
"""Passages of each of the fused lists."""


def by_neighbourhood(
    index: PassageIndex,
    evidence: Evidence,
    links: Sequence[Link],
    sources: Mapping[str, Sequence[str]],
    allowed: Array,
) -> list[int]:
    """Return passages in order; none without links. See `starts` for `sources`."""
    starts = [
        [s.passage for s in named_starts(index, evidence, [link], sources, allowed)]
        for link in links
    ]
    own = list(dict.fromkeys(passage for some in starts for passage in some))
    if not own:
        return []
    near = _near(index, evidence, own)
    ranks = _page_rank(index, near, _seeds(index, links))
    likeness = evidence.likeness
    first = list(
        dict.fromkeys(
            p for some in starts for p in sorted(some, key=lambda p: -ranks[p])[:MAX_FIRST]
        )
    )
    bridge = _bridge(index, evidence, first)
    bridged = sorted(bridge, key=lambda p: (-bridge[p], -ranks[p], -likeness[p]))
    walked = sorted(
        (p for p in near.tolist() if ranks[p] > 0), key=lambda p: (-ranks[p], -likeness[p])
    )
    alike = [
        p for p in np.argsort(-likeness, kind="stable")[:MAX_LISTED].tolist() if likeness[p] > 0
    ]
    lists = [(some[:MAX_LISTED], 1.0) for some in (bridged, walked, alike)]
    return list(dict.fromkeys([*first, *reciprocal_rank_fusion(*lists)]))


def _near(index: PassageIndex, evidence: Evidence, own: Sequence[int]) -> Array:
    """Return the passages of the neighbourhood, own ones first, then by the number of steps to
    them.
    """
    ways, near, last = index.ways, dict.fromkeys(own), list(own)
    for _ in range(2):
        new = dict[int, None]()
        for passage in last:
            begin, end = int(ways.starts[passage]), int(ways.starts[passage + 1])
            places = ways.places[begin:end][
                np.argsort(ways.kinds[begin:end], kind="stable")[:MAX_NEAR]
            ]
            new |= dict.fromkeys(index.passage_of[places[evidence.usable[places]]].tolist())
            if len(near) + len(new) > MAX_NEAR:
                break
        last = [passage for passage in new if passage not in near]
        near |= dict.fromkeys(last)
    return np.array(list(near)[:MAX_NEAR], np.int64)


def _seeds(index: PassageIndex, links: Sequence[Link]) -> dict[int, float]:
    """Return the weights of the linked entities; that of a name which means several is shared."""
    seeds: dict[int, float] = {}
    for link in links:
        for name in link.names:
            if (entity := index.entities.get(name, -1)) >= 0:
                rarity = 1 / max(1.0, float(np.log(1 + index.counts[entity])))
                seeds[entity] = rarity / len(link.names)
        for passage in link.passages:
            if (place := defined_in(index, passage)) >= 0:
                seeds[int(index.entity_of[place])] = 1 / len(link.passages)
    return seeds


def _page_rank(index: PassageIndex, near: Array, seeds: dict[int, float]) -> Array:
    """Return the PageRank of all passages, 0 for those that are not near."""
    places = np.concatenate([index.places_in.of(passage) for passage in near.tolist()])
    entities, entity = np.unique(index.entity_of[places], return_inverse=True)
    passages, passage = np.unique(index.passage_of[places], return_inverse=True)
    walk = _Walk.of(entity, passage, np.where(index.defines[places], DEFINING_WEIGHT, 1.0))
    restart = np.array([seeds.get(number, 0.0) for number in entities.tolist()])
    restart /= restart.sum() or 1.0
    at = restart.copy()
    for _ in range(ROUNDS):
        at = (1 - DAMPING) * restart + DAMPING * walk.back(walk.onward(at))
    ranks = np.zeros(len(index))
    ranks[passages] = walk.onward(at)
    return ranks


@dataclass(frozen=True, slots=True)
class _Walk:
    """Steps between entities and passages: parallel arrays, an item per place."""

    entity: Array
    passage: Array
    from_entity: Array
    """Share of what is at the entity that goes to the passage."""
    from_passage: Array

    @classmethod
    def of(cls, entity: Array, passage: Array, weights: Array) -> "_Walk":
        return cls(
            entity,
            passage,
            weights / np.bincount(entity, weights)[entity],
            1.0 / np.bincount(passage)[passage],
        )

    def onward(self, at: Array) -> Array:
        return np.bincount(self.passage, self.from_entity * at[self.entity])

    def back(self, at: Array) -> Array:
        return np.bincount(self.entity, self.from_passage * at[self.passage])


def _bridge(index: PassageIndex, evidence: Evidence, first: Sequence[int]) -> dict[int, int]:
    """Return how many of the first passages mention what each passage defines."""
    ways = index.ways
    counts: dict[int, int] = {}
    for passage in first:
        begin, end = int(ways.starts[passage]), int(ways.starts[passage + 1])
        onward = ways.places[begin:end][ways.kinds[begin:end] == ONWARD]
        for other in np.unique(index.passage_of[onward[evidence.usable[onward]]]).tolist():
            if other not in first:
                counts[other] = counts.get(other, 0) + 1
    return counts
