"""What a document store is made of: what it lacks is named, its version is recorded, and a newer one is refused."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from runtime.errors import ConfigurationError
from runtime.stores.documents import schema
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows
from runtime.stores.port import Checkpoint
from tests.support.rows import Opener

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def rows(opener: Opener) -> AsyncIterator[Rows]:
    rows = opener()
    yield rows
    await rows.close()


async def test_a_new_store_lacks_what_preparing_makes(rows: Rows) -> None:
    lacks = await rows.missing()
    assert isinstance(rows, MemoryRows) or any("documents" in line and "track_id" in line for line in lacks)
    await rows.prepare()
    assert await rows.missing() == []
    assert await schema.recorded(rows) == schema.VERSION


async def test_preparing_again_keeps_the_version(rows: Rows) -> None:
    await rows.prepare()
    await rows.prepare()
    assert await schema.recorded(rows) == schema.VERSION


async def test_a_store_whose_contributions_are_of_an_older_schema_counts_as_lost_for_the_graph(rows: Rows) -> None:
    await rows.prepare()
    for version, kept in ((schema.VERSION, {"graph.1", "status.1"}), (3, {"status.1"})):
        for projection in ("graph", "status"):
            await RowCheckpoints(rows, projection).put_checkpoint(1, Checkpoint(5, "log"))
        await rows.put(schema.TABLE, {schema.KEY: {"version": version}})
        await rows.prepare()
        assert {key for key, _ in await rows.scan(schema.CHECKPOINTS)} == kept
        assert await schema.recorded(rows) == schema.VERSION
    await rows.drop(schema.CHECKPOINTS)


async def test_a_store_of_newer_code_is_refused_and_left_as_it_is(rows: Rows) -> None:
    await rows.prepare()
    await rows.put(schema.TABLE, {schema.KEY: {"version": schema.VERSION + 1}})
    with pytest.raises(ConfigurationError, match=f"schema {schema.VERSION + 1}, this program knows {schema.VERSION}"):
        await rows.prepare()
    assert await schema.recorded(rows) == schema.VERSION + 1
    await rows.delete(schema.TABLE, [schema.KEY])
