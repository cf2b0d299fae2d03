"""What thing a question asks for by its name, as "which companies" or "how many judges", and
whether a sentence speaks of it at all.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from offline.answers.narrow_kinds import TIME_UNIT
from offline.answers.question_kinds import asks_kind
from offline.answers.relevance import terms
from offline.language.languages import CHINESE, ENGLISH, GERMAN, stop_words
from offline.language.meanings import meanings
from offline.language.scripts import HAN

LACKS_NOUN = -0.45
"""What a sentence loses that, with what stands around it, does not name the thing asked for."""

LACKS_COUNT = -0.7
"""What a sentence loses that has no number beside the things whose number is asked for."""

_WORD = re.compile(r"[^\W_][\w'’.-]*")
_IN_SENTENCE = re.compile(r"[\w][\w.,:]*")
_ASKS_WHICH = {
    ENGLISH: re.compile(
        r"\b(?:which|what)\s+(?:(?:is|are|was|were)\s+(?:the|a|an)\s+)?(?=\w)", re.I
    ),
    GERMAN: re.compile(r"\b(?:welche[rsnm]?|was für(?: eine?n?)?)\s+(?=\w)", re.I),
    "russian": re.compile(r"\b(?:како[йем]|какая|какие|каких|какую)\s+(?=\w)", re.I),
    "french": re.compile(
        r"\bquel(?:le)?s?\s+(?:(?:est|sont)\s+(?:l[ea]s?\s+|l['’])?)?(?=\w)", re.I
    ),
    "spanish": re.compile(
        r"\b(?:qué|cu[aá]l(?:es)?\s+(?:es|son)\s+(?:el|la|los|las))\s+(?=\w)", re.I
    ),
    "italian": re.compile(
        r"\b(?:quale|quali|che)\s+(?:(?:è|sono)\s+(?:(?:il|la|lo|i|gli|le)\s+|l['’]))?(?=\w)", re.I
    ),
}
_ASKS_THING = {
    ENGLISH: re.compile(r"\b(?:is|are) there\s+(?:(?:an?|any|some)\s+)?(?=\w)", re.I),
    GERMAN: re.compile(
        r"\bgibt es\s+(?:(?:hier|dort|auch|noch)\s+)?(?:k?eine?[nmrs]?\s+)?(?=[A-ZÄÖÜ])|"
        r"\bwas kosten?t?\s+(?:(?:der|die|das|eine?)\s+)?(?=[A-ZÄÖÜ])",
        re.I,
    ),
    "russian": re.compile(
        r"\bесть ли\s+(?:(?:у вас|там|здесь)\s+)?(?=\w)|\bсколько сто[ия]т\s+(?=\w)", re.I
    ),
    "french": re.compile(
        r"\b(?:y a-t-il|il y a|existe-t-il)\s+(?:une?\s+|des\s+|du\s+|d['’])?(?=\w)|"
        r"\bprix\s+d(?:['’]une?|u|es|e l[ae])\s+(?=\w)|"
        r"\bcombien coûte(?:nt)?\s+(?:l[ea]s?\s+|une?\s+|l['’])?(?=\w)",
        re.I,
    ),
    "spanish": re.compile(
        r"\bhay\s+(?:(?:una?|algún|alguna)\s+)?(?=\w)|"
        r"\bcu[aá]nto (?:cuestan?|valen?)\s+(?:(?:el|la|los|las|una?)\s+)?(?=\w)",
        re.I,
    ),
    "italian": re.compile(
        r"\bc['’]è\s+(?:un[ao]?\s+|un['’]|il\s+|l[ao]\s+|l['’])?(?=\w)|"
        r"\bci sono\s+(?:(?:de[il]|degli|delle)\s+)?(?=\w)|"
        r"\bquanto costan?o?\s+(?:un[ao]?\s+|un['’]|il\s+|l[ao]\s+|l['’]|i\s+|le\s+)?(?=\w)",
        re.I,
    ),
}
"""How it is asked whether there is a thing, and what it costs."""
_ASKS_HAN_THING = re.compile(
    f"有没有([{HAN}]{{2,6}}?)[？?呢]*$|有([{HAN}]{{2,6}})吗|([{HAN}]{{2,6}}?)(?:要|是)?多少钱"
)
_ASKS_COUNT = {
    ENGLISH: re.compile(r"\bhow many\s+(?=\w)", re.I),
    GERMAN: re.compile(r"\bwie ?viele\s+(?=\w)", re.I),
    "french": re.compile(r"\bcombien d(?:e\s+|['’])(?!temps\b|argent\b)(?=\w)", re.I),
    "russian": re.compile(
        r"\bсколько\s+(?!времени|денег|раз\b|\w*(?:[еиюя]т|ть|ся|ла|ло)\b)(?=\w)", re.I
    ),
    "spanish": re.compile(r"\bcu[aá]nt[oa]s\s+(?=\w)", re.I),
    "italian": re.compile(r"\bquant[ie]\s+(?=\w)", re.I),
}
"""In Russian the word may ask for a price or a time too, with a verb after it."""
_NUMBER = re.compile(
    r"\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|"
    r"thirty|forty|fifty|sixty|hundred|thousand|million|no|each|every|zwei|drei|vier|"
    r"fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|fünfzehn|zwanzig|dreißig|hundert|tausend|"
    r"une?|deux|trois|quatre|cinq|sept|huit|neuf|dix|douze|quinze|vingt|trente|cent|mille|"
    r"uno|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|venti|trenta|cento|ogni|"
    r"una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|cien|mil|"
    r"дв[аеух]\w*|три|тр[её]х|четыр\w+|пят\w+|шест\w+|сем[ьи]\w*|восем\w+|девят\w+|десят\w+|"
    r"\w+надцат\w+|сорок\w*|сто|тысяч\w*",
    re.I,
)
_MOST_WORDS = 2
_BEFORE = 5
_AFTER = 1
"""Words between a number and what it counts, which stands before it only after a colon: a place
that costs "18 euros" is not one of eighteen.
"""


def noun_agreement(question: str, sentence: str, context: str, language: str) -> float:
    """Return 0, or what a sentence loses for lacking the thing that is asked for.

    `context` is what stands around the sentence, with which it may share the thing.
    """
    if counted_noun := _asked(question, language, _ASKS_COUNT):
        return 0.0 if _counts(sentence, counted_noun, language) else LACKS_COUNT
    asked_noun = _thing(question, language) or _which(question, language)
    if not asked_noun:
        return 0.0
    noun_terms = [
        term for term in terms(asked_noun, language) if language != CHINESE or len(term) > 1
    ]
    if not noun_terms:
        return 0.0
    around = terms(f"{sentence} {context}", language)
    lacking_terms = [term for term in noun_terms if not _has(around, term, language)]
    return LACKS_NOUN * len(lacking_terms) / len(noun_terms)


@lru_cache(maxsize=1 << 8)
def _thing(question: str, language: str) -> str:
    """Return the thing that a question asks to be there, or the price of; empty if none."""
    if language != CHINESE:
        return _asked(question, language, _ASKS_THING)
    match = _ASKS_HAN_THING.search(question)
    return match[1] or match[2] or match[3] if match else ""


@lru_cache(maxsize=1 << 8)
def _which(question: str, language: str) -> str:
    """Return the noun after "which"; none where it is that of a kind of answer, as in "at what
    time".
    """
    return "" if asks_kind(question, language) else _asked(question, language, _ASKS_WHICH)


def _asked(question: str, language: str, patterns: Mapping[str, re.Pattern[str]]) -> str:
    """Return the noun, with its adjectives, after what asks; empty if none follows."""
    pattern = patterns.get(language)
    match = pattern.search(question) if pattern else None
    if match is None:
        return ""
    phrase: list[str] = []
    for word in _WORD.findall(question[match.end() :])[:_MOST_WORDS]:
        if word.lower() in stop_words(language):
            break
        phrase.append(word)
        if language == GERMAN and word[0].isupper():
            break  # it is the noun, and a verb follows
    noun = phrase[-1:] if patterns is _ASKS_COUNT else phrase
    return " ".join(noun) if terms(" ".join(noun), language) else ""


def _counts(sentence: str, noun: str, language: str) -> bool:
    """Return whether a number stands near the noun; near any unit of time, if it is one."""
    is_time = TIME_UNIT.search(noun) is not None
    noun_terms = terms(noun, language)
    words = _IN_SENTENCE.findall(sentence)
    for place, word in enumerate(words):
        if (is_time and TIME_UNIT.search(word)) or any(
            _has(terms(word, language), term, language) for term in noun_terms
        ):
            after = _AFTER if word.endswith(":") else 0
            near = words[max(0, place - _BEFORE) : place + after + 1]
            if any(_NUMBER.fullmatch(neighbour) for neighbour in near):
                return True
    return False


def _has(words: frozenset[str], term: str, language: str) -> bool:
    term_meanings = meanings(term, language)
    return term in words or any(
        _is_related(word, term) or not term_meanings.isdisjoint(meanings(word, language))
        for word in words
    )


def _is_related(word: str, term: str) -> bool:
    return len(term) > 4 and len(word) > 4 and (term[:5] == word[:5] or term in word)
