"""A rebuild in two steps: what was filled is live only when it is promoted, with all that has
happened since.
"""

from itertools import pairwise
from typing import Any

import pytest

from contracts.graph import PROJECTIONS, Generations
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from operations.rebuild import Rebuild
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.errors import InvalidInput
from runtime.projections.rebuild_candidate import Candidate
from services.merger.settings import MergerSettings
from tests.unit.operations.test_bulk_load import BOUNDS, TOTAL, digests, recorded, stores
from tests.unit.operations.test_recorded_digests import DIGESTS


def rebuild(
    log: MemoryLog, pointers: MemoryLiveGenerations, memory_stores: Stores, **fields: Any
) -> Rebuild:
    """A rebuild of everything, as a new process makes it."""
    return Rebuild(
        log,
        pointers,
        memory_stores,
        LexicalEmbedder(64),
        PROJECTIONS,
        fields.pop("report", lambda _: None),
        MergerSettings(),
        **fields,
    )


async def filled(
    log: MemoryLog, pointers: MemoryLiveGenerations, memory_stores: Stores
) -> Candidate:
    work = rebuild(log, pointers, memory_stores)
    result = await work.fill("w")
    return Candidate(result["generations"], work.position.stored, result["newer"])


@pytest.mark.parametrize("first", [1, TOTAL // 4, TOTAL // 2, TOTAL - 1, TOTAL])
async def test_a_promoted_generation_has_what_happened_since_it_was_filled(first: int) -> None:
    full_log = recorded(MemoryLog())
    log = MemoryLog()
    pointers = MemoryLiveGenerations()
    memory_stores = stores()
    log.messages = full_log.messages[:first]
    candidate = await filled(log, pointers, memory_stores)
    assert await pointers.live() == Generations(1, 1, 1)
    log.messages = full_log.messages
    result = await rebuild(log, pointers, memory_stores).promote(candidate)
    assert result["events"] == TOTAL - first
    assert await pointers.live() == Generations(2, 2, 2)
    assert await digests(memory_stores, Generations(2, 2, 2)) == DIGESTS


async def test_what_another_rebuild_has_replaced_is_not_promoted() -> None:
    log = recorded(MemoryLog())
    pointers = MemoryLiveGenerations()
    memory_stores = stores()
    candidate = await filled(log, pointers, memory_stores)
    await rebuild(log, pointers, memory_stores).run("w")
    with pytest.raises(InvalidInput, match="start another rebuild"):
        await rebuild(log, pointers, memory_stores).promote(candidate)
    assert await pointers.live() == Generations(3, 3, 3)


async def test_what_is_live_is_not_promoted_again() -> None:
    log = recorded(MemoryLog())
    pointers = MemoryLiveGenerations()
    memory_stores = stores()
    candidate = await filled(log, pointers, memory_stores)
    await rebuild(log, pointers, memory_stores).promote(candidate)
    with pytest.raises(InvalidInput, match="start another rebuild"):
        await rebuild(log, pointers, memory_stores).promote(candidate)


async def test_events_are_read_no_faster_than_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pauses add up to the events divided by the rate; nobody waits for them here. The bounds
    of documents are read before everything else.
    """
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("operations.bulk_load.asyncio.sleep", sleep)
    monkeypatch.setattr("operations.bulk_load.time.monotonic", lambda: 0.0)
    steps: list[dict[str, Any]] = []
    memory_stores = stores()
    await rebuild(
        recorded(MemoryLog()),
        MemoryLiveGenerations(),
        memory_stores,
        events_per_second=10,
        report=steps.append,
    ).run("w")
    read = [step["events"] for step in steps if "end" in step]
    assert max(later - earlier for earlier, later in pairwise(read)) <= 10
    assert sum(pause for pause in pauses if pause) == pytest.approx((BOUNDS + TOTAL) / 10)
    assert await digests(memory_stores, Generations(2, 2, 2)) == DIGESTS


async def test_comparing_says_how_many_rows_it_has_read() -> None:
    """Page by page, which are of one row here: of millions it takes minutes."""
    steps: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("operations.digest.PAGE", 1)
        result = await rebuild(
            recorded(MemoryLog()), MemoryLiveGenerations(), stores(), report=steps.append
        ).run("w")
    read = [step["rows compared"] for step in steps if "rows compared" in step]
    sides = [
        side["counts"]
        for comparison in result["digests"].values()
        for side in (comparison["rebuilt"], comparison["live"])
        if side
    ]
    assert read[-1] >= sum(sum(counts.values()) for counts in sides) > 10
    assert len(read) > 80, "each page is told of"
    assert read == sorted(read)
    assert steps[-1]["of"] == read[-1]
