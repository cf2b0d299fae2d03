"""Whether two statements about the same thing say different things of it, told by their words.

Only two kinds are told: other quantities, and one that denies what the other says. Statements that
differ in meaning alone need a reader. What is told here may be wrong, so it is shown and nothing
follows from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from offline.answers.relevance import terms
from offline.language.languages import GERMAN, language_of
from offline.language.scripts import HAN

ALIKE = 0.6
"""Part of the words of both statements, quantities aside, that they must share."""

FEW_SHARED = 2
"""Words that they must share at least; three where one denies."""

_HAN = re.compile(f"[{HAN}]")
_NUMBERS = {
    "2": "two zwei deux dos два две 二 两",
    "3": "three drei trois tres три 三",
    "4": "four vier quatre cuatro четыре 四",
    "5": "five fünf cinq cinco пять 五",
    "6": "six sechs seis шесть 六",
    "7": "seven sieben sept siete семь 七",
    "8": "eight acht huit ocho восемь 八",
    "9": "nine neun neuf nueve девять 九",
    "10": "ten zehn dix diez десять 十",
    "11": "eleven elf onze once одиннадцать 十一",
    "12": "twelve zwölf douze doce двенадцать 十二",
    "14": "fourteen vierzehn quatorze catorce четырнадцать 十四",
    "15": "fifteen fünfzehn quinze quince пятнадцать 十五",
    "20": "twenty zwanzig vingt veinte двадцать 二十",
    "30": "thirty dreißig trente treinta тридцать 三十",
    "40": "forty vierzig quarante cuarenta сорок 四十",
    "50": "fifty fünfzig cinquante cincuenta пятьдесят 五十",
    "60": "sixty sechzig soixante sesenta шестьдесят 六十",
    "90": "ninety neunzig noventa девяносто 九十",
    "100": "hundred hundert cent cien сто 百",
    "1000": "thousand tausend mille mil тысяча 千",
}
"""Words of six languages by the number that they mean; without one, which is an article in most."""
_VALUES = {word: number for number, words in _NUMBERS.items() for word in words.split()}
_WORDS = "|".join(word for word in _VALUES if not _HAN.match(word))
_QUANTITY = re.compile(
    r"(?<![\w.,-])(?P<digits>\d[\d.,:]*)(?P<unit>[\s-]*[^\W\d_]+|\s*%)?"
    rf"|\b(?P<word>{_WORDS})\b(?P<word_unit>[\s-]+[^\W\d_]+)?",
    re.IGNORECASE,
)
_HAN_QUANTITY = re.compile(r"[一二两三四五六七八九十百千万\d]+(?=[个天日周月年元米公吨人次小分])")
_NUMBERING = re.compile(
    r"\b(?:article|section|chapter|clause|paragraph|part|page|no|nr|artikel|abschnitt|kapitel|seite"
    r"|§)\.?\s*\d[\d.]*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    # A name and its number, as "Pier Office 3", inside a sentence,
    r"(?<=[\w,;] )(?P<name>[A-ZÄÖÜ][^\W\d_]+) (?P<number>\d+)(?! *[%€$£]|[.,:]\d)"
    # or the number of a thing that follows an article or a preposition, as "of pier 2 in".
    r"|\b(?:the|of|in|at|to|from|for|on|near|by|with) (?P<kind>[a-z]+) (?P<place>\d+)"
    r"(?=[.,;:!?)]?$|[,;:)] | (?:is|are|was|were|has|have|had|in|of|at|on|to|for|and|or|costs?) )"
)
"""What tells things of one kind apart: a number that is no quantity."""
_TIME = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b\d{1,2}\.\d{1,2}\.|\b(?:january|february|march|april|june|july|august"
    r"|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|januar|februar|märz|mai|juni|juli|oktober|dezember)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|cannot|nobody|nothing|neither|nicht|kein\w*|niemals|nie|ne|jamais"
    r"|aucun\w*|nunca|jamás|не|нет|никогда)\b|n['’]t\b|[不没未无]",
    re.IGNORECASE,
)


_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")


class Quantity(NamedTuple):
    """A number as digits, and the word behind it, which may be a unit."""

    number: str
    unit: str


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a statement speaks of, its quantities, its times, and whether it denies."""

    terms: frozenset[str]
    quantities: frozenset[Quantity]
    times: frozenset[str]
    labels: frozenset[str]
    is_denied: bool


def disagree(first: str, second: str) -> bool:
    """Return whether the statements seem to say different things of the same: their words are alike
    but for the quantities, or but for a negation. Two that name different times, or differently
    numbered things, do not disagree.
    """
    left, right = _statement(first), _statement(second)
    if left.times != right.times or left.labels != right.labels:
        return False
    shared_terms = left.terms & right.terms
    if len(shared_terms) < FEW_SHARED:
        return False
    if len(shared_terms) < ALIKE * len(left.terms | right.terms):
        return False
    if left.is_denied != right.is_denied:
        return len(shared_terms) > FEW_SHARED and left.quantities == right.quantities
    return bool(left.quantities and right.quantities) and not left.quantities & right.quantities


@lru_cache(maxsize=1 << 12)
def _statement(text: str) -> _Statement:
    times = times_in(text)
    text_without_times = _NUMBERING.sub(" ", _TIME.sub(" ", text))
    # In German every noun has a capital: "Frist 3 Monate" is a quantity.
    labels = frozenset[str]()
    if language_of(text) != GERMAN:
        labels = frozenset(_labels(text_without_times))
        text_without_times = _LABEL.sub(_without_number, text_without_times)
    quantities = quantities_in(text_without_times)
    without_quantities = _HAN_QUANTITY.sub(" ", _QUANTITY.sub(" ", text_without_times))
    words = _NEGATION.sub(" ", without_quantities)
    is_denied = _NEGATION.search(text_without_times) is not None
    return _Statement(terms(words, language_of(text)), quantities, times, labels, is_denied)


def _labels(text: str) -> Iterator[str]:
    for match in _LABEL.finditer(text):
        yield f"{match['name'] or match['kind']} {match['number'] or match['place']}".casefold()


def _without_number(label: re.Match[str]) -> str:
    return label[0].rpartition(" ")[0]


def times_in(text: str) -> frozenset[str]:
    """Return the years, dates, months and days that a text names."""
    return frozenset(match[0].casefold() for match in _TIME.finditer(text))


def quantities_in(text: str) -> frozenset[Quantity]:
    """Return the quantities of a text. `1,200` and `1200` are one number, as are `10.50` and
    `10,5`.
    """
    return frozenset(_quantities(text))


def _quantities(text: str) -> Iterator[Quantity]:
    for match in _QUANTITY.finditer(text):
        number = (match["digits"] or match["word"]).casefold().rstrip(".,:")
        unit = (match["unit"] or match["word_unit"] or "").strip(" -\n\t").casefold()
        yield Quantity(_VALUES.get(number) or _plain_number(number), unit)
    for number in _HAN_QUANTITY.findall(text):
        yield Quantity(_VALUES.get(str(number), str(number)), "")


def _plain_number(digits: str) -> str:
    """Return a number without marks between its thousands and noughts at its end."""
    integer, fraction = digits, ""
    if match := _THOUSANDS.fullmatch(digits):
        separator = match[1]
        last_place = max(digits.rfind("."), digits.rfind(","))
        if digits[last_place] != separator:
            integer, fraction = digits[:last_place], digits[last_place:]
        integer = integer.replace(separator, "")
    elif digits.count(".") + digits.count(",") == 1:
        place = max(digits.rfind("."), digits.rfind(","))
        integer, fraction = digits[:place], digits[place:]
    fraction = fraction[1:].rstrip("0")
    return f"{integer}.{fraction}" if fraction else integer
