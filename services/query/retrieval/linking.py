"""Links a question or a passage to the entities it names: longest match first, then by surname and by spelling.

Texts are compared word by word in a normal form: without case, accents and punctuation. Each Han character, kana or
Hangul syllable counts as one word, so that names are found in scripts that put no blanks between words.
"""

import re
import sys
import unicodedata
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from runtime.text.scripts import HAN_AND_KANA, HANGUL
from services.query.retrieval.stopwords import STOPWORDS

LinkMethod = Literal["name", "surname", "spelling"]

MAX_NAME_WORDS = 12
"""Longest name, in words, that is indexed."""
MAX_ENTITIES_PER_NAME = 3
"""A form that names more entities than this is too ambiguous and gets no link."""
MAX_TEXT = 8000
"""Only so many characters from the start of a text are read."""
MIN_MISSPELT_LETTERS = 5
"""Shortest form that is corrected, in characters; also the characters per allowed typing error."""
MAX_MISSPELT_WORDS = 5
"""Longest span of a question, in words, that is corrected."""
MAX_CORRECTED = 64
"""Words of a question, the first that are part of no name, whose spelling is corrected."""
MAX_FORMS = 128
"""Spans of a question that are looked up beyond the index at most, the first ones."""
LIKE_ENOUGH = 0.3
"""Lowest Dice coefficient of letter trigrams, 0 to 1, at which two spellings are compared letter by letter."""
COMPARED = 20
"""Largest number of names that one form is compared with letter by letter."""

_SEVERAL_WORDS = range(MAX_MISSPELT_WORDS, 1, -1)
_BY_CHARACTER = HAN_AND_KANA + HANGUL
"""Scripts of which each character is compared as a word."""
_WORD = re.compile(rf"[^\W_{_BY_CHARACTER}]+|[{_BY_CHARACTER}]")
_IS_HAN = re.compile(f"[{_BY_CHARACTER}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_SURNAMED = frozenset({"person", "other", "unknown", ""})


class Word(NamedTuple):
    """A word in its normal form; `start` and `end` are its character offsets in the text."""

    form: str
    start: int
    end: int
    is_capitalised: bool
    """True if it starts with a capital letter or belongs to a script without letter case."""
    is_stopword: bool  # or a single ASCII letter or digit


@dataclass(frozen=True)
class Link:
    """A span of the text with the names of the entities that it may mean, and how they were found."""

    text: str
    start: int
    end: int
    names: tuple[str, ...]
    method: LinkMethod


def words(text: str) -> list[Word]:
    """Return the words in the first `MAX_TEXT` characters of a text, without the s of a possessive."""
    result: list[Word] = []
    for match in _WORD.finditer(text[:MAX_TEXT]):
        start, end = match.span()
        raw = match[0]
        if raw in "sS" and start and text[start - 1] in "'’" and result and result[-1].end == start - 1:
            continue
        form, capital, stopword = _properties(raw)
        result.append(Word(form, start, end, capital, stopword))
    return result


@lru_cache(maxsize=1 << 16)
def _properties(word: str) -> tuple[str, bool, bool]:
    """Return the normal form of a word, whether it is capitalised, and whether it is a stopword."""
    form = sys.intern(normalised(word))
    return form, not word[0].islower(), form in STOPWORDS or (len(form) == 1 and form.isascii())


def normalised(word: str) -> str:
    """Return the word without differences of case, accent and character width."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", plain))


def normal_form(some: Sequence[Word]) -> str:
    """Return the normal form of several words, joined by blanks."""
    return " ".join(word.form for word in some)


_numbers = count()


class NameIndex:
    """Index of one workspace's entity names by normal form, surname and spelling; `add` fills it."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        """No other index of this process has it."""
        self._names: list[str] = []
        self._by_form: dict[str, list[int]] = {}
        self._by_last: dict[str, list[int]] = {}
        self._longest: dict[str, int] = {}
        self._forms: list[str] = []
        self._trigrams: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))

    def __len__(self) -> int:
        return len(self._names)

    def add(self, names: Iterable[tuple[str, str]]) -> None:
        """Add pairs of an entity name and its type; the caller gives each name once."""
        for name, type in names:
            some = words(name)
            if not some or len(some) > MAX_NAME_WORDS:
                continue
            number = len(self._names)
            self._names.append(name)
            self._add_form(some, number)
            if some[0].form == "the" and len(some) > 1:
                self._add_form(some[1:], number)
            if len(some) > 1 and type.lower() in _SURNAMED and not _IS_HAN.match(some[-1].form):
                self._by_last.setdefault(some[-1].form, []).append(number)

    def add_aliases(self, aliases: Iterable[tuple[str, str]]) -> None:
        """Add pairs of another name and the entity it means, of entities that are in the index already."""
        numbers = {name: number for number, name in enumerate(self._names)}
        for alias, name in aliases:
            if name in numbers and 0 < len(some := words(alias)) <= MAX_NAME_WORDS:
                self._add_form(some, numbers[name])

    def _add_form(self, some: Sequence[Word], number: int) -> None:
        form = normal_form(some)
        if number in (numbers := self._by_form.setdefault(form, [])):
            return
        numbers.append(number)
        self._longest[some[0].form] = max(len(some), self._longest.get(some[0].form, 0))
        if len(numbers) == 1:
            self._forms.append(form)
            for trigram in set(trigrams(form)):
                self._trigrams[trigram].append(len(self._forms) - 1)

    def max_words(self, first: str) -> int:
        """Return how many words the longest name has that begins with the word `first`; 0 without such a name."""
        return self._longest.get(first, 0)

    def by_name(self, form: str) -> tuple[str, ...]:
        """Return the entities with this normal form; none if there are more than `MAX_ENTITIES_PER_NAME`."""
        numbers = self._by_form.get(form, ())
        return tuple(self._names[n] for n in numbers) if len(numbers) <= MAX_ENTITIES_PER_NAME else ()

    def by_surname(self, form: str) -> tuple[str, ...]:
        """Return the only entity whose name ends with this word; nothing if there is none or more than one."""
        numbers = self._by_last.get(form, ())
        return (self._names[numbers[0]],) if len(numbers) == 1 else ()

    def by_spelling(self, form: str) -> tuple[str, ...]:
        """Return the names nearest in spelling, with at most one typing error per `MIN_MISSPELT_LETTERS` characters."""
        if len(form) < MIN_MISSPELT_LETTERS:
            return ()
        likely = self._similar_forms(form)
        most = len(form) // MIN_MISSPELT_LETTERS
        # Optimal string alignment also counts two swapped neighbours as one error.
        slips = {n: OSA.distance(form, self._forms[n], score_cutoff=most) for n in likely}
        allowed = {n: s for n, s in slips.items() if s <= min(len(form), len(self._forms[n])) // MIN_MISSPELT_LETTERS}
        if not allowed:
            return ()
        best = min(allowed.values())
        names = [name for n, s in allowed.items() if s == best for name in self.by_name(self._forms[n])]
        return tuple(names) if len(names) <= MAX_ENTITIES_PER_NAME else ()

    def _similar_forms(self, form: str) -> list[int]:
        """Return the numbers of the `COMPARED` forms that share most trigrams with this one, the most similar first."""
        own = set(trigrams(form))
        postings = [np.frombuffer(found, np.uint32) for each in own if (found := self._trigrams.get(each))]
        if not postings:
            return []
        shared = np.bincount(np.concatenate(postings))
        # Below this many shared trigrams no form of any length is similar enough.
        likely = np.flatnonzero(shared >= LIKE_ENOUGH * len(own) / (2 - LIKE_ENOUGH))
        dice = np.array([2 * shared[n] / (len(own) + len(self._forms[n])) for n in likely.tolist()])
        order = np.argsort(-dice, kind="stable")[:COMPARED]
        return [int(likely[n]) for n in order if dice[n] >= LIKE_ENOUGH]


def trigrams(form: str) -> Iterator[str]:
    """Return all runs of three characters of the form, with a blank added at both ends."""
    padded = f" {form} "
    return (padded[i : i + 3] for i in range(len(padded) - 2))


def link_entities(question: str, index: NameIndex) -> list[Link]:
    """Return the links of a question in the order of the text; links never overlap.

    Exact names have priority, then misspelt names of several words, then surnames, then single misspelt words.
    """
    question_words = words(question)
    # A year has no case: it does not make a question in lower case one that writes its names with capitals.
    cased = any(question[word.start].isupper() and not word.is_stopword for word in question_words[1:])
    links = list(_exact_links(question, question_words, index, cased))
    links += _spelling_links(question, _runs(question_words, links), index, cased, _SEVERAL_WORDS)
    for word in _unlinked(question_words, links):
        if _may_name([word], cased) and (names := index.by_surname(word.form)):
            links.append(_link(question, [word], names, "surname"))
    links += _spelling_links(question, _runs(question_words, links), index, cased, (1,))
    return sorted(links, key=lambda link: link.start)


def _exact_links(question: str, question_words: Sequence[Word], index: NameIndex, cased: bool) -> Iterator[Link]:
    position = 0
    while position < len(question_words):
        for length in range(min(index.max_words(question_words[position].form), len(question_words) - position), 0, -1):
            part = question_words[position : position + length]
            names = index.by_name(normal_form(part)) if _may_name(part, cased) else ()
            if names:
                yield _link(question, part, names, "name")
                position += length
                break
        else:
            position += 1


def _unlinked(question_words: Sequence[Word], links: Iterable[Link]) -> list[Word]:
    covered = sorted((link.start, link.end) for link in links)
    starts = [start for start, _ in covered]
    return [
        word
        for word in question_words
        if not (place := bisect_right(starts, word.start)) or word.start >= covered[place - 1][1]
    ]


def _runs(question_words: Sequence[Word], links: Sequence[Link]) -> list[list[Word]]:
    """Return the first `MAX_CORRECTED` unlinked words of the question, grouped into runs of adjacent words."""
    runs: list[list[Word]] = [[]]
    unlinked_starts = {word.start for word in _unlinked(question_words, links)[:MAX_CORRECTED]}
    for word in question_words:
        if word.start in unlinked_starts:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return runs


def _spelling_links(
    question: str, runs: Sequence[Sequence[Word]], index: NameIndex, cased: bool, lengths: Iterable[int]
) -> Iterator[Link]:
    """Yield links for spans of so many words that are spelt like a name, in the order of the lengths."""
    linked_starts: set[int] = set()
    for length in lengths:
        for part in [run[start : start + length] for run in runs for start in range(len(run) - length + 1)]:
            if part[0].is_stopword or part[-1].is_stopword or not _may_name(part, cased):
                continue
            if linked_starts.isdisjoint(word.start for word in part) and (
                names := index.by_spelling(normal_form(part))
            ):
                linked_starts |= {word.start for word in part}
                yield _link(question, part, names, "spelling")


def _may_name(part: Sequence[Word], cased: bool) -> bool:
    """Return whether the words may be a name: not if the question capitalises names and none of these words is."""
    return any(not word.is_stopword for word in part) and (not cased or any(word.is_capitalised for word in part))


def _link(question: str, part: Sequence[Word], names: tuple[str, ...], method: LinkMethod) -> Link:
    start, end = part[0].start, part[-1].end
    return Link(question[start:end], start, end, names, method)


def unlinked_forms(question: str, found: Sequence[Link], longest: int = 5) -> list[str]:
    """Return further spans of at most `longest` words that may be names, as written, for a lookup beyond the index."""
    unlinked = _unlinked(words(question), found)
    forms: dict[str, None] = {}
    for start, word in enumerate(unlinked):
        for last in unlinked[start : start + longest]:
            text = question[word.start : last.end]
            if not word.is_stopword and not last.is_stopword and (word.is_capitalised or last.is_capitalised):
                forms.setdefault(text)
        if len(forms) >= MAX_FORMS:
            break
    return list(forms)[:MAX_FORMS]
