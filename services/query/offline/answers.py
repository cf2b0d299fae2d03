"""An answer without a language model: the sentences of the passages that fit the question, the best first."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from runtime.text.scripts import HAN
from runtime.text.words import STOP

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(f"[{HAN}]")
SHORTEST, LONGEST = 20, 400
"""Characters of a sentence that is quoted; a longer sentence is a table or code, and reads badly in an answer."""


@dataclass(frozen=True)
class Candidate:
    """A sentence with the rank of its passage, its place in the passage and the reference id to cite."""

    text: str
    passage: int
    place: int
    reference: str
    terms: frozenset[str] = field(default=frozenset(), repr=False)
    """The terms of the text."""


def terms(text: str) -> frozenset[str]:
    """Return the words except stopwords, in lower case and without plural endings; Han characters one by one."""
    result: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if _HAN.search(word):
            result.update(word)
        elif word not in STOP:
            result.add(word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word)
    return frozenset(result)


def lexical_scores(question: str, sentences: Sequence[Candidate]) -> list[float]:
    """Return the share of the question's terms in each sentence, 0 to 1; rare terms have a greater weight."""
    question_terms = terms(question)
    shared = [sentence.terms & question_terms for sentence in sentences]
    frequency = Counter(term for some in shared for term in some)
    # In a fixed order: sums of floating-point numbers depend on it.
    weight = {term: math.log(1 + len(sentences) / (1 + frequency[term])) for term in sorted(question_terms)}
    total = sum(weight.values()) or 1.0
    return [sum(weight[term] for term in weight if term in some) / total if some else 0.0 for some in shared]


def best(sentences: Sequence[Candidate], scores: Sequence[float], count: int) -> list[Candidate]:
    """Return the `count` best different sentences, the best first; ties go to the better passage."""
    by_text: dict[str, Candidate] = {}
    for _, sentence in sorted(zip(scores, sentences, strict=True), key=lambda p: (-p[0], p[1].passage, p[1].place)):
        by_text.setdefault(" ".join(sentence.text.lower().split()), sentence)
        if len(by_text) == count:
            break
    return list(by_text.values())


def compose(sentences: Sequence[Candidate]) -> str:
    """Return the sentences as text, with its reference after each run of sentences from one file."""
    parts: list[str] = []
    for index, sentence in enumerate(sentences):
        following = sentences[index + 1].reference if index + 1 < len(sentences) else None
        cite = f" [{sentence.reference}]" if sentence.reference and sentence.reference != following else ""
        parts.append(" ".join(sentence.text.split()) + cite)
    return " ".join(parts)
