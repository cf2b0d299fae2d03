"""The words of several passages, one passage after the other, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache

from services.query.retrieval.arrays import Booleans, Integers
from services.query.retrieval.name_keys import Keys
from services.query.retrieval.passage_index.passage_words import (
    CAPITAL,
    PARAGRAPH,
    SENTENCE,
    PassageWords,
    traits_array,
)
from services.query.retrieval.passage_index.vocabulary import Vocabulary, WordNumbers

MAX_REMEMBERED = 3_000_000
"""Words of passages that are remembered by their numbers, which take 4 bytes each."""
PASSAGE_OVERHEAD = 100
"""Words in place of which a passage is remembered, besides its own: about what objects and keys
take, so that very many short passages take no more memory than few long ones.
"""
MAX_DISTINCT = 400_000
"""Distinct words that are remembered; one takes about 0.2 KB."""

vocabulary = Vocabulary()
"""Of all passages that this process reads for walks. Many questions read the same ones, in one
thread.
"""
_numbered: LRUCache[str, WordNumbers] = LRUCache(
    MAX_REMEMBERED, getsizeof=lambda numbers: PASSAGE_OVERHEAD + len(numbers)
)
"""The words of passages by their lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedWords:
    """The words of passages; sentences, paragraphs and passages are counted from 0 over all."""

    numbers: WordNumbers
    """(words,): in `vocabulary`"""
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
        return len(self.numbers)

    def forms(self, begin: int, end: int) -> list[str]:
        """Return the words at these positions."""
        return [vocabulary.forms[number] for number in self.numbers[begin:end].tolist()]

    def passages(self, positions: Integers) -> Integers:
        """Return the passages of the words at these positions."""
        return self.passage_of_sentence[self.sentences[positions]]

    @property
    def paragraph_count(self) -> int:
        """How many paragraphs all passages have."""
        return int(self.paragraph_of_sentence[-1]) + 1 if len(self.paragraph_of_sentence) else 0


def forget_words() -> None:
    """Begin a new vocabulary where it has become too large: no numbers of the former one may be
    used any more.
    """
    if len(vocabulary) > MAX_DISTINCT:
        vocabulary.empty()
        _numbered.clear()


def joined_words(passages: Sequence[PassageWords]) -> JoinedWords:
    """Return the words of these passages."""
    numbers = np.concatenate(
        [np.empty(0, np.int32), *(numbered_words(passage.lines) for passage in passages)]
    )
    traits = traits_array("".join(passage.traits for passage in passages))
    lengths = np.array([passage.word_count for passage in passages], np.int64)
    passage_of_word = np.repeat(np.arange(len(passages)), lengths)
    begins_sentence = traits & SENTENCE > 0
    paragraphs = np.cumsum(traits & PARAGRAPH > 0) - 1
    is_content = vocabulary.are_content(numbers)
    return JoinedWords(
        numbers=numbers,
        keys=vocabulary.keys_of(numbers),
        traits=traits,
        ends=np.cumsum(lengths)[passage_of_word],
        sentences=np.cumsum(begins_sentence) - 1,
        is_content=is_content,
        is_capital_content=is_content & (traits & CAPITAL > 0),
        passage_of_sentence=passage_of_word[begins_sentence],
        paragraph_of_sentence=paragraphs[begins_sentence],
        passage_count=len(passages),
    )


def numbered_words(lines: str) -> WordNumbers:
    """Return (words,): the numbers of these words in `vocabulary`, which are a line each."""
    numbers = _numbered.get(lines)
    if numbers is None:
        numbers = vocabulary.numbers_of(lines)
        if PASSAGE_OVERHEAD + len(numbers) <= MAX_REMEMBERED:
            _numbered[lines] = numbers
    return numbers
