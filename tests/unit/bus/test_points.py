"""A place of the log is named by its sequence, by a time, or by now."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from runtime.bus.memory import MemoryLog
from runtime.bus.points import sequence_at
from runtime.errors import InvalidInput
from tests.support.events import NOON, added, sealed


async def filled(*workspaces: str) -> MemoryLog:
    """A log with an event a minute from noon on."""
    log = MemoryLog()
    for number, workspace in enumerate(workspaces):
        await log.publish(sealed(added(f"d{number}"), id=f"e{number}", workspace=workspace))
        log.messages[number] = replace(
            log.messages[number], published_at=NOON + timedelta(minutes=number)
        )
    return log


async def test_a_sequence_and_now_are_taken_as_they_are() -> None:
    log = await filled("w", "w", "other", "w", "other")
    assert [await sequence_at(log, "w", point) for point in ("now", "2", "0", "5", " NOW ")] == [
        4,
        2,
        0,
        4,
        4,
    ]
    with pytest.raises(InvalidInput, match="the log ends at 5"):
        await sequence_at(log, "w", "6")


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8])
async def test_a_time_is_the_last_event_that_the_log_had_then(length: int) -> None:
    log = await filled(*("w" if number % 3 else "other" for number in range(length)))
    for number in range(-1, length + 1):
        at = NOON + timedelta(minutes=number, seconds=30)
        sequence = max(
            (place + 1 for place in range(length) if place % 3 and place <= number), default=0
        )
        assert await sequence_at(log, "w", at.isoformat()) == sequence, number


async def test_a_time_without_a_zone_is_utc_and_its_own_event_belongs_to_it() -> None:
    log = await filled("w", "w")
    assert await sequence_at(log, "w", "2026-03-01T12:00:00") == 1
    assert await sequence_at(log, "w", "2026-03-01T13:01:00+01:00") == 2
    assert await sequence_at(log, "w", datetime(2026, 3, 1, tzinfo=UTC).date().isoformat()) == 0


@pytest.mark.parametrize("point", ["yesterday", "-1", "1.5", "12:00"])
async def test_anything_else_is_refused_with_the_form(point: str) -> None:
    with pytest.raises(InvalidInput, match="is not a sequence in the log, a time such as"):
        await sequence_at(await filled("w"), "w", point)


@pytest.mark.parametrize("behind", [1, 5, 40])
async def test_a_time_is_found_where_the_clock_of_the_bus_was_set_back(behind: int) -> None:
    """Before that the clock was a day ahead: what it dated then is of the future, and what came
    after is not.
    """
    ahead = 60
    log = await filled(*["w"] * (ahead + behind))
    for place in range(ahead):
        future = log.messages[place].published_at + timedelta(days=1)
        log.messages[place] = replace(log.messages[place], published_at=future)
    for number in range(behind):
        at = NOON + timedelta(minutes=ahead + number, seconds=30)
        assert await sequence_at(log, "w", at.isoformat()) == ahead + number + 1
    assert await sequence_at(log, "w", NOON.isoformat()) == 0


async def test_a_short_step_back_does_not_hide_what_came_after_it() -> None:
    log = await filled(*["w"] * 12)
    log.messages[5] = replace(log.messages[5], published_at=NOON - timedelta(hours=1))
    assert await sequence_at(log, "w", (NOON + timedelta(minutes=8, seconds=30)).isoformat()) == 9
