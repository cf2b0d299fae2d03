"""Which words of a language are near in meaning: `Gebühr` and `Kosten`, `fee` and `cost`.

`meanings/<language>.txt` has a meaning a line, its name before the colon and behind it the words
that say it or nearly so, with irregular forms. A meaning has the same name in all languages.
"""

from functools import cache, lru_cache
from importlib.resources import files

from offline.language.languages import CHINESE, GERMAN, term_stem

_LIGHT = frozenset(
    """
    need get give put use allow must man find help number all part place reason name explain
    change carry show go do begin end big small create add
    """.split()  # noqa: SIM905
)
"""Meanings that any text may have."""

_SHORTEST_PART = 5
"""Letters of a word that may be a part of a German compound."""


@lru_cache(maxsize=1 << 15)
def meanings(term: str, language: str) -> frozenset[str]:
    """Return the meanings of a term, as `term_stem` makes it; of a German compound also those of
    its first and its last part.
    """
    by_term = _by_term(language)
    own_meanings = by_term.get(term, frozenset())
    if own_meanings or language != GERMAN:
        return own_meanings
    cuts = range(_SHORTEST_PART, len(term) - _SHORTEST_PART + 1)
    heads = (by_term[term[at:]] for at in cuts if term[at:] in by_term)
    head_meanings = next(heads, frozenset[str]())
    modifiers = (by_term[term[:at]] for at in reversed(cuts) if term[:at] in by_term)
    return next(modifiers, head_meanings) | head_meanings


def is_light(term: str, language: str) -> bool:
    """Return whether a term says little, as `need` and `get`: all its meanings are light ones."""
    own_meanings = _by_term(language).get(term, frozenset())
    return bool(own_meanings) and own_meanings <= _LIGHT


@cache
def _by_term(language: str) -> dict[str, frozenset[str]]:
    """Return the meanings by term; empty for a language without a list."""
    path = files("offline.language") / "meanings" / f"{language}.txt"
    result: dict[str, frozenset[str]] = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        meaning, _, words = line.partition(":")
        for word in words.split():
            for term in _terms(word, language):
                result[term] = result.get(term, frozenset()) | {meaning}
    return result


def _terms(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of a word: Chinese ones are at most two characters long."""
    if language == CHINESE:
        return (word[:2],)
    return (term_stem(language, word),)
