"""Names in a text without a model: runs of capitalised words, code-like terms, Chinese and Japanese
names.

A capital at the beginning of a sentence, of a cell or behind a colon proves nothing. A word that
stands only there counts as a name if it occurs nowhere in lower case, is no ordinary opener or
verb, and is the subject of what follows. Only regular expressions and sets; time is linear in the
text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, pairwise
from typing import Literal

from offline.language.han import han_names
from offline.language.quotes import quoted_titles, with_nicknames
from offline.language.scripts import HAN_AND_KANA
from offline.language.sentences import Sentence, sentences
from offline.language.terms import (
    Word,
    is_abbreviated,
    is_camel,
    is_shouted,
    is_verb,
    without_addresses,
    words_of_sentence,
)
from offline.language.word_lists import (
    ABBREVIATIONS,
    CALENDAR,
    FINITE,
    FOREIGN_OPENERS,
    GERMAN,
    GIVEN_NAMES,
    LOCATION,
    NATIONALITIES,
    NO_NAMES,
    OPENERS,
    PLACE_WORDS,
    TITLES,
)

Kind = Literal["name", "code", "han", "work"]

LONGEST = 100
"""Characters of a name; longer finds are headlines or rubbish."""

_MOST_WORDS = 8
_PLAIN_ENDINGS = ("ly", "tion", "tions", "ing", "ness", "ment", "ments", "ists", "ers")
_STARTING = re.compile(r"[:|—•]")
_ADJECTIVE = re.compile(r"-[a-z]{3,}$")
_HAN = re.compile(f"[{HAN_AND_KANA}]")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the text writes it, blanks folded; `text[start:end]` there, in the `sentence`-th of
    its sentences.
    """

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
    subject: bool
    title: str = ""

    @property
    def key(self) -> str:
        return " ".join(word.text for word in self.words)


def names(text: str, nouns: Iterable[str] = ()) -> list[Name]:
    """Return every occurrence of a name, in order. `nouns`: words that are names even where a
    sentence begins.
    """
    return names_in(text, sentences(text), nouns)


def names_in(text: str, in_sentences: Sequence[Sentence], nouns: Iterable[str] = ()) -> list[Name]:
    """Return the same for a text whose sentences are known."""
    prose = without_addresses(text)
    by_sentence = [
        with_nicknames(prose, words_of_sentence(prose, s.start, s.end)) for s in in_sentences
    ]
    runs = [
        run
        for number, (sentence, tokens) in enumerate(zip(in_sentences, by_sentence, strict=True))
        for run in _runs(prose, sentence, tokens, number)
    ]
    headings = {number for number, sentence in enumerate(in_sentences) if sentence.heading}
    evidence = _evidence(by_sentence, [run for run in runs if run.sentence not in headings], nouns)
    parts = [part for run in runs for part in _apart_at_connector(run, evidence)]
    latin = [name for run in parts for name in _judged(run, evidence, run.sentence in headings)]
    titles = [
        Name(prose[start:end], start, end, n, "work")
        for n, start, end in quoted_titles(prose, in_sentences)
    ]
    return list(_apart([*latin, *_han(prose, in_sentences), *titles]))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a text tells: whether it is German; words in lower case; runs and words in them; those
    surely names.
    """

    german: bool
    lower: frozenset[str]
    named: frozenset[str]
    proven: frozenset[str]


def _evidence(
    by_sentence: Sequence[Sequence[Word]], runs: Sequence[_Run], nouns: Iterable[str]
) -> _Evidence:
    lower = Counter(word.text for tokens in by_sentence for word in tokens if word.text.islower())
    german = sum(lower[word] for word in GERMAN) * 8 > lower.total()
    forms = frozenset(word.text for run in runs for word in run.words if word.shape == "proper")
    inside = frozenset(word.text for run in runs for word in run.words[run.initial :])
    keys = frozenset(run.key for run in runs if not run.initial)
    return _Evidence(
        german,
        frozenset(lower),
        forms | {run.key for run in runs},
        inside | keys | frozenset(nouns),
    )


def _apart(candidates: Iterable[Name]) -> Iterator[Name]:
    """Yield the names in order; of two that overlap the one that begins first, or the longer
    one.
    """
    end = 0
    for name in sorted(candidates, key=lambda name: (name.start, -name.end)):
        if name.start >= end:
            yield name
            end = name.end


def _runs(text: str, sentence: Sentence, tokens: Sequence[Word], number: int) -> Iterator[_Run]:
    """Yield runs of words that belong together by their letters, ends trimmed."""
    if is_shouted(tokens):
        return
    starts = _starts(text, sentence, tokens)
    run: list[Word] = []
    for place, word in enumerate([*tokens, None]):
        if run and (
            word is None
            or run[-1].possessive
            or not _joins(text, run[-1], word)
            or not _continues(run, word)
        ):
            yield from _trimmed(
                run, starts, number, subject=_is_subject(text, run[-1], tokens[place : place + 2])
            )
            run = []
        if word is None:
            break
        if word.shape == "code" or (sentence.code and is_camel(word.text)):
            yield from _code(word, number)
        elif not sentence.code and (run or word.shape == "proper"):
            run.append(word)


def _starts(text: str, sentence: Sentence, tokens: Sequence[Word]) -> frozenset[int]:
    """Return where a capital proves nothing: at the first word of a sentence, behind a colon, in a
    new cell.
    """
    bare = [word for word in tokens if word.shape != "number"][:1]
    first = [word.start for word in bare if not _HAN.search(text, sentence.start, word.start)]
    inner = (
        later.start
        for earlier, later in pairwise(tokens)
        if _STARTING.search(text, earlier.end, later.start)
    )
    return frozenset([*first, *inner])


def _is_subject(text: str, last_word: Word, following: Sequence[Word]) -> bool:
    """Return whether what follows a run says something of it: a verb form, an explanation, another
    name beside it.
    """
    gap = text[last_word.end : following[0].start if following else last_word.end + 1].strip(" ")
    if last_word.possessive or not following:
        return last_word.possessive or _HAN.match(gap) is not None
    word = following[0]
    if gap.startswith(("(", "'", "’")) or _HAN.match(gap):
        return True
    if gap == ",":
        return word.lower in ("a", "an", "who", "which", "whose") or word.shape == "proper"
    if gap:
        return False
    if word.lower == "and":
        return following[-1].shape == "proper"
    return word.lower in FINITE or (word.shape == "plain" and word.lower.endswith(("ed", "s")))


def _code(word: Word, number: int) -> Iterator[_Run]:
    if len(word.text.strip("_.")) > 3:
        yield _Run((word,), number, initial=False, subject=False)


def _continues(run: Sequence[Word], word: Word) -> bool:
    if word.shape == "proper":
        return True
    if word.shape == "connector":
        return run[-1].shape != "number"
    return word.shape == "number" and run[-1].shape == "proper" and len(word.text.split(".")[0]) < 3


def _joins(text: str, earlier: Word, later: Word) -> bool:
    """Return whether what stands between two words lets them be one name."""
    gap = text[earlier.end : later.start]
    punctuation = gap.strip()
    if gap.count("\n") > 1 or len(gap) > 8:
        return False
    if punctuation == ".":
        return (
            is_abbreviated(earlier.text)
            or earlier.lower in TITLES
            or earlier.lower in {"jr", "sr", "st", "mt"}
        )
    return not punctuation or (punctuation == "&" and len(gap) == 3)


def _trimmed(
    run: Sequence[Word], starts: frozenset[int], number: int, *, subject: bool
) -> Iterator[_Run]:
    """Yield the run without connectors, titles and calendar words at its ends."""
    words = list(run)
    title = ""
    while words and (
        words[0].shape in ("connector", "number") or words[0].lower in CALENDAR or _is_title(words)
    ):
        title = words[0].lower if words[0].lower in TITLES else ""
        words.pop(0)
    while words and (words[-1].shape == "connector" or words[-1].lower in CALENDAR):
        words.pop()
    if not words or len(words) > _MOST_WORDS or sum(len(word.text) + 1 for word in words) > LONGEST:
        return
    yield _Run(tuple(words), number, words[0].start in starts, subject, title)


def _is_title(words: Sequence[Word]) -> bool:
    return (
        len(words) > 1
        and words[0].lower in TITLES
        and words[0].lower != "st"
        and words[1].shape == "proper"
    )


def _apart_at_connector(run: _Run, evidence: _Evidence) -> list[_Run]:
    """Split `Ada Marlow of the Harbour Office` in two where the text has `Ada Marlow` by itself
    too.
    """
    for place, word in enumerate(run.words):
        if (
            place > 1
            and word.shape == "connector"
            and " ".join(w.text for w in run.words[:place]) in evidence.named
        ):
            remainder = tuple(dropwhile(lambda token: token.shape != "proper", run.words[place:]))
            return [
                replace(run, words=run.words[:place]),
                replace(run, words=remainder, initial=False, title=""),
            ]
    return [run]


def _judged(run: _Run, evidence: _Evidence, heading: bool) -> Iterator[Name]:
    """Yield the run as a name, without an opener that is no part of it; nothing when nothing
    remains.
    """
    words = run.words
    if heading and not any(word.text in evidence.named for word in words):
        return
    if run.initial and not run.title and run.key not in evidence.proven:
        words = _without_opener(words, evidence)
        if len(words) == len(run.words) == 1 and not _is_borne_out(run, evidence):
            return
    if (
        not words
        or (len(words) == 1 and not _stands_alone(words[0], evidence))
        or _is_emphasis(words, evidence)
    ):
        return
    kind: Kind = (
        "code"
        if len(words) == 1 and (words[0].shape == "code" or is_camel(words[0].text))
        else "name"
    )
    kind = "han" if all(_HAN.match(word.text) for word in words) else kind
    yield Name(_text(words), words[0].start, words[-1].end, run.sentence, kind, run.title)


def _without_opener(words: tuple[Word, ...], evidence: _Evidence) -> tuple[Word, ...]:
    """Return the words without those that are capitalised only because a sentence begins."""
    if not _is_opener(words, evidence):
        return words
    words = words[1:]
    while words and words[0].shape in ("connector", "number"):
        words = words[1:]
    return words


def _is_borne_out(run: _Run, evidence: _Evidence) -> bool:
    """Return whether one word at a beginning is a name: by its letters, its use elsewhere, a list
    or its context.
    """
    word = run.words[0]
    if not word.text.istitle() or word.text in evidence.proven:
        return True
    return run.subject or word.lower in LOCATION or word.lower in GIVEN_NAMES


def _is_emphasis(words: Sequence[Word], evidence: _Evidence) -> bool:
    """Return whether these are ordinary words in capitals."""
    return all(
        len(word.text) > 3 and word.text.isupper() and word.lower in evidence.lower
        for word in words
    )


def _text(words: Sequence[Word]) -> str:
    parts = [words[0].text.strip("_")]
    for earlier, later in pairwise(words):
        has_full_stop = is_abbreviated(earlier.text) or earlier.lower in ABBREVIATIONS
        gap = later.start - earlier.end
        separator = " "
        if has_full_stop and gap > 1:
            separator = ". "
        elif gap == 3 and not has_full_stop:
            separator = " & "
        parts.append(separator + later.text)
    return _BLANKS.sub(" ", "".join(parts))


def _stands_alone(word: Word, evidence: _Evidence) -> bool:
    """Return whether one word is enough of a name."""
    lower = word.lower
    if (
        lower in TITLES
        or lower in NATIONALITIES
        or lower in NO_NAMES
        or (lower in OPENERS and word.text.istitle())
    ):
        return False
    if (
        evidence.german
        and word.text.istitle()
        and lower not in LOCATION
        and lower not in GIVEN_NAMES
    ):
        return False
    if _ADJECTIVE.search(word.text) or (
        len(word.text) == 2 and any(letter.isdigit() for letter in word.text)
    ):
        return False
    return word.shape in ("proper", "code") and len(word.text) > 1 and lower not in ABBREVIATIONS


def _is_opener(words: Sequence[Word], evidence: _Evidence) -> bool:
    """Return whether the first word is capitalised only because the sentence begins."""
    first = words[0]
    if not first.text.istitle():
        return False
    if len(words) > 1 and first.lower in PLACE_WORDS:
        return False
    if first.lower in OPENERS or first.lower in FOREIGN_OPENERS or first.lower in evidence.lower:
        return True
    if first.text in evidence.proven or first.lower in GIVEN_NAMES:
        return False
    return is_verb(first.lower) or (len(words) == 1 and first.lower.endswith(_PLAIN_ENDINGS))


def _han(text: str, in_sentences: Sequence[Sentence]) -> Iterator[Name]:
    """Yield Chinese and Japanese names, each with the sentence that holds it."""
    number = 0
    for name in han_names(text):
        while number + 1 < len(in_sentences) and in_sentences[number + 1].start <= name.start:
            number += 1
        if in_sentences and not in_sentences[number].code:
            kind: Kind = "work" if name.work else "han"
            yield Name(name.text, name.start, name.start + len(name.text), number, kind)
