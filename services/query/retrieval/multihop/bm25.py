"""Lexical ranking of passages."""

import math
from collections import Counter
from collections.abc import Mapping

from services.query.passage import Passage
from services.query.retrieval.linking import words
from services.query.retrieval.multihop.query_terms import stem


def bm25_ranking(question: str, passages: Mapping[str, Passage]) -> list[str]:
    """The passages that share words with the question, by BM25 (Robertson and Zaragoza, 2009), the best first."""
    asked = {stem(word.form) for word in words(question) if not word.is_stopword}
    counts = {id: Counter(stem(word.form) for word in words(passage.content)) for id, passage in passages.items()}
    lengths = {id: sum(count.values()) for id, count in counts.items()}
    mean = sum(lengths.values()) / (len(lengths) or 1) or 1.0
    scores: dict[str, float] = {}
    for word in asked:
        having = {id: count[word] for id, count in counts.items() if count[word]}
        rarity = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
        for id, times in having.items():
            part = times * 2.2 / (times + 1.2 * (0.25 + 0.75 * lengths[id] / mean))
            scores[id] = scores.get(id, 0.0) + rarity * part
    return sorted(scores, key=lambda id: -scores[id])
