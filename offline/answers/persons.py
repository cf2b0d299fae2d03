"""Questions for who, and sentences that speak of a person or of what acts as one."""

import re

from offline.answers.relevance import terms
from offline.language.meanings import meanings

_ASKS = re.compile(r"\W*(?:who|wer|qui|quién(?:es)?|chi|кто)\b(?!['’])|.*谁", re.I)
_MEANINGS = frozenset(
    """
    chair treasurer clerk member worker employer child adult parent family guest student teacher
    doctor author citizen police caretaker man relative friend neighbour youth marry live property
    court group elect
    """.split()  # noqa: SIM905
)
"""Meanings of words for persons and for what acts as one."""
_PERSON = re.compile(
    r"\b(?:Herrn?|Frau|Dr|Mme|Mlle|M|Sra?|Dña|[Ss]ig\.?(?:ra)?|I|[Ww]e|[Yy]ou|[Hh]e|[Ss]he|[Ww]er|qui|quien|chi|кто|each|jeder|chacun|"
    r"cada|каждый|editors?|committee|council|board|office|department|agency|congress|senate|judge|"
    r"\w+(?:er|or|ist|ee)s?)\b|先生|女士|老师|[师长员者]"
)
"""Words for persons and for bodies of them, and English endings of theirs."""


def asks_person(question: str) -> bool:
    """Return whether a question asks who."""
    return _ASKS.match(question) is not None


def names_person(question: str, sentence: str, language: str) -> bool:
    """Return whether a sentence has a word for a person, be it a role, that the question lacks."""
    question_terms = terms(question, language)
    word_terms = (terms(match[0], language) for match in _PERSON.finditer(sentence))
    if any(not term_set or not term_set <= question_terms for term_set in word_terms):
        return True  # the first are pronouns
    asked_meanings = _meanings(question_terms, language)
    return any(
        not (_MEANINGS & meanings(term, language)) <= asked_meanings
        for term in terms(sentence, language)
    )


def _meanings(of_terms: frozenset[str], language: str) -> frozenset[str]:
    return frozenset[str]().union(*(meanings(term, language) for term in of_terms))
