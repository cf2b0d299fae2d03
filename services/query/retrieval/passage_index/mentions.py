"""Entities in passages, of the sentences that are about them."""

from dataclasses import dataclass

import numpy as np

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.passage_index.grouped import (
    Grouped,
    group_starts,
    narrowed,
    order_of,
)
from services.query.retrieval.passage_index.sentences import LEADING, AboutEntities

MAX_DEFINING = 5
"""Passages that define an entity, those that have it in their title first."""
MAX_SURNAME_ALONE = 10
"""Passages that may have a surname without the whole name, however few have the whole one."""
MAX_SURNAME_RATIO = 3
"""How many times as many passages may have a surname alone as have the whole name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """Entities in passages: parallel arrays, an item per mention, entity by entity."""

    entity_of: Integers
    passage_of: Integers
    sentences_of: Grouped
    """The sentences of the passage that are about the entity."""
    defining: Grouped
    """The mentions of each entity whose passages define it, the strongest first."""
    defines: Booleans
    """Whether the passage of a mention defines its entity."""

    def starting_passages(self) -> Grouped:
        """Return the passages that define each entity, all that mention it where none does."""
        is_defined = np.diff(self.defining.starts) > 0
        mentions = np.concatenate(
            [self.defining.values, np.flatnonzero(~is_defined[self.entity_of])]
        )
        entities = self.entity_of[mentions]
        order = order_of(entities, len(is_defined))
        starts = group_starts(entities[order], len(is_defined))
        return Grouped(starts, self.passage_of[mentions[order]])


def mentions_of(
    about: AboutEntities, passages_of_sentences: Integers, passage_count: int, entity_count: int
) -> Mentions:
    """Return the mentions of entities, without those by a surname that is a common word.
    `passages_of_sentences`: (sentences,).
    """
    entities, sentences, weights = _each_pair_once(about, len(passages_of_sentences), entity_count)
    keys = entities * passage_count + passages_of_sentences[sentences]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    whole_keys = about.whole_entities * passage_count + about.whole_passages
    by_surname = ~np.isin(keys[begins], whole_keys, kind="table")
    is_mention = ~_is_common_word(entities[begins], by_surname, entity_count)
    sizes = np.diff(begins, append=len(keys))
    strongest = np.maximum.reduceat(weights, begins)[is_mention] if len(begins) else weights
    entity_of = entities[begins][is_mention]
    defining = _defining(entity_of, strongest, entity_count)
    defines = np.zeros(len(entity_of), np.bool_)
    defines[defining.values] = True
    return Mentions(
        entity_of=entity_of,
        passage_of=passages_of_sentences[sentences[begins]][is_mention],
        sentences_of=Grouped(
            starts=np.concatenate([[0], np.cumsum(sizes[is_mention])]),
            values=sentences[np.repeat(is_mention, sizes)],
        ),
        defining=defining,
        defines=defines,
    )


def _each_pair_once(
    about: AboutEntities, sentence_count: int, entity_count: int
) -> tuple[Integers, Integers, Integers]:
    """Return each entity with each sentence about it, in this order, and the greatest weight."""
    sentences = narrowed(about.sentences, sentence_count)
    order = np.lexsort((about.weights, sentences, narrowed(about.entities, entity_count)))
    pairs = about.entities[order] * max(1, sentence_count) + about.sentences[order]
    is_last = np.diff(pairs, append=-1) != 0
    last_places = order[is_last]
    return about.entities[last_places], about.sentences[last_places], about.weights[last_places]


def _is_common_word(entities: Integers, by_surname: Booleans, entity_count: int) -> Booleans:
    """Return (mentions,): whether each is by a surname that is rather a common word, as in "French"
    for Samuel French: far more passages have it alone than beside the whole name.
    """
    alone_counts = np.bincount(entities[by_surname], minlength=entity_count)
    whole_counts = np.bincount(entities[~by_surname], minlength=entity_count)
    limits = np.maximum(MAX_SURNAME_ALONE, MAX_SURNAME_RATIO * whole_counts)
    is_common: Booleans = by_surname & (alone_counts > limits)[entities]
    return is_common


def _defining(entity_of: Integers, strongest: Integers, entity_count: int) -> Grouped:
    """Return the mentions of each entity whose passages it leads or titles, the strongest first."""
    candidates = np.flatnonzero(strongest >= LEADING)
    entities = entity_of[candidates]
    order = np.lexsort((-strongest[candidates], entities))
    starts = group_starts(entities[order], entity_count)
    return Grouped(starts, candidates[order]).first(MAX_DEFINING)
