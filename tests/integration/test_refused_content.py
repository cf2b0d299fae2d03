"""A passage that a provider refuses for its content fails alone, whichever way the provider says
so.
"""

from collections.abc import Generator

import pytest

from contracts.events import EntitiesExtracted, StageFailed
from contracts.graph import Generations
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.model import ModelExtractor
from services.extractor.domain.guidance import DEFAULT
from services.extractor.handler import on_chunks_created
from tests.support.events import chunked, delivered, document
from tests.support.language_model import CHAT_MODEL, KEY, LanguageModel, serving
from tests.support.openai_provider import chat_at


@pytest.fixture
def model() -> Generator[LanguageModel]:
    with serving() as model:
        yield model


async def test_a_passage_refused_for_its_content_fails_alone(model: LanguageModel) -> None:
    model.forbidden, model.filtered = "Mallory", "Trudy"
    event = chunked(
        document(),
        "Ada Marlow came.",
        "Then Mallory Smith came.",
        "Then Trudy Smith came.",
        "Eve Hill left.",
    )
    chat = chat_at(model.url, CHAT_MODEL, KEY)
    try:
        results = await on_chunks_created(
            delivered(event),
            Generations(),
            extractor=ModelExtractor(chat, DEFAULT, len),
            extractions=ExtractionCache(MemoryRows()),
            clock=lambda: 0.0,
        )
    finally:
        await chat.close()
    names = {
        result.chunk.order: result.entities[0].name
        for result in results
        if isinstance(result, EntitiesExtracted)
    }
    assert names == {0: "Ada Marlow", 3: "Eve Hill"}
    failures = {
        result.chunks[0].order: result for result in results if isinstance(result, StageFailed)
    }
    assert sorted(failures) == [1, 2]
    assert "against the content policy" in failures[1].message
    assert "refuses this content" in failures[2].message
    assert {(result.error_type, result.retry_may_help) for result in failures.values()} == {
        ("ModelRefused", False)
    }
