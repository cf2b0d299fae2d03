"""Passages around the linked entities, without looking for the words of the question in the paths
between them.

Personalised PageRank over the entities and passages of a bounded neighbourhood, seeded with the
linked entities; a list of the passages that a linked entity's own passages lead to; and likeness to
the question, fused by rank. A mention in the passage that defines its entity weighs more than
another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from services.query.retrieval.arrays import Floats, Integers
from services.query.retrieval.fusion import reciprocal_rank_fusion
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.evidence import Evidence
from services.query.retrieval.multihop.starts import defining_mention, named_starts
from services.query.retrieval.passage_index.edges import ONWARD
from services.query.retrieval.passage_index.index import PassageIndex

DAMPING = 0.5
"""The share of PageRank that goes on with each step."""
ROUNDS = 15
"""Steps of PageRank."""
DEFINING_WEIGHT = 3.0
"""Of a mention whose passage defines its entity, where another one weighs 1."""
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
    allowed_passages: Floats,
) -> list[int]:
    """Return passages in order; none without links. See `starts` for `sources`."""
    passages_by_link: list[list[int]] = []
    own_passages: dict[int, None] = {}
    for link in links:
        starts = named_starts(index, evidence, [link], sources, allowed_passages)
        passages_by_link.append([start.passage for start in starts])
        own_passages |= dict.fromkeys(passages_by_link[-1])
    if not own_passages:
        return []
    near = _near_passages(index, evidence, list(own_passages))
    ranks = _page_rank(index, near, _seeds(index, links))
    likeness = evidence.likeness

    def descending_rank(passage: int) -> float:
        return -float(ranks[passage])

    first: dict[int, None] = {}
    for passages in passages_by_link:
        first |= dict.fromkeys(sorted(passages, key=descending_rank)[:MAX_FIRST])
    defining = _counts_of_defining(index, evidence, list(first))
    by_mentions = sorted(
        defining,
        key=lambda passage: (-defining[passage], -ranks[passage], -likeness[passage]),
    )
    by_rank = sorted(
        (passage for passage in near.tolist() if ranks[passage] > 0),
        key=lambda passage: (-ranks[passage], -likeness[passage]),
    )
    by_likeness: list[int] = np.argsort(-likeness, kind="stable")[:MAX_LISTED].tolist()
    alike = [passage for passage in by_likeness if likeness[passage] > 0]
    fused_ranking = reciprocal_rank_fusion(
        (by_mentions[:MAX_LISTED], 1.0), (by_rank[:MAX_LISTED], 1.0), (alike, 1.0)
    )
    return list(dict.fromkeys([*first, *fused_ranking]))


def _near_passages(
    index: PassageIndex, evidence: Evidence, own_passages: Sequence[int]
) -> Integers:
    """Return the passages of the neighbourhood, own ones first, then by the number of steps to
    them.
    """
    near = dict.fromkeys(own_passages)
    frontier = list(own_passages)
    for _ in range(2):
        reached_passages: dict[int, None] = {}
        for passage in frontier:
            edges = index.edges.of(passage)
            by_kind = np.argsort(index.edges.kinds[edges], kind="stable")[:MAX_NEAR]
            mentions = index.edges.mentions[edges][by_kind]
            usable = mentions[evidence.usable[mentions]]
            reached_passages |= dict.fromkeys(index.passage_of[usable].tolist())
            if len(near) + len(reached_passages) > MAX_NEAR:
                break
        frontier = [passage for passage in reached_passages if passage not in near]
        near |= dict.fromkeys(frontier)
    return np.array(list(near)[:MAX_NEAR], np.int64)


def _seeds(index: PassageIndex, links: Sequence[Link]) -> dict[int, float]:
    """Return the weights of the linked entities; that of a name which means several is shared."""
    seeds: dict[int, float] = {}
    for link in links:
        for name in link.names:
            entity = index.entities.get(name)
            if entity is not None:
                rarity = 1 / max(1.0, float(np.log(1 + index.supports[entity])))
                seeds[entity] = rarity / len(link.names)
        for passage in link.passages:
            mention = defining_mention(index, passage)
            if mention >= 0:
                seeds[int(index.entity_of[mention])] = 1 / len(link.passages)
    return seeds


def _page_rank(index: PassageIndex, near: Integers, seeds: Mapping[int, float]) -> Floats:
    """Return (passages,): the PageRank of each, 0 for those that are not near."""
    mentions = index.mentions_in.of_groups(near)
    entities, entity = np.unique(index.entity_of[mentions], return_inverse=True)
    passages, passage = np.unique(index.passage_of[mentions], return_inverse=True)
    weights = np.where(index.defines[mentions], DEFINING_WEIGHT, 1.0)
    walk = _Walk.of(entity, passage, weights)
    restart = np.array([seeds.get(number, 0.0) for number in entities.tolist()])
    restart /= restart.sum() or 1.0
    at_entities = restart.copy()
    for _ in range(ROUNDS):
        returned_weights = walk.to_entities(walk.to_passages(at_entities))
        at_entities = (1 - DAMPING) * restart + DAMPING * returned_weights
    ranks = np.zeros(len(index))
    ranks[passages] = walk.to_passages(at_entities)
    return ranks


@dataclass(frozen=True, slots=True)
class _Walk:
    """Steps between entities and passages: parallel arrays, an item per mention."""

    entity: Integers
    passage: Integers
    from_entity: Floats
    """Share of what is at the entity that goes to the passage."""
    from_passage: Floats
    """Share of what is at the passage that goes to the entity."""

    @classmethod
    def of(cls, entity: Integers, passage: Integers, weights: Floats) -> "_Walk":
        return cls(
            entity,
            passage,
            weights / np.bincount(entity, weights)[entity],
            1.0 / np.bincount(passage)[passage],
        )

    def to_passages(self, at_entities: Floats) -> Floats:
        return _sums(self.passage, self.from_entity * at_entities[self.entity])

    def to_entities(self, at_passages: Floats) -> Floats:
        return _sums(self.entity, self.from_passage * at_passages[self.passage])


def _sums(groups: Integers, values: Floats) -> Floats:
    """Return (groups,): the sum of the values of each group."""
    # numpy's stubs say integers, even for weights that are none.
    return np.bincount(groups, values).astype(np.float64, copy=False)


def _counts_of_defining(
    index: PassageIndex, evidence: Evidence, first: Sequence[int]
) -> dict[int, int]:
    """Return by passage how many of the first passages mention what it defines."""
    counts: dict[int, int] = {}
    for passage in first:
        edges = index.edges.of(passage)
        onward = index.edges.mentions[edges][index.edges.kinds[edges] == ONWARD]
        usable = onward[evidence.usable[onward]]
        for neighbour in np.unique(index.passage_of[usable]).tolist():
            if neighbour not in first:
                counts[neighbour] = counts.get(neighbour, 0) + 1
    return counts
