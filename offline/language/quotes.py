"""What quotation marks tell of names: titles of works between them, and nicknames inside a person's
name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from offline.language.sentences import Sentence
from offline.language.terms import Word, words
from offline.language.word_lists import PREPOSITIONS

_QUOTED = re.compile(
    r"(?<!\w)(?:\"([^\"\n]{3,100})\"|“([^“”\n]{3,100})”|«\s?([^«»\n]{3,100}?)\s?»)(?!\w)"
)
_TRAILING = " ,.;"
"""Marks of the sentence around a title that stand inside the quotation marks."""
_MOST_WORDS = 10
_SMALL = ("stop", "connector", "number")
_NICKNAME = re.compile(r" (?:\"[^\W\d_][\w'’.-]*\"|“[^\W\d_][\w'’.-]*”) ")


def quoted_titles(text: str, sentences: Sequence[Sentence]) -> Iterator[tuple[int, int, int]]:
    """Yield each title between quotation marks: the number of its sentence, and where it begins and
    ends.

    As in "It'll Be Me", "Due South" and "Gone with the Wind": of two words or more, the first, the
    last and those that carry meaning begin with capitals.
    """
    for number, sentence in enumerate(sentences):
        for match in () if sentence.code else _QUOTED.finditer(text, sentence.start, sentence.end):
            begin = match.start(match.lastindex or 0)
            title = match[match.lastindex or 0].rstrip(_TRAILING)
            tokens = words(title)
            if 1 < len(tokens) <= _MOST_WORDS and tokens[0].start == 0 and _is_title(tokens):
                yield number, begin, begin + len(title)


def _is_title(tokens: Sequence[Word]) -> bool:
    small_words = [word for word in tokens if not word.text[0].isupper()]
    capitals = len(tokens) - len(small_words)
    ends = tokens[0].text[0].isupper() and (
        tokens[-1].text[0].isupper() or tokens[-1].shape == "number"
    )
    grammar = all(word.shape in _SMALL or word.lower in PREPOSITIONS for word in small_words)
    return ends and grammar and capitals > 1 and not all(word.shape == "code" for word in tokens)


def with_nicknames(text: str, tokens: Sequence[Word]) -> list[Word]:
    """Return the words, where a nickname with its quotation marks is one: of `David "Tarw" Jones`
    it is `"Tarw"`.

    So the name is whole. Names stand on both sides of a nickname.
    """
    result = list(tokens)
    for number in range(1, len(tokens) - 1):
        before, word, after = tokens[number - 1 : number + 2]
        if before.shape == word.shape == after.shape == "proper" and not before.possessive:
            match = _NICKNAME.fullmatch(text, before.end, after.start)
            if match:
                nickname = text[before.end + 1 : after.start - 1]
                result[number] = replace(
                    word, text=nickname, start=before.end + 1, end=after.start - 1
                )
    return result
