"""Index of one workspace's entity names by normal form, surname and spelling."""

from array import array
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import count
from typing import NamedTuple

import numpy as np
from anyascii import anyascii
from rapidfuzz.distance import OSA

from contracts.spelling import one_spelling
from offline.language.normal_forms import Word, is_character, normal_form, words
from services.query.retrieval.name_keys import NameKeys, NameTables, name_key

MAX_NAME_WORDS = 12
"""Longest name, in words, that is indexed."""
MAX_ENTITIES_PER_NAME = 3
"""A form that names more entities than this is too ambiguous and gets no link."""
MIN_MISSPELT_LETTERS = 5
"""Shortest form that is corrected, in characters; also the characters per allowed typing error."""
LIKE_ENOUGH = 0.3
"""Lowest Dice coefficient of letter trigrams, 0 to 1, at which two spellings are compared letter by
letter.
"""
COMPARED = 20
"""Largest number of names that one form is compared with letter by letter."""

_PERSON = "person"
_SURNAMED = frozenset({_PERSON, "other", "unknown", ""})

_numbers = count()


class SpanMeaning(NamedTuple):
    """The entities that a span of words in a passage names, by their numbers."""

    named_entities: Sequence[int]
    """As a whole."""
    mentioned_entities: Sequence[int]
    """Those, then the ones that parts of it name."""
    leading_entities: Sequence[int]
    """Those that a passage is about which begins with the span."""


class _NameWords(NamedTuple):
    """The words by which a name is looked for."""

    forms: Sequence[Sequence[Word]]
    """Without and, of a name with one, with its first "the"."""
    reading: Sequence[Word]
    """Of a name in a script that is compared by characters: in Latin letters."""
    surname: str
    """Empty where none may stand for it."""


class NameIndex:
    """Index of one workspace's entity names by normal form, surname and spelling; `add` fills
    it. One thread at a time reads it.

    What is found depends on the names alone, not on the order in which they came.
    """

    def __init__(self) -> None:
        self.number = next(_numbers)
        """No other index of this process has it."""
        self._names: list[str] = []
        """By number; also names that are no more."""
        self._numbers: dict[str, int] = {}
        self._by_form: dict[str, list[int]] = {}
        self._by_last: dict[str, list[int]] = {}
        self._longest: dict[str, int] = {}
        self._by_reading: dict[str, list[int]] = {}
        """Of names in scripts that are compared by characters: what they are called in Latin
        letters.
        """
        self._forms: list[str] = []
        self._indexed = 0
        """How many forms `_trigrams` has, the first ones: not every index is asked for misspelt
        names.
        """
        self._trigrams: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._keys = NameKeys()
        """What the tables lack."""
        self._tables: NameTables | None = None
        self.changes = 0
        """How often the names have changed."""
        self.meanings: dict[int, SpanMeaning] = {}
        """What spans of words mean, by their keys, as far as passages were searched for names:
        those of several words or several entities."""

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, names: Iterable[tuple[str, str]]) -> None:
        """Add pairs of an entity name and its type; the caller gives each name once."""
        self._forget()
        for name, type in names:
            if name_words := _words_of(name, type):
                self._put(name, name_words)

    def renew(self, types: Mapping[str, str | None]) -> None:
        """Have these names, with these types, and none of those without a type."""
        changed_types: dict[str, str] = {}
        for name, type in types.items():
            if name in self._numbers and not self._is_same(name, type):
                self._withdraw(name)
            if type is not None and name not in self._numbers:
                changed_types[name] = type
        if changed_types:
            self.add(changed_types.items())

    def add_aliases(self, aliases: Iterable[tuple[str, str]]) -> None:
        """Add pairs of another name and the entity it means, of entities that are in the index
        already.
        """
        self._forget()
        for alias, name in aliases:
            alias_words = words(one_spelling(alias))
            if name in self._numbers and 0 < len(alias_words) <= MAX_NAME_WORDS:
                self._add_form(alias_words, self._numbers[name])

    def prepare(self) -> None:
        """Make what the first search would: tables, and the index of spellings."""
        self.tables()
        self._index_trigrams()

    def tables(self) -> NameTables:
        """Return the tables of the names that were added; only what they lack is made."""
        if self._tables is None:
            self._tables = self._keys.tables()
        elif self._keys.forms:
            self._tables = self._tables.with_keys(self._keys)
        else:
            return self._tables
        self._keys = NameKeys()
        return self._tables

    def _forget(self) -> None:
        """Forget what was said of passages by the names as they were."""
        self.changes += 1
        self.meanings.clear()

    def _put(self, name: str, name_words: _NameWords) -> None:
        number = self._numbers[name] = len(self._names)
        self._names.append(name)
        for form in name_words.forms:
            self._add_form(form, number)
        if name_words.reading:
            reading = normal_form(name_words.reading)
            self._insert(self._by_reading.setdefault(reading, []), number)
            self._keys.readings.append(name_key(word.form for word in name_words.reading))
            self._note_length(name_words.reading)
        if name_words.surname:
            self._by_last.setdefault(name_words.surname, []).append(number)
            self._keys.surnames.append(name_key([name_words.surname]))

    def _add_form(self, name_words: Sequence[Word], number: int) -> None:
        form = normal_form(name_words)
        if form not in self._by_form:
            self._forms.append(form)
        if number in (numbers := self._by_form.setdefault(form, [])):
            return
        self._insert(numbers, number)
        self._keys.forms.append(name_key(word.form for word in name_words))
        self._keys.entities.append(number)
        self._note_length(name_words)

    def _is_same(self, name: str, type: str | None) -> bool:
        """Return whether a name that is here would be looked for by the same words."""
        name_words = _words_of(name, type) if type is not None else None
        if name_words is None:
            return False
        any_words = _words_of(name, _PERSON)
        surnamed = self._by_last.get(any_words.surname, ()) if any_words else ()
        return (self._numbers[name] in surnamed) == bool(name_words.surname)

    def _withdraw(self, name: str) -> None:
        """Have the name no more. What it was called besides stays, and means nothing."""
        name_words = _words_of(name, _PERSON)
        assert name_words
        number = self._numbers.pop(name)
        self._forget()
        entities_left: dict[int, list[int]] = {}
        for form in name_words.forms:
            numbers = self._by_form[normal_form(form)]
            numbers.remove(number)
            entities_left[name_key(word.form for word in form)] = numbers
        readings = _without(self._by_reading, normal_form(name_words.reading), number)
        surnames = _without(self._by_last, name_words.surname, number)
        self._tables = self.tables().with_left(
            entities_left,
            {name_key(word.form for word in name_words.reading): readings},
            {name_key([name_words.surname]): surnames},
        )

    def _insert(self, numbers: list[int], number: int) -> None:
        """Add a number in the order of names."""
        insort(numbers, number, key=self._names.__getitem__)

    def _note_length(self, name_words: Sequence[Word]) -> None:
        first = name_words[0].form
        self._longest[first] = max(len(name_words), self._longest.get(first, 0))
        self._keys.add_beginning([word.form for word in name_words])

    def max_words(self, first: str) -> int:
        """Return how many words the longest name has that begins with the word `first`; 0 without
        such a name.
        """
        return self._longest.get(first, 0)

    def names_of(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Return the entities of these numbers."""
        return tuple(map(self._names.__getitem__, numbers))

    def by_name(self, form: str) -> tuple[str, ...]:
        """Return the entities with this normal form, else reading; none if more than
        `MAX_ENTITIES_PER_NAME`.
        """
        return self.names_of(self.numbers_by_name(form))

    def numbers_by_name(self, form: str) -> Sequence[int]:
        """Return the numbers of the entities that `by_name` returns."""
        numbers = self._by_form.get(form) or self._by_reading.get(form, ())
        return numbers if len(numbers) <= MAX_ENTITIES_PER_NAME else ()

    def by_surname(self, form: str) -> tuple[str, ...]:
        """Return the only entity whose name ends with this word; nothing if there is none or more
        than one.
        """
        return self.names_of(self.numbers_by_surname(form))

    def numbers_by_surname(self, form: str) -> Sequence[int]:
        """Return the number of the entity that `by_surname` returns."""
        numbers = self._by_last.get(form, ())
        return numbers if len(numbers) == 1 else ()

    def short_forms(self, forms: Sequence[str], entities: Collection[int]) -> list[int]:
        """Return the numbers of entities that a person of these numbers may be called too: without
        first, or without middle, names.

        `forms` are the words of the long name; nothing for the name of something else than a
        person.
        """
        if len(forms) < 3 or not any(n in entities for n in self._by_last.get(forms[-1], ())):
            return []
        parts = [
            [forms[0], forms[-1]],
            *(forms[first:] for first in range(1, len(forms) - 1)),
        ]
        shorter_names = dict.fromkeys(
            n for part in parts for n in self.numbers_by_name(" ".join(part))
        )
        return [number for number in shorter_names if number not in entities]

    def by_spelling(self, form: str, misspelt: int | None = None) -> tuple[str, ...]:
        """Return the names nearest in spelling, with at most one typing error per
        `MIN_MISSPELT_LETTERS` characters.

        `misspelt`: how many of the characters may be wrong words', all if None.
        """
        if len(form) < MIN_MISSPELT_LETTERS:
            return ()
        likely = self._similar_forms(form)
        max_slips = (len(form) if misspelt is None else misspelt) // MIN_MISSPELT_LETTERS
        # Optimal string alignment also counts two swapped neighbours as one error.
        slips = {n: OSA.distance(form, self._forms[n], score_cutoff=max_slips) for n in likely}
        slips_allowed = {
            n: s
            for n, s in slips.items()
            if s <= min(max_slips, len(self._forms[n]) // MIN_MISSPELT_LETTERS)
        }
        if not slips_allowed:
            return ()
        best = min(slips_allowed.values())
        names = [
            name
            for n, s in slips_allowed.items()
            if s == best
            for name in self.by_name(self._forms[n])
        ]
        return tuple(names) if len(names) <= MAX_ENTITIES_PER_NAME else ()

    def _index_trigrams(self) -> None:
        """Index the forms that were added since the last time."""
        for number in range(self._indexed, len(self._forms)):
            for trigram in set(trigrams(self._forms[number])):
                self._trigrams[trigram].append(number)
        self._indexed = len(self._forms)

    def _similar_forms(self, form: str) -> list[int]:
        """Return the numbers of the `COMPARED` forms that share most trigrams with this one, the
        most similar first.
        """
        self._index_trigrams()
        form_trigrams = set(trigrams(form))
        postings = [
            np.frombuffer(posting, np.uint32)
            for trigram in form_trigrams
            if (posting := self._trigrams.get(trigram))
        ]
        if not postings:
            return []
        shared_counts = np.bincount(np.concatenate(postings))
        # Below this many shared trigrams no form of any length is similar enough.
        likely = np.flatnonzero(
            shared_counts >= LIKE_ENOUGH * len(form_trigrams) / (2 - LIKE_ENOUGH)
        )
        dice = np.array(
            [
                2 * shared_counts[n] / (len(form_trigrams) + len(self._forms[n]))
                for n in likely.tolist()
            ]
        )
        like_enough = [
            (-float(dice[n]), self._forms[number], number)
            for n, number in enumerate(likely.tolist())
            if dice[n] >= LIKE_ENOUGH and self._by_form[self._forms[number]]
        ]
        return [number for _, _, number in nsmallest(COMPARED, like_enough)]


def _words_of(name: str, type: str) -> _NameWords | None:
    """Return the words by which a name of this type is looked for; None for one that is not."""
    spelling = one_spelling(name)
    name_words = words(spelling)
    if not name_words or len(name_words) > MAX_NAME_WORDS:
        return None
    forms = [name_words]
    if name_words[0].form == "the" and len(name_words) > 1:
        forms.append(name_words[1:])
    reading = words(anyascii(name)) if is_character(name_words[0].form) else []
    surnamed = type.lower() in _SURNAMED and _ends_with_surname(spelling, name_words)
    return _NameWords(forms, reading, name_words[-1].form if surnamed else "")


def _without(numbers_by_form: Mapping[str, list[int]], form: str, number: int) -> int:
    """Take the number away from those of a form, if it is among them; return how many are left."""
    numbers = numbers_by_form.get(form, [])
    if number in numbers:
        numbers.remove(number)
    return len(numbers)


def _ends_with_surname(name: str, name_words: Sequence[Word]) -> bool:
    """Return whether the last word of a name may stand for it: not the number of "Route 20", nor
    May for "mid-May".
    """
    last_word = name_words[-1]
    return (
        len(name_words) > 1
        and last_word.form.isalpha()
        and not is_character(last_word.form)
        and name[last_word.start - 1] != "-"
        and all(word.is_capitalised or word.is_stopword for word in name_words)
    )


def trigrams(form: str) -> Iterator[str]:
    """Return all runs of three characters of the form, with a blank added at both ends."""
    padded_form = f" {form} "
    return (padded_form[i : i + 3] for i in range(len(padded_form) - 2))
