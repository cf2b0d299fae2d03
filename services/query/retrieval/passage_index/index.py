"""What a walk knows of passages, in arrays: their words and sentences, the entities in them, the
ways between them.

A *place* is an entity in a passage. A *way* leads from a passage to a place in another one, through
a sentence that names the entity of that place: onward from a passage that mentions an entity to one
that defines it, back from one that defines it to one that mentions it, or across between two that
mention it where few passages do.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from contracts.spelling import one_spelling
from services.query.passage import Passage
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.openings import Openings
from services.query.retrieval.passage_index.sentences import LEADING, sentences_about_entities
from services.query.retrieval.passage_index.stemming import stem
from services.query.retrieval.words import words

Array = Any

ONWARD, BACK, ACROSS = 0, 1, 2
"""Kinds of ways."""
MAX_DEFINING = 5
"""Passages that define an entity, those that have it in their title first."""
MAX_ACROSS = 10
"""Passages of an entity up to which there are ways across."""
MAX_ALONE, COMMON = 10, 3
"""Passages that may have a surname without the whole name, and how many times as many as have the
whole one.
"""
MAX_SENTENCES = 4
"""Sentences of a place through which ways lead."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """Numbers in groups; group n is `values[starts[n] : starts[n + 1]]`."""

    starts: Array
    values: Array

    def of(self, group: int) -> Array:
        """Return the numbers of a group."""
        return self.values[self.starts[group] : self.starts[group + 1]]

    def spread(self, groups: Array, values: Array) -> tuple[Array, Array]:
        """Return the numbers of these groups, one group after the other, and for each the value of
        its group.
        """
        begins, counts = self.starts[groups], self.starts[groups + 1] - self.starts[groups]
        numbers = self.values[
            np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        ]
        return numbers, np.repeat(values, counts)


@dataclass(frozen=True, slots=True)
class Words:
    """In which passages each stem occurs, how often, and in which sentences."""

    numbers: Mapping[str, int]
    passages: Grouped
    counts: Array
    """Parallel to the values of `passages`."""
    sentences: Grouped


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways from each passage: parallel arrays in the order of `starts`, which has an item per
    passage and one.
    """

    starts: Array
    sentences: Array
    places: Array
    kinds: Array


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """An index of passages; it depends on them and on the workspace's names, and on no question."""

    ids: Sequence[str]
    numbers: Mapping[str, int]
    """Of the passages by id."""
    documents: Array
    """The number of each passage's document in `document_numbers`."""
    document_numbers: Mapping[str, int]
    lengths: Array
    """Words of each passage."""
    words: Words
    entities: Mapping[str, int]
    places: Mapping[tuple[int, int], int]
    """By entity and passage."""
    entity_of: Array
    passage_of: Array
    """Of each place."""
    sentences_of: Grouped
    """The sentences of each place: those of the passage that are about the entity."""
    passages_of: Grouped
    """The passages that each entity starts at: those that define it, else all that mention it."""
    counts: Array
    """In how many passages each entity occurs."""
    ways: Ways
    sentence_count: int
    places_in: Grouped
    """The places of each passage."""
    defines: Array
    """Of each place, whether its passage defines its entity."""
    is_defined: Array
    """Of each entity, whether any passage defines it."""
    openings: Openings
    names: NameIndex
    """That the entities in the passages were found by."""
    places_about: Grouped
    """The places that each sentence is of."""

    def __len__(self) -> int:
        return len(self.ids)

    def allowed(self, documents: Collection[str] | None) -> Array:
        """Return for each passage 1 if it is of these documents, else 0; None means all."""
        if documents is None:
            return np.ones(len(self))
        numbers = [self.document_numbers[id] for id in documents if id in self.document_numbers]
        return np.isin(self.documents, numbers).astype(np.float64)


class _Places(NamedTuple):
    """Where entities are mentioned."""

    numbers: dict[tuple[int, int], int]
    """The number of each place, by entity and passage."""
    sentences: list[Sequence[int]]
    """Of each place, the sentences of its mentions."""
    starting: list[Sequence[int]]
    """Of each entity, the passages that define it, all of its passages where none does."""
    defines: list[bool]
    """Of each place, whether its passage defines its entity."""


class IndexBuilder:
    """Collects passages, which may take a while, for `built`."""

    def __init__(self, names: NameIndex) -> None:
        self._names = names
        self._ids: list[str] = []
        self._documents: list[int] = []
        self._document_numbers: dict[str, int] = {}
        self._lengths: list[int] = []
        self._stems: dict[str, int] = {}
        self._in_passages = array(
            "i"
        )  # stem, passage, count; flat, since a list of tuples takes ten times as much
        self._in_sentences = array("i")  # stem, sentence
        self._sentences = 0
        self._openings = Openings()
        self._entities: dict[str, int] = {}
        self._mentions: defaultdict[int, dict[int, _Mention]] = defaultdict(dict)

    def add(self, passages: Iterable[Passage]) -> "IndexBuilder":
        """Add passages, each once."""
        for passage in passages:
            number = len(self._ids)
            self._ids.append(passage.id)
            numbers = self._document_numbers
            self._documents.append(numbers.setdefault(passage.document_id, len(numbers)))
            passage = replace(passage, content=one_spelling(passage.content))
            tokens = words(passage.content)
            self._lengths.append(len(tokens))
            self._openings.add(tokens)
            counts = Counter(stem(word.form) for word in tokens if not word.is_stopword)
            for form, count in counts.items():
                self._in_passages.extend((self._stem(form), number, count))
            for sentence in sentences_about_entities(passage, tokens, self._names):
                for form in sentence.stems:
                    self._in_sentences.extend((self._stem(form), self._sentences))
                for name, weight in sentence.entity_weights.items():
                    entity = self._entities.setdefault(name, len(self._entities))
                    mention = self._mentions[entity].setdefault(number, _Mention([]))
                    mention.sentences.append(self._sentences)
                    mention.weight = max(mention.weight, weight)
                    mention.by_surname = name in sentence.by_surname
                self._sentences += 1
        return self

    def _stem(self, stem: str) -> int:
        return self._stems.setdefault(stem, len(self._stems))

    def built(self) -> PassageIndex:
        """Return the index of all passages that were added."""
        for entity, some in self._mentions.items():
            self._mentions[entity] = _without_common_word(some)
        places, sentences, starting, defines = self._places()
        pairs = np.array(list(places), np.int32).reshape(-1, 2)
        return PassageIndex(
            self._ids,
            {id: number for number, id in enumerate(self._ids)},
            np.array(self._documents, np.int32),
            self._document_numbers,
            np.array(self._lengths, np.float64),
            self._words(),
            self._entities,
            places,
            pairs[:, 0].copy(),
            pairs[:, 1].copy(),
            _listed(sentences),
            _listed(starting),
            np.array(
                [len(self._mentions[entity]) for entity in range(len(self._entities))], np.float64
            ),
            self._ways(places),
            self._sentences,
            _grouped(
                np.column_stack([pairs[:, 1], np.arange(len(pairs), dtype=np.int32)]),
                len(self._ids),
            ),
            np.array(defines, np.bool_),
            np.array(
                [bool(_defining(self._mentions[entity])) for entity in range(len(self._entities))],
                np.bool_,
            ),
            self._openings,
            self._names,
            _inverse(sentences, self._sentences),
        )

    def _places(self) -> _Places:
        """Return the places where entities are mentioned, entity by entity."""
        places: dict[tuple[int, int], int] = {}
        sentences: list[Sequence[int]] = []
        starting: list[Sequence[int]] = []
        defines: list[bool] = []
        for entity in range(len(self._entities)):
            mentions = self._mentions[entity]
            for passage, mention in mentions.items():
                places[entity, passage] = len(places)
                sentences.append(mention.sentences)
            defining = _defining(mentions)
            defines += [passage in defining for passage in mentions]
            starting.append(defining or list(mentions))
        return _Places(places, sentences, starting, defines)

    def _words(self) -> Words:
        by_stem = _by_group(self._in_passages, 3)
        return Words(
            self._stems,
            Grouped(_starts(by_stem[:, 0], len(self._stems)), by_stem[:, 1].copy()),
            by_stem[:, 2].astype(np.float64),
            _grouped(np.array(self._in_sentences, np.int32).reshape(-1, 2), len(self._stems)),
        )

    def _ways(self, places: Mapping[tuple[int, int], int]) -> Ways:
        rows: list[tuple[int, int, int, int]] = []
        for entity, some in self._mentions.items():
            defining = _defining(some)
            for passage, mention in some.items():
                said = mention.sentences[:MAX_SENTENCES]
                for other in defining:
                    if other != passage:
                        rows += [
                            (passage, sentence, places[entity, other], ONWARD) for sentence in said
                        ]
                        rows += [
                            (other, sentence, places[entity, passage], BACK) for sentence in said
                        ]
                if len(some) <= MAX_ACROSS and passage not in defining:
                    rows += [
                        (passage, sentence, places[entity, other], ACROSS)
                        for other in some
                        if other != passage and other not in defining
                        for sentence in said[:2]
                    ]
        ways = _by_group(rows, 4)
        return Ways(
            _starts(ways[:, 0], len(self._ids)),
            ways[:, 1].copy(),
            ways[:, 2].copy(),
            ways[:, 3].copy(),
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


def _without_common_word(some: dict[int, _Mention]) -> dict[int, _Mention]:
    """Return the mentions without those by a surname that is rather a common word, as in "French"
    for Samuel French.

    It is one where far more passages have it alone than beside the whole name.
    """
    whole = {passage: mention for passage, mention in some.items() if not mention.by_surname}
    alone = len(some) - len(whole)
    return whole if alone > max(MAX_ALONE, COMMON * len(whole)) else some


def _defining(some: Mapping[int, _Mention]) -> list[int]:
    """Return the passages that an entity leads or titles, the strongest first."""
    passages = [passage for passage, mention in some.items() if mention.weight >= LEADING]
    return sorted(passages, key=lambda passage: -some[passage].weight)[:MAX_DEFINING]


def _by_group(rows: Any, columns: int) -> Array:
    """Return rows of so many numbers, the first of which is a group, in the order of groups."""
    table = np.array(rows, np.int32).reshape(-1, columns)
    return table[np.argsort(table[:, 0], kind="stable")]


def _starts(groups: Array, count: int) -> Array:
    """Return where each of `count` groups begins in these sorted numbers of groups, and where the
    last one ends.
    """
    return np.searchsorted(groups, np.arange(count + 1))


def _grouped(pairs: Array, count: int) -> Grouped:
    """Return pairs of a group and a value by group."""
    ordered = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return Grouped(_starts(ordered[:, 0], count), ordered[:, 1].copy())


def _inverse(lists: Sequence[Sequence[int]], count: int) -> Grouped:
    """Return for each of `count` values the numbers of the lists it is in."""
    pairs = [(value, number) for number, some in enumerate(lists) for value in some]
    return _grouped(np.array(pairs, np.int32).reshape(-1, 2), count)


def _listed(lists: Sequence[Sequence[int]]) -> Grouped:
    values = np.array([value for some in lists for value in some], np.int32)
    return Grouped(np.cumsum([0, *map(len, lists)]), values)
