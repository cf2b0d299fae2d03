"""ChunksCreated in, one event per chunk out: nothing paid for twice, no chunk failing for
another.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from contracts.events import ChunksCreated, EntitiesExtracted, Event, StageFailed
from contracts.graph import Generations
from contracts.values import CustomExtraction, ExtractedEntity, ExtractedRelation, TokenUsage
from runtime.bus.port import BUG_ATTEMPTS
from runtime.errors import ModelRefused, Poison, RateLimited, Retryable, Unavailable
from runtime.models.port import Completion
from runtime.models.scripted import Answer, ScriptedChat
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.model import ROWLESS_TRIES, ModelExtractor
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.domain.guidance import DELIMITER as D
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.handler import cache_key, on_chunks_created
from services.extractor.replay import ExtractionReplay
from tests.support.events import chunk, chunked, delivered, document, reference

ONCE = ExtractionConfig(gleaning=0)


def asking(chat: ScriptedChat, recipe: ExtractionConfig = ONCE) -> ModelExtractor:
    """An extractor whose tokens are words."""
    return ModelExtractor(chat, recipe, lambda text: len(text.split()))


class Harness:
    """The handler, its cache, and a model that answers by the word a passage begins with."""

    def __init__(
        self, rows: MemoryRows | None = None, recipe: ExtractionConfig = ONCE, **answers: Answer
    ) -> None:
        self.rows, self.recipe = rows or MemoryRows(), recipe
        self.chat = ScriptedChat(lambda messages: self.answer(messages[-1].content))
        self.answers = answers

    def answer(self, prompt: str) -> Answer:
        for word, answer in self.answers.items():
            if f"{word} passage" in prompt:
                return answer
        return Completion(
            f"entity{D}Zoe{D}person{D}text\n<|COMPLETE|>", TokenUsage(prompt=10, completion=3)
        )

    async def extract(
        self, event: ChunksCreated, *, workspace: str = "w", bugs: int = 0
    ) -> list[Any]:
        return await on_chunks_created(
            delivered(event, attempt=50, bugs=bugs, workspace=workspace),
            Generations(),
            extractor=asking(self.chat, self.recipe),
            extractions=ExtractionCache(self.rows),
            clock=lambda: 0.0,
        )


THREE = chunked(document("d", 7), "good passage", "bad passage", "fine passage")


def orders(events: Any, kind: type[Event]) -> list[int]:
    return [event.ordinal for event in events if isinstance(event, kind)]


async def test_each_chunk_gives_one_event_with_what_it_says_and_what_it_cost() -> None:
    harness = Harness()
    events = await harness.extract(THREE)
    assert orders(events, EntitiesExtracted) == [0, 1, 2]
    event = events[1]
    assert (event.document, event.chunk) == (THREE.document, reference("d", 1))
    assert [entity.name for entity in event.entities] == ["Zoe"]
    assert (event.usage, event.model, event.cached) == (
        TokenUsage(prompt=10, completion=3),
        "scripted",
        False,
    )


async def test_a_second_delivery_asks_nobody_and_says_again_what_was_paid() -> None:
    harness = Harness()
    first = await harness.extract(THREE)
    again = await harness.extract(THREE)
    assert len(harness.chat.calls) == 3
    assert [event.entities for event in again] == [event.entities for event in first]
    # The first may have ended before it was published: then this is all the log ever says of the
    # payment.
    assert {event.cached for event in again} == {False}
    assert [event.usage for event in again] == [event.usage for event in first]


async def test_a_new_version_pays_only_for_the_chunks_that_changed() -> None:
    harness = Harness()
    await harness.extract(THREE)
    events = await harness.extract(
        chunked(document("d", 9), "good passage", "changed passage", "fine passage")
    )
    assert len(harness.chat.calls) == 4
    assert [event.cached for event in events] == [True, False, True]
    assert {event.document.version for event in events} == {9}


async def test_one_tenant_s_cache_tells_another_nothing() -> None:
    harness = Harness()
    await harness.extract(THREE, workspace="one")
    await harness.extract(THREE, workspace="two")
    assert len(harness.chat.calls) == 6


async def test_a_chunk_that_can_never_be_extracted_fails_alone() -> None:
    events = await Harness(bad=Poison("refused by the provider")).extract(THREE)
    assert orders(events, EntitiesExtracted) == [0, 2]
    (failure,) = [event for event in events if isinstance(event, StageFailed)]
    assert (failure.chunks, failure.document) == ((reference("d", 1),), THREE.document)
    assert (failure.stage, failure.cause_type, failure.retry_may_help) == (
        "extractor",
        "ChunksCreated",
        False,
    )
    assert failure.message == "refused by the provider"


async def test_what_the_siblings_of_a_waiting_chunk_say_is_published_at_once() -> None:
    harness = Harness(bad=RateLimited("slowly", retry_after=9.0), fine=Poison("no"))
    with pytest.raises(Retryable) as waiting:
        await harness.extract(THREE)
    assert orders(waiting.value.events, EntitiesExtracted) == [0]
    assert orders(waiting.value.events, StageFailed) == [2]
    assert waiting.value.retry_after == 9.0
    harness.answers = {}
    events = await harness.extract(THREE)
    assert [event.cached for event in events] == [False, False, False]


async def test_of_several_that_wait_the_longest_wait_is_kept() -> None:
    harness = Harness(
        good=RateLimited("slowly", retry_after=2.0), bad=RateLimited("slowly", retry_after=60.0)
    )
    with pytest.raises(Retryable) as waiting:
        await harness.extract(THREE)
    assert waiting.value.retry_after == 60.0


async def test_an_error_nobody_foresaw_is_tried_again_and_its_siblings_are_not_paid_again() -> None:
    harness = Harness(bad=RuntimeError("nobody foresaw this"))
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await harness.extract(THREE)
    assert len(harness.chat.calls) == 4


async def test_an_error_nobody_foresaw_takes_no_sibling_with_it_in_the_end() -> None:
    harness = Harness(bad=RuntimeError("nobody foresaw this"))
    with pytest.raises(RuntimeError):
        await harness.extract(THREE, bugs=BUG_ATTEMPTS - 2)
    events = await harness.extract(THREE, bugs=BUG_ATTEMPTS - 1)
    assert orders(events, EntitiesExtracted) == [0, 2]
    (failure,) = [event for event in events if isinstance(event, StageFailed)]
    assert (failure.chunks, failure.error_type, failure.retry_may_help) == (
        (reference("d", 1),),
        "RuntimeError",
        True,
    )


ROW = f"entity{D}Zoe{D}person{D}text"
CUT_ROWS = Completion(f"{ROW}\nentity{D}Yan{D}person{D}half a sen", TokenUsage(prompt=5), cut=True)
CUT = Completion(f"entity{D}Y", TokenUsage(prompt=5), cut=True)


async def test_an_answer_cut_before_its_first_row_is_asked_for_a_few_times_alone() -> None:
    extractor = asking(ScriptedChat([CUT] * ROWLESS_TRIES))
    for _ in range(ROWLESS_TRIES - 1):
        with pytest.raises(Unavailable, match="cut off"):
            await extractor.extract("text", ())
    with pytest.raises(ModelRefused, match="cut off"):
        await extractor.extract("text", ())


async def test_whole_rows_of_an_answer_that_is_cut_are_used_with_a_warning() -> None:
    extraction = await asking(ScriptedChat([CUT_ROWS])).extract("text", ())
    assert [entity.name for entity in extraction.entities] == ["Zoe"]
    (warning,) = extraction.warnings
    assert "ended before its end" in warning


async def test_a_second_round_that_is_whole_takes_the_warning_back() -> None:
    chat = ScriptedChat([CUT_ROWS, Completion("<|COMPLETE|>")])
    extractor = ModelExtractor(chat, ExtractionConfig(gleaning=1), len)
    first = await extractor.extract("text", ())
    assert (await extractor.glean("text", (), first)).warnings == ()


async def test_a_passage_of_names_without_an_entity_is_a_warning_of_the_event_also_from_the_cache() -> (  # noqa: E501
    None
):
    harness = Harness(good="This passage speaks of several people and what they do.")
    event = chunked(
        document(), "good passage: Ada Marlow and Bert Quill keep the harbour of Port Elm."
    )
    for _ in range(2):
        (result,) = await harness.extract(event)
        assert isinstance(result, EntitiesExtracted)
        (warning,) = result.warnings
        assert "no rows" in warning
        assert "Ada Marlow" in warning
    assert len(harness.chat.calls) == 1


@pytest.mark.parametrize(
    ("answer", "passage", "warns"),
    [
        ("<|COMPLETE|>", "Ada Marlow knows Bert Quill.", True),
        ("<|COMPLETE|>", "It rained, and nobody came.", False),
        ("Nothing is named here.", "It rained, and nobody came.", False),
        (f"{ROW}\n<|COMPLETE|>", "Ada Marlow knows Bert Quill.", False),
        ("Two people know each other.", "Then Ada Marlow came.", True),
    ],
)
async def test_only_a_passage_with_names_is_missed(answer: str, passage: str, warns: bool) -> None:
    extraction = await asking(ScriptedChat([answer])).extract(passage, ())
    assert bool(extraction.warnings) == warns


async def test_a_chunk_that_says_nothing_is_an_event_and_is_remembered() -> None:
    harness = Harness(good="<|COMPLETE|>")
    event = chunked(document(), "good passage")
    await harness.extract(event)
    (result,) = await harness.extract(event)
    assert (result.entities, result.relations, len(harness.chat.calls)) == ((), (), 1)


async def test_the_chunks_of_an_event_are_asked_about_at_the_same_time() -> None:
    together = asyncio.Barrier(3)

    async def answer(_: Any) -> str:
        async with asyncio.timeout(5):
            await together.wait()
        return "<|COMPLETE|>"

    harness = Harness()
    harness.chat = ScriptedChat(answer)
    assert len(await harness.extract(THREE)) == 3


async def test_a_lost_cache_is_filled_again_from_the_log() -> None:
    events = await Harness().extract(THREE)
    fresh_harness = Harness()
    deliveries = [delivered(event, number) for number, event in enumerate(events, 1)]
    (handler,) = ExtractionReplay(fresh_harness.rows).handlers()
    assert await handler.handle(deliveries, Generations()) == [[], [], []]
    again = await fresh_harness.extract(THREE)
    assert fresh_harness.chat.calls == []
    assert [event.entities for event in again] == [event.entities for event in events]


async def test_a_rebuild_leaves_what_the_cache_has_as_it_is() -> None:
    harness = Harness()
    events = await harness.extract(THREE)
    cache = ExtractionCache(harness.rows)
    keys = [event.cache_key for event in events]
    before = await cache.get("w", keys)
    assert all(entry.payer for entry in before.values())
    deliveries = [delivered(event, number) for number, event in enumerate(events, 1)]
    await ExtractionReplay(harness.rows).take(deliveries, Generations())
    assert await cache.get("w", keys) == before


def test_a_result_is_known_by_model_prompt_headings_and_text() -> None:
    extractor = asking(ScriptedChat([], model="one"))
    keys = {
        cache_key(extractor, chunk(content="text")),
        cache_key(asking(ScriptedChat([], model="two")), chunk(content="text")),
        cache_key(OfflineExtractor(), chunk(content="text")),
        cache_key(extractor, chunk(content="text", headings=["h"])),
        cache_key(extractor, chunk(content="other")),
    }
    assert len(keys) == 5
    assert cache_key(extractor, chunk("d", 0)) == cache_key(extractor, chunk("e", 5))


def test_the_language_of_descriptions_is_part_of_what_a_result_is_known_by() -> None:
    chat = ScriptedChat([])
    assert cache_key(asking(chat), chunk()) != cache_key(
        asking(chat, replace(ONCE, language="German")), chunk()
    )


async def test_without_a_model_names_and_ties_are_found_and_the_source_is_said() -> None:
    event = chunked(document(), "Marie Curie worked with Pierre Curie in Paris.")
    (result,) = await on_chunks_created(
        delivered(event),
        Generations(),
        extractor=OfflineExtractor(),
        extractions=ExtractionCache(MemoryRows()),
        clock=lambda: 0.0,
    )
    assert {"Marie Curie", "Pierre Curie"} <= {entity.name for entity in result.entities}
    assert "offline" in result.model


GIVEN = CustomExtraction.model_validate(
    {
        "entities": [
            {
                "name": " “Tide  mill” ",
                "type": "Old Building",
                "description": "Driven by the tide.&amp;",
            },
            {"name": "12", "type": "number", "description": "no name"},
            {"name": "苹果 公司", "type": "", "description": ""},
        ],
        "relations": [
            {
                "source": "“Tide  mill”",
                "target": "Brackwater",
                "keywords": [" place ", "place", ""],
                "description": "",
                "weight": 2.5,
            },
            {"source": "Tide", "target": "Tide", "description": "with itself"},
            {"source": "12", "target": "Tide", "description": "no name"},
            {"source": "A", "target": "B", "description": ""},
        ],
    }
)


async def test_what_came_with_a_chunk_is_said_at_once_under_clean_names() -> None:
    harness = Harness()
    event = THREE.model_copy(
        update={
            "chunks": (
                THREE.chunks[0],
                THREE.chunks[1].model_copy(update={"given": GIVEN}),
                THREE.chunks[2],
            )
        }
    )
    results = await harness.extract(event)
    assert orders(results, EntitiesExtracted) == [0, 1, 2]
    assert len(harness.chat.calls) == 2
    result = results[1]
    assert (result.model, result.prompt_version, result.cached, result.usage) == (
        "given",
        "given",
        False,
        TokenUsage(),
    )
    assert result.entities == (
        ExtractedEntity(name="Tide  mill", type="oldbuilding", description="Driven by the tide.&"),
        ExtractedEntity(name="苹果公司", type="UNKNOWN", description="苹果公司"),
    )
    assert result.relations == (
        ExtractedRelation(
            source="Tide  mill",
            target="Brackwater",
            keywords=("place",),
            description="place",
            weight=2.5,
        ),
        ExtractedRelation(source="A", target="B", description="A, B"),
    )


async def test_what_came_with_a_chunk_is_never_remembered_as_something_paid_for() -> None:
    harness = Harness()
    event = chunked(document("d", 7), "text")
    event = event.model_copy(
        update={"chunks": (event.chunks[0].model_copy(update={"given": CustomExtraction()}),)}
    )
    (result,) = await harness.extract(event)
    assert (result.entities, result.relations, harness.chat.calls) == ((), (), [])
    cache = ExtractionCache(harness.rows)
    await ExtractionReplay(harness.rows).take([delivered(result)], Generations())
    assert await cache.get("w", [result.cache_key]) == {}
