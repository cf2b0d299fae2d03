"""The contract of the list of dead letters, the same in memory and on a real server."""

import pytest

from contracts.subjects import subject
from runtime.bus.dead_letters import DeadLetters, count_dead_letters
from runtime.bus.memory import MemoryMessage, Stored
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.messages import EPOCH
from tests.support.buses import Bus, NatsBus
from tests.support.operations import MemoryDeadLetters, letter

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def letters_of(bus: Bus, *given_up: tuple[str, int, str]) -> DeadLetters:
    """The list, with these in it: consumer, sequence of the message, reason."""
    if not isinstance(bus, NatsBus):
        letters = [
            letter(number, given_up_event[0], sequence=given_up_event[1], reason=given_up_event[2])
            for number, given_up_event in enumerate(given_up, 1)
        ]
        return MemoryDeadLetters({dead_letter.number: dead_letter for dead_letter in letters})
    for consumer, sequence, reason in given_up:
        message = MemoryMessage(
            Stored(sequence, subject("w", "port", "DocumentAdded"), b"raw", EPOCH)
        )
        await bus.log.dead_letter(message, consumer, reason)
    return NatsDeadLetters(bus.jetstream)


async def test_what_was_given_up_is_listed_in_its_order_without_its_bytes(bus: Bus) -> None:
    letters = await letters_of(bus, ("chunker", 7, "no text"), ("query-status", 8, "no event"))
    first, second = await letters.headers()
    assert (first.consumer, first.stage, first.sequence, first.reason) == (
        "chunker",
        "chunker",
        7,
        "no text",
    )
    assert (second.consumer, second.stage, second.number > first.number) == (
        "query-status",
        "query",
        True,
    )
    assert (first.workspace, first.data, second.data) == ("w", b"", b"")


async def test_one_is_read_whole_by_its_number(bus: Bus) -> None:
    letters = await letters_of(bus, ("chunker", 7, "no text"))
    (header,) = await letters.headers()
    result = await letters.get(header.number)
    assert result is not None
    assert (result.data, result.reason, result.subject) == (
        b"raw",
        "no text",
        "kb.v1.w.port.DocumentAdded",
    )
    assert await letters.get(header.number + 1) is None


async def test_what_is_removed_is_gone_and_may_be_removed_again(bus: Bus) -> None:
    letters = await letters_of(bus, ("chunker", 7, "no text"), ("chunker", 8, "no text"))
    first, second = await letters.headers()
    await letters.remove(first.number)
    await letters.remove(first.number)
    assert await letters.get(first.number) is None
    assert [header.number for header in await letters.headers()] == [second.number]


async def test_a_message_that_several_consumers_gave_up_counts_once(bus: Bus) -> None:
    assert (await count_dead_letters(await letters_of(bus))).count == 0
    letters = await letters_of(
        bus, ("chunker", 7, "first"), ("query-status", 7, "first"), ("chunker", 8, "last")
    )
    summary = await count_dead_letters(letters)
    assert (summary.count, summary.reason) == (2, "last")


async def test_a_list_that_was_read_before_has_what_came_and_went_since(bus: Bus) -> None:
    letters = await letters_of(bus, ("chunker", 7, "first"), ("chunker", 8, "second"))
    if not isinstance(letters, NatsDeadLetters):
        return
    assert [header.reason for header in await letters.headers()] == ["first", "second"]
    await letters_of(bus, ("merger", 9, "third"))
    first, *_ = headers = await letters.headers()
    assert [header.reason for header in headers] == ["first", "second", "third"]
    await letters.remove(first.number)
    await letters_of(bus, ("merger", 10, "fourth"))
    assert [header.reason for header in await letters.headers()] == ["second", "third", "fourth"]
    assert await letters.headers() == await NatsDeadLetters(letters.jetstream).headers()
    latest = NatsDeadLetters(letters.jetstream, max_letters=2)
    for _ in range(2):
        assert [header.reason for header in await latest.headers()] == ["third", "fourth"]
    await letters_of(bus, ("merger", 11, "fifth"))
    assert [header.reason for header in await latest.headers()] == ["fourth", "fifth"]
