"""Numbers that stand for words and for names, so that names are looked for in many words at once,
by operations on arrays.

They are hashes of this process, of 64 bits: no other process has the same ones.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from services.query.retrieval.arrays import Booleans, Integers

Keys = NDArray[np.uint64]

_MULTIPLIER = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_MAX_FIRST_BITS = 20
"""First bits of a key that are looked at before all keys of a table are."""


def word_keys(forms: Sequence[str]) -> Keys:
    """Return (words,): the key of each word."""
    return np.fromiter(map(hash, forms), np.int64, len(forms)).view(np.uint64)


def name_key(forms: Iterable[str]) -> int:
    """Return the key of these words in their order; that of one word is the word's own."""
    key = 0
    for form in forms:
        key = (key * _MULTIPLIER + hash(form)) & _MASK
    return key


def span_keys(keys: Keys, positions: Integers, lengths: Integers) -> Keys:
    """Return (spans,): the keys of spans of words, as `name_key` has them. `keys`: of all words."""
    spans = keys[positions]
    for place in range(1, int(lengths.max(initial=0))):
        longer_spans = np.flatnonzero(lengths > place)
        spans[longer_spans] = (
            spans[longer_spans] * np.uint64(_MULTIPLIER) + keys[positions[longer_spans] + place]
        )
    return spans


@dataclass(frozen=True, slots=True)
class KeyTable:
    """A number for each of some keys."""

    keys: Keys
    """Sorted, each once."""
    values: Integers
    _shift: np.uint64
    _begins_key: Booleans
    """By the first bits of a key: whether any in the table begins so. Most words are in none."""

    def values_of(self, keys: Keys) -> Integers:
        """Return the number of each key, 0 for one that the table lacks."""
        values = np.zeros(len(keys), np.int64)
        likely = np.flatnonzero(self._begins_key[keys >> self._shift])
        if not len(likely):
            return values
        likely_keys = keys[likely]
        places = np.minimum(np.searchsorted(self.keys, likely_keys), len(self.keys) - 1)
        is_there = self.keys[places] == likely_keys
        values[likely[is_there]] = self.values[places[is_there]]
        return values

    @classmethod
    def of_values(cls, keys: Keys, values: Integers) -> "KeyTable":
        """Return the table with the greatest of the values beside each key."""
        order = np.lexsort((values, keys))
        # The last one of those with the same key.
        once, counts = np.unique(keys, return_counts=True)
        return cls._of_sorted(once, values[order[np.cumsum(counts) - 1]])

    @classmethod
    def of_counts(cls, keys: Keys) -> "KeyTable":
        """Return the table with how often each key occurs."""
        return cls._of_sorted(*np.unique(keys, return_counts=True))

    def joined(
        self, other: "KeyTable", combined: Callable[[Integers, Integers], Integers]
    ) -> "KeyTable":
        """Return the table of both, with `combined` of the values of each key of the other one."""
        return self._with(other.keys, combined(self.values_of(other.keys), other.values))

    def with_values(self, values: Mapping[int, int]) -> "KeyTable":
        """Return the table with these values by key; 0 stands for none."""
        in_order = sorted(values)
        return self._with(
            np.array(in_order, np.uint64), np.array([values[key] for key in in_order], np.int64)
        )

    def _with(self, keys: Keys, values: Integers) -> "KeyTable":
        """Return the table with these values of sorted keys, each once."""
        places = np.searchsorted(self.keys, keys)
        is_there = np.zeros(len(keys), np.bool_)
        inside = np.flatnonzero(places < len(self.keys))
        is_there[inside] = self.keys[places[inside]] == keys[inside]
        all_values = self.values.copy()
        all_values[places[is_there]] = values[is_there]
        new_places = places[~is_there]
        return KeyTable._of_sorted(
            np.insert(self.keys, new_places, keys[~is_there]),
            np.insert(all_values, new_places, values[~is_there]),
        )

    @classmethod
    def _of_sorted(cls, keys: Keys, values: Integers) -> "KeyTable":
        bits = min(_MAX_FIRST_BITS, len(keys).bit_length() + 3)
        shift = np.uint64(64 - bits)
        begins_key = np.zeros(1 << bits, np.bool_)
        begins_key[keys >> shift] = True
        return cls(keys, values, shift, begins_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTables:
    """What is looked up of names by keys."""

    longest: KeyTable
    """By the first word of names: words of the longest one."""
    longest_by_two: KeyTable
    """The same by their first two words."""
    entities_of_forms: KeyTable
    """How many entities have the form."""
    last_entities: KeyTable
    """The number of the last one of those, from 1."""
    entities_of_readings: KeyTable
    """How many are called so in Latin letters."""
    entities_of_surnames: KeyTable
    """How many entities' names end with the word."""

    def with_keys(self, keys: "NameKeys") -> "NameTables":
        """Return the tables with further names."""
        tables = keys.tables()
        return NameTables(
            longest=self.longest.joined(tables.longest, np.maximum),
            longest_by_two=self.longest_by_two.joined(tables.longest_by_two, np.maximum),
            entities_of_forms=self.entities_of_forms.joined(tables.entities_of_forms, np.add),
            last_entities=self.last_entities.joined(tables.last_entities, np.maximum),
            entities_of_readings=self.entities_of_readings.joined(
                tables.entities_of_readings, np.add
            ),
            entities_of_surnames=self.entities_of_surnames.joined(
                tables.entities_of_surnames, np.add
            ),
        )

    def with_left(
        self,
        forms: Mapping[int, Sequence[int]],
        readings: Mapping[int, int],
        surnames: Mapping[int, int],
    ) -> "NameTables":
        """Return the tables where these entities are left of forms, and so many of readings and of
        surnames.
        """
        counts = {key: len(entities) for key, entities in forms.items()}
        last_entities = {key: max(entities, default=-1) + 1 for key, entities in forms.items()}
        return replace(
            self,
            entities_of_forms=self.entities_of_forms.with_values(counts),
            last_entities=self.last_entities.with_values(last_entities),
            entities_of_readings=self.entities_of_readings.with_values(readings),
            entities_of_surnames=self.entities_of_surnames.with_values(surnames),
        )

    def are_names(self, keys: Keys, max_entities: int) -> Booleans:
        """Return for each key whether it is a name of at most so many entities."""
        by_form = self.entities_of_forms.values_of(keys)
        counts = np.where(by_form > 0, by_form, self.entities_of_readings.values_of(keys))
        return (counts > 0) & (counts <= max_entities)

    def only_entities(self, keys: Keys) -> Integers:
        """Return for each key the number of the only entity with this form; -1 for none and for
        several.
        """
        is_only = self.entities_of_forms.values_of(keys) == 1
        return np.where(is_only, self.last_entities.values_of(keys) - 1, -1)

    def are_surnames(self, keys: Keys) -> Booleans:
        """Return for each key of a word whether it is the surname of one entity."""
        return self.entities_of_surnames.values_of(keys) == 1


def _keys() -> "array[int]":
    return array("Q")


def _lengths() -> "array[int]":
    return array("H")


@dataclass(slots=True)
class NameKeys:
    """The keys of names as they are added, for `tables`."""

    firsts: "array[int]" = field(default_factory=_keys)
    lengths: "array[int]" = field(default_factory=_lengths)
    """Words of the name, beside each of `firsts`."""
    pairs: "array[int]" = field(default_factory=_keys)
    lengths_of_pairs: "array[int]" = field(default_factory=_lengths)
    forms: "array[int]" = field(default_factory=_keys)
    entities: "array[int]" = field(default_factory=_keys)
    """The number of the entity, beside each of `forms`."""
    readings: "array[int]" = field(default_factory=_keys)
    surnames: "array[int]" = field(default_factory=_keys)

    def add_beginning(self, forms: Sequence[str]) -> None:
        """Add the first words of a name."""
        self.firsts.append(name_key(forms[:1]))
        self.lengths.append(len(forms))
        if len(forms) > 1:
            self.pairs.append(name_key(forms[:2]))
            self.lengths_of_pairs.append(len(forms))

    def tables(self) -> NameTables:
        """Return the tables of all that was added."""
        return NameTables(
            longest=KeyTable.of_values(_array(self.firsts), _small(self.lengths)),
            longest_by_two=KeyTable.of_values(_array(self.pairs), _small(self.lengths_of_pairs)),
            entities_of_forms=KeyTable.of_counts(_array(self.forms)),
            last_entities=KeyTable.of_values(_array(self.forms), _small(self.entities) + 1),
            entities_of_readings=KeyTable.of_counts(_array(self.readings)),
            entities_of_surnames=KeyTable.of_counts(_array(self.surnames)),
        )


def _array(keys: "array[int]") -> Keys:
    return np.array(keys, np.uint64)


def _small(lengths: "array[int]") -> Integers:
    return np.array(lengths, np.int64)
