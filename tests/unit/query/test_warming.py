"""The caches of a process are filled before questions come, after changes, and for another
generation; a rehearsal asks no model.
"""

from dataclasses import replace
from typing import Any

import pytest

from contracts.graph import PROJECTIONS
from runtime.bus.generations import GenerationState
from runtime.errors import Unavailable
from services.query import warming
from services.query.partitions import Partitions
from services.query.warming import Warming
from tests.support.events import added, delivered
from tests.support.querying import CURIE, CURIE_SAYS, QueryHarness
from tests.support.waiting import eventually


class RecordingCaches:
    """What was warmed; fails as often as told to."""

    def __init__(self) -> None:
        self.warmed = list[tuple[str, int]]()
        self.followed = set[tuple[str, int]]()
        self.asked = ["w"]
        self.failures = 0

    def workspaces(self) -> list[str]:
        return self.asked

    async def follow(self, partitions: Partitions) -> None:
        self.followed.add((partitions.graph.workspace, partitions.graph.generation))

    async def warm(self, partitions: Partitions) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("a store is away")
        self.warmed.append((partitions.graph.workspace, partitions.graph.generation))


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "QUIET", 0.01)
    monkeypatch.setattr(warming, "INTERVAL", 0.02)


async def started(harness: QueryHarness, caches: RecordingCaches) -> Warming:
    await harness.index("curie", *CURIE, says=CURIE_SAYS)

    async def embed(texts: Any) -> Any:
        raise AssertionError(f"a model is asked: {texts}")

    deps: Any = replace(harness.deps(), embed=embed, reranker=None)
    return Warming(deps, caches, harness.pointers, "w")


async def seen(caches: RecordingCaches, *warmed: tuple[str, int]) -> None:
    """Wait until exactly these were warmed, in this order."""

    async def are_there() -> None:
        assert caches.warmed == list(warmed)[: len(caches.warmed)]
        if len(caches.warmed) < len(warmed):
            raise Unavailable("not yet")

    await eventually(are_there)


async def test_caches_are_warm_at_the_start_after_changes_and_for_another_generation() -> None:
    harness = QueryHarness()
    caches = RecordingCaches()
    kept_warm = await started(harness, caches)
    async with kept_warm.in_background():
        await seen(caches, ("w", 1))
        kept_warm.notice([delivered(added("new", "text"), 9, workspace="unasked")])
        kept_warm.notice([delivered(added("new", "text"), 10, workspace="w")])
        await seen(caches, ("w", 1), ("w", 1))
        caches.asked = ["asked", "w"]
        await seen(caches, ("w", 1), ("w", 1), ("asked", 1))
        _, revision = await harness.pointers.read()
        states = dict.fromkeys(PROJECTIONS, GenerationState(live=2, highest=2))
        await harness.pointers.write(states, revision)
        await seen(caches, ("w", 1), ("w", 1), ("asked", 1), ("w", 2), ("asked", 2))


async def test_while_documents_come_the_log_is_followed_and_nothing_else_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warming, "QUIET", 3600.0)
    monkeypatch.setattr(warming, "FOLLOW_SECONDS", 0.01)
    harness = QueryHarness()
    caches = RecordingCaches()
    kept_warm = await started(harness, caches)
    async with kept_warm.in_background():
        await seen(caches, ("w", 1))
        kept_warm.notice([delivered(added("new", "text"), 9, workspace="unasked")])
        kept_warm.notice([delivered(added("new", "text"), 10, workspace="w")])

        async def is_followed() -> None:
            if not caches.followed:
                raise Unavailable("not yet")

        await eventually(is_followed)
        assert caches.followed == {("w", 1)} and caches.warmed == [("w", 1)]


async def test_a_store_that_is_away_is_read_later() -> None:
    harness = QueryHarness()
    caches = RecordingCaches()
    caches.failures = 2
    async with (await started(harness, caches)).in_background():
        await seen(caches, ("w", 1))
