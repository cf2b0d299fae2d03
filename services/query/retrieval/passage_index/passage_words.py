"""The words of a passage as they are stored beside it, so that a question need not read them out of
the text.

They depend on the passage alone, and on no name of its workspace: a new document changes no other.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from contracts.spelling import one_spelling
from offline.language.normal_forms import Word, normal_form, words
from offline.language.sentences import FULL_STOPS
from offline.language.stop_words import STOPWORDS
from services.query.passage import Passage
from services.query.retrieval.arrays import Integers

CAPITAL = 1
"""The word is written with a capital, or in a script without letter case."""
ADJACENT = 2
"""The word follows the one before without anything between them."""
SUBJECT = 4
"""What follows the word reads as what follows the subject of a definition."""
SENTENCE = 8
"""The word begins a sentence."""
PARAGRAPH = 16
"""The word begins a paragraph."""

_ZERO = ord("0")
SAY_LITTLE = STOPWORDS | {chr(code) for code in range(128)}
"""Words that say too little to be looked for: those of grammar, and single letters and digits."""
_SENTENCE = re.compile(rf"[.!?;](?=\s)|[{FULL_STOPS}；]|\n+")
_SUBJECT = re.compile(r"\s*(?:\([^()]{0,300}\)\s*)?(?:is|was|are|were)\b")
"""What follows the subject of a definition, as in "A native of Elm Port, Ada Marsh (born 1902) was
…".
"""
_PARAGRAPH = re.compile(r"\n\s*\n")


class PassageWords(NamedTuple):
    """The words of a passage, in their normal form, and how they stand in its text."""

    id: str
    document_id: str
    lines: str
    """Its words, a line each."""
    traits: str
    """Of each word a character, by which it stands after `0`: a sum of `CAPITAL`, `ADJACENT`,
    `SUBJECT`, `SENTENCE` and `PARAGRAPH`.
    """
    titles: Sequence[str]
    """Normal forms of its last heading and of the name of its file."""

    @property
    def word_count(self) -> int:
        """How many words it has."""
        return len(self.traits)


def is_stopword(form: str) -> bool:
    """Return whether a word says too little to be looked for."""
    return form in SAY_LITTLE


def words_of(passage: Passage) -> PassageWords:
    """Return the words of a passage."""
    text = one_spelling(passage.content)
    tokens = words(text)
    file = passage.file_path.rsplit(".", 1)[0].replace("_", " ")
    titles = [normal_form(words(title)) for title in (*passage.headings[-1:], file)]
    return PassageWords(
        id=passage.id,
        document_id=passage.document_id,
        lines="\n".join(word.form for word in tokens),
        traits=_traits(text, tokens),
        titles=titles,
    )


def traits_array(traits: str) -> Integers:
    """Return (words,): the trait of each word as a number."""
    return np.frombuffer(traits.encode("ascii"), np.uint8).astype(np.int64) - _ZERO


def _traits(text: str, tokens: Sequence[Word]) -> str:
    sentence_ends = [match.end() for match in _SENTENCE.finditer(text)]
    paragraph_ends = [match.end() for match in _PARAGRAPH.finditer(text)]
    traits: list[str] = []
    sentence_before = -1
    paragraph_before = -1
    end_before = -1
    for word in tokens:
        sentence = bisect_right(sentence_ends, word.start)
        paragraph = bisect_right(paragraph_ends, word.start)
        trait = CAPITAL * word.is_capitalised
        trait += ADJACENT * (word.start == end_before)
        trait += SUBJECT * (_SUBJECT.match(text, word.end) is not None)
        trait += SENTENCE * (sentence != sentence_before)
        trait += PARAGRAPH * (paragraph != paragraph_before)
        traits.append(chr(_ZERO + trait))
        sentence_before = sentence
        paragraph_before = paragraph
        end_before = word.end
    return "".join(traits)
