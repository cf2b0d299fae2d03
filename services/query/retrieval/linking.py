"""Which entities a question, or a passage, names: longest match first, then likeness of spelling for what is left.

Texts are compared word by word in a normal form (case, accents and punctuation folded; each Han, kana or Hangul
syllable block a word of its own, so that names are found where no blanks stand).
"""

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import OSA

from runtime.text.scripts import HAN_AND_KANA, HANGUL

LinkMethod = Literal["name", "surname", "spelling"]

MAX_NAME_WORDS = 12
"""Words of a name that is linked."""
MAX_ENTITIES_PER_NAME = 3
"""Entities that one form may mean: more say nothing."""
MAX_TEXT = 8000
"""Characters of a text that are read."""
MIN_MISSPELT_LETTERS = 5
"""Letters."""
MAX_MISSPELT_WORDS = 5
"""Words."""
LIKE_ENOUGH = 0.3
"""Dice's coefficient of letter trigrams from which spellings are compared letter by letter."""
COMPARED = 20

_BY_CHARACTER = HAN_AND_KANA + HANGUL
"""Scripts of which each character is compared as a word."""
_WORD = re.compile(rf"[^\W_{_BY_CHARACTER}]+|[{_BY_CHARACTER}]")
_IS_HAN = re.compile(f"[{_BY_CHARACTER}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_SURNAMED = frozenset({"person", "other", "unknown", ""})

STOPWORDS = frozenset(
    """a about after all also am an and any are as at be because been before between both but by can could did do does
    during each either first for from had has have he her hers him his how i if in into is it its last made many me more
    most much my name no not of off on one only or other our out over same she should so some such tell than that the
    their them then there these they this those through to two under until up us used very was we were what when where
    whether which while who whom whose why will with would you your
    please need know give show find list explain describe
    der die das den dem des ein eine und oder ist war wer wie was wo wann welche welcher welches von zu im in mit für
    auf le la les un une des du de et ou est qui que quel quelle dans avec pour el los las una y o es quien cual del
    con para
    """.split()  # noqa: SIM905 (a list of literals reads worse)
)
"""Words that are never a name by themselves, nor say what is asked."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word in its normal form; `start` and `end` say where it stands."""

    form: str
    start: int
    end: int
    is_capitalised: bool
    """Written with a capital, or in a script that has none."""

    @property
    def is_stopword(self) -> bool:
        """Whether it says nothing by itself."""
        return self.form in STOPWORDS or (len(self.form) == 1 and self.form.isascii())


@dataclass(frozen=True)
class Link:
    """What the text says there, and the entities that may be meant."""

    text: str
    start: int
    end: int
    names: tuple[str, ...]
    method: LinkMethod


def words(text: str) -> list[Word]:
    """The words of a text, at most the first `LONGEST_TEXT` characters. A possessive s is no word."""
    found: list[Word] = []
    for match in _WORD.finditer(text[:MAX_TEXT]):
        said, start = match[0], match.start()
        if said in "sS" and start and text[start - 1] in "'’" and found and found[-1].end == start - 1:
            continue
        capital = not said[0].islower()
        found.append(Word(normalised(said), start, match.end(), capital))
    return found


def normalised(word: str) -> str:
    """Without case, accents and widths."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", plain))


def normal_form(some: Sequence[Word]) -> str:
    """The normal form of several words."""
    return " ".join(word.form for word in some)


class NameIndex:
    """The names of one workspace, by what may be said for them. Built once with `of`, then only read."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._by_form: dict[str, list[int]] = {}
        self._by_last: dict[str, list[int]] = {}
        self._longest: dict[str, int] = {}
        self._forms: list[str] = []
        self._trigrams: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))

    def __len__(self) -> int:
        return len(self._names)

    def add(self, names: Iterable[tuple[str, str]]) -> None:
        """Names with their types, each once."""
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

    def _add_form(self, some: Sequence[Word], number: int) -> None:
        form = normal_form(some)
        numbers = self._by_form.setdefault(form, [])
        numbers.append(number)
        self._longest[some[0].form] = max(len(some), self._longest.get(some[0].form, 0))
        if len(numbers) == 1:
            self._forms.append(form)
            for trigram in set(trigrams(form)):
                self._trigrams[trigram].append(len(self._forms) - 1)

    def max_words(self, first: str) -> int:
        """Words of the longest name that begins with this one."""
        return self._longest.get(first, 0)

    def by_name(self, form: str) -> tuple[str, ...]:
        """The entities of this name."""
        numbers = self._by_form.get(form, ())
        return tuple(self._names[n] for n in numbers) if len(numbers) <= MAX_ENTITIES_PER_NAME else ()

    def by_surname(self, form: str) -> tuple[str, ...]:
        """The one whose name ends so, where there is only one."""
        numbers = self._by_last.get(form, ())
        return (self._names[numbers[0]],) if len(numbers) == 1 else ()

    def by_spelling(self, form: str) -> tuple[str, ...]:
        """The names nearest in spelling, within one slip for each five letters."""
        if len(form) < MIN_MISSPELT_LETTERS:
            return ()
        own = set(trigrams(form))
        shared = Counter(number for trigram in own for number in self._trigrams.get(trigram, ()))
        near = [(n, 2 * count / (len(own) + len(self._forms[n]))) for n, count in shared.most_common(200)]
        likely = sorted((pair for pair in near if pair[1] >= LIKE_ENOUGH), key=lambda pair: -pair[1])[:COMPARED]
        most = len(form) // MIN_MISSPELT_LETTERS
        # Optimal string alignment: two neighbours swapped are one slip, too.
        slips = {n: OSA.distance(form, self._forms[n], score_cutoff=most) for n, _ in likely}
        allowed = {n: s for n, s in slips.items() if s <= min(len(form), len(self._forms[n])) // MIN_MISSPELT_LETTERS}
        if not allowed:
            return ()
        best = min(allowed.values())
        found = [name for n, s in allowed.items() if s == best for name in self.by_name(self._forms[n])]
        return tuple(found) if len(found) <= MAX_ENTITIES_PER_NAME else ()


def trigrams(form: str) -> Iterator[str]:
    """Runs of three letters, the ends marked."""
    padded = f" {form} "
    return (padded[i : i + 3] for i in range(len(padded) - 2))


def link_entities(question: str, index: NameIndex) -> list[Link]:
    """The links of a question, in order, none over another: names, misspelt names of several words, surnames, and
    misspelt words, in this order of trust.
    """
    some = words(question)
    cased = any(word.is_capitalised and not word.is_stopword for word in some[1:])
    found = list(_exact_links(question, some, index, cased))
    found += _spelling_links(question, _runs(some, found), index, cased, shortest=2)
    for word in _unlinked(some, found):
        if _may_name([word], cased) and (names := index.by_surname(word.form)):
            found.append(_link(question, [word], names, "surname"))
    found += _spelling_links(question, _runs(some, found), index, cased, shortest=1)
    return sorted(found, key=lambda link: link.start)


def _exact_links(question: str, some: Sequence[Word], index: NameIndex, cased: bool) -> Iterator[Link]:
    place = 0
    while place < len(some):
        for length in range(min(index.max_words(some[place].form), len(some) - place), 0, -1):
            part = some[place : place + length]
            names = index.by_name(normal_form(part)) if _may_name(part, cased) else ()
            if names:
                yield _link(question, part, names, "name")
                place += length
                break
        else:
            place += 1


def _unlinked(some: Sequence[Word], found: Sequence[Link]) -> list[Word]:
    return [word for word in some if not any(link.start <= word.start < link.end for link in found)]


def _runs(some: Sequence[Word], found: Sequence[Link]) -> list[list[Word]]:
    """The words that are not linked, those together that stand together."""
    runs: list[list[Word]] = [[]]
    free = {word.start for word in _unlinked(some, found)}
    for word in some:
        if word.start in free:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return runs


def _spelling_links(
    question: str, runs: Sequence[Sequence[Word]], index: NameIndex, cased: bool, *, shortest: int
) -> Iterator[Link]:
    """The spans that are spelt like a name, the longest first."""
    taken: set[int] = set()
    for length in range(MAX_MISSPELT_WORDS, shortest - 1, -1):
        for part in [run[start : start + length] for run in runs for start in range(len(run) - length + 1)]:
            if part[0].is_stopword or part[-1].is_stopword or not _may_name(part, cased):
                continue
            if taken.isdisjoint(word.start for word in part) and (names := index.by_spelling(normal_form(part))):
                taken |= {word.start for word in part}
                yield _link(question, part, names, "spelling")


def _may_name(part: Sequence[Word], cased: bool) -> bool:
    """In a question that writes names with capitals, what has none is no name."""
    return any(not word.is_stopword for word in part) and (not cased or any(word.is_capitalised for word in part))


def _link(question: str, part: Sequence[Word], names: tuple[str, ...], by: LinkMethod) -> Link:
    start, end = part[0].start, part[-1].end
    return Link(question[start:end], start, end, names, by)


def unlinked_forms(question: str, found: Sequence[Link], longest: int = 5) -> list[str]:
    """What else of the question may be a name, as it is written: to be looked up where the index does not know it."""
    free = _unlinked(words(question), found)
    said: dict[str, None] = {}
    for start, word in enumerate(free):
        for last in free[start : start + longest]:
            text = question[word.start : last.end]
            if not word.is_stopword and not last.is_stopword and (word.is_capitalised or last.is_capitalised):
                said.setdefault(text)
    return list(said)
