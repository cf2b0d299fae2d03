"""Questions for who, and sentences that speak of a person or of what acts as one."""

import re

from offline.answers.relevance import terms
from offline.language.meanings import meanings

_ASKS = re.compile(r"\W*(?:who|wer|qui|quién(?:es)?|кто)\b(?!['’])|.*谁", re.I)
_MEANINGS = frozenset(
    """
    chair treasurer clerk member worker employer child adult parent family guest student teacher
    doctor author citizen police caretaker man relative friend neighbour youth marry live property
    court group elect
    """.split()  # noqa: SIM905
)
"""Meanings of words for persons and for what acts as one."""
_PERSON = re.compile(
    r"\b(?:Herrn?|Frau|Dr|Mme|Mlle|M|Sra?|Dña|I|[Ww]e|[Yy]ou|[Hh]e|[Ss]he|[Ww]er|qui|quien|кто|each|jeder|chacun|"
    r"cada|каждый|editors?|committee|council|board|office|department|agency|congress|senate|judge|"
    r"\w+(?:er|or|ist|ee)s?)\b|先生|女士|老师|[师长员者]"
)
"""Words for persons and for bodies of them, and English endings of theirs."""


def asks_person(question: str) -> bool:
    """Return whether a question asks who."""
    return _ASKS.match(question) is not None


def names_person(sentence: str, language: str) -> bool:
    """Return whether a sentence has a word for a person, be it a role."""
    return _PERSON.search(sentence) is not None or any(
        not _MEANINGS.isdisjoint(meanings(term, language)) for term in terms(sentence, language)
    )
