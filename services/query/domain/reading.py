"""What a passage says of the entities it names, as far as a question asks for it."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from services.query.domain.linking import Link, NameIndex, Word, key_of, words
from services.query.domain.passage import Passage

NAMED, SPOKEN_OF, LED, TITLED = 1.0, 2.0, 3.0, 4.0
"""How much a sentence is about an entity: it names it; it follows one that begins with it; its paragraph begins with it;
its heading or its file is called so."""

_SENTENCE = re.compile(r"[.!?;](?=\s)|[。！？；]|\n+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ied", "ies", "ed", "es",
    "en", "e", "s", "y",
)  # fmt: skip
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: how much it is about which entities, and the asked words in it."""

    chunk: str
    place: int
    about: Mapping[str, float]
    heard: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """The words of a question that are no names, by stem."""

    stems: frozenset[str]
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Each stem with a word it is of."""
    nearer: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict[str, Mapping[str, frozenset[str]]])
    """By linked entity and word, the words that stand between them: what is said first of an entity stands next to it."""

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "Asked":
        """What the question says beside the links."""
        some = [word for word in words(question) if not word.common]
        free = [word for word in some if not _inside(word, links)]
        nearer: dict[str, Mapping[str, frozenset[str]]] = {}
        for link in links:
            before = [word for word in some if word.end <= link.start]
            behind = [word for word in some if word.start >= link.end]
            between = {**_between(behind, free), **_between(reversed(before), free)}
            nearer |= {name: between for name in link.names}
        forms = {stem(word.form): word.form for word in free}
        return cls(frozenset(forms), forms, nearer)

    def weights(self, said: Iterable[frozenset[str]]) -> Mapping[str, float]:
        """What each word counts: the rarer in what was read the more, as much as the others do on average where it was not
        read at all; together 1.
        """
        heard = [some for some in said if some]
        counts = Counter(word for some in heard for word in some)
        raw = {word: math.log(1 + (1 + len(heard)) / (1 + count)) for word, count in counts.items()}
        middle = sum(raw.values()) / len(raw) if raw else 1.0
        weights = {word: raw.get(word, middle) for word in self.stems}
        total = sum(weights.values()) or 1.0
        return {word: value / total for word, value in weights.items()}


def _inside(word: Word, links: Sequence[Link]) -> bool:
    return any(link.start <= word.start < link.end for link in links)


def _between(way: Iterable[Word], free: Collection[Word]) -> dict[str, frozenset[str]]:
    """For each word on the way from a link, up to the next link, the words before it."""
    passed: dict[str, frozenset[str]] = {}
    for word in way:
        if word not in free:
            break
        passed.setdefault(stem(word.form), frozenset(passed))
    return passed


@lru_cache(maxsize=1 << 14)
def stem(form: str) -> str:
    """A word without its ending, roughly: `founder`, `founded` and `founding` are one."""
    if not form.isascii():
        return form
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST_STEM:
            form = form[: -len(ending)]
            break
    return form[:-1] if len(form) > _SHORTEST_STEM + 1 and form[-1] == form[-2] else form


def sentences(passage: Passage, index: NameIndex, asked: Asked) -> list[Sentence]:
    """The sentences of a passage that are about entities. What each is about is told by where names stand."""
    text = passage.content
    some = words(text)
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    place_of = [bisect_right(ends, word.start) for word in some]
    heard: dict[int, set[str]] = {}
    first: dict[int, int] = {}
    paragraph_of: dict[int, int] = {}
    for number, (word, place) in enumerate(zip(some, place_of, strict=True)):
        heard.setdefault(place, set()).update({stem(word.form)} & asked.stems)
        if not word.common:
            first.setdefault(place, number)
        paragraph_of.setdefault(place, bisect_right(breaks, word.start))
    named_in: dict[int, list[tuple[str, ...]]] = {}
    leading: dict[int, tuple[str, ...]] = {}
    for number, _, names in named(some, index):
        place = place_of[number]
        named_in.setdefault(place, []).append(names)
        if first.get(place) == number:
            leading[place] = names
    titled = _titled(passage, index)
    found: list[Sentence] = []
    led: dict[int, tuple[str, ...]] = {}
    spoken: dict[int, tuple[str, ...]] = {}
    for place, paragraph in paragraph_of.items():
        own = named_in.get(place, [])
        if own:
            led.setdefault(paragraph, leading.get(place) or own[0])
        if place in leading:
            spoken[paragraph] = leading[place]
        about = {name: NAMED for names in own for name in names}
        about |= {name: SPOKEN_OF for name in spoken.get(paragraph, ())}
        about |= {name: LED for name in led.get(paragraph, ())}
        about |= {name: TITLED for name in titled}
        if about:
            found.append(Sentence(passage.id, place, about, frozenset(heard.get(place, ()))))
    return found


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


def lexical(question: str, passages: Mapping[str, Passage]) -> list[str]:
    """The passages that share words with the question, by BM25 (Robertson and Zaragoza, 2009), the best first."""
    asked = {stem(word.form) for word in words(question) if not word.common}
    counts = {id: Counter(stem(word.form) for word in words(passage.content)) for id, passage in passages.items()}
    lengths = {id: sum(count.values()) for id, count in counts.items()}
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1.0
    scores: dict[str, float] = {}
    for word in asked:
        having = {id: count[word] for id, count in counts.items() if count[word]}
        rarity = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
        for id, times in having.items():
            part = times * 2.2 / (times + 1.2 * (0.25 + 0.75 * lengths[id] / mean))
            scores[id] = scores.get(id, 0.0) + rarity * part
    return sorted(scores, key=lambda id: -scores[id])


