"""Names in the words of passages: where they are, and which entities they name."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.grouped import Grouped, concatenated
from services.query.retrieval.passage_index.joined_words import JoinedWords
from services.query.retrieval.passage_index.passage_words import (
    ADJACENT,
    CAPITAL,
    has_trait,
    is_stopword,
)

MAX_PLAIN = 2
"""Words of a name up to which no part of it is another one, and it has no shorter form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSpans:
    """Spans of words that are names, in the order of the text; no two overlap."""

    positions: Integers
    """(spans,): of the first word"""
    lengths: Integers
    """(spans,): words of each"""
    meanings: Integers
    """(spans,): of each the group in the two below"""
    mentioned_entities: Grouped
    """The entities that a span names, then those that parts of it name."""
    named_entities: Grouped
    """The entities that a span names as a whole."""
    leading_entities: Grouped
    """The entities that a passage is about which begins with the span."""
    is_whole: Booleans
    """(spans,): whether it is more than a surname"""


@dataclass(slots=True)
class NameFinder:
    """Finds names in words; what it finds of one spelling it remembers, and numbers the entities as
    it finds them.
    """

    names: NameIndex
    entities: dict[str, int] = field(default_factory=dict[str, int])
    """The number of each."""
    _meanings: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """By the forms and the traits of a span."""
    _named_entities: list[Sequence[int]] = field(default_factory=list[Sequence[int]])
    _mentioned_entities: list[Sequence[int]] = field(default_factory=list[Sequence[int]])
    _leading_entities: list[Sequence[int]] = field(default_factory=list[Sequence[int]])

    def numbers(self, names: Collection[str]) -> list[int]:
        """Return the numbers of entities."""
        entities = self.entities
        return [entities.setdefault(name, len(entities)) for name in names]

    def spans(self, words: JoinedWords) -> NamedSpans:
        """Return the names in these words, in running text: each has a capitalised word that is no
        stopword.
        """
        positions: list[int] = []
        lengths: list[int] = []
        meanings: list[int] = []
        is_whole: list[bool] = []
        end = 0
        for position, shortest, longest in _candidates(words, self.names):
            if position < end:
                continue
            length = self.names.longest_name(words.forms, position, shortest, longest)
            is_name = length > 0
            if not is_name:
                if shortest > 1 or not self.names.by_surname(words.forms[position]):
                    continue
                length = 1
            end = position + length
            positions.append(position)
            lengths.append(length)
            is_whole.append(is_name)
            meanings.append(self._meaning(words, position, end))
        return NamedSpans(
            positions=np.array(positions, np.int64),
            lengths=np.array(lengths, np.int64),
            meanings=np.array(meanings, np.int64),
            mentioned_entities=concatenated(self._mentioned_entities),
            named_entities=concatenated(self._named_entities),
            leading_entities=concatenated(self._leading_entities),
            is_whole=np.array(is_whole, np.bool_),
        )

    def _meaning(self, words: JoinedWords, position: int, end: int) -> int:
        forms = words.forms[position:end]
        form = " ".join(forms)
        spelling = words.spellings[position:end] if len(forms) > MAX_PLAIN else ""
        meaning = self._meanings.setdefault((form, spelling), len(self._named_entities))
        if meaning < len(self._named_entities):
            return meaning
        names = self.names.by_name(form) or self.names.by_surname(form)
        entities = self.numbers(names)
        mentioned_entities = leading_entities = entities
        if len(forms) > MAX_PLAIN:
            inner, at_beginning = names_inside(forms, spelling, names, self.names)
            short_names = self.names.short_forms(forms, names)
            mentioned_entities = self.numbers([*names, *inner])
            leading_entities = self.numbers([*names, *at_beginning, *short_names])
        self._named_entities.append(entities)
        self._mentioned_entities.append(mentioned_entities)
        self._leading_entities.append(leading_entities)
        return meaning


def _candidates(words: JoinedWords, names: NameIndex) -> Iterator[tuple[int, int, int]]:
    """Yield where a name may begin, and of how many words at least and at most it is: the first
    that is capitalised and no stopword is one of them.
    """
    positions = np.arange(len(words))
    next_capitals = np.where(words.is_capital_content, positions, 2 * len(words) + 1)
    next_capitals = np.minimum.accumulate(next_capitals[::-1])[::-1]
    shortest = next_capitals - positions + 1
    longest = words.by_form(names.lengths(words.distinct))
    longest = np.minimum(longest, words.ends - positions)
    has_surname = words.by_form(names.are_surnames(words.distinct)) > 0
    is_candidate = (shortest <= longest) | (has_surname & words.is_capital_content)
    chosen_positions = np.flatnonzero(is_candidate)
    return zip(
        chosen_positions.tolist(),
        shortest[chosen_positions].tolist(),
        longest[chosen_positions].tolist(),
        strict=True,
    )


def names_inside(
    forms: Sequence[str], traits: str, names: Collection[str], index: NameIndex
) -> tuple[list[str], tuple[str, ...]]:
    """Return the entities named by parts of a longer name, from left to right, and those whose name
    begins it.

    "Trent Reznor of Nine Inch Nails" names two more; one word alone says too little, as "New" of
    "New York Times".
    """
    inner: list[str] = []
    at_beginning: tuple[str, ...] = ()
    position = 0
    while position < len(forms) - 1:
        # The whole name is not a part of itself.
        max_length = min(len(forms) - position, len(forms) - 1)
        end = position + max_length
        length, entities = _longest_inner_name(
            forms[position:end], traits[position:end], names, index
        )
        if not entities:
            position += 1
            continue
        inner += entities
        if position == 0:
            at_beginning = entities
        position += length
    return inner, at_beginning


def _longest_inner_name(
    forms: Sequence[str], traits: str, names: Collection[str], index: NameIndex
) -> tuple[int, tuple[str, ...]]:
    """Return how many of these words, two at least, are a name from the first one on, and its
    entities but `names`; none if they are no name.
    """
    for length in range(min(len(forms), index.max_words(forms[0])), 1, -1):
        by_name = index.by_name(" ".join(forms[:length]))
        entities = tuple(name for name in by_name if name not in names)
        if entities and _has_gap(traits[:length]) and _is_capitalised(forms[:length], traits):
            return length, entities
    return 0, ()


def _has_gap(traits: str) -> bool:
    """Return whether any two words of a span have something between them: characters together are
    one word.
    """
    return not all(has_trait(trait, ADJACENT) for trait in traits[1:])


def _is_capitalised(forms: Sequence[str], traits: str) -> bool:
    """Return whether any of these words is capitalised and no stopword."""
    return any(
        has_trait(trait, CAPITAL) and not is_stopword(form)
        for form, trait in zip(forms, traits, strict=False)
    )
