"""A model that scores how well texts answer a question, behind the HTTP shapes of Cohere, Jina and Aliyun.

Many self-hosted servers (vLLM, Infinity, TEI behind a proxy) use Jina's format.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from contracts.values import TokenUsage
from runtime.errors import Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.limits import Call, Limits
from runtime.models.openai_endpoint import Endpoint, as_dict
from runtime.models.provider_errors import error_in
from runtime.models.rate_limiter import RateLimiter
from runtime.models.token_counts import count_of

CONTROL = ("The quick brown fox jumps over the lazy dog.", "It rains.")
"""Texts that every model can rank."""

Binding = Literal["cohere", "jina", "aliyun"]


@dataclass(frozen=True)
class Shape:
    """The API of one provider: default address and model, how to build a request and how to read the results."""

    url: str
    model: str
    request: Callable[[str, str, Sequence[str], int], dict[str, Any]]
    results: Callable[[dict[str, Any]], Any]


def _flat(model: str, query: str, texts: Sequence[str], top_n: int) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": list(texts), "top_n": top_n}


def _unquoted(model: str, query: str, texts: Sequence[str], top_n: int) -> dict[str, Any]:
    return {**_flat(model, query, texts, top_n), "return_documents": False}


def _nested(model: str, query: str, texts: Sequence[str], top_n: int) -> dict[str, Any]:
    return {
        "model": model,
        "input": {"query": query, "documents": list(texts)},
        "parameters": {"top_n": top_n, "return_documents": False},
    }


def _outer(answer: dict[str, Any]) -> Any:
    return answer.get("results")


def _inner(answer: dict[str, Any]) -> Any:
    output = answer.get("output")
    return cast("dict[str, Any]", output).get("results") if isinstance(output, dict) else None


SHAPES: dict[Binding, Shape] = {
    "cohere": Shape("https://api.cohere.com/v2/rerank", "rerank-v3.5", _flat, _outer),
    "jina": Shape("https://api.jina.ai/v1/rerank", "jina-reranker-v2-base-multilingual", _unquoted, _outer),
    "aliyun": Shape(
        "https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank",
        "gte-rerank-v2",
        _nested,
        _inner,
    ),
}


class HttpReranker:
    """`Reranker` at one provider. `url` is the whole address; it and `model` may be empty for the provider's own."""

    def __init__(
        self, binding: Binding, url: str, model: str, api_key: str, *, timeout: float = 30.0,
        limiter: RateLimiter | None = None,
    ) -> None:  # fmt: skip
        self._shape = SHAPES[binding]
        self._url, self.model = url or self._shape.url, model or self._shape.model
        limiter = limiter or RateLimiter(self.model, Limits(calls=4))
        self._endpoint = Endpoint(self._url, api_key, limiter, timeout, "RERANK", retries=1)
        self._kind = CallKind("rerank", self.model, self._endpoint.settings)
        self._endpoint.control = self._control

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[tuple[int, float]]:
        """See `Reranker.rerank`."""
        if not texts:
            return []
        body = self._shape.request(self.model, query, texts, min(top_n, len(texts)))
        return await self._endpoint.tried(lambda: self._once(body, len(texts)))

    async def _once(self, body: dict[str, Any], count: int) -> list[tuple[int, float]]:
        async with self._endpoint.call(self._kind, 0, repr(body)) as call:
            scores = await self._scores(body, count, call)
        return sorted(scores.items(), key=lambda scored: -scored[1])

    async def _control(self, call: Call) -> None:
        """Rerank two harmless texts: whoever can shows that the provider works."""
        body = self._shape.request(self.model, "fox", CONTROL, len(CONTROL))
        await self._scores(body, len(CONTROL), call)

    async def _scores(self, body: dict[str, Any], count: int, call: Call) -> dict[int, float]:
        answer: Any = await self._endpoint.client.post(self._url, body=body, cast_to=object)
        usage = TokenUsage(prompt=_tokens(answer), calls=1)
        call.usage = call.usage + usage if call.usage else usage
        fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
        if error := error_in(fields):
            raise self._endpoint.sender.refused(error, None)
        scores = _scores(self._shape.results(fields), count)
        if not scores:
            raise Unavailable(f"{self.model} gave no scores in the format that RERANK_BINDING names")
        return scores

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


def _tokens(answer: Any) -> int:
    """Return the tokens that the provider counted, 0 where it counts something else, such as searches."""
    body = as_dict(answer)
    usage, tokens = as_dict(body.get("usage")), as_dict(as_dict(body.get("meta")).get("tokens"))
    return count_of(usage.get("total_tokens", tokens.get("input_tokens")))


def _scores(results: Any, count: int) -> dict[int, float]:
    """Return the score of each valid index, the first one if an index repeats."""
    scores: dict[int, float] = {}
    for result in cast("list[Any]", results) if isinstance(results, list) else []:
        if not isinstance(result, dict):
            continue
        index, score = (cast("dict[str, Any]", result).get(name) for name in ("index", "relevance_score"))
        usable = type(index) is int and 0 <= index < count and isinstance(score, int | float) and math.isfinite(score)
        if usable:
            scores.setdefault(cast(int, index), float(cast(float, score)))
    return scores
