"""Texts as the pieces of words that the reader knows."""

import unicodedata
from pathlib import Path
from typing import Any, cast

import sentencepiece

from offline.reading.excerpt import Excerpt
from offline.reading.weights import verified_content

MODEL = Path(__file__).with_name("pieces.model")
MODEL_SHA256 = "0948645df7985426705463c4f319d19e545a779cc1e720143a819040f83c1e75"
BEGIN, END = 0, 2
"""Pieces that begin a pair and end each part of it."""
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


class Pieces:
    """Cuts texts into pieces (Kudo, 2018, "Subword Regularization", section 3.2). Raises
    `DamagedFile` when the file of the pieces is not the known one.
    """

    def __init__(self) -> None:
        content = verified_content(MODEL, MODEL_SHA256)
        processor = cast("Any", sentencepiece).SentencePieceProcessor
        self._processor: Any = processor(model_proto=content)

    def pair(self, question: str, excerpt: Excerpt) -> list[int]:
        """Return the numbers of the pieces of a question and an excerpt, at most 244."""
        context = [
            *self._numbers(excerpt.headings[-HEADINGS_CHARACTERS:], HEADINGS),
            *self._numbers(excerpt.before[-BEFORE_CHARACTERS:], BEFORE),
        ]
        sentence = self._numbers(excerpt.sentence, SENTENCE)
        return [
            BEGIN,
            *self._numbers(question, QUESTION),
            END,
            END,
            *context,
            END,
            END,
            *sentence,
            END,
        ]

    def _numbers(self, text: str, most: int) -> list[int]:
        normalized = unicodedata.normalize("NFKC", text[: LONGEST_PIECE * most])
        return self._processor.encode(normalized)[:most]
