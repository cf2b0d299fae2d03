"""The edges between passages by the entities that they mention."""

from dataclasses import dataclass

import numpy as np

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.passage_index.grouped import (
    Grouped,
    group_sizes,
    group_starts,
    order_of,
    positions_of_groups,
)
from services.query.retrieval.passage_index.mentions import Mentions

ONWARD = 0
BACK = 1
ACROSS = 2
"""Kinds of edges."""
MAX_SENTENCES = 4
"""Sentences of a mention through which edges onward and back lead."""
MAX_SENTENCES_ACROSS = 2
"""Sentences of a mention through which edges across lead."""


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges from each passage: parallel arrays, an item per edge, in the order of passages."""

    starts: Integers
    """(passages + 1,): where the edges of each passage begin."""
    sentences: Integers
    mentions: Integers
    kinds: Integers

    def of(self, passage: int) -> slice:
        """Return where the edges from this passage are in the arrays."""
        return slice(int(self.starts[passage]), int(self.starts[passage + 1]))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A mention, and one of the same entity in another passage."""

    mentions: Integers
    other_mentions: Integers


def edges_between(mentions: Mentions, is_rare: Booleans, passage_count: int) -> Edges:
    """Return the edges between passages that mention the same entity, across only if it is rare.
    `is_rare`: (entities,).
    """
    to_defining = _with_others(mentions, np.arange(len(mentions.entity_of)), mentions.defining)
    undefining = np.flatnonzero(~mentions.defines)
    starts = group_starts(mentions.entity_of[undefining], len(is_rare))
    rare = undefining[is_rare[mentions.entity_of[undefining]]]
    across = _with_others(mentions, rare, Grouped(starts, undefining))
    first = mentions.sentences_of.first(MAX_SENTENCES)
    first_across = mentions.sentences_of.first(MAX_SENTENCES_ACROSS)
    sentences, via = first.spread(to_defining.mentions, np.arange(len(to_defining.mentions)))
    sentences_across, via_across = first_across.spread(
        across.mentions, np.arange(len(across.mentions))
    )
    passages = mentions.passage_of
    sizes = (len(sentences), len(sentences), len(sentences_across))
    begins = np.concatenate(
        [
            passages[to_defining.mentions[via]],
            passages[to_defining.other_mentions[via]],
            passages[across.mentions[via_across]],
        ]
    )
    ends = np.concatenate(
        [
            to_defining.other_mentions[via],
            to_defining.mentions[via],
            across.other_mentions[via_across],
        ]
    )
    order = order_of(begins, passage_count)
    return Edges(
        starts=group_starts(begins[order], passage_count),
        sentences=np.concatenate([sentences, sentences, sentences_across])[order],
        mentions=ends[order],
        kinds=np.repeat([ONWARD, BACK, ACROSS], sizes)[order],
    )


def _with_others(mentions: Mentions, numbers: Integers, grouped_mentions: Grouped) -> _Pairs:
    """Return each of these mentions with the others of its entity but itself."""
    entities = mentions.entity_of[numbers]
    repeated_mentions = np.repeat(numbers, group_sizes(grouped_mentions.starts, entities))
    paired_mentions = grouped_mentions.values[
        positions_of_groups(grouped_mentions.starts, entities)
    ]
    is_other = repeated_mentions != paired_mentions
    return _Pairs(repeated_mentions[is_other], paired_mentions[is_other])
