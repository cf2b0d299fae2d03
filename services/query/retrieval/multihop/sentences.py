"""What a passage says of the entities it names, as far as a question asks for it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.query.passage import Passage
from services.query.retrieval.linking import NameIndex, Word, normal_form, words
from services.query.retrieval.multihop.query_terms import QueryTerms, stem

NAMED, LED, TITLED = 1.0, 3.0, 4.0
"""How much a sentence is about an entity: it names it; its paragraph begins with it; heading or file are called so."""


_SENTENCE = re.compile(r"[.!?;](?=\s)|[。！？；]|\n+")
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: how much it is about which entities, and the asked words in it."""

    chunk_id: str
    number: int
    entity_weights: Mapping[str, float]
    query_stems: frozenset[str]
    words: frozenset[str] = frozenset()
    """All that say something and are no names."""


@dataclass
class _SentenceParts:
    """A sentence while its passage is read."""

    paragraph: int
    names: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    leading: tuple[str, ...] = ()
    words: set[str] = field(default_factory=set[str])


def sentences_about_entities(passage: Passage, index: NameIndex, asked: QueryTerms) -> list[Sentence]:
    """The sentences of a passage that are about entities: those they name, the one their paragraph begins with, and the
    one the passage is called after.
    """
    titled = dict.fromkeys(_entities_in_title(passage, index), TITLED)
    led: dict[int, tuple[str, ...]] = {}
    found: list[Sentence] = []
    for place, drawn in _split(passage.content, index).items():
        if drawn.names:
            led.setdefault(drawn.paragraph, drawn.leading or drawn.names[0])
        about = {name: NAMED for names in drawn.names for name in names}
        about |= {**dict.fromkeys(led.get(drawn.paragraph, ()), LED), **titled}
        if about:
            heard = frozenset(map(stem, drawn.words)) & asked.stems
            found.append(Sentence(passage.id, place, about, heard, frozenset(drawn.words)))
    return found


def _split(text: str, index: NameIndex) -> dict[int, _SentenceParts]:
    """Names and other words, sentence by sentence."""
    some = words(text)
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    places = [bisect_right(ends, word.start) for word in some]
    drawn: dict[int, _SentenceParts] = {}
    inside: set[int] = set()
    first: dict[int, int] = {}
    for number, (word, place) in enumerate(zip(some, places, strict=True)):
        drawn.setdefault(place, _SentenceParts(bisect_right(breaks, word.start)))
        if not word.is_stopword:
            first.setdefault(place, number)
    for number, part, names in mentions(some, index):
        here = drawn[places[number]]
        here.names.append(names)
        inside.update(range(number, number + len(part)))
        if first.get(places[number]) == number:
            here.leading = names
    for number, word in enumerate(some):
        if number not in inside and not word.is_stopword:
            drawn[places[number]].words.add(word.form)
    return drawn


def mentions(some: Sequence[Word], index: NameIndex) -> Iterator[tuple[int, Sequence[Word], tuple[str, ...]]]:
    """Names in running text: the place of the first word, the words, the entities. Only where a capital stands."""
    place = 0
    while place < len(some):
        for length in range(min(index.max_words(some[place].form), len(some) - place), 0, -1):
            part = some[place : place + length]
            if any(word.is_capitalised and not word.is_stopword for word in part) and (
                names := index.by_name(normal_form(part))
            ):
                yield place, part, names
                place += length
                break
        else:
            word = some[place]
            if word.is_capitalised and not word.is_stopword and (names := index.by_surname(word.form)):
                yield place, [word], names
            place += 1


def _entities_in_title(passage: Passage, index: NameIndex) -> list[str]:
    file = passage.file_path.rsplit(".", 1)[0].replace("_", " ")
    return [name for text in (*passage.headings[-1:], file) for name in index.by_name(normal_form(words(text)))]
