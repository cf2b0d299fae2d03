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
    asked = frozenset(modes.split("+"))
    if "down" in asked:
        return Refusal(503, {"error": "Model is loading"})
    if "refused" in asked:
        return Refusal(
            422, {"detail": [{"loc": ["body", "documents"], "msg": "Input should be shorter"}]}
        )
    texts = request.get("documents") or request.get("texts") or []
    ranked = sorted(
        enumerate(_scores(request["query"], texts, "logits" in asked)),
        key=lambda scored: -scored[1],
    )
    if "unsorted" in asked:
        ranked.sort()
    if "missing" in asked:
        ranked = ranked[: len(ranked) // 2]
    return Refusal(200, _shaped(ranked, asked))


def _shaped(ranked: list[tuple[int, float]], modes: frozenset[str]) -> Any:
    if "tei" in modes:
        return [{"index": index, "score": score} for index, score in ranked]
    if "strings" in modes:
        return {
            "results": [
                {"index": index, "relevance_score": f"{score:.4f}"} for index, score in ranked
            ]
        }
    results = [{"index": index, "relevance_score": score} for index, score in ranked]
    return {"data": results} if "data" in modes else {"id": None, "results": results, "meta": None}


def _scores(query: str, texts: list[Any], is_logits: bool) -> list[float]:
    asked = _words(query)
    common = [
        len(asked & _words(text if isinstance(text, str) else text.get("text", "")))
        for text in texts
    ]
    if is_logits:
        return [LOWEST + 8.0 * count / (len(asked) or 1) for count in common]
    return [count / (len(asked) or 1) for count in common]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
