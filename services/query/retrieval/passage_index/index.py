"""What a walk knows of passages, in arrays: their words and sentences, the entities that they
mention, and the edges between them.

A *mention* is an entity in a passage. An *edge* leads from a passage to a mention in another one,
through a sentence that names the entity of that mention: onward from a passage that mentions an
entity to one that defines it, back from one that defines it to one that mentions it, or across
between two that mention it where few passages do.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from services.query.retrieval.arrays import Booleans, Floats, Integers
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.edges import Edges
from services.query.retrieval.passage_index.grouped import Grouped
from services.query.retrieval.passage_index.openings import Openings

NO_MENTION = -1
"""Stands for the mention of a passage that was not reached by a name."""


@dataclass(frozen=True, slots=True)
class Words:
    """In which passages each stem occurs, how often, and in which sentences."""

    numbers: Mapping[str, int]
    passages: Grouped
    counts: Floats
    """Parallel to the values of `passages`."""
    sentences: Grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageIndex:
    """An index of passages; it depends on them and on the workspace's names, and on no question."""

    ids: Sequence[str]
    numbers: Mapping[str, int]
    """Of the passages by id."""
    documents: Integers
    """(passages,): the number of each passage's document in `document_numbers`."""
    document_numbers: Mapping[str, int]
    lengths: Floats
    """(passages,): words of each passage."""
    words: Words
    entities: Mapping[str, int]
    entity_of: Integers
    """(mentions,), sorted; those of one entity by passage"""
    passage_of: Integers
    """(mentions,)"""
    sentences_of: Grouped
    """The sentences of each mention: those of the passage that are about the entity."""
    starting_passages: Grouped
    """The passages that each entity starts at: those that define it, else all that mention it."""
    passage_counts: Floats
    """(entities,): in how many of these passages each entity occurs."""
    supports: Floats
    """(entities,): how many passages of the workspace name each entity, at least these."""
    edges: Edges
    sentence_count: int
    mentions_in: Grouped
    """The mentions in each passage."""
    defines: Booleans
    """(mentions,): whether the passage defines the entity."""
    is_defined: Booleans
    """(entities,): whether any passage defines it."""
    openings: Openings
    names: NameIndex
    """That the entities in the passages were found by."""
    mentions_about: Grouped
    """The mentions that each sentence belongs to."""

    def __len__(self) -> int:
        return len(self.ids)

    def mention_of(self, entity: int, passage: int) -> int:
        """Return the number of the mention of an entity in a passage, `NO_MENTION` without any."""
        first, end = np.searchsorted(self.entity_of, [entity, entity + 1])
        number = int(first + np.searchsorted(self.passage_of[first:end], passage))
        return number if number < end and self.passage_of[number] == passage else NO_MENTION

    def allowed(self, documents: Collection[str] | None) -> Floats:
        """Return (passages,): 1 for a passage of these documents, else 0; None means all."""
        if documents is None:
            return np.ones(len(self))
        numbers = [self.document_numbers[id] for id in documents if id in self.document_numbers]
        return np.isin(self.documents, numbers).astype(np.float64)
