"""The last resort among embedders: hashed words, pairs of words and letters. It compares spelling,
not meaning.

It has NO semantic ability: `car` and `automobile` are unrelated to it. It finds passages that share
words with the question (also inflected or misspelt, and Chinese by pairs of characters), needs no
package and no model, and is deterministic on every machine. For tests, and where no other embedder
can run.
"""

import asyncio
import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from offline.language.scripts import HAN_AND_KANA
from offline.language.stop_words import FREQUENT_WORDS

MODEL = "lexical-hash-v1"

_WORD = re.compile(rf"[^\W_{HAN_AND_KANA}]+|[{HAN_AND_KANA}]+")
_IS_HAN = re.compile(f"[{HAN_AND_KANA}]")
_LONGEST_WORD = 64
_FREQUENT_WEIGHT = 0.1
_WORD_WEIGHT = 1.0
_PAIR_WEIGHT = 0.5
_LETTERS_WEIGHT = 0.25


class LexicalEmbedder:
    """Feature hashing with signs (Weinberger et al., 2009) over words, pairs of words and 3- and
    4-grams of letters.

    Counts are damped to `1 + ln(count)`; the vectors have length 1, and a blank text has a fixed
    one.
    """

    model = MODEL

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector per text, in order. Long lists are embedded outside the event loop."""
        return await asyncio.to_thread(lambda: [vector(text, self.dimension) for text in texts])

    async def close(self) -> None:
        """Do nothing: no connection is open."""


def vector(text: str, dimension: int) -> Sequence[float]:
    """Return the vector of one text: `dimension` numbers of length 1."""
    sums = [0.0] * dimension
    for feature, weight in _features(text):
        checksum = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
        sums[(checksum >> 1) % dimension] += weight if checksum & 1 else -weight
    length = math.sqrt(sum(value * value for value in sums))
    if length == 0.0:
        return (1.0, *[0.0] * (dimension - 1))
    return tuple(value / length for value in sums)


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _words(unicodedata.normalize("NFKC", text).casefold())
    for word, count in Counter(words).items():
        count_weight = 1.0 + math.log(count)
        yield (
            f"w {word}",
            count_weight * (_FREQUENT_WEIGHT if word in FREQUENT_WORDS else _WORD_WEIGHT),
        )
        if word not in FREQUENT_WORDS and not _IS_HAN.match(word):
            delimited_word = f"<{word}>"
            for size in (3, 4):
                for start in range(len(delimited_word) - size + 1):
                    yield (
                        f"l {delimited_word[start : start + size]}",
                        count_weight * _LETTERS_WEIGHT,
                    )
    content = [word for word in words if word not in FREQUENT_WORDS]
    for (first, second), count in Counter(pairwise(content)).items():
        yield f"p {first} {second}", (1.0 + math.log(count)) * _PAIR_WEIGHT


def _words(text: str) -> list[str]:
    """Return words, cut at 64 letters; Han and kana as pairs of characters, single ones where they
    stand alone.
    """
    words: list[str] = []
    for match in _WORD.finditer(text):
        word = match[0]
        if not _IS_HAN.match(word):
            words.append(word[:_LONGEST_WORD])
        elif len(word) == 1:
            words.append(word)
        else:
            words += [first + second for first, second in pairwise(word)]
    return words
