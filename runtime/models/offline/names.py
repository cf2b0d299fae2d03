"""Names in a text without a model: runs of capitalised words, code-like terms, Chinese and Japanese names.

A capital at the beginning of a sentence proves nothing, so such a word counts only if it does not occur in lower case
elsewhere and does not look like an ordinary opener. Only regular expressions and sets; time is linear in the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from runtime.models.offline.han import han_names
from runtime.models.offline.sentences import Sentence, sentences
from runtime.models.offline.terms import Word, is_abbreviated, is_camel, without_addresses, words
from runtime.models.offline.words import ABBREVIATIONS, CALENDAR, NATIONALITIES, OPENERS, PLACE_WORDS, STOP, TITLES

Kind = Literal["name", "code", "han", "work"]

LONGEST = 100
"""Characters of a name; longer finds are headlines or rubbish."""

_MOST_WORDS = 8
_PLAIN_ENDINGS = ("ly", "tion", "tions", "ing", "ness", "ment", "ments", "ists", "ers")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the text writes it, blanks folded; `text[start:end]` there, in the `sentence`-th of its sentences."""

    text: str
    start: int
    end: int
    sentence: int
    kind: Kind = "name"
    title: str = ""
    """Mr, President and the like before it, in lower case."""


@dataclass(frozen=True, slots=True)
class _Run:
    words: tuple[Word, ...]
    sentence: int
    initial: bool
    title: str = ""

    @property
    def key(self) -> str:
        return " ".join(word.text for word in self.words)


def names(text: str, known: Iterable[str] = ()) -> list[Name]:
    """Every occurrence of a name, in order. `known`: words that are names even at the beginning of a sentence."""
    return names_in(text, sentences(text), known)


def names_in(text: str, found: Sequence[Sentence], known: Iterable[str] = ()) -> list[Name]:
    """The same for a text whose sentences are known."""
    masked = without_addresses(text)
    by_sentence = [words(masked, sentence.start, sentence.end) for sentence in found]
    runs = [
        run
        for number, (sentence, tokens) in enumerate(zip(found, by_sentence, strict=True))
        for run in _runs(masked, sentence, tokens, number)
    ]
    headings = {number for number, sentence in enumerate(found) if sentence.heading}
    evidence = _evidence(by_sentence, [run for run in runs if run.sentence not in headings], known)
    latin = [name for run in runs for name in _judged(run, evidence, run.sentence in headings)]
    return list(_apart([*latin, *_han(masked, found)]))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a whole text tells about its words: seen in lower case, in a run, in a run or as a run inside a sentence."""

    lower: frozenset[str]
    named: frozenset[str]
    proven: frozenset[str]


def _evidence(by_sentence: Sequence[Sequence[Word]], runs: Sequence[_Run], known: Iterable[str]) -> _Evidence:
    lower = frozenset(word.text for tokens in by_sentence for word in tokens if word.text.islower())
    named = frozenset(word.text for run in runs for word in run.words if word.shape == "proper")
    inside = frozenset(word.text for run in runs for word in run.words[run.initial :])
    keys = frozenset(run.key for run in runs if not run.initial)
    return _Evidence(lower, named, inside | keys | frozenset(known))


def _apart(found: Iterable[Name]) -> Iterator[Name]:
    """The names in order; of two that overlap the one that begins first, or the longer one."""
    end = 0
    for name in sorted(found, key=lambda name: (name.start, -name.end)):
        if name.start >= end:
            yield name
            end = name.end


def _runs(text: str, sentence: Sentence, tokens: Sequence[Word], number: int) -> Iterator[_Run]:
    """Runs of words that belong together by their letters, ends trimmed."""
    run: list[Word] = []
    for word in [*tokens, None]:
        if run and (word is None or run[-1].possessive or not _joins(text, run[-1], word) or not _continues(run, word)):
            yield from _trimmed(run, tokens[0], number)
            run = []
        if word is None:
            break
        if word.shape == "code" or (sentence.code and is_camel(word.text)):
            yield from _code(word, number)
        elif not sentence.code and (run or word.shape == "proper"):
            run.append(word)


def _code(word: Word, number: int) -> Iterator[_Run]:
    if len(word.text.strip("_.")) > 3:
        yield _Run((word,), number, initial=False)


def _continues(run: Sequence[Word], word: Word) -> bool:
    if word.shape == "proper":
        return True
    if word.shape == "connector":
        return run[-1].shape != "number"
    return word.shape == "number" and run[-1].shape == "proper" and len(word.text.split(".")[0]) < 3


def _joins(text: str, left: Word, right: Word) -> bool:
    """Whether what stands between two words lets them be one name."""
    gap = text[left.end : right.start]
    mark = gap.strip()
    if gap.count("\n") > 1 or len(gap) > 8:
        return False
    if mark == ".":
        return is_abbreviated(left.text) or left.lower in TITLES or left.lower in {"jr", "sr", "st", "mt"}
    return not mark or (mark == "&" and len(gap) == 3)


def _trimmed(run: Sequence[Word], first: Word, number: int) -> Iterator[_Run]:
    """The run without connectors, titles and calendar words at its ends."""
    words = list(run)
    title = ""
    while words and (words[0].shape in ("connector", "number") or words[0].lower in CALENDAR or _is_title(words)):
        title = words[0].lower if words[0].lower in TITLES else ""
        words.pop(0)
    while words and (words[-1].shape == "connector" or words[-1].lower in CALENDAR):
        words.pop()
    if not words or len(words) > _MOST_WORDS or sum(len(word.text) + 1 for word in words) > LONGEST:
        return
    yield _Run(tuple(words), number, words[0] is first, title)


def _is_title(words: Sequence[Word]) -> bool:
    return len(words) > 1 and words[0].lower in TITLES and words[0].lower != "st" and words[1].shape == "proper"


def _judged(run: _Run, evidence: _Evidence, heading: bool) -> Iterator[Name]:
    """The run as a name, without an opener that is no part of it; nothing when nothing remains."""
    words = run.words
    if heading and not any(word.text in evidence.named for word in words):
        return
    if run.initial and not run.title and run.key not in evidence.proven and _is_opener(words, evidence):
        words = words[1:]
        while words and words[0].shape in ("connector", "number"):
            words = words[1:]
    if not words or (len(words) == 1 and not _stands_alone(words[0])):
        return
    kind: Kind = "code" if len(words) == 1 and (words[0].shape == "code" or is_camel(words[0].text)) else "name"
    yield Name(_text(words), words[0].start, words[-1].end, run.sentence, kind, run.title)


def _text(words: Sequence[Word]) -> str:
    parts = [words[0].text.strip("_")]
    for left, right in pairwise(words):
        dotted = is_abbreviated(left.text) or left.lower in ABBREVIATIONS
        gap = right.start - left.end
        parts.append((". " if dotted and gap > 1 else " & " if gap == 3 and not dotted else " ") + right.text)
    return _BLANKS.sub(" ", "".join(parts))


def _stands_alone(word: Word) -> bool:
    """Whether one word is enough of a name."""
    if word.lower in TITLES or word.lower in NATIONALITIES or (word.lower in OPENERS and word.text.istitle()):
        return False
    return len(word.text) > 1 and word.lower not in STOP and word.lower not in ABBREVIATIONS


def _is_opener(words: Sequence[Word], evidence: _Evidence) -> bool:
    """Whether the first word is capitalised only because the sentence begins."""
    first = words[0]
    if not first.text.istitle():
        return False
    if len(words) > 1 and first.lower in PLACE_WORDS:
        return False
    if first.lower in OPENERS or first.lower in evidence.lower:
        return True
    return len(words) == 1 and first.text not in evidence.proven and first.lower.endswith(_PLAIN_ENDINGS)


def _han(text: str, found: Sequence[Sentence]) -> Iterator[Name]:
    """Chinese and Japanese names, each with the sentence that holds it."""
    number = 0
    for name in han_names(text):
        while number + 1 < len(found) and found[number + 1].start <= name.start:
            number += 1
        if found and not found[number].code:
            kind: Kind = "work" if name.work else "han"
            yield Name(name.text, name.start, name.start + len(name.text), number, kind)
