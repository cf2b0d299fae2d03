"""Descriptions that grow long: groups that depend on the set only, one summary per group, merging
never waits.
"""

from random import Random
from typing import Any

import pytest

from contracts.events import DescriptionSummarized, EntitiesExtracted, GraphEdited
from contracts.graph import Generations
from contracts.ids import SEPARATOR
from knowledge.descriptions import (
    Group,
    SummaryLimits,
    depth_of,
    describe,
    estimated_tokens,
)
from runtime.errors import ModelRefused, Poison, Retryable, Unavailable
from runtime.models.port import Completion
from runtime.models.scripted import ScriptedChat
from runtime.stores.documents.memory import MemoryRows
from services.merger.adapters.summarizer import ModelSummarizer
from services.merger.handler import on_graph_edited
from services.merger.summarize import on_graph_merged
from tests.support.events import delivered, document, entity, extracted
from tests.support.summarizing import Harness, says

KEY = ("A",)
LIMITS = SummaryLimits()


def settled(texts: list[str], known_summaries: dict[str, str] | None = None) -> tuple[str, int]:
    """The description once every summary is there, and how many had to be made."""
    summaries = dict(known_summaries or {})
    summary_count = 0
    while (description := describe(KEY, texts, summaries, LIMITS)).missing_summaries:
        for group in description.missing_summaries:
            summaries[group.hash] = f"[{len(group.texts)} in {group.hash[:6]}]"
            summary_count += 1
    if known_summaries is not None:
        known_summaries |= summaries
    return description.text, summary_count


def texts(count: int) -> list[str]:
    return [f"fragment number {n}" for n in range(count)]


@pytest.mark.parametrize(("count", "calls"), [(0, 0), (1, 0), (7, 0), (8, 1), (32, 1)])
def test_seven_fragments_are_joined_and_eight_are_one_summary(count: int, calls: int) -> None:
    text, summary_count = settled(texts(count))
    assert summary_count == calls
    if not calls:
        assert text == SEPARATOR.join(texts(count))


def test_few_but_long_fragments_are_summarised_and_one_alone_never_is() -> None:
    long_text = "word " * 1000
    assert settled([long_text, "another"])[1] == 1
    assert settled([long_text])[1] == 0


def test_cjk_counts_by_its_bytes() -> None:
    assert estimated_tokens("汉字" * 100) == 150
    assert estimated_tokens("abcd" * 100) == 100


@pytest.mark.parametrize("count", [100, 1000, 10_000])
def test_a_hub_costs_at_most_a_quarter_of_its_fragments_and_a_further_one_a_call_per_level(
    count: int,
) -> None:
    known_summaries: dict[str, str] = {}
    _, summary_count = settled(texts(count), known_summaries)
    assert summary_count <= count / 4
    _, further = settled([*texts(count), "one more"], known_summaries)
    assert 1 <= further <= 3


def test_the_groups_are_a_function_of_the_set() -> None:
    fragments = texts(300)
    known_summaries: dict[str, str] = {}
    settled(fragments, known_summaries)
    for cut in (10, 150, 299):
        # Whatever was summarised on the way, the same set asks for the same summaries.
        settled(fragments[:cut], known_summaries)
    assert settled(fragments, known_summaries)[1] == 0


def test_a_summary_of_one_thing_is_not_taken_for_another() -> None:
    assert Group(("A",), ("x", "y")).hash != Group(("B",), ("x", "y")).hash
    assert Group(("A", "x"), ("y",)).hash != Group(("A",), ("x", "y")).hash


async def test_a_long_description_is_joined_at_once_and_summarised_later() -> None:
    harness = Harness()
    events = await harness.says(8)
    assert (await harness.description()).startswith("text 0<SEP>text 1")
    (summary,) = await harness.condense(*events)
    assert (summary.key, summary.model, summary.usage.prompt) == (("A",), "condenser", 5)
    assert (await harness.description()).startswith("text 0"), "only what is in the log counts"
    (event,) = await harness.keep(summary)
    assert await harness.description() == "summary of 8 texts"
    assert (event.document, [e.name for e in event.entities]) == (None, ["A"])
    assert await harness.condense(event) == []


async def test_only_the_newest_change_of_a_key_is_taken_up() -> None:
    harness = Harness()
    older_events = await harness.says(8)
    newer_events = await harness.says(9, first=8)
    assert await harness.condense(*older_events) == []
    assert len(await harness.condense(*newer_events)) == 1
    assert len(harness.summarizer.asked) == 1
    assert len(harness.waits) == 2


async def test_levels_follow_each_other_until_nothing_lacks() -> None:
    harness = Harness()
    events = await harness.says(200)
    calls = 0
    while events:
        summaries = await harness.condense(*events)
        calls += len(summaries)
        events = await harness.keep(*summaries, first=2000 + calls)
    assert calls <= 200 / 4
    assert (await harness.description()).startswith("summary of ")


@pytest.mark.parametrize("count", [40, 1000])
async def test_a_bulk_load_costs_a_call_for_four_chunks_at_most_and_a_later_chunk_one_per_level(
    count: int,
) -> None:
    harness = Harness()
    events = [
        event
        for start in range(0, count, 100)
        for event in await harness.says(min(start + 100, count), start)
    ]
    assert 0 < await harness.settle(events, 2000) <= count / 4
    levels = depth_of(count + 1) + 1
    for later in range(3):
        further_events = await harness.says(count + later + 1, count + later)
        assert 1 <= await harness.settle(further_events, 9000 + 100 * later) <= levels


async def test_of_two_summaries_for_the_same_texts_the_first_in_the_log_stands() -> None:
    for order in (1, -1):
        harness = Harness()
        (first,) = await harness.condense(*await harness.says(8))
        second = first.model_copy(update={"text": "another one"})
        for place, summary in [(10, first), (20, second)][::order]:
            await harness.keep(summary, first=place)
        assert await harness.description() == "summary of 8 texts"


async def test_without_a_language_model_nothing_is_summarised_and_nobody_waits() -> None:
    harness = Harness()
    batch = [delivered(event, n) for n, event in enumerate(await harness.says(9))]
    summaries = await on_graph_merged(
        batch,
        Generations(),
        dependencies=harness.merger.dependencies,
        summarizer=None,
        debounce=None,  # type: ignore[arg-type]
    )
    assert summaries == [[]] * 9


async def test_a_model_that_is_down_is_tried_again_and_one_that_refuses_leaves_the_fragments() -> (
    None
):
    harness = Harness()
    events = await harness.says(8)
    harness.summarizer.error = Unavailable("down", retry_after=7)
    with pytest.raises(Retryable) as error:
        await harness.condense(*events)
    assert error.value.retry_after == 7
    harness.summarizer.error = Poison("not that")
    assert await harness.condense(*events) == []
    assert (await harness.description()).startswith("text 0")


async def test_the_model_is_asked_once_and_in_parts_that_it_can_read() -> None:
    chat = ScriptedChat(lambda _: "condensed")
    summarizer = ModelSummarizer(chat, MemoryRows(), language="English", context=100, length=50)
    group = Group(("A",), tuple(f"{n} {'word ' * 30}" for n in range(6)))
    first = await summarizer.summarize("w", group)
    calls = len(chat.calls)
    assert (first.text, calls) == ("condensed", 4), "three pairs, then the three of them"
    assert (await summarizer.summarize("w", group)).text == "condensed"
    assert len(chat.calls) == calls
    await summarizer.summarize("another tenant", group)
    assert len(chat.calls) == 2 * calls


async def test_a_summary_that_is_cut_is_none_and_is_not_kept() -> None:
    chat = ScriptedChat([Completion("half a summ", cut=True), "whole"])
    summarizer = ModelSummarizer(chat, MemoryRows(), language="English", context=100, length=50)
    group = Group(("A",), ("one", "two"))
    with pytest.raises(ModelRefused, match="length limit"):
        await summarizer.summarize("w", group)
    assert (await summarizer.summarize("w", group)).text == "whole"


async def test_the_prompt_has_the_texts_as_json_and_the_name() -> None:
    chat = ScriptedChat(lambda _: "condensed")
    summarizer = ModelSummarizer(chat, MemoryRows(), language="German", context=12_000, length=600)
    await summarizer.summarize("w", Group(("A", 'B "b"'), ("one\ntwo", "three")))
    prompt = chat.calls[0].text
    assert '"one\\ntwo"\n"three"' in prompt
    assert '"A" and "B \\"b\\""' in prompt
    assert "German" in prompt


@pytest.mark.parametrize("seed", range(5))
async def test_any_order_of_summaries_and_chunks_ends_the_same(seed: int) -> None:
    in_order = Harness()
    (summary,) = await in_order.condense(*await in_order.says(8))
    await in_order.keep(summary)
    harness = Harness()
    dice = Random(seed)
    events = [
        extracted(document(f"d{n}", n + 1), 0, [entity("A", "t", f"text {n}")]) for n in range(8)
    ]
    steps: list[Any] = [*events, summary]
    dice.shuffle(steps)
    for step in steps:
        await (
            harness.keep(step)
            if isinstance(step, DescriptionSummarized)
            else harness.merger.merge(step)
        )
    assert await harness.merger.picture() == await in_order.merger.picture()


async def renamed_and_counted_again(again: EntitiesExtracted) -> list[Any]:
    """What the summariser says to the renaming of A, of which eight documents speak, when `again`
    was counted once more between the renaming and the turn of the summariser.
    """
    harness = Harness()
    await harness.says(8)
    renaming = GraphEdited(operation="rename_entity", names=("A",), target="B")
    ((event,),) = await on_graph_edited(
        [delivered(renaming, 50)], Generations(), dependencies=harness.merger.dependencies
    )
    await harness.merger.merge(again)
    return await harness.condense(event)


async def test_a_change_that_is_counted_again_after_a_renaming_is_none() -> None:
    # A crash has an event handled again whose GraphMerged is in the log: there will be no other.
    (summary,) = await renamed_and_counted_again(says(3))
    assert summary.key == ("B",)


async def test_a_change_that_is_counted_first_after_a_renaming_is_summarised_by_its_own_event() -> (
    None
):
    assert await renamed_and_counted_again(says(8)) == []
