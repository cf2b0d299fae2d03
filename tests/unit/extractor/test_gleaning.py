"""The second round: what it adds, when it is left out, and that nothing it does costs the first
answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from contracts.graph import Generations
from contracts.values import TokenUsage
from runtime.errors import ModelRefused, Poison, RateLimited, Retryable, Unavailable
from runtime.models.port import Completion, Message
from runtime.models.scripted import Answer, ScriptedChat
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.model import ModelExtractor
from services.extractor.domain.guidance import COMPLETION_MARK, ExtractionConfig
from services.extractor.domain.guidance import DELIMITER as D
from services.extractor.domain.prompt import continue_prompt, system_prompt, user_prompt
from services.extractor.handler import cache_key, on_chunks_created
from tests.support.events import chunk, chunked, delivered, document

TEXT = "Zoe knows Yan."
FIRST = Completion(
    (
        f"entity{D}Zoe{D}person{D}A sailor\nrelation{D}Zoe{D}Yan{D}trade{D}They "
        f"trade\n{COMPLETION_MARK}"
    ),
    TokenUsage(prompt=10, completion=3, cached=1),
)


class Harness:
    """The handler with its cache, and a model whose answers to the two rounds are given."""

    def __init__(
        self, second: Answer, recipe: ExtractionConfig | None = None, first: Answer = FIRST
    ) -> None:
        self.rows, self.first, self.second = MemoryRows(), first, second
        self.chat = ScriptedChat(self.answer)
        self.extractor = ModelExtractor(
            self.chat, recipe or ExtractionConfig(), lambda text: len(text.split())
        )

    def answer(self, messages: Sequence[Message]) -> Answer:
        return self.second if len(messages) == 4 else self.first

    @property
    def rounds(self) -> list[int]:
        """Which rounds were asked for, in order."""
        return [len(call.messages) // 2 for call in self.chat.calls]

    async def extract(self, text: str = TEXT) -> Any:
        (event,) = await on_chunks_created(
            delivered(chunked(document(), text), attempt=50),
            Generations(),
            extractor=self.extractor,
            extractions=ExtractionCache(self.rows),
            clock=lambda: 0.0,
        )
        return event


def described(event: Any) -> dict[str, str]:
    return {entity.name: entity.description for entity in event.entities}


async def test_a_second_round_adds_what_the_first_one_missed_and_what_it_cost() -> None:
    second = (
        f"entity{D}Yan{D}person{D}A cook\nrelation{D}Yan{D}Zoe{D}love{D}They "
        f"love\n{COMPLETION_MARK}"
    )
    harness = Harness(Completion(second, TokenUsage(prompt=20, completion=4, cached=2)))
    event = await harness.extract()
    assert described(event) == {"Zoe": "A sailor", "Yan": "A cook"}
    assert [(r.source, r.target) for r in event.relations] == [("Zoe", "Yan"), ("Yan", "Zoe")]
    assert event.usage == TokenUsage(prompt=30, completion=7, cached=3)
    assert event.prompt_version == harness.extractor.prompt_version


async def test_the_second_round_is_asked_in_the_same_conversation() -> None:
    harness = Harness(COMPLETION_MARK)
    await harness.extract()
    recipe = ExtractionConfig()
    messages = [(message.role, message.content) for message in harness.chat.calls[1].messages]
    assert messages == [
        ("system", system_prompt(recipe)),
        ("user", user_prompt(recipe, TEXT)),
        ("assistant", FIRST.text),
        ("user", continue_prompt(recipe)),
    ]


@pytest.mark.parametrize(
    ("gleaned_text", "description"),
    [("A sailor!", "A sailor!"), ("A cooker", "A sailor"), ("A", "A sailor")],
)
async def test_of_two_descriptions_the_strictly_longer_one_is_kept(
    gleaned_text: str, description: str
) -> None:
    event = await Harness(f"entity{D}Zoe{D}cook{D}{gleaned_text}").extract()
    assert described(event) == {"Zoe": description}
    assert event.entities[0].type == ("cook" if description == gleaned_text else "person")


@pytest.mark.parametrize(
    "second", ["", COMPLETION_MARK, "I found nothing more.", Completion("entity<|", cut=True)]
)
async def test_a_second_round_without_rows_changes_nothing(second: Answer) -> None:
    assert described(await Harness(second).extract()) == {"Zoe": "A sailor"}


async def test_a_second_round_is_not_held_when_it_is_switched_off() -> None:
    harness = Harness(AssertionError("not asked"), ExtractionConfig(gleaning=0))
    assert described(await harness.extract()) == {"Zoe": "A sailor"}
    assert harness.rounds == [1]


async def test_more_than_one_second_round_is_never_held() -> None:
    harness = Harness(COMPLETION_MARK, ExtractionConfig(gleaning=5))
    await harness.extract()
    assert harness.rounds == [1, 2]


async def test_a_conversation_that_would_be_too_long_is_not_held() -> None:
    recipe = ExtractionConfig()
    texts = [system_prompt(recipe), user_prompt(recipe, TEXT), FIRST.text, continue_prompt(recipe)]
    size = sum(len(text.split()) for text in texts)
    for limit, rounds in ((size, [1, 2]), (size - 1, [1])):
        harness = Harness(COMPLETION_MARK, replace(recipe, max_input_tokens=limit))
        assert described(await harness.extract()) == {"Zoe": "A sailor"}
        assert harness.rounds == rounds


async def test_a_refused_second_round_leaves_the_first_answer_and_is_not_asked_again() -> None:
    harness = Harness(Poison("refused"))
    first = await harness.extract()
    again = await harness.extract()
    assert described(first) == described(again) == {"Zoe": "A sailor"}
    assert (harness.rounds, first.cached, again.cached) == ([1, 2], False, False)


@pytest.mark.parametrize(
    "error", [RateLimited("slowly", retry_after=5.0), Unavailable("down"), RuntimeError("a bug")]
)
async def test_a_second_round_that_fails_does_not_make_the_first_one_paid_again(
    error: Exception,
) -> None:
    harness = Harness(error)
    with pytest.raises((Retryable, RuntimeError)):
        await harness.extract()
    harness.second = f"entity{D}Yan{D}person{D}A cook"
    event = await harness.extract()
    assert described(event) == {"Zoe": "A sailor", "Yan": "A cook"}
    assert harness.rounds == [1, 2, 2]


async def test_one_failure_of_a_second_round_is_no_reason_to_do_without_however_often_the_event_came() -> (  # noqa: E501
    None
):
    harness = Harness(Unavailable("no answer"))
    with pytest.raises(Retryable):
        await harness.extract()


async def test_an_outage_is_no_reason_either_however_long() -> None:
    harness = Harness(Unavailable("down"))
    for _ in range(20):
        with pytest.raises(Retryable):
            await harness.extract()
    harness.second = f"entity{D}Yan{D}person{D}A cook"
    assert described(await harness.extract()) == {"Zoe": "A sailor", "Yan": "A cook"}


async def test_a_second_round_that_fails_while_the_model_answers_is_done_without_and_the_event_says_so() -> (  # noqa: E501
    None
):
    harness = Harness(ModelRefused("it fails for this text", "text"))
    event = await harness.extract()
    assert described(event) == {"Zoe": "A sailor"}
    assert (
        event.prompt_version == harness.extractor.draft_version != harness.extractor.prompt_version
    )
    assert event.cache_key == cache_key(
        harness.extractor, chunk(content=TEXT), harness.extractor.draft_version
    )


async def test_a_provider_that_asks_to_wait_is_waited_for_however_long() -> None:
    with pytest.raises(Retryable):
        await Harness(RateLimited("slowly")).extract()


async def test_what_was_paid_for_without_a_second_round_is_not_paid_again_with_one() -> None:
    harness = Harness(COMPLETION_MARK, ExtractionConfig(gleaning=0))
    await harness.extract()
    for recipe, rounds in (
        (ExtractionConfig(), [1, 2]),
        (ExtractionConfig(language="German"), [1, 2, 1, 2]),
    ):
        harness.extractor = ModelExtractor(harness.chat, recipe, len)
        await harness.extract()
        assert harness.rounds == rounds


async def test_a_second_round_in_json_gives_the_same() -> None:
    first = (
        '{"entities": [{"name": "Zoe", "type": "person", "description": "A sailor"}], '
        '"relationships": []}'
    )
    second = '{"entities": [{"name": "Yan", "type": "person", "description": "A cook"}]}'
    harness = Harness(second, ExtractionConfig(json=True), first)
    event = await harness.extract()
    assert described(event) == {"Zoe": "A sailor", "Yan": "A cook"}
    assert [call.json for call in harness.chat.calls] == [True, True]
    assert harness.chat.calls[1].messages[2].content == first
