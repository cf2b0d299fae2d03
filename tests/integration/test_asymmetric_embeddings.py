"""Embedding models that tell questions and documents apart: by a prefix, or by a field of the
request.
"""

import json

import pytest

from contracts.graph import EmbeddingModel
from runtime.errors import ConfigurationError, ServiceError
from runtime.models.cut_texts import noted_cuts
from runtime.models.open import (
    as_setting,
    open_embedder,
    open_embedder_of,
    open_question_embedder,
)
from runtime.settings import Settings
from tests.support.misbehaving_provider import MisbehavingProvider, serving
from tests.support.misbehaving_provider.embedding import DIMENSION

BY_FIELD = {
    "embedding_document_extra_body": json.dumps({"input_type": "passage"}),
    "embedding_query_extra_body": json.dumps({"input_type": "query"}),
}
BY_PREFIX = {"embedding_document_prefix": "passage: ", "embedding_query_prefix": "query: "}


def settings_of(provider: MisbehavingProvider, **settings: str) -> Settings:
    return Settings(
        embedding_base_url=provider.url,
        embedding_model="words-1",
        embedding_dim=DIMENSION,
        **settings,
    )


async def embed_both(settings: Settings) -> None:
    """Embed one text as a document, and as a question."""
    documents = open_embedder(settings)
    try:
        await documents.embed(["the harbour"])
        await open_question_embedder(settings, documents).embed(["the harbour"])
    finally:
        await documents.close()


async def test_a_server_that_requires_the_kind_of_a_text_is_told_it() -> None:
    with serving() as provider:
        provider.set_mode(embeddings="input-type")
        await embed_both(settings_of(provider, **BY_FIELD))
        assert [entry["input_type"] for entry in provider.log] == ["passage", "query"]
        with pytest.raises(ServiceError, match="'input_type' parameter is required"):
            await embed_both(settings_of(provider))


async def test_prefixes_stand_before_the_texts() -> None:
    with serving() as provider:
        await embed_both(settings_of(provider, **BY_PREFIX))
        assert [entry["text"] for entry in provider.log] == [
            "passage: the harbour",
            "query: the harbour",
        ]


async def test_vectors_of_another_form_of_documents_have_another_model() -> None:
    with serving() as provider:
        without_form, by_prefix, by_field, by_query = (
            open_embedder(settings_of(provider, **form))
            for form in ({}, BY_PREFIX, BY_FIELD, {"embedding_query_prefix": "query: "})
        )
        assert without_form.model == by_query.model == "words-1"
        assert len({without_form.model, by_prefix.model, by_field.model}) == 3
        assert {as_setting(embedder.model) for embedder in (without_form, by_prefix, by_field)} == {
            "words-1"
        }
        again = EmbeddingModel(by_prefix.model, DIMENSION)
        reopened_embedder = open_embedder_of(settings_of(provider, **BY_PREFIX), again)
        assert reopened_embedder.model == by_prefix.model
        with pytest.raises(ServiceError, match="is not what this version"):
            open_embedder_of(settings_of(provider), again)
        for embedder in (without_form, by_prefix, by_field, by_query, reopened_embedder):
            await embedder.close()


async def test_a_prefix_does_not_count_as_what_is_left_of_a_text_that_is_cut() -> None:
    with serving() as provider:
        settings = settings_of(provider, **BY_PREFIX).model_copy(update={"embedding_max_bytes": 19})
        documents = open_embedder(settings)
        with noted_cuts() as cuts:
            await documents.embed(["0123456789", "0123456789abc"])
        await documents.close()
        assert cuts == {"0123456789abc": 10}


def test_a_body_that_is_no_json_object_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="EMBEDDING_QUERY_EXTRA_BODY"):
        Settings(embedding_query_extra_body="[1]")


async def test_a_blank_text_is_sent_as_one_blank() -> None:
    with serving() as provider:
        embedder = open_embedder(settings_of(provider, **BY_PREFIX))
        await embedder.embed(["", " "])
        await embedder.close()
        assert (provider.log[0]["text"], provider.log[0]["texts"]) == (" ", 1)
