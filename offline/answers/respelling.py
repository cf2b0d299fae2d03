"""Reads a name of a question that stands nowhere as the one that the passages have and that is
spelt nearly so: a slip, or the form of another language.
"""

import re
from collections.abc import Collection, Sequence

from rapidfuzz.distance import OSA

from offline.answers.relevance import name_words, terms
from offline.language.normal_forms import normalised

_CAPITALISED = re.compile(r"\b[^\W\d_]*[A-ZÀ-ÞА-ЯЁ][^\W\d_]+")

SHORTEST = 5
"""Letters of a name that is respelt: of shorter ones too many differ by a letter."""

LONG = 8
"""Letters from which on two may differ."""

_SAME_SOUND = str.maketrans("ckjw", "kkyv")
"""First letters that stand for each other in names of several languages."""


def respelled(question: str, texts: Sequence[str], language: str) -> str:
    """Return the question with each name that none of the texts has in the spelling of the only
    name in them that is nearest to it, if any is near.
    """
    words = [word for word in name_words(question, language) if len(word) >= SHORTEST]
    if not words:
        return question
    known_terms = frozenset[str]().union(*(terms(text, language) for text in texts))
    strange_words = [word for word in words if not terms(word, language) <= known_terms]
    if not strange_words:
        return question
    spellings = dict.fromkeys(word for text in texts for word in _CAPITALISED.findall(text))
    for word in strange_words:
        if spelling := _nearest(word, spellings):
            question = re.sub(rf"\b{re.escape(word)}\b", spelling, question)
    return question


def _nearest(word: str, spellings: Collection[str]) -> str | None:
    """Return the only spelling that is nearest to a word, None where none is near."""
    form = normalised(word)
    limit = 2 if len(form) >= LONG else 1
    by_distance: dict[int, set[str]] = {}
    for spelling in spellings:
        other_form = normalised(spelling)
        if len(other_form) >= SHORTEST and _begins_alike(form, other_form):
            distance = OSA.distance(form, other_form, score_cutoff=limit)
            by_distance.setdefault(distance, set()).add(spelling)
    nearest = by_distance.get(min(by_distance), set()) if by_distance else set[str]()
    return next(iter(nearest)) if len(nearest) == 1 and min(by_distance) <= limit else None


def _begins_alike(form: str, other_form: str) -> bool:
    return form[0].translate(_SAME_SOUND) == other_form[0].translate(_SAME_SOUND)
