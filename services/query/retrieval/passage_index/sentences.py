"""Sentences of passages with the entities they are about, and the terms of the question they
contain.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from runtime.text.sentences import FULL_STOPS
from services.query.passage import Passage
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index.stemming import stem
from services.query.retrieval.words import Word, normal_form, words

MENTIONED, LEADING, IN_TITLE = 1.0, 3.0, 4.0
"""How much a sentence is about an entity that it mentions, that leads its paragraph, that is its
heading or file.
"""

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
    whole: set[str] = field(default_factory=set[str])
    """Names of which more than the surname is there."""
    words: set[str] = field(default_factory=set[str])


def sentences_about_entities(
    passage: Passage, tokens: Sequence[Word], index: NameIndex
) -> list[Sentence]:
    """Return the sentences of a passage, of which `tokens` are the words, that are about entities.

    A sentence is about those it mentions, the one that leads its paragraph, and those that its
    heading or file names.
    """
    in_title = dict.fromkeys(_entities_in_title(passage, index), IN_TITLE)
    leading: dict[int, tuple[str, ...]] = {}
    sentences: list[Sentence] = []
    split = _split(passage.content, tokens, index)
    whole = {*in_title, *(name for parts in split.values() for name in parts.whole)}
    for position, parts in split.items():
        if parts.names:
            leading.setdefault(parts.paragraph, parts.leading or parts.names[0])
        about = {name: MENTIONED for names in parts.names for name in names}
        about |= {**dict.fromkeys(leading.get(parts.paragraph, ()), LEADING), **in_title}
        if about:
            stems = frozenset(map(stem, parts.words))
            sentences.append(
                Sentence(passage.id, position, about, stems, frozenset(about.keys() - whole))
            )
    return sentences


def _split(text: str, tokens: Sequence[Word], index: NameIndex) -> dict[int, _SentenceParts]:
    """Return the names and other words of each sentence, by its number."""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    places = [bisect_right(ends, word.start) for word in tokens]
    parts: dict[int, _SentenceParts] = {}
    inside: set[int] = set()
    first: dict[int, int] = {}
    for number, (word, position) in enumerate(zip(tokens, places, strict=True)):
        if position not in parts:
            parts[position] = _SentenceParts(bisect_right(breaks, word.start))
        if not word.is_stopword:
            first.setdefault(position, number)
    for number, part, names in mentions(tokens, index):
        here = parts[places[number]]
        inner, begins = names_inside(part, names, index)
        here.names += [names, *inner]
        opens = first.get(places[number]) == number
        leads = opens or (not here.leading and _SUBJECT.match(text, part[-1].end) is not None)
        leading = (*names, *begins, *index.short_forms(part, names)) if leads else ()
        here.leading = leading or here.leading
        if index.by_name(normal_form(part)):  # else it is a surname, which may be a common word too
            inside.update(range(number, number + len(part)))
            here.whole.update(names, *inner, leading)
    for number, word in enumerate(tokens):
        if number not in inside and not word.is_stopword:
            parts[places[number]].words.add(word.form)
    return parts


def mentions(
    tokens: Sequence[Word], index: NameIndex
) -> Iterator[tuple[int, Sequence[Word], tuple[str, ...]]]:
    """Yield names in running text: index of the first word, the words, the entities. A name has a
    capitalised word.
    """
    position = 0
    while position < len(tokens):
        for length in range(
            min(index.max_words(tokens[position].form), len(tokens) - position), 0, -1
        ):
            part = tokens[position : position + length]
            if any(word.is_capitalised and not word.is_stopword for word in part) and (
                names := index.by_name(normal_form(part))
            ):
                yield position, part, names
                position += length
                break
        else:
            word = tokens[position]
            if (
                word.is_capitalised
                and not word.is_stopword
                and (names := index.by_surname(word.form))
            ):
                yield position, [word], names
            position += 1


def names_inside(
    part: Sequence[Word], names: Collection[str], index: NameIndex
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the entities named by parts of a longer name, from left to right, and those whose name
    begins it.

    "Trent Reznor of Nine Inch Nails" names two more; one word alone says too little, as "New" of
    "New York Times".
    """
    inner, begins, position = list[tuple[str, ...]](), (), 0
    while position < len(part) - 1:
        for length in range(min(len(part) - position, len(part) - 1), 1, -1):
            some = part[position : position + length]
            found = tuple(name for name in index.by_name(normal_form(some)) if name not in names)
            apart = any(
                one.end < other.start for one, other in pairwise(some)
            )  # characters together are one word
            if (
                found
                and apart
                and any(word.is_capitalised and not word.is_stopword for word in some)
            ):
                inner.append(found)
                begins = begins if position else found
                position += length
                break
        else:
            position += 1
    return inner, begins


def _entities_in_title(passage: Passage, index: NameIndex) -> list[str]:
    file = passage.file_path.rsplit(".", 1)[0].replace("_", " ")
    return [
        name
        for text in (*passage.headings[-1:], file)
        for name in index.by_name(normal_form(words(text)))
    ]
