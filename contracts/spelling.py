"""One spelling for what people write in several ways that look alike, so that the same name has the
same characters.

`one_spelling` is for names, questions and whatever else is compared: composed characters (NFC)
without invisible ones, plain blanks, hyphens and apostrophes. `readable` is for texts that are
shown: what changes in them cannot be seen. What is never touched: the joiners of Persian, Indic
scripts and emoji, which carry meaning there.
"""

import re
import unicodedata

_SOFT = "\u00ad\u2060\ufeff"
"""The soft hyphen, the word joiner and the byte order mark."""

_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts in which a blank without width tells where a word ends."""

UNSEEN_IN_TEXT = re.compile(f"[{_SOFT}]|(?<![{_SOUTH_EAST_ASIAN}])\u200b")
_UNSEEN = re.compile(
    f"[{_SOFT}\u034f\u061c\u200b\u200e\u200f\u202a-\u202e\u2061-\u2064\u2066-\u2069]"
)
"""Beside those of texts: marks of direction, and other characters that nobody sees in a name."""

_LETTERS = "A-Za-z0-9\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff"
_JOINERS = re.compile(rf"(?<![^\s{_LETTERS}])[\u200c\u200d]+|[\u200c\u200d]+(?=\s|\Z)")
"""Joiners behind a letter of a script that has no use for them, and at the end of a word."""

_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_HYPHENS = re.compile("[\u2010\u2011]")
_APOSTROPHES = re.compile(r"(?<=\w)[\u2019\u02bc](?=\w)")

_MARKS = (
    "\u0300-\u036f\u0653-\u0655\u093c\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57"
    "\u0dca\u0dcf\u0ddf\u102e\u1161-\u1175\u11a8-\u11c2\u1b35\u3099\u309a"
)
"""Characters that make one with the character before them."""

DECOMPOSED = re.compile(f"[^{_MARKS}][{_MARKS}]+")
"""A character with the marks behind it."""

BASE = re.compile(f"[^{_MARKS}{_SOFT}\u200b]")
"""A character that what stands before it cannot change."""


def one_spelling(text: str) -> str:
    """Return a name, a question or another text for comparison as everybody's spelling of it
    becomes.
    """
    if text.isascii():
        return text
    text = _UNSEEN.sub("", text)
    # These two look behind every character, so a text is first asked for what they are about.
    if "\u200c" in text or "\u200d" in text:
        text = _JOINERS.sub("", text)
    text = _HYPHENS.sub("-", _BLANKS.sub(" ", unicodedata.normalize("NFC", text)))
    if "\u2019" in text or "\u02bc" in text:
        text = _APOSTROPHES.sub("'", text)
    return text


def readable(text: str) -> str:
    """Return a text as it is shown: without soft hyphens and the like, letters and their accents as
    one character.

    Other characters that NFC replaces, as compatibility ideographs, stay: people see the
    difference.
    """
    if text.isascii():
        return text
    return DECOMPOSED.sub(composed, UNSEEN_IN_TEXT.sub("", text))


def name_spelling(name: str) -> str:
    """Return the name of a file or a document as ids derive from it: composed (NFC), without soft
    hyphens and the like.

    Blanks and hyphens stay as they are: two files in one folder may differ in them.
    """
    return name if name.isascii() else unicodedata.normalize("NFC", UNSEEN_IN_TEXT.sub("", name))


def former_spellings(name: str) -> tuple[str, ...]:
    """Return other spellings of a name under which it may have been added before names had one: as
    given, and NFD.
    """
    if name.isascii():
        return ()
    spellings = dict.fromkeys(
        (name, unicodedata.normalize("NFD", name), unicodedata.normalize("NFC", name))
    )
    return tuple(spelling for spelling in spellings if spelling != name_spelling(name))


def spellings(name: str) -> tuple[str, ...]:
    """Return the name as given, in the one spelling of names, and in those it may have been added
    under before.
    """
    return tuple(dict.fromkeys((name, name_spelling(name), *former_spellings(name))))


def composed(match: re.Match[str]) -> str:
    """Return the match in as few characters as it has (NFC)."""
    return unicodedata.normalize("NFC", match[0])
