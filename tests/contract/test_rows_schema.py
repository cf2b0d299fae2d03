"""What a document store is made of: what it lacks is named, its version is recorded, and a newer
one is refused.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from contracts.graph import PROJECTIONS, Partition, Projection
from runtime.errors import ConfigurationError
from runtime.stores.documents import schema
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows, Table
from tests.support.rows import Opener

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCUMENTS = Table("documents", Partition("w", 1))
CONTRIBUTIONS = Table("chunk_contributions", Partition("w", 1))


@pytest_asyncio.fixture(loop_scope="module")
async def rows(opener: Opener) -> AsyncIterator[Rows]:
    rows = opener()
    yield rows
    await rows.close()


async def test_a_new_store_lacks_what_preparing_makes(rows: Rows) -> None:
    lacks = await rows.missing()
    assert isinstance(rows, MemoryRows) or any(
        "documents" in line and "track_id" in line for line in lacks
    )
    await rows.prepare()
    assert await rows.missing() == []
    assert await schema.recorded(rows) == schema.VERSION


async def test_preparing_again_keeps_the_version(rows: Rows) -> None:
    await rows.prepare()
    await rows.prepare()
    assert await schema.recorded(rows) == schema.VERSION


async def store_of_version(rows: Rows, version: int) -> None:
    """Make the store look as a program of that version left it, with a processed document; 0:
    without a version.
    """
    await clean(rows)
    await rows.prepare()
    status = {"id": "d", "status": "processed", "version": 7, "chunk_count": 1}
    await rows.put(DOCUMENTS, {"d": status})
    await rows.put(schema.TABLE, {schema.KEY: {"version": version}})
    if version == 0:
        await rows.delete(schema.TABLE, [schema.KEY])


async def clean(rows: Rows) -> None:
    """Remove what a test stored."""
    for table in (DOCUMENTS, CONTRIBUTIONS, schema.TABLE, schema.CHECKPOINTS):
        await rows.drop(table)


@pytest.mark.parametrize("version", range(schema.VERSION + 1))
async def test_a_store_of_an_older_version_owes_what_this_one_cannot_go_on_with(
    rows: Rows, version: int
) -> None:
    debts: set[Projection] = {"graph", "vectors"} if version >= 2 else set(PROJECTIONS)
    if version >= 6:  # since then debts are recorded when they are made
        debts = set()
    await store_of_version(rows, version)
    await rows.prepare()
    await rows.prepare()  # as a second service, or another start, does
    record = await schema.read(rows)
    assert record.version == schema.VERSION
    assert {projection for projection in PROJECTIONS if record.is_owed(projection, 1)} == debts
    await clean(rows)


async def test_several_services_that_start_at_once_record_the_same_debt(rows: Rows) -> None:
    await store_of_version(rows, 2)
    await asyncio.gather(*(schema.enter(rows) for _ in range(6)))
    assert (await schema.read(rows)).owed_projections == {"graph", "vectors"}
    await clean(rows)


async def test_a_store_whose_graph_was_made_by_versions_4_or_5_owes_nothing(rows: Rows) -> None:
    await store_of_version(rows, 5)
    await rows.put(CONTRIBUTIONS, {"c": {"document_id": "d", "chunk_id": "d-chunk-000"}})
    await rows.prepare()
    assert (await schema.read(rows)).owed_projections == set()
    await clean(rows)


async def test_each_generation_pays_for_itself_when_this_program_makes_it(rows: Rows) -> None:
    await store_of_version(rows, 3)
    await rows.prepare()
    await schema.complete(rows, "graph", 2)
    record = await schema.read(rows)
    debts = [
        (projection, generation)
        for projection in PROJECTIONS
        for generation in (1, 2)
        if record.is_owed(projection, generation)
    ]
    assert debts == [("graph", 1), ("vectors", 1), ("vectors", 2)]

    await schema.complete(rows, "vectors", 2)
    await schema.owe(rows, "vectors", 2)  # made from a graph that was lost meanwhile
    assert (await schema.read(rows)).is_owed("vectors", 2)
    await schema.forget_others(rows, "graph", [1, None])
    assert (await schema.read(rows)).is_owed("graph", 2), "the number may be given again"
    await clean(rows)


async def test_a_store_of_newer_code_is_refused_and_left_as_it_is(rows: Rows) -> None:
    await rows.prepare()
    await rows.put(schema.TABLE, {schema.KEY: {"version": schema.VERSION + 1}})
    with pytest.raises(
        ConfigurationError,
        match=f"schema {schema.VERSION + 1}, this program knows {schema.VERSION}",
    ):
        await rows.prepare()
    assert await schema.recorded(rows) == schema.VERSION + 1
    assert (await schema.read(rows)).problem
    await rows.delete(schema.TABLE, [schema.KEY])
