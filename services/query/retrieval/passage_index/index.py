"""What a walk knows of passages, in arrays: their words and sentences, the entities that they
mention, and the edges between them.

A *mention* is an entity in a passage. An *edge* leads from a passage to a mention in another one,
through a sentence that names the entity of that mention: onward from a passage that mentions an
entity to one that defines it, back from one that defines it to one that mentions it, or across
between two that mention it where few passages do.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from offline.language.stems import stem
from services.query.retrieval.arrays import Booleans, Floats, Integers
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.openings import Openings
from services.query.retrieval.passage_index.passage_words import PassageWords, is_stopword
from services.query.retrieval.passage_index.sentences import LEADING, sentences_about_entities

ONWARD = 0
BACK = 1
ACROSS = 2
"""Kinds of edges."""
MAX_DEFINING = 5
"""Passages that define an entity, those that have it in their title first."""
MAX_ACROSS = 10
"""Passages of an entity up to which there are edges across."""
MAX_SURNAME_ALONE = 10
"""Passages that may have a surname without the whole name, however few have the whole one."""
MAX_SURNAME_RATIO = 3
"""How many times as many passages may have a surname alone as have the whole name."""
MAX_SENTENCES = 4
"""Sentences of a mention through which edges onward and back lead."""
MAX_SENTENCES_ACROSS = 2
"""Sentences of a mention through which edges across lead."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """Numbers in groups; group n is `values[starts[n] : starts[n + 1]]`."""

    starts: Integers
    """(groups + 1,)"""
    values: Integers

    def of(self, group: int) -> Integers:
        """Return the numbers of a group."""
        return self.values[self.starts[group] : self.starts[group + 1]]

    def of_groups(self, groups: Integers) -> Integers:
        """Return the numbers of these groups, one group after the other."""
        return self.values[positions_of_groups(self.starts, groups)]

    def spread(self, groups: Integers, values: Floats) -> tuple[Integers, Floats]:
        """Return the numbers of these groups, one group after the other, and for each the value of
        its group.
        """
        repeated: Floats = np.repeat(values, group_sizes(self.starts, groups))
        return self.of_groups(groups), repeated


def group_sizes(starts: Integers, groups: Integers) -> Integers:
    """Return how many members each of these groups has. `starts`: see `Grouped`."""
    sizes: Integers = starts[groups + 1] - starts[groups]
    return sizes


def positions_of_groups(starts: Integers, groups: Integers) -> Integers:
    """Return the positions of all members of these groups, one group after the other. `starts`:
    see `Grouped`.
    """
    begins = starts[groups]
    sizes = group_sizes(starts, groups)
    # Within each group the positions count up from where it begins.
    offsets: Integers = np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
    return np.arange(int(sizes.sum())) + offsets


@dataclass(frozen=True, slots=True)
class Words:
    """In which passages each stem occurs, how often, and in which sentences."""

    numbers: Mapping[str, int]
    passages: Grouped
    counts: Floats
    """Parallel to the values of `passages`."""
    sentences: Grouped


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
    mentions: Mapping[tuple[int, int], int]
    """The number of each mention, by entity and passage."""
    entity_of: Integers
    """(mentions,)"""
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

    def allowed(self, documents: Collection[str] | None) -> Floats:
        """Return (passages,): 1 for a passage of these documents, else 0; None means all."""
        if documents is None:
            return np.ones(len(self))
        numbers = [self.document_numbers[id] for id in documents if id in self.document_numbers]
        return np.isin(self.documents, numbers).astype(np.float64)


class _Mentions(NamedTuple):
    """Where entities are mentioned."""

    numbers: dict[tuple[int, int], int]
    """The number of each mention, by entity and passage."""
    sentences: list[Sequence[int]]
    """Of each mention."""
    starting_passages: list[Sequence[int]]
    """Of each entity, the passages that define it, all of its passages where none does."""
    defines: list[bool]
    """Of each mention, whether its passage defines its entity."""
    is_defined: list[bool]
    """Of each entity, whether any passage defines it."""


class _EdgeRow(NamedTuple):
    """An edge: from a passage, through a sentence, to a mention."""

    passage: int
    sentence: int
    mention: int
    kind: int


class IndexBuilder:
    """Collects passages, which may take a while, for `build`."""

    def __init__(
        self,
        names: NameIndex,
        vocabulary: Collection[str] | None = None,
        supports: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """`vocabulary`: the stems that are looked for; None means all. `supports`: how many
        passages of the workspace name an entity, where these are not all.
        """
        self._names = names
        self._vocabulary = vocabulary
        self._supports = supports
        self._ids: list[str] = []
        self._documents: list[int] = []
        self._document_numbers: dict[str, int] = {}
        self._lengths: list[int] = []
        self._stems: dict[str, int] = {}
        # Flat arrays, because a list of tuples takes ten times as much memory.
        self._in_passages = array("i")
        """Stem, passage, count; stem, passage, count; …"""
        self._in_sentences = array("i")
        """Stem, sentence; stem, sentence; …"""
        self._sentence_count = 0
        self._openings = Openings()
        self._entities: dict[str, int] = {}
        self._mentions: defaultdict[int, dict[int, _Mention]] = defaultdict(dict)

    def add(self, passages: Iterable[PassageWords]) -> "IndexBuilder":
        """Add passages, each once."""
        for passage in passages:
            self._add(passage)
        return self

    def _add(self, passage: PassageWords) -> None:
        number = len(self._ids)
        self._ids.append(passage.id)
        numbers = self._document_numbers
        self._documents.append(numbers.setdefault(passage.document_id, len(numbers)))
        self._lengths.append(len(passage.forms))
        self._openings.add(passage.forms)
        stems = self._stems_of(passage)
        for form, count in Counter(stems.values()).items():
            self._in_passages.extend((self._stem_number(form), number, count))
        for sentence in sentences_about_entities(passage, stems, self._names):
            for form in sentence.stems:
                self._in_sentences.extend((self._stem_number(form), self._sentence_count))
            for name, weight in sentence.entity_weights.items():
                entity = self._entities.setdefault(name, len(self._entities))
                mention = self._mentions[entity].setdefault(number, _Mention([]))
                mention.sentences.append(self._sentence_count)
                mention.weight = max(mention.weight, weight)
                mention.by_surname = name in sentence.by_surname
            self._sentence_count += 1

    def _stems_of(self, passage: PassageWords) -> dict[int, str]:
        """Return the stems of a passage that are looked for, by the positions of their words."""
        stems: dict[int, str] = {}
        vocabulary = self._vocabulary
        for position, form in enumerate(map(stem, passage.forms)):
            if vocabulary is None or form in vocabulary:
                stems[position] = form
        return {
            position: form
            for position, form in stems.items()
            if not is_stopword(passage.forms[position])
        }

    def _stem_number(self, form: str) -> int:
        return self._stems.setdefault(form, len(self._stems))

    def build(self) -> PassageIndex:
        """Return the index of all passages that were added."""
        for entity, mentions in self._mentions.items():
            self._mentions[entity] = _without_common_word(mentions)
        mentions = self._numbered_mentions()
        pairs = np.array(list(mentions.numbers), np.int32).reshape(-1, 2)
        mention_numbers = np.arange(len(pairs), dtype=np.int32)
        passage_counts = [len(self._mentions[entity]) for entity in range(len(self._entities))]
        supports = [self._support(name) for name in self._entities]
        return PassageIndex(
            ids=self._ids,
            numbers={id: number for number, id in enumerate(self._ids)},
            documents=np.array(self._documents, np.int32),
            document_numbers=self._document_numbers,
            lengths=np.array(self._lengths, np.float64),
            words=self._words(),
            entities=self._entities,
            mentions=mentions.numbers,
            entity_of=pairs[:, 0].copy(),
            passage_of=pairs[:, 1].copy(),
            sentences_of=_concatenated(mentions.sentences),
            starting_passages=_concatenated(mentions.starting_passages),
            passage_counts=np.array(passage_counts, np.float64),
            supports=np.array(supports, np.float64),
            edges=self._edges(mentions.numbers),
            sentence_count=self._sentence_count,
            mentions_in=_grouped(np.column_stack([pairs[:, 1], mention_numbers]), len(self._ids)),
            defines=np.array(mentions.defines, np.bool_),
            is_defined=np.array(mentions.is_defined, np.bool_),
            openings=self._openings,
            names=self._names,
            mentions_about=_inverse(mentions.sentences, self._sentence_count),
        )

    def _support(self, name: str) -> int:
        """Return how many passages name an entity, whether they are here or not."""
        return max(self._supports.get(name, 0), len(self._mentions[self._entities[name]]))

    def _numbered_mentions(self) -> _Mentions:
        """Return the mentions, entity by entity."""
        result = _Mentions({}, [], [], [], [])
        for entity in range(len(self._entities)):
            mentions = self._mentions[entity]
            defining = _defining_passages(mentions)
            for passage, mention in mentions.items():
                result.numbers[entity, passage] = len(result.numbers)
                result.sentences.append(mention.sentences)
                result.defines.append(passage in defining)
            result.starting_passages.append(defining or list(mentions))
            result.is_defined.append(bool(defining))
        return result

    def _words(self) -> Words:
        by_stem = _sorted_by_group(self._in_passages, 3)
        in_sentences = np.array(self._in_sentences, np.int32).reshape(-1, 2)
        return Words(
            numbers=self._stems,
            passages=Grouped(_group_starts(by_stem[:, 0], len(self._stems)), by_stem[:, 1].copy()),
            counts=by_stem[:, 2].astype(np.float64),
            sentences=_grouped(in_sentences, len(self._stems)),
        )

    def _edges(self, numbers: Mapping[tuple[int, int], int]) -> Edges:
        rows: list[_EdgeRow] = []
        for name, entity in self._entities.items():
            mentions = self._mentions[entity]
            is_rare = self._support(name) <= MAX_ACROSS
            rows.extend(_edges_of_entity(entity, mentions, numbers, is_rare))
        edges = _sorted_by_group(rows, 4)
        return Edges(
            starts=_group_starts(edges[:, 0], len(self._ids)),
            sentences=edges[:, 1].copy(),
            mentions=edges[:, 2].copy(),
            kinds=edges[:, 3].copy(),
        )


@dataclass(slots=True)
class _Mention:
    """The sentences of a passage that are about an entity, and the most that any of them is about
    it.
    """

    sentences: list[int]
    weight: float = 0.0
    by_surname: bool = False
    """Whether the passage has the surname alone."""


def _edges_of_entity(
    entity: int,
    mentions: Mapping[int, _Mention],
    numbers: Mapping[tuple[int, int], int],
    is_rare: bool,
) -> Iterator[_EdgeRow]:
    """Yield the edges between the passages that mention this entity, across only if it is rare.
    `numbers`: those of the mentions, by entity and passage.
    """
    defining = _defining_passages(mentions)
    for passage, mention in mentions.items():
        for other in defining:
            if other == passage:
                continue
            for sentence in mention.sentences[:MAX_SENTENCES]:
                yield _EdgeRow(passage, sentence, numbers[entity, other], ONWARD)
            for sentence in mention.sentences[:MAX_SENTENCES]:
                yield _EdgeRow(other, sentence, numbers[entity, passage], BACK)
        if not is_rare or passage in defining:
            continue
        for other in mentions:
            if other == passage or other in defining:
                continue
            for sentence in mention.sentences[:MAX_SENTENCES_ACROSS]:
                yield _EdgeRow(passage, sentence, numbers[entity, other], ACROSS)


def _without_common_word(mentions: dict[int, _Mention]) -> dict[int, _Mention]:
    """Return the mentions without those by a surname that is rather a common word, as in "French"
    for Samuel French: far more passages have it alone than beside the whole name.
    """
    by_whole_name = {
        passage: mention for passage, mention in mentions.items() if not mention.by_surname
    }
    surname_alone = len(mentions) - len(by_whole_name)
    limit = max(MAX_SURNAME_ALONE, MAX_SURNAME_RATIO * len(by_whole_name))
    return by_whole_name if surname_alone > limit else mentions


def _defining_passages(mentions: Mapping[int, _Mention]) -> list[int]:
    """Return the passages that an entity leads or titles, the strongest first."""
    passages = [passage for passage, mention in mentions.items() if mention.weight >= LEADING]
    return sorted(passages, key=lambda passage: -mentions[passage].weight)[:MAX_DEFINING]


def _sorted_by_group(rows: ArrayLike, columns: int) -> Integers:
    """Return (rows, columns) in the order of groups, whose numbers are in the first column."""
    table = np.array(rows, np.int32).reshape(-1, columns)
    return table[np.argsort(table[:, 0], kind="stable")]


def _group_starts(groups: Integers, count: int) -> Integers:
    """Return (count + 1,): where each group begins in these sorted numbers of groups, and where the
    last one ends.
    """
    return np.searchsorted(groups, np.arange(count + 1))


def _grouped(pairs: Integers, count: int) -> Grouped:
    """Return the second column of (pairs, 2) by group, whose numbers are in the first one."""
    by_group = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return Grouped(_group_starts(by_group[:, 0], count), by_group[:, 1].copy())


def _inverse(lists: Sequence[Sequence[int]], count: int) -> Grouped:
    """Return for each of `count` values the numbers of the lists it is in."""
    pairs = [(value, number) for number, values in enumerate(lists) for value in values]
    return _grouped(np.array(pairs, np.int32).reshape(-1, 2), count)


def _concatenated(lists: Sequence[Sequence[int]]) -> Grouped:
    values = np.array([value for values in lists for value in values], np.int32)
    lengths = [len(values) for values in lists]
    return Grouped(np.cumsum([0, *lengths]), values)
