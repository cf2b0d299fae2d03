"""A question and what is read of a document, as the numbers of pieces of words."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import sentencepiece

from offline.embeddings.wordpiece import WordPiece
from offline.reading.excerpt import Excerpt
from offline.reading.weights import verified_content

MODEL = Path(__file__).with_name("pieces.model")
MODEL_SHA256 = "0948645df7985426705463c4f319d19e545a779cc1e720143a819040f83c1e75"
BEGIN, END = 0, 2
"""Pieces of texts in several languages that begin a pair and end each part of it."""
QUESTION = 56
HEADINGS = 32
BEFORE = 40
SENTENCE = 110
"""Most pieces that are read of each part."""
LONGEST_PIECE = 8
"""Characters of a piece, on the safe side: more than so many for each piece are not cut."""
HEADINGS_CHARACTERS = 160
BEFORE_CHARACTERS = 200
"""Characters, from the end, that are read of each part."""


@dataclass(frozen=True)
class Pair:
    """A question and an excerpt as one text."""

    pieces: list[int]
    """At most 244."""
    question: int
    """How many of them are of the question, with the marks around it."""


@dataclass(frozen=True)
class Pieces:
    """What cuts texts into pieces and makes one text of a question and an excerpt."""

    cut: Callable[[str], list[int]]
    begin: int
    end: int
    """Pieces that begin a pair and end each part of it."""
    joint: tuple[int, ...] = ()
    """Pieces between two parts beside the end of the first."""
    has_empty_context: bool = False
    """Whether a part of nothing is a part."""

    def pair(self, question: str, excerpt: Excerpt) -> Pair:
        """Return a question and an excerpt as one text."""
        context = [
            *self._numbers(excerpt.headings[-HEADINGS_CHARACTERS:], HEADINGS),
            *self._numbers(excerpt.before[-BEFORE_CHARACTERS:], BEFORE),
        ]
        asked = [self.begin, *self._numbers(question, QUESTION), self.end]
        if context or self.has_empty_context:
            context = [*self.joint, *context, self.end]
        sentence = [*self.joint, *self._numbers(excerpt.sentence, SENTENCE), self.end]
        return Pair([*asked, *context, *sentence], len(asked))

    def _numbers(self, text: str, most: int) -> list[int]:
        return self.cut(text[: LONGEST_PIECE * most])[:most]


@cache
def pieces_of_languages() -> Pieces:
    """Return what cuts texts in several languages (Kudo, 2018, "Subword Regularization", section
    3.2). Raises `DamagedFile` when the file of the pieces is not the known one.
    """
    content = verified_content(MODEL, MODEL_SHA256)
    processor: Any = cast("Any", sentencepiece).SentencePieceProcessor(model_proto=content)

    def cut(text: str) -> list[int]:
        return processor.encode(unicodedata.normalize("NFKC", text))

    return Pieces(cut, BEGIN, END, joint=(END,), has_empty_context=True)


@cache
def pieces_of_english() -> Pieces:
    """Return what cuts texts in English, as BERT does. Raises `DamagedFile` when the file of the
    pieces is not the known one.
    """
    pieces = WordPiece()
    return Pieces(pieces.encode, pieces.begin, pieces.end)
