"""A consumer that gives up too much by its own fault pauses; documents that can never succeed do
not pause it.
"""

from collections.abc import Sequence
from typing import Any

from contracts.events import Event, StageFailed
from contracts.graph import Generations
from runtime.bus.dead_letter_limit import WINDOW, DeadLetterLimit
from runtime.bus.port import BUG_ATTEMPTS, Delivery
from runtime.bus.processor import each
from runtime.errors import Poison
from tests.support.events import added, chunked, document, failed, sealed
from tests.support.processors import ProcessorBench, bench


def broken(error: Exception | None, limit: int = 3, **where: Any) -> ProcessorBench:
    """A consumer whose handler raises that error, or gives up a chunk itself where there is
    none.
    """

    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        if error:
            raise type(error)(*error.args)
        return [
            failed("extractor", "ChunksCreated", delivery.event.document).model_copy(
                update={"retry_may_help": True}
            )
        ]

    table = bench(each(handle), **where)
    table.processor.limit.max_letters = limit
    table.processor.delay = lambda attempt, wait: 0.0
    return table


async def test_unexpected_errors_pause_a_consumer_and_its_messages_wait() -> None:
    table = broken(RuntimeError("a bad release"))
    for number in range(5):
        table.append(sealed(added(f"d{number}"), id=f"d{number}"))
    for _ in range(4 * BUG_ATTEMPTS):
        await table.deliver(1)
    await table.deliver()
    assert len(table.log.dead) == 3
    assert len(table.unacknowledged) == 2
    note = await table.processor.reasons.note()
    assert note is not None
    assert (
        "paused after 3 dead letters within an hour (DEAD_LETTER_LIMIT), the last for RuntimeError"
        in note
    )
    assert len(table.published("StageFailed")) == 3


async def test_documents_that_can_never_succeed_pause_nothing() -> None:
    table = broken(Poison("the text is empty"))
    for number in range(9):
        table.append(sealed(added(f"d{number}"), id=f"d{number}"))
        table.raw(b"no event")
    await table.deliver()
    assert len(table.log.dead) == 18
    assert table.processor.limit.pause is None


async def test_unreadable_events_of_our_own_services_pause_their_reader() -> None:
    table = broken(None, stage="extractor", on="extractor")
    for _ in range(5):
        table.raw(b"no event", "kb.v1.w.d.ChunksCreated")
    for _ in range(5):
        await table.deliver(1)
    assert len(table.log.dead) == 3


async def test_chunks_that_a_handler_gives_up_after_unexpected_errors_count() -> None:
    table = broken(None, limit=2, stage="extractor", on="extractor")
    for number in range(4):
        table.append(sealed(chunked(document(f"d{number}"), "text"), id=f"c{number}"))
        await table.deliver(1)
    await table.deliver()
    assert [event.data.type_name() for event in table.published()] == [StageFailed.type_name()] * 2
    assert len(table.unacknowledged) == 2


def test_only_faults_of_the_last_hour_count() -> None:
    now = 0.0
    limit = DeadLetterLimit(2, clock=lambda: now)
    limit.count("first")
    now = WINDOW + 1
    limit.count("second")
    assert limit.pause is None
    now += 1
    limit.count("third")
    assert limit.pause is not None
