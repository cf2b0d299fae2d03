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
async def repository(opener: Opener) -> AsyncIterator[Contributions]:
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


async def replaced(
    repository: Contributions, partition: Partition, *chunks: Any
) -> dict[str, set[Key]]:
    """Replace what chunks contribute and count it, as the handler does."""
    touched_keys = await repository.replace(
        partition, {chunk: (version, statements) for chunk, version, statements in chunks}
    )
    changed_keys: dict[Key, set[str]] = defaultdict(set)
    for chunk, of_chunk in touched_keys.items():
        for key in of_chunk:
            changed_keys[key].add(chunk)
    await repository.count_changes(partition, changed_keys, changed_keys, {})
    return touched_keys


async def by_key(
    repository: Contributions, partition: Partition, keys: Collection[Key]
) -> dict[Key, list[Contribution]]:
    """All that chunks contribute to these keys."""
    result = await repository.of_chunks(
        partition, await repository.mentioning_chunks(partition, keys)
    )
    return {
        key: [contribution for contribution in of_key if not contribution.is_retracted]
        for key, of_key in result.items()
    }


async def counted(repository: Contributions, partition: Partition, *keys: Key) -> dict[Key, int]:
    """Count a change of each key, and return the revisions."""
    result = await repository.count_changes(partition, dict.fromkeys(keys, ()), {}, {})
    return {key: history.revision for key, history in result.items()}


async def standing(
    repository: Contributions, partition: Partition, *keys: Key
) -> dict[Key, list[tuple[str, int]]]:
    """By key, the chunks and versions that stand."""
    result = await by_key(repository, partition, keys)
    return {
        key: sorted((c.chunk_id, c.version) for c in of_key if not c.is_retracted)
        for key, of_key in result.items()
    }


A = ("A",)
B = ("B",)
AB = ("A", "B")


async def test_what_a_chunk_says_is_found_by_key_as_it_was_given(
    repository: Contributions, partition: Partition
) -> None:
    chunk, version, statements = chunk_says(7, "A", "A B")
    touched_keys = await replaced(repository, partition, (chunk, version, statements))
    assert touched_keys == {chunk: {A, B, AB}}
    result = await by_key(repository, partition, [A, B, AB])
    assert {c for of_key in result.values() for c in of_key} == set(statements)


async def test_a_key_that_nobody_named_has_no_contributions(
    repository: Contributions, partition: Partition
) -> None:
    assert await by_key(repository, partition, [A, AB]) == {A: [], AB: []}
    assert await by_key(repository, partition, []) == {}


async def test_saying_it_twice_is_saying_it_once_and_touches_the_same_keys(
    repository: Contributions, partition: Partition
) -> None:
    first = await replaced(repository, partition, chunk_says(1, "A", "B"))
    assert await replaced(repository, partition, chunk_says(1, "A", "B")) == first
    assert await standing(repository, partition, A) == {A: [("d-chunk-000", 1)]}


async def test_a_newer_version_takes_back_what_it_does_not_say(
    repository: Contributions, partition: Partition
) -> None:
    await replaced(repository, partition, chunk_says(1, "A", "A B"))
    touched_keys = await replaced(repository, partition, chunk_says(2, "A"))
    assert touched_keys == {"d-chunk-000": {A, B, AB}}
    assert await standing(repository, partition, A, B, AB) == {
        A: [("d-chunk-000", 2)],
        B: [],
        AB: [],
    }
    (retraction,) = (
        await repository.of_chunks(partition, await repository.mentioning_chunks(partition, [B]))
    )[B]
    assert (retraction.is_retracted, retraction.chunk_id) == (True, "d-chunk-000")


async def test_what_was_taken_back_is_touched_again_so_that_a_crash_loses_nothing(
    repository: Contributions, partition: Partition
) -> None:
    await replaced(repository, partition, chunk_says(1, "A"))
    for _ in range(2):
        assert await replaced(repository, partition, chunk_says(2, "B")) == {"d-chunk-000": {A, B}}


@pytest.mark.parametrize("newest_names", [("B",), ()])
async def test_an_older_version_that_comes_late_says_nothing(
    repository: Contributions, partition: Partition, newest_names: Sequence[str]
) -> None:
    await replaced(repository, partition, chunk_says(2, *newest_names))
    await replaced(repository, partition, chunk_says(1, "A", "A B"))
    assert await standing(repository, partition, A, AB) == {A: [], AB: []}
    assert await standing(repository, partition, B) == {B: [("d-chunk-000", 2)] * len(newest_names)}


async def test_what_was_taken_back_can_be_said_again(
    repository: Contributions, partition: Partition
) -> None:
    for version, name in enumerate("ABA", 1):
        await replaced(repository, partition, chunk_says(version, name))
    assert await standing(repository, partition, A, B) == {A: [("d-chunk-000", 3)], B: []}


async def test_chunks_do_not_speak_for_each_other(
    repository: Contributions, partition: Partition
) -> None:
    await replaced(
        repository,
        partition,
        chunk_says(1, "A", order=0),
        chunk_says(1, "A", order=1),
        chunk_says(1, "A", of="e"),
    )
    await replaced(repository, partition, chunk_says(2, "B", order=0))
    assert await standing(repository, partition, A) == {A: [("d-chunk-001", 1), ("e-chunk-000", 1)]}


async def test_partitions_never_mix(repository: Contributions, partition: Partition) -> None:
    await replaced(repository, partition, chunk_says(1, "A"))
    for other_partition in (
        Partition(partition.workspace, 2),
        Partition(partition.workspace + "x", 1),
    ):
        assert await by_key(repository, other_partition, [A]) == {A: []}
        assert await counted(repository, other_partition, A) == {A: 1}


async def test_numbers_count_up_by_key(repository: Contributions, partition: Partition) -> None:
    assert await counted(repository, partition, A, AB) == {A: 1, AB: 1}
    assert await counted(repository, partition, A) == {A: 2}
    assert await counted(repository, partition, A, B) == {A: 3, B: 1}
    assert await counted(repository, partition) == {}


async def test_names_that_look_alike_are_different_keys(
    repository: Contributions, partition: Partition
) -> None:
    names = ["a", "A", "a ", "ä", "a\x1fb", "", "名"]
    (sample,) = contributions(extracted(document(), 0, [entity("X")]))
    chunks = {
        f"chunk {n}": replace(sample, names=(name,), chunk_id=f"chunk {n}")
        for n, name in enumerate(names)
    }
    await replaced(
        repository, partition, *((chunk, 1, [statement]) for chunk, statement in chunks.items())
    )
    for n, name in enumerate(names):
        assert await standing(repository, partition, (name,)) == {(name,): [(f"chunk {n}", 1)]}


async def test_whoever_counts_sees_everything_that_the_number_counts(
    opener: Opener, partition: Partition
) -> None:
    rows = [opener() for _ in range(4)]
    await rows[0].prepare()
    counts: dict[int, int] = {}

    async def replica(number: int) -> None:
        repository = RowContributions(rows[number])
        for order in range(5):
            await replaced(repository, partition, chunk_says(1, "A", order=number * 5 + order))
            revision = (await repository.histories(partition, [A]))[A].revision
            counts[revision] = max(
                counts.get(revision, 0), len((await by_key(repository, partition, [A]))[A])
            )

    await asyncio.gather(*map(replica, range(4)))
    for adapter in {id(adapter): adapter for adapter in rows}.values():
        await adapter.close()
    assert counts[20] == 20
    assert all(count >= revision for revision, count in counts.items())


async def test_two_versions_written_at_the_same_time_leave_the_newer(
    opener: Opener, partition: Partition
) -> None:
    rows = [opener(), opener()]
    await rows[0].prepare()
    first, second = map(RowContributions, rows)
    for n in range(15):
        older_version = chunk_says(1, f"key_{n}", "A", order=n)
        newer_version = chunk_says(2, f"key_{n}", "B", order=n)
        await asyncio.gather(
            replaced(first, partition, older_version), replaced(second, partition, newer_version)
        )
        key = (f"key_{n}",)
        assert await standing(first, partition, key) == {key: [(older_version[0], 2)]}
    assert await standing(first, partition, A) == {A: []}
    assert len((await standing(second, partition, B))[B]) == 15
    for row in {id(row): row for row in rows}.values():
        await row.close()
