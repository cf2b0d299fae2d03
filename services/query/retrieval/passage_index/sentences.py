"""Sentences of passages with the entities they are about, and the terms of the question they
contain.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from offline.language.normal_forms import Word, normal_form
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.passage_words import (
    CAPITAL,
    PARAGRAPH,
    SENTENCE,
    SUBJECT,
    PassageWords,
    is_stopword,
)

MENTIONED = 1.0
"""How much a sentence is about an entity that it mentions."""
LEADING = 3.0
"""How much it is about the entity that leads its paragraph."""
IN_TITLE = 4.0
"""How much it is about an entity that its heading or file names."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage that is about entities."""

    chunk_id: str
    number: int
    """Its position in the passage, from 0."""
    entity_weights: Mapping[str, float]
    """By name of an entity, how much the sentence is about it: `MENTIONED`, `LEADING` or
    `IN_TITLE`.
    """
    stems: frozenset[str]
    """The stems of its words that are neither stopwords nor whole names."""
    by_surname: frozenset[str]
    """Those of its entities that its passage has by their surname alone."""


@dataclass
class _SentenceParts:
    """Names and words of a sentence, collected while its passage is read."""

    start: int
    """Of its first word among those of the passage."""
    paragraph: int
    names: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    leading: tuple[str, ...] = ()
    with_whole_name: set[str] = field(default_factory=set[str])
    """Entities of which more than the surname is there."""
    stems: set[str] = field(default_factory=set[str])


def sentences_about_entities(
    passage: PassageWords, stems: Mapping[int, str], index: NameIndex
) -> list[Sentence]:
    """Return the sentences of a passage that are about entities.

    A sentence is about those it mentions, the one that leads its paragraph, and those that its
    heading or file names. `stems`: of the words that are looked for, by their positions.
    """
    in_title: dict[str, float] = {}
    for title in passage.titles:
        in_title |= dict.fromkeys(index.by_name(title), IN_TITLE)
    all_parts = _split(passage, stems, index)
    with_whole_name = set(in_title)
    for parts in all_parts:
        with_whole_name |= parts.with_whole_name
    leading_by_paragraph: dict[int, tuple[str, ...]] = {}
    sentences: list[Sentence] = []
    for number, parts in enumerate(all_parts):
        if parts.names:
            leading_by_paragraph.setdefault(parts.paragraph, parts.leading or parts.names[0])
        weights = {name: MENTIONED for names in parts.names for name in names}
        for name in leading_by_paragraph.get(parts.paragraph, ()):
            weights[name] = LEADING
        weights |= in_title
        if weights:
            by_surname = frozenset(weights.keys() - with_whole_name)
            sentences.append(
                Sentence(passage.id, number, weights, frozenset(parts.stems), by_surname)
            )
    return sentences


def _split(
    passage: PassageWords, stems: Mapping[int, str], index: NameIndex
) -> list[_SentenceParts]:
    """Return the names and other words of each sentence."""
    all_parts: list[_SentenceParts] = []
    paragraph = -1
    for number, mark in enumerate(passage.marks):
        if mark & PARAGRAPH:
            paragraph += 1
        if mark & SENTENCE:
            all_parts.append(_SentenceParts(number, paragraph))
    sentence_of = list(accumulate((mark & SENTENCE > 0 for mark in passage.marks), initial=-1))[1:]
    words_of_names: set[int] = set()
    for number, part, names in mentions(passage, index):
        here = all_parts[sentence_of[number]]
        inner, at_beginning = names_inside(part, names, index)
        here.names += [names, *inner]
        is_first = _first_content_word(passage, here.start) == number
        is_subject = not here.leading and bool(passage.marks[number + len(part) - 1] & SUBJECT)
        leading: tuple[str, ...] = ()
        if is_first or is_subject:
            leading = (*names, *at_beginning, *index.short_forms(part, names))
            here.leading = leading
        if index.by_name(normal_form(part)):  # else it is a surname, which may be a common word too
            words_of_names.update(range(number, number + len(part)))
            here.with_whole_name.update(names, *inner, leading)
    for number, stem in stems.items():
        if number not in words_of_names:
            all_parts[sentence_of[number]].stems.add(stem)
    return all_parts


def _first_content_word(passage: PassageWords, start: int) -> int:
    """Return the position of the first word from `start` on that is no stopword."""
    position = start
    while position < len(passage.forms) and is_stopword(passage.forms[position]):
        position += 1
    return position


def mentions(
    passage: PassageWords, index: NameIndex
) -> Iterator[tuple[int, Sequence[Word], tuple[str, ...]]]:
    """Yield names in running text: index of the first word, the words, the entities. A name has a
    capitalised word that is no stopword.
    """
    capitals = _capitalised_content(passage)
    number = 0
    end = 0
    for position, form in enumerate(passage.forms):
        if position < end:
            continue
        while number < len(capitals) and capitals[number] < position:
            number += 1
        if number == len(capitals):
            return
        words_to_capital = capitals[number] - position + 1
        length, names = index.longest_name(passage.forms, position, words_to_capital)
        if not names and words_to_capital == 1:
            length, names = 1, index.by_surname(form)
        if names:
            end = position + length
            yield position, passage.part(position, end), names


def _capitalised_content(passage: PassageWords) -> list[int]:
    """Return the positions of the words that are capitalised and no stopwords."""
    return [
        position
        for position, mark in enumerate(passage.marks)
        if mark & CAPITAL and not is_stopword(passage.forms[position])
    ]


def named_entities(passages: Iterable[PassageWords], index: NameIndex) -> list[str]:
    """Return the entities that passages or their titles name, those of the first passages
    first.
    """
    entities: dict[str, None] = {}
    for passage in passages:
        for title in passage.titles:
            entities |= dict.fromkeys(index.by_name(title))
        for _, part, names in mentions(passage, index):
            entities |= dict.fromkeys(names)
            for inner in names_inside(part, names, index)[0]:
                entities |= dict.fromkeys(inner)
    return list(entities)


def _is_capitalised_content(part: Sequence[Word]) -> bool:
    """Return whether any of these words is capitalised and no stopword."""
    return any(word.is_capitalised and not word.is_stopword for word in part)


def names_inside(
    part: Sequence[Word], names: Collection[str], index: NameIndex
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the entities named by parts of a longer name, from left to right, and those whose name
    begins it.

    "Trent Reznor of Nine Inch Nails" names two more; one word alone says too little, as "New" of
    "New York Times".
    """
    inner: list[tuple[str, ...]] = []
    at_beginning: tuple[str, ...] = ()
    position = 0
    while position < len(part) - 1:
        # The whole name is not a part of itself.
        max_length = min(len(part) - position, len(part) - 1)
        length, entities = _longest_inner_name(part[position : position + max_length], names, index)
        if not entities:
            position += 1
            continue
        inner.append(entities)
        if position == 0:
            at_beginning = entities
        position += length
    return inner, at_beginning


def _longest_inner_name(
    tokens: Sequence[Word], names: Collection[str], index: NameIndex
) -> tuple[int, tuple[str, ...]]:
    """Return how many of these words, two at least, are a name from the first one on, and its
    entities but `names`; none if they are no name.
    """
    for length in range(len(tokens), 1, -1):
        part = tokens[:length]
        by_name = index.by_name(normal_form(part))
        entities = tuple(name for name in by_name if name not in names)
        # Characters together are one word.
        has_gap = any(word.end < following.start for word, following in pairwise(part))
        if entities and has_gap and _is_capitalised_content(part):
            return length, entities
    return 0, ()
