"""What a passage says of the entities it names, as far as a question asks for it."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from runtime.text.sentences import FULL_STOPS
from services.query.passage import Passage
from services.query.retrieval.linking import Link, NameIndex, Word, key_of, words

NAMED, LED, TITLED = 1.0, 3.0, 4.0
"""How much a sentence is about an entity: it names it; its paragraph begins with it; heading or file are called so."""

UNREAD = 0.7
"""What a word counts that was not read anywhere, beside the usual one: it may be said in others."""

_SENTENCE = re.compile(rf"[.!?;](?=\s)|[{FULL_STOPS}；]|\n+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ied", "ies", "ed",
    "es", "en", "e", "s", "y",
)  # fmt: skip
_SHORTEST_STEM = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: how much it is about which entities, and the asked words in it."""

    chunk: str
    place: int
    about: Mapping[str, float]
    heard: frozenset[str]
    words: frozenset[str] = frozenset()
    """All that say something and are no names."""


@dataclass(frozen=True)
class Asked:
    """The words of a question that are no names, by stem."""

    words: Mapping[str, str]
    """Each stem with a word it is of."""
    beside: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    )
    """By linked entity, the stems before it and those behind it, the nearest first, as far as the next link: what is
    said first of an entity stands next to it.
    """

    phrases: int = 0
    """Runs of words that stand together, as `home port` does."""

    @property
    def stems(self) -> frozenset[str]:
        """Of all words."""
        return frozenset(self.words)

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "Asked":
        """What the question says beside the links."""
        said: list[Word] = []
        phrases, together = 0, False
        for word in words(question):
            asks = not word.common and not any(link.start <= word.start < link.end for link in links)
            phrases += asks and not together
            together = asks
            if asks:
                said.append(word)
        forms: dict[str, str] = {}
        for word in said:
            forms.setdefault(stem(word.form), word.form)
        return cls(forms, {name: _beside(link, links, said) for link in links for name in link.names}, phrases)

    def weights(self, said: Iterable[frozenset[str]]) -> Mapping[str, float]:
        """What each word counts: the rarer in what was read the more; UNREAD of a usual one where it was not read."""
        heard = [some for some in said if some]
        counts = Counter(word for some in heard for word in some)
        raw = {word: math.log(1 + (1 + len(heard)) / (1 + count)) for word, count in counts.items()}
        middle = sum(raw.values()) / len(raw) if raw else 1.0
        return {word: raw.get(word, UNREAD * middle) for word in self.words}


def _beside(link: Link, links: Sequence[Link], said: Sequence[Word]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems on either side of a link as far as the next one, the nearest first."""
    low = max((other.end for other in links if other.end <= link.start), default=0)
    high = min((other.start for other in links if other.start >= link.end), default=1 << 30)
    before = [stem(word.form) for word in said if low <= word.start and word.end <= link.start]
    behind = [stem(word.form) for word in said if link.end <= word.start and word.end <= high]
    return tuple(reversed(before)), tuple(behind)


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
