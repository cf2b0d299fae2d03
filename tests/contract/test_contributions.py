"""The contract of `Contributions`, over a store in memory and over SQLite."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from contracts.graph import Partition
from knowledge.contributions import Contribution, contributions
from services.merger.adapters.contributions import RowContributions
from services.merger.port import Contributions, Key
from tests.support.events import document, entity, extracted, relation
from tests.support.rows import Opener, document_store
from tests.support.shared_servers import SharedServers


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def opener(
    request: pytest.FixtureRequest, tmp_path: Path, shared_servers: SharedServers
) -> AsyncIterator[Opener]:
    async with document_store(request.param, tmp_path, shared_servers) as opener:
        yield opener


@pytest_asyncio.fixture
async def said(opener: Opener) -> AsyncIterator[Contributions]:
    rows = opener()
    await rows.prepare()
    yield RowContributions(rows)
    await rows.close()


@pytest.fixture
def partition() -> Partition:
    return Partition(f"w-{uuid4().hex}", 1)


def chunk_says(
    version: int, *names: str, order: int = 0, of: str = "d"
) -> tuple[str, int, list[Contribution]]:
    event = extracted(
        document(of, version),
        order,
        [entity(n) for n in names if " " not in n],
        [relation(*n.split(" ")) for n in names if " " in n],
    )
    return event.chunk.id, version, contributions(event)


async def replaced(said: Contributions, partition: Partition, *chunks: Any) -> dict[str, set[Key]]:
    """Replace what chunks contribute and count it, as the handler does."""
    touched = await said.replace(
        partition, {chunk: (version, things) for chunk, version, things in chunks}
    )
    changed: dict[Key, set[str]] = defaultdict(set)
    for chunk, of_chunk in touched.items():
        for key in of_chunk:
            changed[key].add(chunk)
    await said.count_changes(partition, changed, changed, {})
    return touched


async def by_key(
    said: Contributions, partition: Partition, keys: Collection[Key]
) -> dict[Key, list[Contribution]]:
    """All that chunks contribute to these keys."""
    result = await said.of_chunks(partition, await said.mentioning_chunks(partition, keys))
    return {key: [one for one in of_key if not one.is_retracted] for key, of_key in result.items()}


async def counted(said: Contributions, partition: Partition, *keys: Key) -> dict[Key, int]:
    """Count a change of each key, and return the revisions."""
    result = await said.count_changes(partition, dict.fromkeys(keys, ()), {}, {})
    return {key: history.revision for key, history in result.items()}


async def standing(
    said: Contributions, partition: Partition, *keys: Key
) -> dict[Key, list[tuple[str, int]]]:
    """By key, the chunks and versions that stand."""
    result = await by_key(said, partition, keys)
    return {
        key: sorted((c.chunk_id, c.version) for c in of_key if not c.is_retracted)
        for key, of_key in result.items()
    }


A, B, AB = ("A",), ("B",), ("A", "B")


async def test_what_a_chunk_says_is_found_by_key_as_it_was_given(
    said: Contributions, partition: Partition
) -> None:
    chunk, version, things = chunk_says(7, "A", "A B")
    touched = await replaced(said, partition, (chunk, version, things))
    assert touched == {chunk: {A, B, AB}}
    result = await by_key(said, partition, [A, B, AB])
    assert {c for of_key in result.values() for c in of_key} == set(things)


async def test_a_key_that_nobody_named_has_no_contributions(
    said: Contributions, partition: Partition
) -> None:
    assert await by_key(said, partition, [A, AB]) == {A: [], AB: []}
    assert await by_key(said, partition, []) == {}


async def test_saying_it_twice_is_saying_it_once_and_touches_the_same_keys(
    said: Contributions, partition: Partition
) -> None:
    first = await replaced(said, partition, chunk_says(1, "A", "B"))
    assert await replaced(said, partition, chunk_says(1, "A", "B")) == first
    assert await standing(said, partition, A) == {A: [("d-chunk-000", 1)]}


async def test_a_newer_version_takes_back_what_it_does_not_say(
    said: Contributions, partition: Partition
) -> None:
    await replaced(said, partition, chunk_says(1, "A", "A B"))
    touched = await replaced(said, partition, chunk_says(2, "A"))
    assert touched == {"d-chunk-000": {A, B, AB}}
    assert await standing(said, partition, A, B, AB) == {A: [("d-chunk-000", 2)], B: [], AB: []}
    (gone,) = (await said.of_chunks(partition, await said.mentioning_chunks(partition, [B])))[B]
    assert (gone.is_retracted, gone.chunk_id) == (True, "d-chunk-000")


async def test_what_was_taken_back_is_touched_again_so_that_a_crash_loses_nothing(
    said: Contributions, partition: Partition
) -> None:
    await replaced(said, partition, chunk_says(1, "A"))
    for _ in range(2):
        assert await replaced(said, partition, chunk_says(2, "B")) == {"d-chunk-000": {A, B}}


@pytest.mark.parametrize("newest", [("B",), ()])
async def test_an_older_version_that_comes_late_says_nothing(
    said: Contributions, partition: Partition, newest: Sequence[str]
) -> None:
    await replaced(said, partition, chunk_says(2, *newest))
    await replaced(said, partition, chunk_says(1, "A", "A B"))
    assert await standing(said, partition, A, AB) == {A: [], AB: []}
    assert await standing(said, partition, B) == {B: [("d-chunk-000", 2)] * len(newest)}


async def test_what_was_taken_back_can_be_said_again(
    said: Contributions, partition: Partition
) -> None:
    for version, name in enumerate("ABA", 1):
        await replaced(said, partition, chunk_says(version, name))
    assert await standing(said, partition, A, B) == {A: [("d-chunk-000", 3)], B: []}


async def test_chunks_do_not_speak_for_each_other(
    said: Contributions, partition: Partition
) -> None:
    await replaced(
        said,
        partition,
        chunk_says(1, "A", order=0),
        chunk_says(1, "A", order=1),
        chunk_says(1, "A", of="e"),
    )
    await replaced(said, partition, chunk_says(2, "B", order=0))
    assert await standing(said, partition, A) == {A: [("d-chunk-001", 1), ("e-chunk-000", 1)]}


async def test_partitions_never_mix(said: Contributions, partition: Partition) -> None:
    await replaced(said, partition, chunk_says(1, "A"))
    for other in (Partition(partition.workspace, 2), Partition(partition.workspace + "x", 1)):
        assert await by_key(said, other, [A]) == {A: []}
        assert await counted(said, other, A) == {A: 1}


async def test_numbers_count_up_by_key(said: Contributions, partition: Partition) -> None:
    assert await counted(said, partition, A, AB) == {A: 1, AB: 1}
    assert await counted(said, partition, A) == {A: 2}
    assert await counted(said, partition, A, B) == {A: 3, B: 1}
    assert await counted(said, partition) == {}


async def test_names_that_look_alike_are_different_keys(
    said: Contributions, partition: Partition
) -> None:
    names = ["a", "A", "a ", "ä", "a\x1fb", "", "名"]
    (sample,) = contributions(extracted(document(), 0, [entity("X")]))
    chunks = {
        f"chunk {n}": replace(sample, names=(name,), chunk_id=f"chunk {n}")
        for n, name in enumerate(names)
    }
    await replaced(said, partition, *((chunk, 1, [thing]) for chunk, thing in chunks.items()))
    for n, name in enumerate(names):
        assert await standing(said, partition, (name,)) == {(name,): [(f"chunk {n}", 1)]}


async def test_whoever_counts_sees_everything_that_the_number_counts(
    opener: Opener, partition: Partition
) -> None:
    rows = [opener() for _ in range(4)]
    await rows[0].prepare()
    seen: dict[int, int] = {}

    async def replica(number: int) -> None:
        said = RowContributions(rows[number])
        for order in range(5):
            await replaced(said, partition, chunk_says(1, "A", order=number * 5 + order))
            revision = (await said.histories(partition, [A]))[A].revision
            seen[revision] = max(
                seen.get(revision, 0), len((await by_key(said, partition, [A]))[A])
            )

    await asyncio.gather(*map(replica, range(4)))
    for one in {id(one): one for one in rows}.values():
        await one.close()
    assert seen[20] == 20
    assert all(count >= revision for revision, count in seen.items())


async def test_two_versions_written_at_the_same_time_leave_the_newer(
    opener: Opener, partition: Partition
) -> None:
    rows = [opener(), opener()]
    await rows[0].prepare()
    one, two = map(RowContributions, rows)
    for n in range(15):
        old, new = chunk_says(1, f"key_{n}", "A", order=n), chunk_says(2, f"key_{n}", "B", order=n)
        await asyncio.gather(replaced(one, partition, old), replaced(two, partition, new))
        key = (f"key_{n}",)
        assert await standing(one, partition, key) == {key: [(old[0], 2)]}
    assert await standing(one, partition, A) == {A: []}
    assert len((await standing(two, partition, B))[B]) == 15
    for row in {id(row): row for row in rows}.values():
        await row.close()
