"""What an embedding server refuses is asked for in another form, in fewer and in shorter texts; no
wording counts.
"""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from contracts.events import VectorsIndexed
from contracts.graph import Generations
from runtime.errors import ModelRefused, TextFailure
from runtime.models.cut_texts import noted_cuts
from runtime.models.embedder import CONTROL, EndpointEmbedder
from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.vectors.memory import MemoryVectors
from services.indexer.handler import on_chunks
from tests.support.events import chunked, delivered, document
from tests.support.openai_provider import DIMENSION, Provider, serving

LONG = " ".join(f"Paul came to the quay {number} times." for number in range(200))
LONGEST = 500
"""Words of a text that the server takes."""

Refuses = Callable[[dict[str, Any]], Any]

SHAPES: list[tuple[int, Any]] = [
    (400, {"error": "no such thing here"}),
    (413, {"error": "nope", "error_type": "Validation"}),
    (415, "unsupported"),
    (422, {"detail": [{"loc": ["body", "input"], "msg": "no", "type": "value_error"}]}),
    (500, {"error": {"message": "it broke", "code": 500}}),
    (501, "<html><h1>Not Implemented</h1></html>"),
    (200, {"error": {"message": "odd", "code": 400}}),
]
"""Status and body with which servers refuse, whatever it is that they refuse."""


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@pytest.fixture
def refusal(provider: Provider, request: pytest.FixtureRequest) -> Callable[[Refuses], None]:
    status, body = request.param
    usual_answer = provider.embeddings

    def refuse(refuses: Refuses) -> None:
        def answer(body_asked: dict[str, Any]) -> Response:
            if not refuses(body_asked):
                return usual_answer(body_asked)
            return Response(body, status) if isinstance(body, str) else JSONResponse(body, status)

        provider.embeddings = answer  # type: ignore[method-assign]

    return refuse


def too_long(body: dict[str, Any]) -> bool:
    return any(len(text.split()) > LONGEST for text in body["input"])


async def embedded(embedder: EndpointEmbedder, texts: list[str]) -> dict[str, int]:
    """Embed the texts, and return those that were cut."""
    with noted_cuts() as cuts:
        assert len(await embedder.embed(texts)) == len(texts)
    return cuts


every_shape = pytest.mark.parametrize(
    "refusal", SHAPES, indirect=True, ids=lambda shape: str(shape[0])
)


@every_shape
async def test_a_server_without_base64_is_asked_for_floats_from_then_on(
    provider: Provider, refusal: Callable[[Refuses], None]
) -> None:
    refusal(lambda body: body.get("encoding_format") == "base64")
    embedder = provider.embedder("good")
    for number in range(3):
        await embedder.embed([f"a{number}", f"b{number}"])
    provider.requests.clear()
    await embedder.embed(["c", "d"])
    assert [request["encoding_format"] for request in provider.requests] == ["float"]
    await embedder.close()


async def test_a_server_that_gives_base64_up_is_asked_for_floats_without_a_new_start(
    provider: Provider,
) -> None:
    embedder = provider.embedder("good")
    await embedder.embed(["a"])
    usual_answer = provider.embeddings

    def only_floats(body: dict[str, Any]) -> Response:
        refuses = body["encoding_format"] == "base64"
        return JSONResponse({"error": "no"}, 400) if refuses else usual_answer(body)

    provider.embeddings = only_floats  # type: ignore[method-assign]
    assert len(await embedder.embed(["b"])) == 1
    await embedder.close()


@every_shape
async def test_a_text_that_is_too_long_is_cut_and_the_length_is_remembered(
    provider: Provider, refusal: Callable[[Refuses], None]
) -> None:
    refusal(too_long)
    limiter = RateLimiter("m", Limits(calls=2))
    embedder = provider.embedder("good", limiter=limiter)
    cuts = await embedded(embedder, [LONG, "short"])
    assert list(cuts) == [LONG]
    assert 0.7 * LONGEST <= len(LONG[: cuts[LONG]].split()) <= LONGEST
    assert len(provider.requests) <= 20
    provider.requests.clear()
    long_texts = [f"{number} {LONG}" for number in range(3)]
    assert await embedded(embedder, long_texts) == dict.fromkeys(
        long_texts, pytest.approx(cuts[LONG], abs=20)
    )
    assert len(provider.requests) == 1
    assert await limiter.note() is None
    await embedder.close()


@pytest.mark.parametrize("status", [400, 500])
async def test_a_text_that_is_refused_however_short_is_given_up_and_others_are_not_cut_for_it(
    provider: Provider, status: int
) -> None:
    usual_answer = provider.embeddings

    def answer(body: dict[str, Any]) -> Response:
        if "bitcoin" in json.dumps(body["input"]):
            return JSONResponse({"error": "this one never"}, status)
        return usual_answer(body)

    provider.embeddings = answer  # type: ignore[method-assign]
    embedder = provider.embedder("good")
    error: Exception | None = None
    for _ in range(5):
        try:
            await embedder.embed([f"{LONG} bitcoin"])
        except (ModelRefused, TextFailure) as caught:
            error = caught
        if isinstance(error, ModelRefused):
            break
    assert isinstance(error, ModelRefused)
    assert "this one never" in str(error)
    assert await embedded(embedder, [LONG]) == {}
    await embedder.close()


@every_shape
async def test_a_batch_that_is_too_large_is_halved_and_the_size_is_remembered(
    provider: Provider, refusal: Callable[[Refuses], None]
) -> None:
    refusal(lambda body: len(body["input"]) > 5)
    embedder = provider.embedder("good")
    for number in range(3):
        await embedder.embed([f"{number} {'x' * length}" for length in range(20)])
    provider.requests.clear()
    await embedder.embed([f"y{'x' * length}" for length in range(20)])
    assert {len(request["input"]) for request in provider.requests} == {5}
    assert [CONTROL] not in [request["input"] for request in provider.requests]
    await embedder.close()


async def test_a_document_says_which_of_its_chunks_were_cut_also_when_their_vectors_are_cached(
    provider: Provider,
) -> None:
    usual_answer = provider.embeddings

    def answer(body: dict[str, Any]) -> Response:
        return JSONResponse({"error": "no"}, 413) if too_long(body) else usual_answer(body)

    provider.embeddings = answer  # type: ignore[method-assign]
    embedder = provider.embedder("good")
    rows = MemoryRows()
    embeddings = CachedEmbeddings(rows, embedder)
    for name in ("first", "same text"):
        ((event,),) = await on_chunks(
            [delivered(chunked(document(name), LONG, "short"))],
            Generations(),
            vectors=MemoryVectors(embedder.model, DIMENSION),
            embeddings=embeddings,
            extents=RowDocumentBounds(rows, "vector_extents"),
        )
        assert isinstance(event, VectorsIndexed)
        (warning,) = event.warnings
        assert warning.startswith("1 of 2 chunks are longer than the embedding model good reads")
    await embedder.close()
