"""Lexical ranking of passages."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from services.query.retrieval.linking import words
from services.query.retrieval.multihop.query_terms import stem


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each stem stands in a passage, without stopwords, and the number of all its words."""

    by_stem: Mapping[str, int]
    length: int


def bm25_ranking(question: str, passages: Mapping[str, TermCounts]) -> list[str]:
    """The passages that share words with the question, by BM25 (Robertson and Zaragoza, 2009), the best first."""
    asked = dict.fromkeys(stem(word.form) for word in words(question) if not word.is_stopword)
    mean = sum(counts.length for counts in passages.values()) / (len(passages) or 1) or 1.0
    scores: dict[str, float] = {}
    for word in asked:
        having = {id: times for id, counts in passages.items() if (times := counts.by_stem.get(word))}
        rarity = math.log(1 + (len(passages) - len(having) + 0.5) / (len(having) + 0.5))
        for id, times in having.items():
            part = times * 2.2 / (times + 1.2 * (0.25 + 0.75 * passages[id].length / mean))
            scores[id] = scores.get(id, 0.0) + rarity * part
    return sorted(scores, key=lambda id: -scores[id])
