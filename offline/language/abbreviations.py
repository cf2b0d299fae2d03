"""Whether a dot ends a sentence or belongs to the word before it: abbreviations, initials,
ordinal numbers.
"""

import re

from offline.language.stop_words import GRAMMAR_WORDS
from offline.language.word_lists import ABBREVIATIONS, CALENDAR

_LONGEST = 24
"""Characters before a dot that are read."""
_OPENING = re.compile(r"[\s(\[{\"'“‘«„*_]+|(?<=[^\W\d_])-")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]$")
_PLURAL = re.compile(r"([A-Z])\1\. ?([A-Z])\2\b")
"""An abbreviation of a plural in Spanish: `EE. UU.`, `RR. HH.`."""
_SPACED = re.compile(r"(?<!\w)(?:e\.\sg|i\.\se|z\.\sB|d\.\sh|u\.\sa|p\.\sej|т\.\sе|т\.\sк)$")
"""An abbreviation of two words, up to its last dot: `e. g.`, `z. B.`."""
_INITIAL = re.compile(r"[^\W\d_]{1,2}\.")
_ALWAYS = frozenset(
    """
    apdo aprox atte avda bgbl bspw ctra dra dña ej esp evtl excl excmo exkl fa fam frhr ggf hl ilmo
    incl inkl mio mrd núm pza resp sog teléf tsd urb vgl zzgl акад бул доп им наб напр обл пер пл пр
    проф св см ул
    """.split()  # noqa: SIM905
)
"""Words after which a dot ends no sentence, beside those that names have."""
_NUMBERED = frozenset(
    """
    abb abs abt anl anm art aufl bl c cap ex ext kap lit máx mín op ord p par pág párr rn stat std
    subsec subpar tab tel tit tél u v ziff гл д дом кв корп л оп оф п пп рис ст стр табл тел ф ч
    """.split()  # noqa: SIM905
)
"""Words after which a dot ends no sentence where a number follows."""
_DAYS = frozenset(
    """
    Di Dim Do Fr Fri Jeu Ju Lu Lun Ma Mar Mer Mi Mo Mon Sa Sam Sat So Sun Thu Tue Ven Vi Wed Вс Вт
    Пн Пт Сб Ср Чт
    """.split()  # noqa: SIM905
)
"""Days of the week, after which a dot ends no sentence where a dash or a number follows."""
_SPAN = re.compile(r"[\d–—-]")
_COUNT = re.compile(r"[\d(§№]|[IVXLC]+\b|[A-Z]\.")
"""What follows an abbreviation that stands before a number: `art. L. 113`, `Abs. 2`."""
_ORDINAL = frozenset(
    """
    ab am beim bis das dem den der des die im jede jedem jeden jeder jedes oder seit und vom zum zur
    """.split()  # noqa: SIM905
)
"""German words after which a number with a dot is an ordinal number: `im 2. Stock`."""


def abbreviates(text: str, dot: int, start: int, following: str) -> bool:
    """Return whether the dot at `text[dot]` in a sentence that begins at `start` belongs to the
    word before it; `following` is the beginning of what comes after the dot and its blanks.
    """
    words = _OPENING.split(text[max(start, dot - _LONGEST) : dot])
    word = words[-1]
    before = words[-2] if len(words) > 1 else ""
    next_word = following.split(maxsplit=1)[0] if following.strip() else ""
    if word.isdigit():
        is_first = not text[start : dot - len(word)].strip()
        return is_first or (len(word) < 3 and _is_ordinal(before, next_word))
    if len(word) == 1 and (word.isupper() or _INITIAL.match(following)):
        return True
    if _PLURAL.match(f"{word}. {following}") or _SPACED.search(text, max(start, dot - 8), dot):
        return True
    if _DOTTED.match(word):
        return next_word.lower() not in GRAMMAR_WORDS
    if word in _DAYS and _SPAN.match(following):
        return True
    name = word.lower()
    if name == "г":
        return not before.isdigit()  # a town and not a year
    if name in ABBREVIATIONS or name in _ALWAYS:
        return True
    is_numbered = name in _NUMBERED or name.endswith("str")
    return is_numbered and _COUNT.match(following) is not None


def _is_ordinal(before: str, next_word: str) -> bool:
    """Return whether a number between these words is the number of a day or in a series."""
    is_date = next_word.strip(".,;:!?)").lower() in CALENDAR
    return is_date or (before.lower() in _ORDINAL and next_word[:1].isalpha())
