"""Words of questions and passages in a normal form: in Latin letters, without case, accents and
punctuation.

Each Han character, kana or Hangul syllable counts as one word, so that names are found in scripts
that put no blanks between words; these keep their script.
"""

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from anyascii import anyascii

from offline.language.scripts import HAN_AND_KANA, HANGUL
from offline.language.stop_words import STOPWORDS

MAX_TEXT = 8000
"""Only so many characters from the start of a text are read."""

_BY_CHARACTER = HAN_AND_KANA + HANGUL
"""Scripts of which each character is compared as a word."""
_WORD = re.compile(rf"[^\W_{_BY_CHARACTER}]+|[{_BY_CHARACTER}]")
_IS_HAN = re.compile(f"[{_BY_CHARACTER}]")
_ACCENTS = re.compile("[\u0300-\u036f]")


class Word(NamedTuple):
    """A word in its normal form; `start` and `end` are its character offsets in the text."""

    form: str
    start: int
    end: int
    is_capitalised: bool
    """True if it starts with a capital letter or belongs to a script without letter case."""
    is_stopword: bool  # or a single ASCII letter or digit


def words(text: str) -> list[Word]:
    """Return the words in the first `MAX_TEXT` characters of a text, without the s of a
    possessive.
    """
    result: list[Word] = []
    for match in _WORD.finditer(text[:MAX_TEXT]):
        start, end = match.span()
        raw = match[0]
        if (
            raw in "sS"
            and start
            and text[start - 1] in "'’"
            and result
            and result[-1].end == start - 1
        ):
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
    """Return the word in Latin letters, without differences of case, accent and character width."""
    if word.isascii():
        return word.lower()
    if (
        not is_character(word)
        and (latin := anyascii(unicodedata.normalize("NFKC", word)).lower()).isalnum()
    ):
        return latin
    base_form = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", base_form))


def normal_form(name_words: Sequence[Word]) -> str:
    """Return the normal form of several words, joined by blanks."""
    return " ".join(word.form for word in name_words)


def is_character(form: str) -> bool:
    """Return whether the word is a character of a script that is compared by characters."""
    return _IS_HAN.match(form) is not None
