"""What a passage says of the entities it names, as far as a question asks for it."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from services.query.domain.linking import Link, NameIndex, Word, key_of, words
from services.query.domain.passage import Passage

MENTION, SENTENCE, LINE, TITLE = 1.0, 1.5, 3.0, 4.0
"""How much a passage is about an entity: it names it, begins a sentence or a line with it, or is called so."""

_SENTENCE = re.compile(r"[.!?;](?=\s)|[。！？；]|\n+")
_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ied", "ies", "ed", "es",
    "en", "e", "s", "y",
)  # fmt: skip
_SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a passage; `heard` are the asked words in the sentence that says most of them beside the name."""

    chunk: str
    name: str
    about: float
    heard: frozenset[str]


@dataclass(frozen=True)
class Asked:
    """The words of a question that are no names, by stem."""

    stems: frozenset[str]

    @classmethod
    def of(cls, question: str, links: Sequence[Link]) -> "Asked":
        """What the question says beside the links."""
        free = (w for w in words(question) if not any(link.start <= w.start < link.end for link in links))
        return cls(frozenset(stem(word.form) for word in free if not word.common))

    def weights(self, said: Iterable[frozenset[str]]) -> Mapping[str, float]:
        """Of each word: the rarer in what was read, the more; together 1."""
        heard = [some for some in said if some]
        counts = Counter(word for some in heard for word in some)
        raw = {word: math.log(1 + (1 + len(heard)) / (1 + counts[word])) for word in self.stems}
        total = sum(raw.values()) or 1.0
        return {word: value / total for word, value in raw.items()}


@lru_cache(maxsize=1 << 14)
def stem(form: str) -> str:
    """A word without its ending, roughly: `founder`, `founded` and `founding` are one."""
    if not form.isascii():
        return form
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST_STEM:
            form = form[: -len(ending)]
            break
    return form[:-1] if len(form) > _SHORTEST_STEM and form[-1] == form[-2] else form


def mentions(passage: Passage, index: NameIndex, asked: Asked) -> list[Mention]:
    """The entities that the passage names, each once."""
    text = passage.content
    some = words(text)
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    sentence_of = [bisect_right(ends, word.start) for word in some]
    stems: dict[int, set[str]] = {}
    for word, number in zip(some, sentence_of, strict=True):
        if (known := stem(word.form)) in asked.stems:
            stems.setdefault(number, set()).add(known)
    titles = _titles(passage)
    found: dict[str, Mention] = {}
    for place, part, names in named(some, index):
        heard = frozenset(stems.get(sentence_of[place], ()))
        about = TITLE if key_of(part) in titles else _about(text, some, place, sentence_of)
        for name in names:
            known = found.get(name)
            if known:
                heard, about = max(known.heard, heard, key=len), max(known.about, about)
            found[name] = Mention(passage.id, name, about, heard)
    return list(found.values())


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


def _titles(passage: Passage) -> set[str]:
    stem_of_file = passage.file_path.rsplit(".", 1)[0]
    return {key_of(words(text)) for text in (*passage.headings[-1:], stem_of_file.replace("_", " "))}


def _about(text: str, some: Sequence[Word], place: int, sentence_of: Sequence[int]) -> float:
    first = place
    while first and sentence_of[first - 1] == sentence_of[place]:
        first -= 1
    if any(not word.common for word in some[first:place]):
        return MENTION
    before = text[: some[first].start].rstrip(" \t#*_-\"'“«「《")
    return LINE if not before or before.endswith("\n") else SENTENCE


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


