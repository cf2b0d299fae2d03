"""An answer without a language model: the sentences of the passages that fit the question, the best first."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from runtime.text.scripts import HAN
from runtime.text.words import STOP

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(f"[{HAN}]")
LONGEST = 400
"""Characters; a longer sentence is a table or code, and reads badly in an answer."""


@dataclass(frozen=True)
class Candidate:
    """A sentence and where it stands: the rank of its passage, its place in it, the reference to cite."""

    text: str
    passage: int
    place: int
    reference: str


def terms(text: str) -> set[str]:
    """The words that carry meaning, in lower case and without plural endings; Han characters one by one."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if _HAN.search(word):
            found.update(word)
        elif word not in STOP:
            found.add(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word)
    return found


def lexical_scores(question: str, sentences: Sequence[Candidate]) -> list[float]:
    """How much of the question's meaning each sentence names, rare words counting more: between 0 and 1."""
    asked = terms(question)
    named = [terms(sentence.text) for sentence in sentences]
    frequency = Counter(term for one in named for term in one & asked)
    weight = {term: math.log(1 + len(sentences) / (1 + frequency[term])) for term in asked}
    total = sum(weight.values()) or 1.0
    return [sum(weight[term] for term in one & asked) / total for one in named]


def best(sentences: Sequence[Candidate], scores: Sequence[float], count: int) -> list[Candidate]:
    """The `count` best sentences, no two alike, the best first; of equal ones those of the better passage."""
    chosen: dict[str, Candidate] = {}
    for _, sentence in sorted(zip(scores, sentences, strict=True), key=lambda p: (-p[0], p[1].passage, p[1].place)):
        chosen.setdefault(" ".join(sentence.text.lower().split()), sentence)
        if len(chosen) == count:
            break
    return list(chosen.values())


def compose(sentences: Sequence[Candidate]) -> str:
    """The sentences as text, each run from one file followed by its reference."""
    parts: list[str] = []
    for index, sentence in enumerate(sentences):
        following = sentences[index + 1].reference if index + 1 < len(sentences) else None
        cite = f" [{sentence.reference}]" if sentence.reference and sentence.reference != following else ""
        parts.append(" ".join(sentence.text.split()) + cite)
    return " ".join(parts)
