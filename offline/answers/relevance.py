"""How well sentences fit a question, by their words and by the kind of answer it asks for."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from contracts.spelling import one_spelling
from offline.language.scripts import HAN
from offline.language.stems import answer_stem
from offline.language.stop_words import GRAMMAR_WORDS

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(f"[{HAN}]")
FEW = 200
"""So many sentences are assumed at least: fewer tell too little of how rare a word is."""

AGREES = 0.1
LACKS = -0.5
LACKS_NAME = -0.1
"""What is added to a score, by `agreement`. Who may also be "the keeper", so a missing name weighs
little.
"""

_ASKS = re.compile(r"\b(?:who|whom|whose|where|when|which|what|why|how)\b", re.I)
_ASKS_NUMBER = re.compile(
    r"how (?:many|much|old|long|large|tall|deep|often|big|far|soon|high|wide|heavy|fast)\b", re.I
)
_ASKS_YEAR = re.compile(r"(?:which|what) year\b", re.I)
_ASKS_TIME = re.compile(r"(?:when|(?:which|what) (?:year|day|month|date))\b", re.I)
_ASKS_NAME = re.compile(r"(?:who|whom|whose|where)\b", re.I)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_NUMBER = re.compile(
    r"(?<![\w-])\d[\d.,:]*(?!\w)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|"
    r"thirty|forty|fifty|sixty|hundred|thousand|million|once|twice|half|daily|weekly|monthly|yearly)\b",
    re.I,
)
_TIME = re.compile(
    r"\d{4}|\d:\d\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|seconds?|minutes?|hours?|days?|weeks?|months?|years?|century|when|"
    r"whenever|before|after|until|while|once|if)\b",
    re.I,
)
_ALONE = re.compile(r"(?<![\w(.,])\d+(?![\w)]|[.,]\d)(?!\.\s)")
_SMALL = re.compile(r"\b[a-z]{2}")
_NAME = re.compile(r"(?<!^)\b[A-Z]\w+")
_CAPITAL = re.compile(r"(?<!^)(?<![.!?:]\s)\b[A-Z][^\W\d_]+")


@lru_cache(maxsize=1 << 14)
def terms(text: str) -> frozenset[str]:
    """Return the stems of the words except stopwords; Han characters one by one."""
    result: set[str] = set()
    for word in _WORD.findall(one_spelling(text).lower()):
        if _HAN.search(word):
            result.update(word)
        elif word not in GRAMMAR_WORDS:
            result.add(answer_stem(word))
    return frozenset(result)


@lru_cache(maxsize=1 << 10)
def names(question: str) -> frozenset[str]:
    """Return the terms of the names in a question: of words with a capital but the first one.

    None where every word has one, as in a title.
    """
    return terms(" ".join(_NAME.findall(question))) if _SMALL.search(question) else frozenset()


@lru_cache(maxsize=1 << 10)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers that stand alone in a text; `(1)` and `1.` before an item number that item
    only.
    """
    return frozenset(_ALONE.findall(text))


def lexical_scores(
    question: str, sentences: Sequence[tuple[frozenset[str], frozenset[str]]]
) -> list[float]:
    """Return for each sentence the share of the question's terms in it, 0 to 1; rare terms have a
    greater weight.

    A sentence is given as its own terms and those of what stands around it, which count half.
    """
    wanted = terms(question)
    inside = [own & wanted for own, _ in sentences]
    around = [(context & wanted) - own for (_, context), own in zip(sentences, inside, strict=True)]
    # In a fixed order below: sums of floating-point numbers depend on it.
    frequency = Counter(term for passage_terms in (*inside, *around) for term in passage_terms)
    weight = {
        term: math.log(1 + max(FEW, len(sentences)) / (1 + frequency[term]))
        for term in sorted(wanted)
    }
    total = sum(weight.values()) or 1.0
    return [
        sum(weight[term] * ((term in own) + (term in context) / 2) for term in weight) / total
        for own, context in zip(inside, around, strict=True)
    ]


def agreement(question: str, sentence: str) -> float:
    """Return `AGREES` if the sentence has what the question asks for, and how much it loses if it
    lacks that; else 0.

    Asked for may be a number, a time, a year or a name; a name that the question itself has does
    not count. Questions of another form, or not in English, give 0. The first word that asks is
    what counts: "What does it cost when a card is lost?" asks for no time.
    """
    if (first := _ASKS.search(question)) is None:
        return 0.0
    for asks, has in ((_ASKS_NUMBER, _NUMBER), (_ASKS_YEAR, _YEAR), (_ASKS_TIME, _TIME)):
        if asks.match(question, first.start()):
            return AGREES if has.search(sentence) else LACKS
    if _ASKS_NAME.match(question, first.start()):
        known = terms(question)
        has_unknown_name = any(
            answer_stem(name.lower()) not in known for name in _CAPITAL.findall(sentence)
        )
        return AGREES if has_unknown_name else LACKS_NAME
    return 0.0
