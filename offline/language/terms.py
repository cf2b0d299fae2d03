"""Words of a sentence and their kinds by their letters: proper, code, number, connector, stop word
or plain.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from offline.language.scripts import HAN_AND_KANA
from offline.language.stop_words import GRAMMAR_WORDS
from offline.language.word_lists import CALENDAR, CONNECTORS, VERBS

Shape = Literal["proper", "code", "number", "connector", "stop", "plain"]

_PART = rf"[^\W{HAN_AND_KANA}]+"
_WORD = re.compile(rf"{_PART}(?:['’&.\-]{_PART})*(?:\+\+|#(?!\w))?")
_HAN_RUN = re.compile(f"[{HAN_AND_KANA}]+")
LONGEST_HAN_WORD = 12
"""Characters of a run of Han and kana that is a name in a sentence of another script; a longer one
is a quotation.
"""
_SURROUNDINGS = re.compile(
    r"\\[A-Za-z]\w*|(?:https?|ftp)://[^\s<>\"'()\]]*|\]\([^()\s]*\)|(?<![\w.+-])[\w.+-]{1,64}+@[\w-][\w.-]{0,200}"
)
_NUMBER = re.compile(r"\d+(?:[.\-]\d+)*$")
_POSSESSIVE = re.compile(r"['’][sS]?$")
_CAMEL = re.compile(r"[^\W\d_A-Z][A-Z]|[A-Z]{2,}[a-z]{2,}")
_ATTRIBUTE = re.compile(r"[A-Z]\.[a-z_]|(?:self|cls)\.")
_HASH = re.compile(r"[0-9a-f]{6,}$")
_NUMBERED = re.compile(r"[^\W\d_]{2,}\d{1,3}[^\W\d_]{0,2}$|[^\W\d_]{2,}(?:-[^\W_]{1,12})+$")
_PREFIXED_NAME = re.compile(r"(?:Mc|Mac|De|Di|La|Le|Van|Fitz|O['’]|D['’]|L['’])[A-Z][a-z]+$")
_DOTTED_CAPITALS = re.compile(r"(?:[A-Z]\.)+[A-Z]?$")
_PRONOUNS_LIKE = frozenset({"US", "WHO"})


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in the text, without a possessive ending."""

    text: str
    start: int
    end: int
    shape: Shape
    possessive: bool = False

    @property
    def lower(self) -> str:
        """Return the word in lower case."""
        return self.text.lower()


def without_addresses(text: str) -> str:
    """Return the text with URLs, link targets and mail addresses blanked out; offsets stay as they
    are.
    """
    return _SURROUNDINGS.sub(lambda match: " " * len(match[0]), text)


def words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Return the words between two offsets, in order. Han and kana are no words here."""
    terms: list[Word] = []
    for match in _WORD.finditer(text, start, len(text) if end is None else end):
        token = match[0]
        possessive = _POSSESSIVE.search(token)
        bare = token[: possessive.start()] if possessive else token
        if bare:
            terms.append(
                Word(
                    bare,
                    match.start(),
                    match.start() + len(bare),
                    shape(bare),
                    possessive is not None,
                )
            )
    return terms


def words_of_sentence(text: str, start: int, end: int) -> list[Word]:
    """Return the words of a sentence; in one of a language with Latin letters, Han and kana are
    names: proper words.

    So "University of 石林" is one name there. Such a sentence has a small word of grammar, and as
    many words with small letters as runs of Han; a Chinese one may name "The Beatles".
    """
    tokens = words(text, start, end)
    shapes = [word.shape for word in tokens if word.text.islower()]
    if "stop" not in shapes:
        return tokens
    runs = [run for run in _HAN_RUN.finditer(text, start, end) if len(run[0]) <= LONGEST_HAN_WORD]
    if not 0 < len(runs) <= len(shapes):
        return tokens
    names = [Word(run[0], run.start(), run.end(), "proper") for run in runs]
    return sorted([*tokens, *names], key=lambda word: word.start)


@lru_cache(maxsize=1 << 14)
def shape(word: str) -> Shape:
    """Return the kind of a word by its letters."""
    if _NUMBER.match(word):
        return "number"
    lower = word.lower()
    if lower in CONNECTORS:
        return "connector"
    if lower in GRAMMAR_WORDS and word not in _PRONOUNS_LIKE:
        return "stop"
    if _is_code(word):
        return "code"
    return "proper" if _is_proper(word) else "plain"


def _is_proper(word: str) -> bool:
    if len(word) == 1:
        return word.isupper()
    if "__" in word or _ATTRIBUTE.match(word):
        return False
    if word[0].isupper() or word[0].istitle():
        return True
    if any(quote in word for quote in "'’"):
        return False
    if any(letter.isupper() for letter in word[1:]):
        return True
    return (
        any(letter.isdigit() for letter in word)
        and _NUMBERED.match(word) is not None
        and not _HASH.match(word)
    )


def _is_code(word: str) -> bool:
    """Return whether it is snake_case or dotted.name; not an abbreviation (U.S), a number, a lost
    blank (end.Next).
    """
    if "_" in word.strip("_"):
        return any(letter.isalpha() for letter in word) and "__" not in word
    return "." in word and not _ATTRIBUTE.match(word) and _is_dotted(word.split("."))


def _is_dotted(parts: list[str]) -> bool:
    if (
        not all(len(part) > 1 and part[0].isalpha() and part.isascii() for part in parts[:-1])
        or len(parts[-1]) < 2
    ):
        return False
    return parts[-1][0].islower() or is_camel(parts[-1])


def is_camel(word: str) -> bool:
    """Return whether it is CamelCase in one word: DocumentAdded, iPhone; not McDonald."""
    if not word.isalnum() or not word[0].isalpha() or _PREFIXED_NAME.match(word):
        return False
    return _CAMEL.search(word) is not None


def is_telling(word: str) -> bool:
    """Return whether an identifier is itself a subject of prose: a type (DocumentAdded) or a
    setting (CHUNK_SIZE).
    """
    return (is_camel(word) and word[0].isupper()) or ("_" in word and word.isupper())


def is_verb(word: str) -> bool:
    """Return whether a word in lower case is a form of one of the verbs that begin sentences: adds,
    adding, added.
    """
    for ending in ("", "s", "es", "ed", "d", "ing"):
        stem = word.removesuffix(ending) if ending else word
        if word.endswith(ending) and (stem in VERBS or (ending == "ing" and stem + "e" in VERBS)):
            return True
        if (
            ending in ("ed", "ing")
            and word.endswith(ending)
            and stem[-1:] == stem[-2:-1]
            and stem[:-1] in VERBS
        ):
            return True
    return word.endswith(("ies", "ied")) and word[:-3] + "y" in VERBS


def is_abbreviated(word: str) -> bool:
    """Return whether it is a single capital or capitals with dots: J, U.S."""
    return (len(word) == 1 and word.isupper()) or _DOTTED_CAPITALS.match(word + ".") is not None


def is_content(word: Word) -> bool:
    """Return whether a word says what a sentence is about."""
    if word.shape in ("stop", "connector", "number"):
        return False
    return (
        len(word.text) > 2
        and word.lower not in CALENDAR
        and not word.lower.endswith(("n't", "n’t"))
    )


def is_shouted(tokens: Sequence[Word]) -> bool:
    """Return whether most words of a sentence are in capitals, so that capitals tell nothing."""
    loud = sum(word.text.isupper() and len(word.text) > 1 for word in tokens)
    return len(tokens) > 3 and loud > 0.6 * len(tokens)
