"""Names in the words of passages: where they are, and which entities they name."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.name_index import (
    MAX_ENTITIES_PER_NAME,
    NameIndex,
    SpanMeaning,
)
from services.query.retrieval.name_keys import Keys, NameTables, span_keys
from services.query.retrieval.passage_index.grouped import (
    Grouped,
    concatenated,
    positions_of_groups,
)
from services.query.retrieval.passage_index.joined_words import JoinedWords
from services.query.retrieval.passage_index.passage_words import (
    ADJACENT,
    CAPITAL,
    is_stopword,
)

MAX_PLAIN = 2
"""Words of a name up to which no part of it is another one, and it has no shorter form."""
MAX_MEANINGS = 50_000
"""Spans whose meaning is remembered with the names; one takes about 0.3 KB."""
_SPELLING = CAPITAL | ADJACENT
"""What of the traits is about a word alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSpans:
    """Spans of words that are names, in the order of the text; no two overlap. Entities are by
    their numbers in the index of names.
    """

    positions: Integers
    """(spans,): of the first word"""
    lengths: Integers
    """(spans,): words of each"""
    meanings: Integers
    """(spans,): of each the group in the three below, which are in the order of the text"""
    mentioned_entities: Grouped
    """The entities that a span names, then those that parts of it name."""
    named_entities: Grouped
    """The entities that a span names as a whole."""
    leading_entities: Grouped
    """The entities that a passage is about which begins with the span."""
    is_whole: Booleans
    """(spans,): whether it is more than a surname"""


def named_spans(words: JoinedWords, names: NameIndex) -> NamedSpans:
    """Return the names in these words, in running text: each has a capitalised word that is no
    stopword.
    """
    tables = names.tables()
    spans = _without_overlaps(_spans(words, tables))
    keys, first, numbers = np.unique(
        _meaning_keys(words, spans), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    distinct = spans.only(first[order])
    only_entities = tables.only_entities(keys[order])
    only_entities[distinct.lengths > MAX_PLAIN] = -1
    other_places = np.flatnonzero(only_entities < 0)
    meanings = [
        _meaning(key, words, position, position + length, names)
        for key, position, length in zip(
            keys[order][other_places].tolist(),
            distinct.positions[other_places].tolist(),
            distinct.lengths[other_places].tolist(),
            strict=True,
        )
    ]
    return NamedSpans(
        positions=spans.positions,
        lengths=spans.lengths,
        meanings=np.argsort(order)[numbers],
        mentioned_entities=_groups(
            only_entities, [meaning.mentioned_entities for meaning in meanings]
        ),
        named_entities=_groups(only_entities, [meaning.named_entities for meaning in meanings]),
        leading_entities=_groups(only_entities, [meaning.leading_entities for meaning in meanings]),
        is_whole=spans.is_whole,
    )


def _groups(only_entities: Integers, lists: Sequence[Sequence[int]]) -> Grouped:
    """Return a group of each of these entities; where there is -1, of the next one of the lists."""
    other_places = np.flatnonzero(only_entities < 0)
    of_lists = concatenated(lists)
    sizes = np.ones(len(only_entities), np.int64)
    sizes[other_places] = np.diff(of_lists.starts)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    values = np.repeat(only_entities, sizes)
    values[positions_of_groups(starts, other_places)] = of_lists.values
    return Grouped(starts, values)


def _meaning(
    key: int, words: JoinedWords, position: int, end: int, names: NameIndex
) -> SpanMeaning:
    meanings = names.meanings
    meaning = meanings.get(key)
    if meaning is None:
        if len(meanings) >= MAX_MEANINGS:
            meanings.clear()
        traits = words.traits[position:end].tolist()
        meaning = meanings[key] = _meaning_of(words.forms(position, end), traits, names)
    return meaning


def _meaning_of(forms: Sequence[str], traits: Sequence[int], index: NameIndex) -> SpanMeaning:
    form = " ".join(forms)
    entities = index.numbers_by_name(form) or index.numbers_by_surname(form)
    if len(forms) <= MAX_PLAIN:
        return SpanMeaning(entities, entities, entities)
    inner, at_beginning = names_inside(forms, traits, entities, index)
    short_names = index.short_forms(forms, entities)
    return SpanMeaning(entities, [*entities, *inner], [*entities, *at_beginning, *short_names])


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans of words that are names: parallel arrays, by position."""

    positions: Integers
    lengths: Integers
    is_whole: Booleans

    def only(self, selection: Booleans | Integers) -> "_Spans":
        return _Spans(self.positions[selection], self.lengths[selection], self.is_whole[selection])


def _spans(words: JoinedWords, tables: NameTables) -> _Spans:
    """Return at each position the longest name, else the surname, that begins there."""
    positions, shortest, longest = _candidates(words, tables)
    lengths = np.zeros(len(positions), np.int64)
    for length in range(int(longest.max(initial=0)), 0, -1):
        fits = (lengths == 0) & (shortest <= length) & (length <= longest)
        open_places = np.flatnonzero(fits)
        keys = span_keys(words.keys, positions[open_places], np.full(len(open_places), length))
        lengths[open_places[tables.are_names(keys, MAX_ENTITIES_PER_NAME)]] = length
    is_whole = lengths > 0
    open_places = np.flatnonzero(~is_whole & (shortest == 1))
    lengths[open_places[tables.are_surnames(words.keys[positions[open_places]])]] = 1
    return _Spans(positions, lengths, is_whole).only(lengths > 0)


def _candidates(words: JoinedWords, tables: NameTables) -> tuple[Integers, Integers, Integers]:
    """Return where a name may begin, and of how many words at least and at most it is: the first
    that is capitalised and no stopword is one of them.
    """
    positions = np.arange(len(words))
    next_capitals = np.where(words.is_capital_content, positions, 2 * len(words) + 1)
    next_capitals = np.minimum.accumulate(next_capitals[::-1])[::-1]
    positions = np.flatnonzero(next_capitals < words.ends)
    shortest = next_capitals[positions] - positions + 1
    longest = tables.longest.values_of(words.keys[positions])
    longest = np.minimum(longest, words.ends[positions] - positions)
    pair_places = np.flatnonzero(longest > 1)
    pairs = span_keys(words.keys, positions[pair_places], np.full(len(pair_places), 2))
    by_two = np.maximum(1, tables.longest_by_two.values_of(pairs))
    longest[pair_places] = np.minimum(longest[pair_places], by_two)
    # A surname is one word.
    is_candidate = (shortest <= longest) | (shortest == 1)
    return positions[is_candidate], shortest[is_candidate], longest[is_candidate]


def _without_overlaps(spans: _Spans) -> _Spans:
    """Return the spans without those that begin inside one before."""
    chosen_spans: list[int] = []
    end = 0
    ends = (spans.positions + spans.lengths).tolist()
    for number, position in enumerate(spans.positions.tolist()):
        if position >= end:
            chosen_spans.append(number)
            end = ends[number]
    return spans.only(np.array(chosen_spans, np.int64))


def _meaning_keys(words: JoinedWords, spans: _Spans) -> Keys:
    """Return (spans,): a key of what decides which entities each names, its forms and, of a long
    one, how they are spelt.
    """
    spelling = (words.traits & _SPELLING).astype(np.uint64)
    span_values = span_keys(words.keys, spans.positions, np.minimum(spans.lengths, MAX_PLAIN))
    long_spans = np.flatnonzero(spans.lengths > MAX_PLAIN)
    spelt_keys = words.keys * np.uint64(2 * _SPELLING + 1) + spelling
    span_values[long_spans] = span_keys(
        spelt_keys, spans.positions[long_spans], spans.lengths[long_spans]
    )
    return span_values


def names_inside(
    forms: Sequence[str], traits: Sequence[int], entities: Collection[int], index: NameIndex
) -> tuple[list[int], Sequence[int]]:
    """Return the entities named by parts of the longer name of `entities`, from left to right, and
    those whose name begins it.

    "Trent Reznor of Nine Inch Nails" names two more; one word alone says too little, as "New" of
    "New York Times".
    """
    inner: list[int] = []
    at_beginning: Sequence[int] = ()
    position = 0
    while position < len(forms) - 1:
        # The whole name is not a part of itself.
        max_length = min(len(forms) - position, len(forms) - 1)
        end = position + max_length
        length, parts = _longest_inner_name(
            forms[position:end], traits[position:end], entities, index
        )
        if not parts:
            position += 1
            continue
        inner += parts
        if position == 0:
            at_beginning = parts
        position += length
    return inner, at_beginning


def _longest_inner_name(
    forms: Sequence[str], traits: Sequence[int], entities: Collection[int], index: NameIndex
) -> tuple[int, Sequence[int]]:
    """Return how many of these words, two at least, are a name from the first one on, and its
    entities but `entities`; none if they are no name.
    """
    for length in range(min(len(forms), index.max_words(forms[0])), 1, -1):
        numbers = index.numbers_by_name(" ".join(forms[:length]))
        parts = [number for number in numbers if number not in entities]
        if parts and _has_gap(traits[:length]) and _is_capitalised(forms[:length], traits):
            return length, parts
    return 0, ()


def _has_gap(traits: Sequence[int]) -> bool:
    """Return whether any two words of a span have something between them: characters together are
    one word.
    """
    return not all(trait & ADJACENT for trait in traits[1:])


def _is_capitalised(forms: Sequence[str], traits: Sequence[int]) -> bool:
    """Return whether any of these words is capitalised and no stopword."""
    return any(
        trait & CAPITAL and not is_stopword(form)
        for form, trait in zip(forms, traits, strict=False)
    )
