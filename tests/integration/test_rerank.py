"""The rerankers against a local HTTP server, in the shapes of three providers, well and badly
answered.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from embedded.processes import free_port
from runtime.errors import ConfigurationError, RateLimited, Retryable, Unavailable
from runtime.models import endpoint as endpoint_module
from runtime.models.rate_limiters import RateLimiters
from runtime.retries import Backoff
from services.query.adapters.http_reranker import SHAPES, Binding, HttpReranker
from services.query.adapters.models import ModelReranker
from services.query.passage import Passage
from services.query.settings import QuerySettings
from services.query.wiring import open_reranker

KEY = "rk-very-secret-0123456789"
TEXTS = ["bread", "radium glows", "cake"]


@dataclass
class Provider:
    """Answers with `answer`, and remembers what it was asked."""

    url: str = ""
    answer: Any = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)

    async def handle(self, request: Request) -> Response:
        self.requests.append(await request.json())
        self.keys.add(request.headers.get("authorization"))
        if isinstance(self.answer, Response):
            return self.answer
        if self.answer == "hang":
            await asyncio.sleep(5)
        return JSONResponse(self.answer)

    def reranker(self, binding: Binding = "jina", **options: Any) -> HttpReranker:
        return HttpReranker(binding, self.url, "m", KEY, **options)


@asynccontextmanager
async def serving() -> AsyncIterator[Provider]:
    provider = Provider()
    port = free_port()
    app = Starlette(routes=[Route("/v2/rerank", provider.handle, methods=["POST"])])
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
    )
    running = asyncio.create_task(server.serve())
    async with asyncio.timeout(20):
        while not server.started:
            await asyncio.sleep(0.01)
    provider.url = f"http://127.0.0.1:{port}/v2/rerank"
    try:
        yield provider
    finally:
        server.should_exit = True
        await running


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Provider]:
    monkeypatch.setattr(endpoint_module, "REPETITIONS", Backoff(0.01, 0.01))
    async with serving() as provider:
        yield provider


async def reranked(reranker: HttpReranker, top_n: int = 2) -> list[tuple[int, float]]:
    try:
        return await reranker.rerank("What glows?", TEXTS, top_n)
    finally:
        await reranker.close()


RESULTS = [
    {"index": 1, "relevance_score": 0.9, "document": {"text": "radium glows"}},
    {"index": 0, "relevance_score": 0.2},
]


@pytest.mark.parametrize(
    ("binding", "request_", "answer"),
    [
        (
            "cohere",
            {"model": "m", "query": "What glows?", "documents": TEXTS, "top_n": 2},
            {"results": RESULTS},
        ),
        (
            "jina",
            {
                "model": "m",
                "query": "What glows?",
                "documents": TEXTS,
                "top_n": 2,
                "return_documents": False,
            },
            {"results": RESULTS, "usage": {"total_tokens": 7}},
        ),
        (
            "aliyun",
            {
                "model": "m",
                "input": {"query": "What glows?", "documents": TEXTS},
                "parameters": {"top_n": 2, "return_documents": False},
            },
            {"output": {"results": RESULTS}, "request_id": "1"},
        ),
        (
            "tei",
            {"query": "What glows?", "texts": TEXTS, "truncate": True},
            [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}],
        ),
        (
            "voyage",
            {"model": "m", "query": "What glows?", "documents": TEXTS, "top_k": 2},
            {"object": "list", "data": RESULTS, "usage": {"total_tokens": 26}},
        ),
        (
            "nvidia",
            {
                "model": "m",
                "query": {"text": "What glows?"},
                "passages": [{"text": text} for text in TEXTS],
                "truncate": "END",
            },
            {"rankings": [{"index": 1, "logit": 0.9}, {"index": 0, "logit": 0.2}]},
        ),
    ],
)
async def test_each_provider_is_asked_in_its_own_shape(
    provider: Provider, binding: Binding, request_: Any, answer: Any
) -> None:
    provider.answer = answer
    assert await reranked(provider.reranker(binding)) == [(1, 0.9), (0, 0.2)]
    assert (provider.requests, provider.keys) == ([request_], {f"Bearer {KEY}"})


async def test_no_more_is_asked_for_than_there_are_and_nothing_about_nothing(
    provider: Provider,
) -> None:
    provider.answer = {"results": RESULTS}
    await reranked(provider.reranker(), 20)
    assert provider.requests[0]["top_n"] == 3
    assert await provider.reranker().rerank("What glows?", [], 5) == []
    assert len(provider.requests) == 1


async def test_only_places_that_there_are_count_and_each_once_the_best_first(
    provider: Provider,
) -> None:
    odd: list[Any] = [
        {"index": 3, "relevance_score": 1},
        {"index": -1, "relevance_score": 1},
        {"index": True, "relevance_score": 1},
        {"index": "1", "relevance_score": 1},
        {"index": 2, "relevance_score": "high"},
        {"index": 2},
        None,
        7,
        {"index": 0, "relevance_score": -3},
        {"index": 2, "relevance_score": 0.5},
        {"index": 2, "relevance_score": 0.9},
    ]
    provider.answer = {"results": odd}
    assert [index for index, _ in await reranked(provider.reranker(), 3)] == [2, 0]


SCORES = [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]


@pytest.mark.parametrize(
    "answer",
    [
        SCORES,
        {"data": SCORES},
        {"rankings": SCORES},
        {"results": [{**score, "score": str(score["score"])} for score in SCORES]},
        {"results": [*SCORES, {"index": 2, "score": None}, {"index": 9, "score": 1.0}]},
        Response(
            b'[{"index": 2, "score": NaN}, {"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]',
            media_type="application/json",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_the_shape_of_an_answer_does_not_matter(provider: Provider, answer: Any) -> None:
    provider.answer = answer
    assert await reranked(provider.reranker(), 3) == [(1, 0.9), (0, 0.2)]


async def test_results_without_indices_are_in_the_order_of_the_texts(provider: Provider) -> None:
    provider.answer = {"scores": [0.1, 0.8, 0.3]}
    assert await reranked(provider.reranker(), 3) == [(1, 0.8), (2, 0.3), (0, 0.1)]


@pytest.mark.parametrize("best", [-1.5, -400.0, -1e6, 8.0])
async def test_logits_keep_their_order_on_a_scale_from_0_to_1(
    provider: Provider, best: float
) -> None:
    logits = [best - 2, best, best - 1]
    provider.answer = [{"index": index, "score": logit} for index, logit in enumerate(logits)]
    ranking = await reranked(provider.reranker(), 3)
    assert [index for index, _ in ranking] == [1, 2, 0]
    assert all(0.0 <= score <= 1.0 for _, score in ranking)
    provider.answer = [{"index": 0, "score": 0.0}, {"index": 1, "score": -2.0}]
    assert await reranked(provider.reranker(), 3) == [
        (0, 0.5),
        (1, pytest.approx(0.1192, abs=1e-4)),
    ]


async def test_what_has_no_score_stands_behind_in_its_order(provider: Provider) -> None:
    provider.answer = [{"index": 2, "score": -7.5}]
    model = provider.reranker()
    result = await ModelReranker(model, str).rerank("What glows?", passages(*TEXTS), 3)
    await model.close()
    assert [passage.content for passage, _ in result] == [TEXTS[2], TEXTS[0], TEXTS[1]]
    assert [score is None for _, score in result] == [False, True, True]


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        ({"results": []}, Unavailable, "RERANK_BINDING"),
        ({"results": {"index": 1}}, Unavailable, "RERANK_BINDING"),
        ([1], Unavailable, "RERANK_BINDING"),
        (PlainTextResponse("<html>"), Unavailable, "read|RERANK_BINDING"),
        (Response(b'{"results": [', media_type="application/json"), Unavailable, "RERANK_BINDING"),
        (JSONResponse({"detail": f"bad, with {KEY}"}, 400), Unavailable, "400"),
        (JSONResponse({}, 401), Unavailable, "RERANK_API_KEY"),
        (JSONResponse({}, 404), Unavailable, "RERANK_BASE_URL"),
        (JSONResponse({}, 429, {"Retry-After": "7"}), RateLimited, "wait"),
        (JSONResponse({"message": KEY}, 500), Unavailable, "500"),
        ("hang", Unavailable, "0.2 s"),
    ],
    ids=lambda value: (
        getattr(value, "__name__", None) or str(getattr(value, "status_code", value))[:40]
    ),
)
async def test_each_failure_has_its_error_and_none_shows_the_key(
    provider: Provider, answer: Any, error: type[Exception], says: str
) -> None:
    provider.answer = answer
    with pytest.raises(error, match=says) as caught:
        await reranked(provider.reranker(timeout=0.2))
    assert type(caught.value) is error
    assert KEY not in str(caught.value)


def passages(*texts: str) -> list[Passage]:
    return [Passage(f"c{n}", "d", n, text, "d.txt") for n, text in enumerate(texts)]


async def test_passages_come_in_the_order_of_their_scores_shortened_for_the_model_only(
    provider: Provider,
) -> None:
    provider.answer = {"results": RESULTS}
    model = provider.reranker()
    result = await ModelReranker(model, lambda text: text[:5]).rerank(
        "What glows?", passages(*TEXTS), 2
    )
    await model.close()
    assert [(passage.content, score) for passage, score in result] == [
        ("radium glows", 0.9),
        ("bread", 0.2),
    ]
    assert provider.requests[0]["documents"] == ["bread", "radiu", "cake"]


@pytest.mark.parametrize(
    "answer",
    [{"results": []}, JSONResponse({}, 400), JSONResponse({}, 503)],
    ids=["none", "400", "503"],
)
async def test_a_failure_keeps_all_passages_in_their_order(provider: Provider, answer: Any) -> None:
    provider.answer = answer
    model = provider.reranker()
    result = await ModelReranker(model, str).rerank("What glows?", passages(*TEXTS), 2)
    await model.close()
    assert [(passage.content, score) for passage, score in result] == [
        (text, None) for text in TEXTS
    ]


async def test_nobody_at_the_address_is_retryable() -> None:
    with pytest.raises(Retryable, match="RERANK_BASE_URL"):
        await reranked(HttpReranker("cohere", f"http://127.0.0.1:{free_port()}/x", "", KEY))


async def test_the_settings_name_the_reranker_and_without_them_there_is_none() -> None:
    assert open_reranker(QuerySettings(), RateLimiters()) is None
    assert open_reranker(QuerySettings(rerank_binding="null"), RateLimiters()) is None
    with pytest.raises(ConfigurationError, match="RERANK_BINDING_HOST"):
        open_reranker(QuerySettings(rerank_binding="tei"), RateLimiters())
    for binding, shape in SHAPES.items():
        settings = QuerySettings(
            rerank_binding=binding, rerank_binding_host=shape.url or "http://127.0.0.1:9/rerank"
        )
        reranker = open_reranker(settings, RateLimiters())
        assert reranker is not None
        assert reranker.model == shape.model
        await reranker.close()
