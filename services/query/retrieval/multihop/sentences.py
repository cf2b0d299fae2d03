"""What a passage says of the entities it names, as far as a question asks for it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.query.passage import Passage
from services.query.retrieval.linking import NameIndex, Word, key_of, words
from services.query.retrieval.multihop.query_terms import Asked, stem

NAMED, LED, TITLED = 1.0, 3.0, 4.0
"""How much a sentence is about an entity: it names it; its paragraph begins with it; heading or file are called so."""


_SENTENCE = re.compile(r"[.!?;](?=\s)|[。！？；]|\n+")
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: how much it is about which entities, and the asked words in it."""

    chunk: str
    place: int
    about: Mapping[str, float]
    heard: frozenset[str]
    words: frozenset[str] = frozenset()
    """All that say something and are no names."""


@dataclass
class _Drawn:
    """A sentence while its passage is read."""

    paragraph: int
    names: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    leading: tuple[str, ...] = ()
    words: set[str] = field(default_factory=set[str])


def sentences(passage: Passage, index: NameIndex, asked: Asked) -> list[Sentence]:
    """The sentences of a passage that are about entities: those they name, the one their paragraph begins with, and the
    one the passage is called after.
    """
    titled = dict.fromkeys(_titled(passage, index), TITLED)
    led: dict[int, tuple[str, ...]] = {}
    found: list[Sentence] = []
    for place, drawn in _drawn(passage.content, index).items():
        if drawn.names:
            led.setdefault(drawn.paragraph, drawn.leading or drawn.names[0])
        about = {name: NAMED for names in drawn.names for name in names}
        about |= {**dict.fromkeys(led.get(drawn.paragraph, ()), LED), **titled}
        if about:
            heard = frozenset(map(stem, drawn.words)) & asked.stems
            found.append(Sentence(passage.id, place, about, heard, frozenset(drawn.words)))
    return found


def _drawn(text: str, index: NameIndex) -> dict[int, _Drawn]:
    """Names and other words, sentence by sentence."""
    some = words(text)
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    places = [bisect_right(ends, word.start) for word in some]
    drawn: dict[int, _Drawn] = {}
    inside: set[int] = set()
    first: dict[int, int] = {}
    for number, (word, place) in enumerate(zip(some, places, strict=True)):
        drawn.setdefault(place, _Drawn(bisect_right(breaks, word.start)))
        if not word.common:
            first.setdefault(place, number)
    for number, part, names in named(some, index):
        here = drawn[places[number]]
        here.names.append(names)
        inside.update(range(number, number + len(part)))
        if first.get(places[number]) == number:
            here.leading = names
    for number, word in enumerate(some):
        if number not in inside and not word.common:
            drawn[places[number]].words.add(word.form)
    return drawn


def named(some: Sequence[Word], index: NameIndex) -> Iterator[tuple[int, Sequence[Word], tuple[str, ...]]]:
    """Names in running text: the place of the first word, the words, the entities. Only where a capital stands."""
    place = 0
    while place < len(some):
        for length in range(min(index.longest(some[place].form), len(some) - place), 0, -1):
            part = some[place : place + length]
            if any(word.capital and not word.common for word in part) and (names := index.called(key_of(part))):
                yield place, part, names
                place += length
                break
        else:
            word = some[place]
            if word.capital and not word.common and (names := index.surnamed(word.form)):
                yield place, [word], names
            place += 1


def _titled(passage: Passage, index: NameIndex) -> list[str]:
    file = passage.file_path.rsplit(".", 1)[0].replace("_", " ")
    return [name for text in (*passage.headings[-1:], file) for name in index.called(key_of(words(text)))]
