"""The tokenizer of uncased BERT models: lower-cased, accents dropped, words cut greedily into known
pieces.

WordPiece as in Wu et al., 2016 (section 4.1) and Devlin et al., 2019. Pure Python, so that the
small local embedder needs no tokenizer library.
"""

import hashlib
import unicodedata
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

from offline.errors import DamagedFile

VOCABULARY = Path(__file__).with_name("minilm_vocab.txt")
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_LONGEST_WORD = 100
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Texts to ids of the vendored vocabulary, without the marks at the ends. Never fails on any
    text.

    Raises `DamagedFile` when the vocabulary's file was changed.
    """

    def __init__(self, vocabulary: Path = VOCABULARY) -> None:
        content = vocabulary.read_bytes()
        if hashlib.sha256(content).hexdigest() != VOCABULARY_SHA256:
            raise DamagedFile(f"{vocabulary.name} was changed: install the package again")
        pieces = content.decode("utf-8").rstrip("\n").split("\n")
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self._characters = _Characters()
        self.unknown = self._ids["[UNK]"]
        self.begin = self._ids["[CLS]"]
        self.end = self._ids["[SEP]"]
        self._cut = lru_cache(maxsize=1 << 15)(partial(greedy, ids=self._ids, unknown=self.unknown))

    def encode(self, text: str) -> list[int]:
        """Return the ids of all pieces, in order."""
        return [
            number
            for word in text.translate(self._characters).split(" ")
            if word
            for number in self._cut(word)
        ]


def greedy(word: str, ids: Mapping[str, int], unknown: int) -> tuple[int, ...]:
    """Return the ids of the longest known pieces from the left; one `unknown` if that fails or the
    word is too long.
    """
    if len(word) > _LONGEST_WORD:
        return (unknown,)
    pieces: list[int] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else f"##{word[start:end]}"
            if piece in ids:
                pieces.append(ids[piece])
                start = end
                break
        else:
            return (unknown,)
    return tuple(pieces)


class _Characters(dict[int, str]):
    """What each code point becomes, worked out when first asked for: the table of
    `str.translate`.
    """

    def __missing__(self, code: int) -> str:
        self[code] = _becomes(code)
        return self[code]


def _becomes(code: int) -> str:
    """Nothing for control characters, a blank for blanks, else its lower-case base letters, marks
    set apart.
    """
    character = chr(code)
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    if code == 0xFFFD or unicodedata.category(character)[0] == "C":
        return ""
    bases = [
        part
        for part in unicodedata.normalize("NFD", character)
        if unicodedata.category(part) != "Mn"
    ]
    lower = "".join(f" {part} " if _is_punctuation(part) else part.lower() for part in bases)
    return (
        f" {lower} " if any(lowest <= code <= highest for lowest, highest in _IDEOGRAPHS) else lower
    )


def _is_punctuation(character: str) -> bool:
    """Also the ASCII marks that Unicode calls symbols, such as `$` and `^`."""
    code = ord(character)
    ascii_mark = 33 <= code <= 126 and not character.isalnum()
    return ascii_mark or unicodedata.category(character)[0] == "P"
