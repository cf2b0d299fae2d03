"""Reranking: scores by common words, in the shapes and on the scales of several servers.

`POST /mode {"rerank": …}`; several modes are joined by `+`, as `tei+unsorted`: `logits`, `tei`,
`unsorted`, `missing`, `strings`, `data`, `down`, `refused`.
"""

import re
from collections.abc import Mapping
from typing import Any

from tests.support.misbehaving_provider.refusals import Refusal

_WORD = re.compile(r"\w+")
LOWEST = -9.0
"""The logit of a text without any word of the question; common words never lift it to 0."""


def reranked(request: Mapping[str, Any], modes: str) -> Refusal:
    """Return the answer to a request in these modes."""
    mode_names = frozenset(modes.split("+"))
    if "down" in mode_names:
        return Refusal(503, {"error": "Model is loading"})
    if "refused" in mode_names:
        return Refusal(
            422, {"detail": [{"loc": ["body", "documents"], "msg": "Input should be shorter"}]}
        )
    texts = request.get("documents") or request.get("texts") or []
    ranking = sorted(
        enumerate(_scores(request["query"], texts, "logits" in mode_names)),
        key=lambda pair: -pair[1],
    )
    if "unsorted" in mode_names:
        ranking.sort()
    if "missing" in mode_names:
        ranking = ranking[: len(ranking) // 2]
    return Refusal(200, _shaped(ranking, mode_names))


def _shaped(ranking: list[tuple[int, float]], modes: frozenset[str]) -> Any:
    if "tei" in modes:
        return [{"index": index, "score": score} for index, score in ranking]
    if "strings" in modes:
        return {
            "results": [
                {"index": index, "relevance_score": f"{score:.4f}"} for index, score in ranking
            ]
        }
    results = [{"index": index, "relevance_score": score} for index, score in ranking]
    return {"data": results} if "data" in modes else {"id": None, "results": results, "meta": None}


def _scores(query: str, texts: list[Any], is_logits: bool) -> list[float]:
    query_words = _words(query)
    common = [
        len(query_words & _words(text if isinstance(text, str) else text.get("text", "")))
        for text in texts
    ]
    if is_logits:
        return [LOWEST + 8.0 * count / (len(query_words) or 1) for count in common]
    return [count / (len(query_words) or 1) for count in common]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
