"""Questions of two hops, and the question that each hop asks: "Who wrote the novel that won the
prize?" asks which novel won the prize, and then who wrote that.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offline.answers.relevance import terms
from offline.language.languages import ENGLISH, GERMAN
from offline.language.names import names

MOST_BRIDGES = 6
"""Names in sentences about the first question with which the second one is asked."""

_LONGEST = 300
"""Characters of a question that are read."""

_NAMED = re.compile(r"\s[\W_]*[^\W_a-zß-ÿа-яё]")
"""A word after the first with a capital or a digit."""
_POSSESSIVE = re.compile(r"['’]s?$")

_CLAUSES = {
    ENGLISH: re.compile(
        r"(?P<before>.+?\bthe\s+(?P<thing>(?:(?!(?:of|in|on|at|by|for|with|from|to)\b)[^\W\d_][\w'’-]*\s+){0,3}?"
        r"[^\W\d_][\w'’-]*)),?\s+(?P<clause>(?:that|which|who|whom|whose|where|in which|"
        r"(?:\w+(?:ed|en)|known|made|built|led|held|won|sung) (?:by|in|on|at|for|after|as|from))"
        r"\s+.+)(?P<after>)",
        re.I,
    ),
    GERMAN: re.compile(
        r"(?P<before>.+?\b(?:der|die|das|den|dem|des|eine?[nmrs]?)\s+"
        r"(?P<thing>(?:[^\W\d_][\w-]*\s+){0,2}?[A-ZÄÖÜ][\w-]*)),\s+"
        r"(?P<clause>(?:in |an |auf |mit |von |zu )?(?:der|die|das|den|dem|dessen|deren)\s+.+)"
        r"(?P<after>)"
    ),
    "french": re.compile(
        r"(?P<before>.+?\b(?:l[ea]s?\s+|du\s+|des\s+|une?\s+|l['’]|au\s+)"
        r"(?P<thing>(?:[^\W\d_][\w-]*\s+){0,2}?[^\W\d_][\w-]*))\s+"
        r"(?P<clause>(?:qui|que|qu['’]|dont|où)\s*.+)(?P<after>)",
        re.I,
    ),
    "spanish": re.compile(
        r"(?P<before>.+?\b(?:el|la|los|las|del|al|una?)\s+"
        r"(?P<thing>(?:[^\W\d_][\w-]*\s+){0,2}?[^\W\d_][\w-]*)),?\s+"
        r"(?P<clause>(?:que|donde|cuy[oa]s?)\s+.+)(?P<after>)",
        re.I,
    ),
    "russian": re.compile(
        r"(?P<before>.+?\b(?P<thing>[^\W\d_][\w-]*)),\s+(?P<clause>(?:в |на |с )?котор\w+\s+.+)"
        r"(?P<after>)",
        re.I,
    ),
}
"""How a question ends in a clause that says which thing it asks about."""

_OF = re.compile(
    r"(?P<before>.+?\b(?:was|were|is|are|did|does|do|has|have|had)\s+)(?:the|an?)\s+"
    r"(?P<thing>[a-z][\w'’ -]{2,40}?)\s+(?P<clause>(?:of|behind)\s+(?:the\s+|a\s+|an\s+)?"
    r"(?:(?!\b(?:that|which|who|whom|whose|where)\b)[^,])*?[A-Z0-9][\w'’.-]*"
    r"(?:\s+(?:of|the|and|in|de|la|with|for|on|to|a)?\s*[A-Z0-9][\w'’.-]*)*)\s+"
    r"(?P<after>(?!(?:of|in|on|at|for|with|and|from|to|by|is|are|was|were)\b)[a-z].+)"
)
"""As in "Where was the founder of Acme born?"."""
_CONTACT = re.compile(
    r"(?P<before>.+?\bthe\s+(?P<thing>[a-z][\w'’-]*(?:\s+[a-z][\w'’-]*)?))\s+"
    r"(?P<clause>[A-Z0-9][^,]*?\s(?:is|was|are|were|comes?|came|lived?s?|play(?:s|ed)?|works?|"
    r"worked|belongs?|belonged|died)(?:\s+(?:born|located|based|found|buried|part|member))?\s+"
    r"(?:from|in|of|on|to|for|at|by|with))\b(?P<after>(?:\s+[a-z]+)?)"
)
"""As in "Which currency had the country Ada Marsh is from?", whose clause no word begins."""
_RELATIONS = (
    "birthplace|hometown|home town|father|mother|parent|wife|husband|spouse|partner|son|daughter|"
    "brother|sister|grandfather|grandmother|uncle|aunt|founder|author|writer|director|producer|"
    "composer|creator|publisher|owner|employer|teacher|capital|country|successor|predecessor|"
    "president|team|band|label"
)
_OWNER = re.compile(
    r"(?P<before>.+?)(?<!\bname of)\s+"
    r"(?P<clause>[A-Z][\w.-]*(?:\s+(?:of|de|la|van|von)?\s*[A-Z][\w.-]*)*)['’]s?\s+"
    rf"(?P<thing>(?:(?:first|last|second|third)\s+)?(?:{_RELATIONS}))\b(?P<after>(?:\s+.+)?)"
)
"""As in "When was Ada Marsh's father born?"."""
_VERB_LAST = re.compile(
    r"(?P<before>.+?\b(?:was|were|did|does|do)\s+(?:the|an?)\s+"
    r"(?P<thing>(?:[^\W\d_][\w'’-]*\s+){0,3}?[^\W\d_][\w'’-]*))\s+"
    r"(?P<clause>(?:that|which|who|whose|where)\s+.+)\s+(?P<after>[a-z]+)"
)
"""As in "When was the company that built the bridge founded?"."""
_NESTED = re.compile(
    r"(?P<before>.+?\bof)\s+(?:the|an?)\s+(?P<thing>[a-z][\w'’ -]{2,40}?)\s+"
    r"(?P<clause>(?:of|behind)\s+.*[A-Z].*)(?P<after>)"
)
"""As in "Who is the wife of the founder of Acme?"."""

_PATTERNS: Mapping[str, Sequence[re.Pattern[str]]] = {
    **{language: (pattern,) for language, pattern in _CLAUSES.items()},
    ENGLISH: (_CONTACT, _OF, _VERB_LAST, _CLAUSES[ENGLISH], _NESTED, _OWNER),
}


@dataclass(frozen=True)
class TwoHops:
    """The two questions that a question asks."""

    first: str
    """Asks for the thing, as "novel that won the prize"."""
    before: str
    """What stands before the name of the thing in the second question, which has it."""
    after: str
    """What stands after it."""

    def second(self, bridge: str) -> str:
        """Return the second question, about the thing of this name."""
        return f"{self.before.rstrip()} {bridge} {self.after.lstrip()}".strip() + "?"

    def own_terms(self, language: str) -> frozenset[str]:
        """Return the terms that the second question has and the first one lacks."""
        return terms(f"{self.before} {self.after}", language) - terms(self.first, language)


def two_hops(question: str, language: str) -> TwoHops | None:
    """Return the questions of a question of two hops; None for another."""
    text = " ".join(question.split())[:_LONGEST].rstrip("?？ ")
    for pattern in _PATTERNS.get(language, ()):
        if match := pattern.fullmatch(text):
            link = " of " if pattern is _OWNER else " "
            first = f"{match['thing']}{link}{match['clause']}"
            return _asking(TwoHops(first, match["before"], match["after"]), language)
    return None


def _asking(hops: TwoHops, language: str) -> TwoHops | None:
    """Return the hops if the first one is about something with a name and the second one asks
    something of its own.
    """
    has_name = _NAMED.search(hops.first) is not None and not _POSSESSIVE.search(hops.first)
    asks_first = len(terms(hops.first, language)) > 1
    return hops if has_name and asks_first and hops.own_terms(language) else None


def bridges(sentence: str, question: str, language: str) -> Sequence[str]:
    """Return the names of a sentence that a question lacks, those in order that stand first."""
    question_terms = terms(question, language)
    found_names = dict.fromkeys(name.text for name in names(sentence))
    return [name for name in found_names if not terms(name, language) <= question_terms][
        :MOST_BRIDGES
    ]
