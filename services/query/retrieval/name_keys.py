"""Numbers that stand for words and for names, so that names are looked for in many words at once,
by operations on arrays.

They are hashes of this process, of 64 bits: no other process has the same ones.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from services.query.retrieval.arrays import Booleans, Integers

Keys = NDArray[np.uint64]

_MULTIPLIER = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


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
        longer = np.flatnonzero(lengths > place)
        spans[longer] = spans[longer] * np.uint64(_MULTIPLIER) + keys[positions[longer] + place]
    return spans


@dataclass(frozen=True, slots=True)
class KeyTable:
    """A number for each of some keys."""

    keys: Keys
    """Sorted, each once."""
    values: Integers

    def values_of(self, keys: Keys) -> Integers:
        """Return the number of each key, 0 for one that the table lacks."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.values[places], 0)

    @classmethod
    def of_values(cls, keys: Keys, values: Integers) -> "KeyTable":
        """Return the table with the greatest of the values beside each key."""
        order = np.lexsort((values, keys))
        # The last one of those with the same key.
        once, counts = np.unique(keys, return_counts=True)
        return cls(once, values[order[np.cumsum(counts) - 1]])

    @classmethod
    def of_counts(cls, keys: Keys) -> "KeyTable":
        """Return the table with how often each key occurs."""
        return cls(*np.unique(keys, return_counts=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTables:
    """What is looked up of names by keys."""

    longest: KeyTable
    """By the first word of names: words of the longest one."""
    longest_by_two: KeyTable
    """The same by their first two words."""
    entities_of_forms: KeyTable
    """How many entities have the form."""
    entities_of_readings: KeyTable
    """How many are called so in Latin letters."""
    entities_of_surnames: KeyTable
    """How many entities' names end with the word."""

    def are_names(self, keys: Keys, max_entities: int) -> Booleans:
        """Return for each key whether it is a name of at most so many entities."""
        by_form = self.entities_of_forms.values_of(keys)
        counts = np.where(by_form > 0, by_form, self.entities_of_readings.values_of(keys))
        return (counts > 0) & (counts <= max_entities)

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
            entities_of_readings=KeyTable.of_counts(_array(self.readings)),
            entities_of_surnames=KeyTable.of_counts(_array(self.surnames)),
        )


def _array(keys: "array[int]") -> Keys:
    return np.array(keys, np.uint64)


def _small(lengths: "array[int]") -> Integers:
    return np.array(lengths, np.int64)
