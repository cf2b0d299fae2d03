"""The index of a workspace's passages: built once, built anew after a change, bounded, and
not needed for an answer.
"""

from typing import Any

import pytest

from contracts.graph import Generations
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.caches import passage_indexes
from services.query.retrieval.caches.passage_indexes import PassageIndexCache
from services.query.retrieval.retrieve import retrieve
from tests.support.events import entity
from tests.support.querying import QueryHarness

PARTITIONS = Partitions.of("w", Generations())


async def harness() -> QueryHarness:
    workspace = QueryHarness()
    await workspace.index(
        "one", "Ada Marsh sails the Gull.", says=(([entity("Ada Marsh", "person")], []),)
    )
    return workspace


async def indexed(workspace: QueryHarness, indexes: PassageIndexCache) -> list[str] | None:
    index = await indexes.of(PARTITIONS, await workspace.names.of(PARTITIONS))
    return None if index is None else list(index.ids)


async def test_an_index_is_made_once_while_nothing_changes_and_anew_after_a_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passage_indexes, "VERSION_SECONDS", 0.0)
    monkeypatch.setattr(passage_indexes, "PAUSE_RATIO", 0)
    workspace = await harness()
    indexes = PassageIndexCache(workspace.passages, workspace.documents)
    names = await workspace.names.of(PARTITIONS)
    first = await indexes.of(PARTITIONS, names)
    assert first is not None and list(first.ids) == ["one-chunk-000"]
    assert await indexes.of(PARTITIONS, names) is first
    await workspace.index("two", "The Gull is a boat.", version=1000)
    assert await indexed(workspace, indexes) == ["one-chunk-000", "two-chunk-000"]


async def test_a_workspace_of_too_many_passages_is_answered_from_those_around_the_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passage_indexes, "MAX_PASSAGES", 1)
    workspace = await harness()
    await workspace.index("two", "The Gull is a boat.", version=1000)
    indexes: Any = PassageIndexCache(workspace.passages, workspace.documents)
    assert await indexed(workspace, indexes) is None
    result = await retrieve(
        Question("What does Ada Marsh sail?", "walk"),
        PARTITIONS,
        workspace.deps(passage_indexes=indexes),
    )
    assert [passage.id for _, passage in result.passages][:1] == ["one-chunk-000"]


async def test_the_least_recently_used_index_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_indexes, "MAX_ALTOGETHER", 1)
    workspace = await harness()
    await workspace.index("three", "Ida Bell rows.", workspace="other", version=1000)
    indexes = PassageIndexCache(workspace.passages, workspace.documents)
    names = await workspace.names.of(PARTITIONS)
    first = await indexes.of(PARTITIONS, names)
    await indexes.of(Partitions.of("other", Generations()), names)
    assert await indexes.of(PARTITIONS, names) is not first
