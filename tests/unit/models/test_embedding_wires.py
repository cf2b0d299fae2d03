"""What providers of vectors alone are sent, and how their answers are read."""

from typing import Any

import pytest

from runtime.models.bindings import ADDRESSES, Connection
from runtime.models.embedder import TextForm
from runtime.models.open import _text_form  # pyright: ignore[reportPrivateUsage]
from runtime.models.wires.open import open_wire
from runtime.settings import Settings

TEXTS = ["Ada", "Ben"]
ROWS = [[3.0, 4.0], [0.0, 5.0]]
OPENAI_ANSWER = {"data": [{"embedding": row} for row in ROWS], "usage": {"total_tokens": 7}}


@pytest.mark.parametrize(
    ("binding", "url", "sent", "answer", "tokens"),
    [
        (
            "jina",
            "https://api.jina.ai/v1/embeddings",
            {"model": "m", "input": TEXTS, "dimensions": 2},
            OPENAI_ANSWER,
            7,
        ),
        (
            "voyage",
            "https://api.voyageai.com/v1/embeddings",
            {"model": "m", "input": TEXTS, "output_dimension": 2},
            OPENAI_ANSWER,
            7,
        ),
        (
            "nvidia",
            "https://integrate.api.nvidia.com/v1/embeddings",
            {
                "model": "m",
                "input": TEXTS,
                "dimensions": 2,
                "input_type": "passage",
                "truncate": "NONE",
            },
            OPENAI_ANSWER,
            7,
        ),
        (
            "cohere",
            "https://api.cohere.com/v2/embed",
            {
                "model": "m",
                "texts": TEXTS,
                "output_dimension": 2,
                "input_type": "search_document",
                "embedding_types": ["float"],
                "truncate": "NONE",
            },
            {"embeddings": {"float": ROWS}, "meta": {"billed_units": {"input_tokens": 7}}},
            7,
        ),
        (
            "huggingface",
            "http://tei.example:8080/embed",
            {"inputs": TEXTS, "dimensions": 2, "truncate": False, "normalize": True},
            ROWS,
            None,
        ),
    ],
)
def test_each_provider_is_asked_in_its_own_form(
    binding: str, url: str, sent: dict[str, Any], answer: Any, tokens: int | None
) -> None:
    address = ADDRESSES.get(binding, "http://tei.example:8080")
    wire = open_wire(binding, Connection(address, "key"))
    request = wire.embedding({"model": "m", "input": TEXTS, "dimensions": 2})
    assert (request.url, dict(request.body)) == (url, sent)
    assert wire.headers(url, b"") == {"Authorization": "Bearer key"}
    vectors = wire.vectors(answer)
    assert [row["embedding"] for row in vectors["data"]] == ROWS
    assert vectors["usage"]["total_tokens"] == tokens
    error = {"message": "invalid request"}
    assert wire.vectors(error) == error, "an error stays as it is"


@pytest.mark.parametrize(
    ("binding", "documents", "questions"),
    [
        ("jina", {"task": "retrieval.passage"}, {"task": "retrieval.query"}),
        ("voyage", {"input_type": "document"}, {"input_type": "query"}),
        ("gemini", {"taskType": "RETRIEVAL_DOCUMENT"}, {"taskType": "RETRIEVAL_QUERY"}),
        ("openai", {}, {}),
    ],
)
def test_documents_and_questions_are_told_apart_where_asked_for(
    binding: str, documents: dict[str, str], questions: dict[str, str]
) -> None:
    apart = Settings(embedding_binding=binding, embedding_asymmetric=True)
    assert _text_form(apart, "document") == TextForm("", documents)
    assert _text_form(apart, "query") == TextForm("", questions)
    alike = Settings(embedding_binding=binding)
    assert _text_form(alike, "document") == _text_form(alike, "query") == TextForm()


@pytest.mark.parametrize(
    ("binding", "model", "question"),
    [
        ("nvidia", "nvidia/nv-embedqa-e5-v5", {"input_type": "query"}),
        ("cohere", "embed-v4.0", {"input_type": "search_query"}),
        ("bedrock", "cohere.embed-multilingual-v3", {"input_type": "search_query"}),
        ("bedrock", "amazon.titan-embed-text-v2:0", {}),
    ],
)
def test_a_provider_that_always_wants_the_kind_of_a_text_is_told_of_questions(
    binding: str, model: str, question: dict[str, str]
) -> None:
    settings = Settings(embedding_binding=binding, embedding_model=model)
    assert _text_form(settings, "query") == TextForm("", question)
    assert _text_form(settings, "document") == TextForm()
