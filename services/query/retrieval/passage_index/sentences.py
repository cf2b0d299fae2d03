"""Sentences of passages with the entities they are about, and the terms of the question they
contain.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from offline.language.normal_forms import Word, normal_form, words
from offline.language.sentences import FULL_STOPS
from offline.language.stems import stem
from services.query.passage import Passage
from services.query.retrieval.name_index import NameIndex

MENTIONED = 1.0
"""How much a sentence is about an entity that it mentions."""
LEADING = 3.0
"""How much it is about the entity that leads its paragraph."""
IN_TITLE = 4.0
"""How much it is about an entity that its heading or file names."""

_SENTENCE = re.compile(rf"[.!?;](?=\s)|[{FULL_STOPS}；]|\n+")
_SUBJECT = re.compile(r"\s*(?:\([^()]{0,300}\)\s*)?(?:is|was|are|were)\b")
"""What follows the subject of a definition, as in "A native of Elm Port, Ada Marsh (born 1902) was
…".
"""
_PARAGRAPH = re.compile(r"\n\s*\n")


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
    """Names and words of a sentence, collected while its passage is split."""

    paragraph: int
    names: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    leading: tuple[str, ...] = ()
    with_whole_name: set[str] = field(default_factory=set[str])
    """Entities of which more than the surname is there."""
    words: set[str] = field(default_factory=set[str])


def sentences_about_entities(
    passage: Passage, tokens: Sequence[Word], index: NameIndex
) -> list[Sentence]:
    """Return the sentences of a passage, of which `tokens` are the words, that are about entities.

    A sentence is about those it mentions, the one that leads its paragraph, and those that its
    heading or file names.
    """
    in_title = dict.fromkeys(_entities_in_title(passage, index), IN_TITLE)
    sentences_by_number = _split(passage.content, tokens, index)
    with_whole_name = set(in_title)
    for parts in sentences_by_number.values():
        with_whole_name |= parts.with_whole_name
    leading_by_paragraph: dict[int, tuple[str, ...]] = {}
    sentences: list[Sentence] = []
    for number, parts in sentences_by_number.items():
        if parts.names:
            leading_by_paragraph.setdefault(parts.paragraph, parts.leading or parts.names[0])
        weights = {name: MENTIONED for names in parts.names for name in names}
        for name in leading_by_paragraph.get(parts.paragraph, ()):
            weights[name] = LEADING
        weights |= in_title
        if weights:
            stems = frozenset(stem(word) for word in parts.words)
            by_surname = frozenset(weights.keys() - with_whole_name)
            sentences.append(Sentence(passage.id, number, weights, stems, by_surname))
    return sentences


def _split(text: str, tokens: Sequence[Word], index: NameIndex) -> dict[int, _SentenceParts]:
    """Return the names and other words of each sentence, by its number."""
    sentence_ends = [match.end() for match in _SENTENCE.finditer(text)]
    paragraph_ends = [match.end() for match in _PARAGRAPH.finditer(text)]
    sentence_of = [bisect_right(sentence_ends, word.start) for word in tokens]
    parts: dict[int, _SentenceParts] = {}
    first_content_word: dict[int, int] = {}
    for number, word in enumerate(tokens):
        sentence = sentence_of[number]
        if sentence not in parts:
            parts[sentence] = _SentenceParts(bisect_right(paragraph_ends, word.start))
        if not word.is_stopword:
            first_content_word.setdefault(sentence, number)
    words_of_names: set[int] = set()
    for number, part, names in mentions(tokens, index):
        here = parts[sentence_of[number]]
        inner, at_beginning = names_inside(part, names, index)
        here.names += [names, *inner]
        is_first = first_content_word.get(sentence_of[number]) == number
        is_subject = not here.leading and _SUBJECT.match(text, part[-1].end) is not None
        leading: tuple[str, ...] = ()
        if is_first or is_subject:
            leading = (*names, *at_beginning, *index.short_forms(part, names))
            here.leading = leading
        if index.by_name(normal_form(part)):  # else it is a surname, which may be a common word too
            words_of_names.update(range(number, number + len(part)))
            here.with_whole_name.update(names, *inner, leading)
    for number, word in enumerate(tokens):
        if number not in words_of_names and not word.is_stopword:
            parts[sentence_of[number]].words.add(word.form)
    return parts


def mentions(
    tokens: Sequence[Word], index: NameIndex
) -> Iterator[tuple[int, Sequence[Word], tuple[str, ...]]]:
    """Yield names in running text: index of the first word, the words, the entities. A name has a
    capitalised word.
    """
    position = 0
    while position < len(tokens):
        word = tokens[position]
        longest = _longest_name(tokens[position : position + index.max_words(word.form)], index)
        if longest is not None:
            part, names = longest
            yield position, part, names
            position += len(part)
            continue
        names = index.by_surname(word.form) if _is_capitalised_content([word]) else ()
        if names:
            yield position, [word], names
        position += 1


def _longest_name(
    tokens: Sequence[Word], index: NameIndex
) -> tuple[Sequence[Word], tuple[str, ...]] | None:
    """Return the longest name that begins with the first of these words, and its entities."""
    for length in range(len(tokens), 0, -1):
        part = tokens[:length]
        if not _is_capitalised_content(part):
            continue
        names = index.by_name(normal_form(part))
        if names:
            return part, names
    return None


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


def _entities_in_title(passage: Passage, index: NameIndex) -> list[str]:
    file = passage.file_path.rsplit(".", 1)[0].replace("_", " ")
    names: list[str] = []
    for text in (*passage.headings[-1:], file):
        names += index.by_name(normal_form(words(text)))
    return names
