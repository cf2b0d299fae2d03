"""Embedding models, rerankers and parameters of chats that misbehave: the rows of
docs/providers.md, each over HTTP.
"""

from collections.abc import Generator
from typing import Any

import pytest

from offline.embeddings.lexical import vector
from runtime.errors import Poison, Retryable, Unavailable
from runtime.models.open import open_chat, open_embedder
from runtime.models.port import Message
from runtime.settings import Settings
from services.query.adapters.http_reranker import HttpReranker
from tests.support.misbehaving_provider import MisbehavingProvider, serving
from tests.support.misbehaving_provider.embedding import DIMENSION
from tests.support.misbehaving_provider.server import KEY
from tests.support.provider_page import Case, cases

TEXTS = [f"Stall {number} sells herring" for number in range(12)]
LONG = "The harbour office keeps a log of every ship. " * 120


@pytest.fixture
def provider() -> Generator[MisbehavingProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture
def settings(provider: MisbehavingProvider, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a process that asks the provider."""
    for name, value in provider.environment().items():
        monkeypatch.setenv(name, value)
    return Settings()


def close(first: Any, second: Any) -> bool:
    return sum(a * b for a, b in zip(first, second, strict=True)) > 0.99


@pytest.mark.parametrize("case", cases("Embeddings"), ids=str)
async def test_embeddings(case: Case, provider: MisbehavingProvider, settings: Settings) -> None:
    provider.set_mode(embeddings=case.marker)
    embedder = open_embedder(settings)
    try:
        if case.outcome == "waits":
            with pytest.raises(Unavailable):
                await embedder.embed(TEXTS)
            return
        texts = [*TEXTS, LONG] if case.outcome == "shortened" else TEXTS
        vectors = await embedder.embed(texts)
        assert len(vectors) == len(texts)
        expected_vectors = [vector(text, DIMENSION) for text in TEXTS]
        assert all(
            close(*pair)
            for pair in zip(vectors[: len(expected_vectors)], expected_vectors, strict=True)
        )
        calls = len(provider.asked("embeddings"))
        await embedder.embed([f"{text} and cod" for text in TEXTS[:1]])
        assert len(provider.asked("embeddings")) == calls + 1, "what worked was not kept"
    finally:
        await embedder.close()


@pytest.mark.parametrize("case", cases("A text that has no embedding"), ids=str)
async def test_a_text_without_embedding(
    case: Case, provider: MisbehavingProvider, settings: Settings
) -> None:
    embedder = open_embedder(settings)
    try:
        for _ in range(20):
            try:
                await embedder.embed([f"herring {case.marker}"])
            except Poison as error:
                assert case.marker not in str(error)
                break
            except Retryable:
                continue
        else:
            raise AssertionError("the text was blamed on the provider for ever")
        assert len(await embedder.embed(TEXTS)) == len(TEXTS)
    finally:
        await embedder.close()


@pytest.mark.parametrize("case", cases("A parameter that is refused"), ids=str)
async def test_a_refused_parameter(
    case: Case, provider: MisbehavingProvider, settings: Settings
) -> None:
    provider.set_mode(chat=case.marker)
    chat = open_chat(settings)
    assert chat
    question = [Message("user", "Name a harbour.")]
    try:
        for _ in range(2):
            if case.marker == "no-stream-options":
                pieces = [piece async for piece in chat.stream(question)]
                assert pieces
            else:
                assert (await chat.complete(question, json=True)).text == "A plain answer."
        assert len(provider.log) == 3, "what worked was not kept"
    finally:
        await chat.close()


@pytest.mark.parametrize("case", cases("Reranking"), ids=str)
async def test_reranking(case: Case, provider: MisbehavingProvider) -> None:
    provider.set_mode(rerank=case.marker)
    url = provider.reranker()["RERANK_BINDING_HOST"]
    reranker = HttpReranker("jina", url, "", KEY)
    texts = ["Barrels of tar", "Ada keeps the light", "Ada leads the harbour", "Ropes"]
    try:
        ranking = await reranker.rerank("Who leads the harbour", texts, 4)
    finally:
        await reranker.close()
    assert ranking[0][0] == 2
    assert len(ranking) == (2 if case.marker == "missing" else 4)
