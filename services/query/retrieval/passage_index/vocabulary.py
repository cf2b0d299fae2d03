"""The distinct words of passages, each by its number: what a walk asks of a word is worked out
once, and looked up for many words by operations on arrays.
"""

from array import array

import numpy as np
from numpy.typing import NDArray

from offline.language.stems import stem
from services.query.retrieval.arrays import Booleans
from services.query.retrieval.name_keys import Keys
from services.query.retrieval.passage_index.passage_words import SAY_LITTLE

NO_STEM = ""
"""Stands for the stem of a word that says too little to be looked for."""

WordNumbers = NDArray[np.int32]


class Vocabulary(dict[str, int]):
    """Numbers words in the order in which they are met. One thread at a time may use it."""

    def __init__(self) -> None:
        super().__init__()
        self.empty()

    def empty(self) -> None:
        """Have no words."""
        self.clear()
        self.forms: list[str] = []
        """By number."""
        self._keys = array("q")
        self._stem_keys = array("q")
        self._is_content = bytearray()

    def __missing__(self, form: str) -> int:
        """Number a new word."""
        says_little = form in SAY_LITTLE
        self.forms.append(form)
        self._keys.append(hash(form))
        self._stem_keys.append(hash(NO_STEM if says_little else stem(form)))
        self._is_content.append(not says_little)
        number = self[form] = len(self)
        return number

    def numbers_of(self, lines: str) -> WordNumbers:
        """Return (words,): the numbers of words, which are a line each."""
        forms = lines.split("\n") if lines else []
        return np.fromiter(map(self.__getitem__, forms), np.int32, len(forms))

    def keys_of(self, numbers: WordNumbers) -> Keys:
        """Return (words,): the keys of words, as `word_keys` has them."""
        return np.frombuffer(self._keys, np.uint64)[numbers]

    def stem_keys_of(self, numbers: WordNumbers) -> Keys:
        """Return (words,): the keys of their stems."""
        return np.frombuffer(self._stem_keys, np.uint64)[numbers]

    def are_content(self, numbers: WordNumbers) -> Booleans:
        """Return (words,): whether each is no stopword."""
        return np.frombuffer(self._is_content, np.bool_)[numbers]
