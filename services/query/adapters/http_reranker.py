"""A model that scores how well texts answer a question, behind the HTTP shapes of Cohere, Jina,
Aliyun, Voyage, NVIDIA and TEI.

Many self-hosted servers (vLLM, Infinity, llama.cpp, TEI behind a proxy) are asked in Jina's shape.
The shape of an answer is read as it comes, whatever was asked.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from contracts.values import TokenUsage
from runtime.errors import ConfigurationError, Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.bindings import Connection
from runtime.models.endpoint import Endpoint
from runtime.models.json_values import as_dict
from runtime.models.limits import Call, Limits
from runtime.models.provider_errors import error_in
from runtime.models.rate_limiter import RateLimiter
from runtime.models.token_counts import count_of
from runtime.models.wires.openai import OpenAiWire, Request

CONTROL = ("The quick brown fox jumps over the lazy dog.", "It rains.")
"""Texts that every model can rank."""

Binding = Literal["cohere", "jina", "aliyun", "voyage", "nvidia", "tei", "huggingface"]


@dataclass(frozen=True)
class Shape:
    """The API of one provider: default address and model, and how to build a request."""

    url: str
    model: str
    request: Callable[[str, str, Sequence[str], int], dict[str, Any]]


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


def _bare(model: str, query: str, texts: Sequence[str], top_n: int) -> dict[str, Any]:
    return {"query": query, "texts": list(texts), "truncate": True}


def _top_k(model: str, query: str, texts: Sequence[str], top_n: int) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": list(texts), "top_k": top_n}


def _passages(model: str, query: str, texts: Sequence[str], top_n: int) -> dict[str, Any]:
    del top_n  # all are ranked
    passages = [{"text": text} for text in texts]
    return {"model": model, "query": {"text": query}, "passages": passages, "truncate": "END"}


SHAPES: dict[Binding, Shape] = {
    "cohere": Shape("https://api.cohere.com/v2/rerank", "rerank-v3.5", _flat),
    "jina": Shape("https://api.jina.ai/v1/rerank", "jina-reranker-v2-base-multilingual", _unquoted),
    "aliyun": Shape(
        "https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank",
        "gte-rerank-v2",
        _nested,
    ),
    "voyage": Shape("https://api.voyageai.com/v1/rerank", "rerank-2.5", _top_k),
    "nvidia": Shape(
        "https://ai.api.nvidia.com/v1/retrieval/nvidia/reranking",
        "nvidia/nv-rerankqa-mistral-4b-v3",
        _passages,
    ),
    "tei": Shape("", "tei", _bare),
    "huggingface": Shape("", "tei", _bare),
}


class HttpReranker:
    """`Reranker` at one provider. `url` is the whole address; it and `model` may be empty for the
    provider's own.

    Raises ConfigurationError without an address where the provider has none of its own.
    """

    def __init__(
        self,
        binding: Binding,
        url: str,
        model: str,
        api_key: str,
        *,
        timeout: float = 30.0,
        limiter: RateLimiter | None = None,
    ) -> None:
        self._shape = SHAPES[binding]
        self._url = url or self._shape.url
        self.model = model or self._shape.model
        if not self._url:
            raise ConfigurationError(
                f"set RERANK_BINDING_HOST: RERANK_BINDING={binding} has no address of its own"
            )
        limiter = limiter or RateLimiter(self.model, Limits(calls=4))
        wire = OpenAiWire(Connection(self._url, api_key))
        self._endpoint = Endpoint(wire, limiter, timeout, "RERANK", retries=1)
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
        return sorted(_probabilities(scores).items(), key=lambda score_item: -scores[score_item[0]])

    async def _control(self, call: Call) -> None:
        """Rerank two harmless texts: whoever can shows that the provider works."""
        body = self._shape.request(self.model, "fox", CONTROL, len(CONTROL))
        await self._scores(body, len(CONTROL), call)

    async def _scores(self, body: dict[str, Any], count: int, call: Call) -> dict[int, float]:
        read = await self._endpoint.ask(Request(self._url, body), lambda json: {"answer": json})
        answer = read["answer"]
        usage = TokenUsage(prompt=_tokens(answer), calls=1)
        call.usage = call.usage + usage if call.usage else usage
        if error := error_in(as_dict(answer)):
            raise self._endpoint.sender.refused(error, None)
        scores = _scores(_results(answer), count)
        if not scores:
            raise Unavailable(
                f"{self.model} gave no scores in a format that is known; check RERANK_BINDING"
            )
        return scores

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()


def _tokens(answer: Any) -> int:
    """Return the tokens that the provider counted, 0 where it counts something else, such as
    searches.
    """
    body = as_dict(answer)
    usage = as_dict(body.get("usage"))
    tokens = as_dict(as_dict(body.get("meta")).get("tokens"))
    return count_of(usage.get("total_tokens", tokens.get("input_tokens")))


def _results(answer: Any) -> list[Any]:
    """Return the list of results of an answer: the answer itself, or what stands under a usual
    name.
    """
    if isinstance(answer, list):
        return cast("list[Any]", answer)
    body = as_dict(answer)
    inner = as_dict(body.get("output"))
    lists = [
        fields.get(name)
        for fields in (body, inner)
        for name in ("results", "data", "rankings", "scores")
    ]
    return next((cast("list[Any]", item) for item in lists if isinstance(item, list)), list[Any]())


def _scores(results: list[Any], count: int) -> dict[int, float]:
    """Return the score of each valid index, the first one if an index repeats.

    As many results as there are texts, of which none has an index, are in the order of the texts.
    """
    in_order = len(results) == count and all(
        as_dict(result).get("index") is None for result in results
    )
    scores: dict[int, float] = {}
    for place, result in enumerate(results):
        fields = as_dict(result)
        index = place if in_order else fields.get("index")
        score = _number(_score(fields) if fields else result)
        if type(index) is int and 0 <= index < count and score is not None:
            scores.setdefault(index, score)
    return scores


def _score(fields: Mapping[str, Any]) -> Any:
    """Return the score of a result under a usual name, None where it has none."""
    names = ("relevance_score", "score", "logit")
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _number(value: Any) -> float | None:
    """Return a score that is a number, or the text of one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _probabilities(scores: Mapping[int, float]) -> Mapping[int, float]:
    """Return the scores on a scale from 0 to 1: where any lies outside of it they are logits, and
    get a sigmoid.
    """
    if all(0.0 <= score <= 1.0 for score in scores.values()):
        return scores
    return {
        index: 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, score))))
        for index, score in scores.items()
    }
