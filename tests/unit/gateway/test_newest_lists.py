"""Lists of the newest read these from the log, and not all that were before them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from contracts.events import (
    AnswerEvidence,
    AnswerGiven,
    AnswerSettings,
    Event,
    FeedbackGiven,
    GoldenRunEnded,
    RecordedText,
)
from contracts.ids import sha256
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.bus.feed.newest import PAGE
from runtime.bus.port import Message
from runtime.receipts.ids import time_ordered_id
from tests.support.access import client
from tests.support.events import NOON, sealed
from tests.support.querying import QueryHarness

EVENTS = 400
SETTINGS = AnswerSettings(
    mode="naive",
    top_k=1,
    chunk_top_k=1,
    max_entity_tokens=1,
    max_relation_tokens=1,
    max_total_tokens=1,
)


@dataclass(frozen=True)
class CountingFeed(MemoryEventFeed):
    """A feed that notes how many events each of its pages has."""

    page_sizes: list[int] = field(default_factory=list[int])

    async def page(self, subject: str, after: int, limit: int) -> tuple[list[Message], int]:
        messages, remaining = await super().page(subject, after, limit)
        self.page_sizes.append(len(messages))
        return messages, remaining


def run(number: int) -> Event:
    return GoldenRunEnded(results=(), position=number, reason=str(number))


def feedback(number: int) -> Event:
    return FeedbackGiven(rating="up" if number % 2 else "down", question=str(number))


def receipt(number: int) -> Event:
    asked_at = NOON + timedelta(seconds=number)
    text = RecordedText(sha256=sha256(str(number)), text=str(number))
    return AnswerGiven(
        receipt=time_ordered_id(asked_at),
        form="full",
        asked_at=asked_at,
        duration_ms=number,
        position=1,
        settings=SETTINGS,
        question=text,
        evidence=AnswerEvidence(),
        answer=text,
    )


NEWEST = [399, 398, 397]


def run_numbers(runs: Any) -> list[int]:
    return [int(entry["reason"]) for entry in runs]


def question_numbers(entries: Any) -> list[int]:
    return [int(entry["question"]) for entry in entries]


@pytest.mark.parametrize(
    ("path", "event", "numbers_of", "newest"),
    [
        ("/golden-runs?limit=3", run, run_numbers, NEWEST),
        ("/feedback?limit=3", feedback, question_numbers, NEWEST),
        ("/feedback?limit=2&rating=down", feedback, question_numbers, [398, 396]),
        ("/receipts?limit=3", receipt, lambda page: question_numbers(page["receipts"]), NEWEST),
    ],
)
async def test_a_list_of_the_newest_reads_no_more_than_a_page_or_two(
    path: str,
    event: Callable[[int], Event],
    numbers_of: Callable[[Any], list[int]],
    newest: list[int],
) -> None:
    harness = QueryHarness()
    for number in range(EVENTS):
        await harness.log.publish(sealed(event(number), workspace="w", id=f"e{number}"))
    feed = CountingFeed(harness.log)
    async with client(harness.app(feed=feed)) as api:
        answer = await api.get(path)
    assert answer.status_code == 200, answer.text
    assert numbers_of(answer.json()) == newest
    assert sum(feed.page_sizes) <= 2 * PAGE
