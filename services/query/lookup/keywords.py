"""Finds words and phrases in texts as they are written, whatever their case: where they stand, and
what stands around them. Pure functions.
"""

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from contracts.spelling import one_spelling
from offline.language.scripts import HAN_AND_KANA, HANGUL

MAX_SNIPPETS = 3
"""Places of one text that are shown."""

CONTEXT = 100
"""Characters that are shown before a place and behind it."""

_SAME = {"'": "['\u2019\u02bc]", "-": "[-\u2010\u2011]"}
"""Characters that stand for each other in texts, as `one_spelling` has them."""

_MARKS = '"\u201c\u201d\u201e\u00ab\u00bb'
_QUOTED = re.compile(rf"[{_MARKS}]\s*([^{_MARKS}]*\w[^{_MARKS}]*)[{_MARKS}]")
"""A phrase as engines of search take it."""

_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WITHOUT_BLANKS = re.compile(f"[{HAN_AND_KANA}{HANGUL}{_SOUTH_EAST_ASIAN}]")
"""Characters of scripts in which no blank tells where a word begins or ends, or not always."""


@dataclass(frozen=True)
class Keyword:
    """A word or a phrase to find.

    `needle`: a part of it, without differences of case, that each text has which has the keyword.
    """

    text: str
    needle: str
    expression: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> "Keyword":
        """Return the keyword of a text that is not blank. A blank in it stands for any blanks, and
        for the end of a line. Quotation marks around all of it say that it is a phrase, which it is
        anyway.
        """
        quoted = _QUOTED.fullmatch(text.strip())
        pieces = one_spelling(quoted[1] if quoted else text).split()
        runs = re.findall(r"\w+", " ".join(pieces))
        characters = [list(map(_character, piece)) for piece in pieces]
        first = characters[0][0]
        if _needs_border(pieces[0][0]):
            # Behind the character, which the library finds ten times as fast as what is before it.
            characters[0][0] = rf"{first}(?<![{_word_characters()}]{first})"
        end = rf"(?![{_word_characters()}])" if _needs_border(pieces[-1][-1]) else ""
        body = r"\s+".join(map("".join, characters))
        return cls(
            text,
            max(runs, key=len, default="").casefold(),
            re.compile(f"{body}{end}", re.IGNORECASE),
        )


@dataclass(frozen=True)
class Counts:
    """How often a text has each keyword."""

    of_keywords: tuple[int, ...]

    @property
    def distinct(self) -> int:
        """How many of the keywords it has."""
        return sum(count > 0 for count in self.of_keywords)

    @property
    def total(self) -> int:
        """How often it has any of them."""
        return sum(self.of_keywords)


def count_keywords(keywords: Sequence[Keyword], text: str) -> Counts:
    """Return how often the text has each keyword, as whole words."""
    folded_text = text.casefold()
    return Counts(
        tuple(
            sum(1 for _ in keyword.expression.finditer(text))
            if keyword.needle in folded_text
            else 0
            for keyword in keywords
        )
    )


def snippets(keywords: Sequence[Keyword], text: str) -> list[str]:
    """Return the first places of the keywords in a text with what stands around them, in the order
    of the text. What is left out is an ellipsis.
    """
    places = sorted(
        match.span() for keyword in keywords for match in keyword.expression.finditer(text)
    )
    windows: list[tuple[int, int]] = []
    for start, end in places:
        if windows and start <= windows[-1][1]:
            continue
        if len(windows) == MAX_SNIPPETS:
            break
        windows.append((_window_start(text, start), _window_end(text, end)))
    return [_snippet(text, start, end) for start, end in windows]


def _snippet(text: str, start: int, end: int) -> str:
    shown_text = " ".join(text[start:end].split())
    return f"{'… ' if start else ''}{shown_text}{' …' if end < len(text) else ''}"


def _window_start(text: str, place: int) -> int:
    """Return where the first whole word begins of the characters shown before a place."""
    first = place - CONTEXT
    if first <= 0:
        return 0
    blank = re.compile(r"\s").search(text, first - 1, place)
    return blank.end() if blank else first


def _window_end(text: str, place: int) -> int:
    """Return where the last whole word ends of the characters shown behind a place."""
    window_end = place + CONTEXT
    if window_end >= len(text):
        return len(text)
    blank = max(text.rfind(character, place, window_end + 1) for character in " \n\t")
    return blank if blank >= 0 else window_end


def _character(character: str) -> str:
    return _SAME.get(character) or re.escape(character)


def _needs_border(character: str) -> bool:
    """Return whether a keyword that begins or ends with this character is found only where a word
    does.
    """
    is_in_words = re.match(f"[{_word_characters()}]", character) is not None
    return is_in_words and not _WITHOUT_BLANKS.match(character)


@cache
def _word_characters() -> str:
    """Return what words consist of, for a character class: letters, digits, the underscore, and
    marks that belong to the letter before them, which `\\w` leaves out.
    """
    marks = [
        number
        for number in range(sys.maxunicode // 8)
        if unicodedata.category(chr(number)).startswith("M")
    ]
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(marks), key=lambda pair: pair[1] - pair[0])
    ]
    return r"\w" + "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
