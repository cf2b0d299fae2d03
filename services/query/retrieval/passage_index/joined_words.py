"""The words of several passages, one passage after the other, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from sys import intern
from typing import NamedTuple

import numpy as np
from cachetools import LRUCache

from offline.language.stems import stem
from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.name_keys import Keys, KeyTable, word_keys
from services.query.retrieval.passage_index.passage_words import (
    CAPITAL,
    PARAGRAPH,
    SAY_LITTLE,
    SENTENCE,
    PassageWords,
    traits_array,
)

MAX_REMEMBERED = 600_000
"""Words of passages that are remembered as they were split; one takes about 30 bytes."""
NO_STEM = ""
"""Stands for the stem of a word that says too little to be looked for."""

_SAY_LITTLE = KeyTable.of_counts(word_keys(sorted(SAY_LITTLE)))


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedWords:
    """The words of passages; sentences, paragraphs and passages are counted from 0 over all."""

    forms: Sequence[str]
    keys: Keys
    """(words,): of their forms"""
    traits: Integers
    """(words,): see `PassageWords.traits`"""
    ends: Integers
    """(words,): the position after the last word of its passage"""
    sentences: Integers
    """(words,)"""
    is_content: Booleans
    """(words,): whether it is no stopword"""
    is_capital_content: Booleans
    """(words,): whether it is a capitalised one that is no stopword"""
    passage_of_sentence: Integers
    """(sentences,)"""
    paragraph_of_sentence: Integers
    """(sentences,)"""
    passage_count: int

    def __len__(self) -> int:
        return len(self.forms)

    def passages(self, positions: Integers) -> Integers:
        """Return the passages of the words at these positions."""
        return self.passage_of_sentence[self.sentences[positions]]

    @property
    def paragraph_count(self) -> int:
        """How many paragraphs all passages have."""
        return int(self.paragraph_of_sentence[-1]) + 1 if len(self.paragraph_of_sentence) else 0


def joined_words(passages: Sequence[PassageWords]) -> JoinedWords:
    """Return the words of these passages."""
    split = [split_words(passage.lines) for passage in passages]
    keys = np.concatenate([np.empty(0, np.uint64), *(words.keys for words in split)])
    traits = traits_array("".join(passage.traits for passage in passages))
    lengths = np.array([passage.word_count for passage in passages], np.int64)
    passage_of_word = np.repeat(np.arange(len(passages)), lengths)
    begins_sentence = traits & SENTENCE > 0
    paragraphs = np.cumsum(traits & PARAGRAPH > 0) - 1
    is_content: Booleans = _SAY_LITTLE.values_of(keys) == 0
    return JoinedWords(
        forms=list(chain.from_iterable(words.forms for words in split)),
        keys=keys,
        traits=traits,
        ends=np.cumsum(lengths)[passage_of_word],
        sentences=np.cumsum(begins_sentence) - 1,
        is_content=is_content,
        is_capital_content=is_content & (traits & CAPITAL > 0),
        passage_of_sentence=passage_of_word[begins_sentence],
        paragraph_of_sentence=paragraphs[begins_sentence],
        passage_count=len(passages),
    )


class SplitWords(NamedTuple):
    """The words of a passage: parallel, an item per word."""

    forms: Sequence[str]
    keys: Keys
    stem_keys: Keys
    """Of their stems"""


_split: LRUCache[str, SplitWords] = LRUCache(
    MAX_REMEMBERED, getsizeof=lambda words: 1 + len(words.forms)
)
"""The words of passages by their lines. Many questions read the same passages, in one thread."""


def split_words(lines: str) -> SplitWords:
    """Return the words of these lines."""
    words = _split.get(lines)
    if words is None:
        forms = [intern(form) for form in lines.split("\n")] if lines else []
        stems = [NO_STEM if form in SAY_LITTLE else stem(form) for form in forms]
        words = SplitWords(forms, word_keys(forms), word_keys(stems))
        if len(forms) < MAX_REMEMBERED:
            _split[lines] = words
    return words
