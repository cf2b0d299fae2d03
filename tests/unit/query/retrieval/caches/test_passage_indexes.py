"""The index of a workspace's passages: made once, made anew after a change, bounded, and not needed
for an answer.
"""

from typing import Any

import pytest

from contracts.graph import Generations
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.caches import passage_indexes as cache
from services.query.retrieval.caches.passage_indexes import PassageIndexCache
from services.query.retrieval.retrieve import retrieve
from tests.support.events import entity
from tests.support.querying import QueryHarness

PARTITIONS = Partitions.of("w", Generations())


async def harness() -> QueryHarness:
    made = QueryHarness()
    await made.index(
        "one", "Ada Marsh sails the Gull.", says=(([entity("Ada Marsh", "person")], []),)
    )
    return made


async def indexed(made: QueryHarness, indexes: PassageIndexCache) -> list[str] | None:
    index = await indexes.of(PARTITIONS, await made.names.of(PARTITIONS))
    return None if index is None else list(index.ids)


async def test_an_index_is_made_once_while_nothing_changes_and_anew_after_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(cache, "REST", 0)
    made = await harness()
    indexes = PassageIndexCache(made.passages, made.documents)
    names = await made.names.of(PARTITIONS)
    first = await indexes.of(PARTITIONS, names)
    assert first is not None and list(first.ids) == ["one-chunk-000"]
    assert await indexes.of(PARTITIONS, names) is first
    await made.index("two", "The Gull is a boat.", version=1000)
    assert await indexed(made, indexes) == ["one-chunk-000", "two-chunk-000"]


async def test_a_workspace_of_too_many_passages_is_answered_from_those_around_the_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "MAX_PASSAGES", 1)
    made = await harness()
    await made.index("two", "The Gull is a boat.", version=1000)
    indexes: Any = PassageIndexCache(made.passages, made.documents)
    assert await indexed(made, indexes) is None
    result = await retrieve(
        Question("What does Ada Marsh sail?", "walk"),
        PARTITIONS,
        made.deps(passage_indexes=indexes),
    )
    assert [passage.id for _, passage in result.passages][:1] == ["one-chunk-000"]


async def test_the_least_recently_used_index_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_ALTOGETHER", 1)
    made = await harness()
    await made.index("three", "Ida Bell rows.", workspace="other", version=1000)
    indexes = PassageIndexCache(made.passages, made.documents)
    names = await made.names.of(PARTITIONS)
    first = await indexes.of(PARTITIONS, names)
    await indexes.of(Partitions.of("other", Generations()), names)
    assert await indexes.of(PARTITIONS, names) is not first
