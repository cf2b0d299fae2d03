"""A passage that failed for good says nothing: what an older version of it said leaves the graph,
in any order.
"""

from itertools import permutations

import pytest

from contracts.events import EntitiesExtracted, StageFailed
from services.merger.domain.history import History
from tests.support.events import delivered, document, entity, extracted, failed
from tests.support.merging import Merger

OLD = extracted(document(version=1), 0, [entity("Old")])
NEW = extracted(document(version=5), 0, [entity("New")])
FAILED = failed("extractor", "ChunksCreated", document(version=5), 0)


@pytest.mark.parametrize("order", list(permutations([OLD, FAILED])))
async def test_a_failed_passage_replaces_what_its_older_version_said(
    order: tuple[EntitiesExtracted, ...],
) -> None:
    merger = Merger()
    for event in order:
        await merger.merge(event)
    assert not await merger.entities()


@pytest.mark.parametrize("order", list(permutations([OLD, FAILED, NEW])))
async def test_a_retry_that_succeeds_counts_whenever_the_failure_is_seen(
    order: tuple[EntitiesExtracted, ...],
) -> None:
    at_once = Merger()
    one_by_one = Merger()
    await at_once.merge(*order)
    for event in order:
        await one_by_one.merge(event)
    assert set(await at_once.entities()) == set(await one_by_one.entities()) == {"New"}


async def test_a_failure_announces_what_it_changed_and_finishes_no_passage() -> None:
    merger = Merger()
    await merger.merge(OLD)
    ((event,),) = await merger.handle([delivered(FAILED, 9)])
    assert [entity.name for entity in event.entities] == ["Old"]
    assert event.chunks == ()


@pytest.mark.parametrize(
    "failure",
    [
        failed("indexer", "ChunksCreated", document(version=5), 0),
        failed("chunker", "DocumentAdded", document(version=5)),
        failed("merger", "GraphEdited", None, id="_graph"),
    ],
)
async def test_other_failures_change_nothing(failure: StageFailed) -> None:
    merger = Merger()
    await merger.merge(OLD)
    assert await merger.handle([delivered(failure, 9)]) == [[]]
    assert set(await merger.entities()) == {"Old"}


def test_a_change_counted_again_says_nothing_new() -> None:
    history = History(3, ("a", "b", "a"))
    assert history.new_entries_since(2) == set()
    assert history.new_entries_since(1) == {"b"}
    assert history.new_entries_since(3) == set()
    assert History(9, ("a", "b")).new_entries_since(5) is None
    assert (history.times("a"), history.times("b"), history.times("c")) == (2, 1, 0)
