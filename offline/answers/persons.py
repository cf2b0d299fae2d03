"""Questions for who, and sentences that speak of a person or of what acts as one."""

import re

from offline.answers.relevance import terms
from offline.language.meanings import meanings

_ASKS = re.compile(r"\W*(?:who|wer|qui|quién(?:es)?|chi|кто)\b(?!['’])|.*谁", re.I)
_MEANINGS = frozenset(
    """
    chair treasurer clerk member worker employer child adult parent family guest student teacher
    doctor author citizen caretaker man relative friend neighbour youth marry live property
    court group elect
    """.split()  # noqa: SIM905
)
"""Meanings of words for persons and for what acts as one."""
_TITLE = re.compile(r"\b(?:Herrn?|Frau|Dr|Mme|Mlle|Sra?|Dña|Mrs?|Ms)\b")
_PRONOUN = re.compile(
    r"\b(?:Herrn?|Frau|Dr|Mme|Mlle|M|Sra?|Dña|[Ss]ig\.?(?:ra)?|I|[Ww]e|[Yy]ou|[Hh]e|[Ss]he|[Ww]er|"
    r"qui|quien|chi|кто|each|jeder|chacun|cada|каждый)\b"
)
"""Titles, and words that stand for a person."""
_PERSON = re.compile(
    r"\b(?:editors?|committee|council|board|"
    r"office|department|agency|congress|senate|judge|police|polizei|policía|\w+(?:er|or|ist|ee)s?)\b|"
    r"先生|女士|老师|警察|полици|[师长员者]",
    re.I,
)
"""Words for persons and for bodies of them, and English endings of theirs. `police` has the stem of
`policy`, so its meaning tells nothing.
"""
_THINGS = frozenset(
    """
    another anchor better buffer center centre character coffee color computer consider consist
    corner counter cover december degree differ door either enter error exist factor fee fewer
    filter floor folder for former free further greater header higher however integer larger later
    latter layer letter list liter longer lower major matter meter minor mirror motor neither never
    newer november number october offer older order other paper parameter pointer poor power prior
    proper rather refer register sector see september server shorter smaller summer super three
    together tree upper vector water whatever whether whichever winter
    """.split()  # noqa: SIM905
)
"""English words with an ending of persons, but for none."""
_ASKS_BEARER = re.compile(
    r"\W*(?:who(?:['’]s| is| was) (?:the|your|their)|wer ist (?:der|die)|qui est (?:l[ea]\b|l['’])|"
    r"quién es (?:el|la)|chi è (?:il\b|la\b|l['’])|кто (?!так)\w+(?<![тьяла])\s)",
    re.I,
)
"""Who bears an office, as "who is the warden": a noun comes after the words that ask."""
_SAYS_WHO = re.compile(
    r"\b(?:is|was|are|were|named|ist|war|sind|heißt|est|sont|es|son|è|sono)\b|[:：—–]"
)


def asks_person(question: str) -> bool:
    """Return whether a question asks who."""
    return _ASKS.match(question) is not None


def asks_bearer(question: str) -> bool:
    """Return whether a question asks who bears an office, in languages that are written with
    capitals.
    """
    return _ASKS_BEARER.match(question) is not None


def says_who(sentence: str) -> bool:
    """Return whether a sentence may say who somebody is: it has a title, or a word that equates."""
    return _SAYS_WHO.search(sentence) is not None or _TITLE.search(sentence) is not None


def names_person(question: str, sentence: str, language: str) -> bool:
    """Return whether a sentence has a word for a person, be it a role, that the question lacks."""
    if _PRONOUN.search(sentence):
        return True
    question_terms = terms(question, language)
    words = [match[0] for match in _PERSON.finditer(sentence)]
    persons = [word for word in words if word.lower().removesuffix("s") not in _THINGS]
    word_terms = [terms(person, language) for person in persons]
    if any(term_set and not term_set <= question_terms for term_set in word_terms):
        return True
    asked_meanings = _meanings(question_terms, language)
    return any(
        not (_MEANINGS & meanings(term, language)) <= asked_meanings
        for term in terms(sentence, language)
    )


def _meanings(of_terms: frozenset[str], language: str) -> frozenset[str]:
    return frozenset[str]().union(*(meanings(term, language) for term in of_terms))
