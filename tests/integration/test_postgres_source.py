"""Rows of a real PostgreSQL as documents: all of them at first, then what changed, then no more."""

from collections.abc import AsyncIterator
from urllib.parse import quote, urlsplit
from uuid import uuid4

import asyncpg
import pytest

from contracts.access import Access
from contracts.events import DocumentAdded
from operations.sources.open import open_source
from operations.sources.sync import Sync, SyncOutcome, SyncRequest
from publishing.current_version import current_version
from publishing.sources import read_source, source_document_id
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import InvalidInput
from tests.support.postgres_server import shared_postgres
from tests.support.shared_servers import SharedServers

TEMPLATE = quote("# {title}\\n\\n{body}")


class Place:
    """A database with a table of notes, and runs over it."""

    def __init__(self, connection: asyncpg.Connection, url: str) -> None:
        self.connection, self.url = connection, urlsplit(url)
        self.log, self.blobs = MemoryLog(), MemoryBlobs()

    def address(self, parameters: str, user: str = "") -> str:
        host = f"{user or self.url.username}@{self.url.hostname}:{self.url.port}"
        return f"postgresql://{host}{self.url.path}?{parameters}"

    async def sync(self, address: str) -> SyncOutcome:
        source = open_source(address)
        try:
            return await Sync(self.log, self.blobs, source, SyncRequest("w", most_gone=0.6)).run()
        finally:
            await source.close()

    async def document(self, address: str, key: str) -> DocumentAdded | None:
        return (await current_version(self.log, "w", source_document_id(address, key))).event


@pytest.fixture
async def place(
    shared_servers: SharedServers, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Place]:
    postgres_url = shared_postgres(shared_servers)
    monkeypatch.setenv("SOURCE_PASSWORD", urlsplit(postgres_url).password or "")
    administrator = await asyncpg.connect(postgres_url)
    name = f"notes_{uuid4().hex}"
    await administrator.execute(f"CREATE DATABASE {name}")
    url = f"{postgres_url.rpartition('/')[0]}/{name}"
    connection = await asyncpg.connect(url)
    await connection.execute(
        "CREATE TABLE note (id integer PRIMARY KEY, title text, body text, readers text[])"
    )
    await connection.execute(
        "INSERT INTO note VALUES (1, 'Mill', 'Ada grinds.', '{group:council}'), "
        "(2, 'Quay', 'Ben sells it.', NULL), (3, 'Port', 'Cy rows.', '{everyone}')"
    )
    try:
        yield Place(connection, url)
    finally:
        await connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            "WHERE database = current_database()"
        )
        await connection.close()
        await administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await administrator.close()


async def test_rows_are_compared_by_hashes_and_seen_by_whom_a_column_names(place: Place) -> None:
    address = place.address(f"table=note&title=title&text={TEMPLATE}&allow=readers")
    outcome = await place.sync(address)
    assert sorted(outcome.additions) == ["note/Mill", "note/Port", "note/Quay"]
    mill = await place.document(address, '["1"]')
    assert mill and mill.text == "# Mill\n\nAda grinds."
    assert mill.access == Access(allow=("group:council",))
    quay = await place.document(address, '["2"]')
    assert quay and quay.access == Access(allow=()), "an empty column names nobody"
    assert (await place.sync(address)).unchanged_count == 3

    await place.connection.execute("UPDATE note SET body = 'Ada leads.' WHERE id = 1")
    await place.connection.execute("UPDATE note SET readers = '{user:bo}' WHERE id = 2")
    await place.connection.execute("DELETE FROM note WHERE id = 3")
    outcome = await place.sync(address)
    assert (outcome.additions, outcome.deletions) == (["note/Mill"], ["note/Port"])
    assert outcome.note == ""


async def test_a_slot_tells_what_changed_and_nothing_else_is_looked_at(place: Place) -> None:
    address = place.address("table=note&title=title&slot=lightstream_notes")
    outcome = await place.sync(address)
    assert (len(outcome.additions), outcome.note) == (3, "")
    cursor = (await read_source(place.log, "w", address)).cursor
    assert cursor
    outcome = await place.sync(address)
    assert (outcome.item_count, outcome.unchanged_count) == (3, 3)

    async with place.connection.transaction():
        await place.connection.execute("UPDATE note SET body = 'Ada leads.' WHERE id = 1")
        await place.connection.execute("UPDATE note SET id = 30 WHERE id = 3")
        await place.connection.execute("INSERT INTO note VALUES (4, 'Inn', 'Di cooks.')")
    source = open_source(address)
    listing = await source.list_items((await read_source(place.log, "w", address)).cursor)
    await source.close()
    assert listing and listing.gone_keys == ['["3"]']
    assert sorted(item.key for item in listing.items) == ['["1"]', '["30"]', '["4"]']
    outcome = await place.sync(address)
    assert sorted(outcome.additions) == ["note/Inn", "note/Mill", "note/Port"]
    assert (outcome.deletions, outcome.item_count) == (["note/Port"], 4)

    # More than the brake lets go at once stays, and the next run compares all.
    await place.connection.execute("TRUNCATE note")
    outcome = await place.sync(address)
    assert (len(outcome.kept_documents), outcome.deletions) == (4, [])
    # A slot that somebody drops is made anew.
    await place.connection.execute("INSERT INTO note VALUES (1, 'Mill'), (2, 'Quay'), (4, 'Inn')")
    await place.connection.execute("SELECT pg_drop_replication_slot('lightstream_notes')")
    outcome = await place.sync(address)
    assert outcome.deletions == ["note/Port"]
    assert (await read_source(place.log, "w", address)).cursor > cursor


async def test_without_rights_all_is_compared_and_what_is_wrong_is_said(place: Place) -> None:
    await place.connection.execute(
        "CREATE ROLE reader LOGIN PASSWORD '" + (place.url.password or "") + "'"
    )
    try:
        address = place.address("table=note&slot=lightstream_notes", "reader")
        with pytest.raises(InvalidInput, match="grant SELECT"):
            await place.sync(address)
        await place.connection.execute("GRANT SELECT ON note TO reader")
        outcome = await place.sync(address)
        assert len(outcome.additions) == 3 and "lacks the attribute REPLICATION" in outcome.note
        document = await place.document(address, '["1"]')
        assert document and document.text and "title: Mill\n\nbody: Ada grinds." in document.text
    finally:
        await place.connection.execute("DROP OWNED BY reader")
        await place.connection.execute("DROP ROLE reader")
    await place.connection.execute("CREATE VIEW titles AS SELECT id % 2 AS rest, title FROM note")
    for parameters, reason in (
        ("table=titles", "no primary key"),
        ("table=titles&id=rest", "names several rows"),
        ("table=note&title=name", "has no column name: it has id, title"),
        ("table=absent", "does not exist"),
        ("table=note&colour=red", "has no parameter 'colour'"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            await place.sync(place.address(parameters))
    with pytest.raises(InvalidInput, match="stands in the log"):
        open_source(f"postgresql://ada:secret@{place.url.netloc.rpartition('@')[2]}/notes?table=x")
