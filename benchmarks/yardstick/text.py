"""Names, topics, sentences and keywords of a text by rules: the same text always gives the same, in
every process.
"""

import re
from collections import Counter

_STOP = """a about above after again against all also although am among an and any are as at be became because been
    before being below between both but by can could did do does doing down during each either for from further had
    has have having he her here hers herself him himself his how however i if in into is it its itself just later
    many may me might more most much must my myself near neither no nor not now of off often on once one only or
    other others our ours out over own same she should since so some such than that the their theirs them themselves
    then there these they this those though three through thus to together too two under until up upon us very was
    we were what when where whether which while who whom whose why will with within without would yet you your yours
    said says first second third known called named including like used made part best well even still never ever
    always another every several around along toward towards according answer list please tell find give know"""
STOP = frozenset(_STOP.split())
_CALENDAR = """January February March April May June July August September October November December Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday"""
CALENDAR = frozenset(_CALENDAR.split())
WORD = re.compile(r"\w+(?:[’'-]\w+)*")
_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][\w’'\-]*"
_LINK = r"(?:of the|of|de la|de|del|della|von der|von|van der|van|du|di|da|la|le|al|bin|ibn|y)"
_SPAN = re.compile(rf"{_CAPITALISED}(?:[ ](?:{_LINK}[ ])?{_CAPITALISED})*")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"”’')\]]*\s+|\n\s*\n+")
_POSSESSIVE = re.compile(r"[’']s?$")
_LONGEST_NAME = 7
"""Words."""


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [result for part in _SENTENCE_END.split(text) if (result := part.strip())]


def clip(text: str, limit: int) -> str:
    """The text on one line, cut between words after `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rsplit(" ", 1)[0] + "…"


def names(sentence: str) -> list[str]:
    """Capitalised spans of one sentence, in order, without repeats."""
    result = (_name(match[0]) for match in _SPAN.finditer(sentence))
    return list(dict.fromkeys(name for name in result if name))


def _name(span: str) -> str:
    words = span.split(" ")
    while words and (words[0].lower() in STOP or words[0] in CALENDAR):
        words.pop(0)
    while words and (words[-1].lower() in STOP or words[-1] in CALENDAR):
        words.pop()
    if not words:
        return ""
    words[-1] = _POSSESSIVE.sub("", words[-1])
    name = " ".join(words).strip(" .'’-")
    return name if len(name) > 2 and len(words) <= _LONGEST_NAME else ""


def is_topic(word: str) -> bool:
    """Whether a word is long, lower-case and looks like a noun."""
    return (
        len(word) >= 5
        and word.isascii()
        and word.isalpha()
        and word.islower()
        and word not in STOP
        and not word.endswith(("ly", "ing", "ed"))
    )


def topics(text: str, *, at_least: int = 2, limit: int = 4) -> list[str]:
    """Topic words that come back, most frequent first."""
    counts = Counter(word for word in WORD.findall(text) if is_topic(word))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, number in ranked if number >= at_least][:limit]


def keywords(question: str) -> tuple[list[str], list[str]]:
    """Themes and names of a question."""
    result = names(question)
    inside = {word.lower() for name in result for word in name.split()}
    words = dict.fromkeys(WORD.findall(question.lower()))
    themes = [word for word in words if len(word) > 3 and word not in STOP and word not in inside]
    low = result or themes[-2:]
    return themes[:4] or low[:1], low[:6]


def summary(name: str, descriptions: list[str], *, words: int = 150) -> str:
    """The distinct sentences of the descriptions in one text of at most so many words."""
    every = [" ".join(each.split()) for text in descriptions for each in sentences(text) or [text]]
    budget, kept = words, list[str]()
    for sentence in dict.fromkeys(each for each in every if each):
        budget -= sentence.count(" ") + 1
        if budget < 0:
            break
        kept.append(sentence)
    return f"{name}. " + " ".join(kept or [clip(" ".join(every), words * 6)])
