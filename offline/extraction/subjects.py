"""Resolves pronouns at the beginning of sentences: finds the name, the antecedent, that each stands
for.
"""

import re
from collections.abc import Mapping, Sequence

from offline.extraction.types import guess
from offline.language.names import Name
from offline.language.sentences import Sentence
from offline.language.terms import Word, is_verb, words
from offline.language.word_lists import FOREIGN_OPENERS, NO_NAMES, OPENERS

_PRONOUN = re.compile(
    r"(?P<person>He|She|His|Her)\b|(?:It|Its)\b(?! (?:is|was) (?:\w+ to|\w+ that|not|also)\b)"
)
_THINGS = frozenset({"location", "organization", "event", "content", "concept"})


def referred(
    text: str, sentences: Sequence[Sentence], occurrences: Sequence[Name], headings: Sequence[str]
) -> dict[int, Name]:
    """Return, by number of the sentence, the antecedent of the pronoun it begins with, at the
    pronoun's place.

    The antecedent is the name at the beginning of the sentence before, else the subject of the
    passage: the name that the last heading consists of, else the name at the beginning of the
    passage.
    """
    leading = _leading(text, sentences, occurrences)
    prose = [
        number
        for number, sentence in enumerate(sentences)
        if not (sentence.code or sentence.heading)
    ]
    subject = _of_headings(headings) or leading.get(prose[0] if prose else -1)
    antecedents: dict[int, Name] = {}
    for number in prose:
        pronoun = _PRONOUN.match(sentences[number].text)
        name = leading.get(number - 1) or antecedents.get(number - 1) or subject
        if pronoun and name and _fits(name, person=pronoun["person"] is not None):
            start = sentences[number].start
            antecedents[number] = Name(
                name.text, start, start + pronoun.end(), number, name.kind, name.title
            )
    return antecedents


def _leading(
    text: str, sentences: Sequence[Sentence], occurrences: Sequence[Name]
) -> Mapping[int, Name]:
    """Return, by number of the sentence, the name it begins with, apart from articles and
    titles.
    """
    # What stands before the first name of a sentence stands before the others too.
    first: dict[int, Name] = {}
    for name in occurrences:
        first.setdefault(name.sentence, name)
    return {number: name for number, name in first.items() if _leads(text, sentences[number], name)}


def _leads(text: str, sentence: Sentence, name: Name) -> bool:
    before = words(text, sentence.start, name.start)
    return all(word.shape in ("stop", "connector") or word.lower == name.title for word in before)


def _of_headings(headings: Sequence[str]) -> Name | None:
    """Return the last heading if all of it is a name."""
    parts = words(headings[-1]) if headings else []
    bare = " ".join(word.text for word in parts)
    if (
        not 0 < len(parts) < 5
        or bare != headings[-1].strip()
        or any(not _is_named(word) for word in parts)
    ):
        return None
    return Name(bare, 0, len(bare), 0)


def _is_named(word: Word) -> bool:
    lower = word.lower
    common = lower in OPENERS or lower in NO_NAMES or lower in FOREIGN_OPENERS or is_verb(lower)
    return word.shape == "connector" or (word.shape == "proper" and not common)


def _fits(name: Name, *, person: bool) -> bool:
    kind = guess(name)
    if not person:
        return kind != "person"
    return kind not in _THINGS and not name.text.isupper() and name.kind in ("name", "han")
