"""What the file of the vectors owes beside the contract: rows without gaps, exact searches whatever
was deleted, nothing left of what was, and all that was acknowledged when a process is killed.
"""

import asyncio
import random
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contracts.graph import Partition, VectorRow
from contracts.ids import entity_vector_id, sha256
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.sqlite.commits import transaction
from runtime.stores.vectors.memory import MemoryVectors
from runtime.stores.vectors.port import Vectors
from runtime.stores.vectors.sqlite import older_formats
from runtime.stores.vectors.sqlite.blocks import BLOCK_ROWS
from runtime.stores.vectors.sqlite.schema import FORMAT
from runtime.stores.vectors.sqlite.store import SqliteVectors
from tests.support.older_vectors import make_older

DIMENSION = 16
HERE = Partition("w", 1)
ROOT = Path(__file__).parents[2]

WRITER = f"""
import asyncio, sys
from itertools import count
from pathlib import Path
from contracts.graph import Partition, VectorRow
from runtime.stores.vectors.sqlite.store import SqliteVectors

async def work(path):
    vectors = SqliteVectors(path, model="m", dimension={DIMENSION})
    for turn in count():
        rows = [
            VectorRow(f"r{{turn}}-{{n}}", "text", "hash", vector=(turn + 1.0, n, *[0.5] * 14))
            for n in range(3)
        ]
        await vectors.put(Partition("w", 1), "chunks", rows)
        await vectors.delete(Partition("w", 1), "chunks", [f"r{{turn}}-0"])
        print(turn, flush=True)

asyncio.run(work(Path(sys.argv[1])))
"""


def store(path: Path, *, timeout: float = 10.0) -> SqliteVectors:
    return SqliteVectors(path, model="m", dimension=DIMENSION, timeout=timeout)


def rows_of(numbers: np.ndarray) -> list[VectorRow]:
    """Rows with these vectors, whose ids are in another order than they."""
    return [
        VectorRow(f"{place * 7919 % 1009:04d}", "text", "hash", vector=tuple(vector))
        for place, vector in enumerate(numbers.tolist())
    ]


@pytest.mark.parametrize("precision", [np.float16, np.float32])
async def test_searches_are_exact_whatever_was_replaced_and_deleted(
    tmp_path: Path, precision: type[np.floating]
) -> None:
    """Of vectors that half precision has exactly, with a few among them that it has not."""
    choice = np.random.default_rng(3)
    numbers = choice.normal(size=(300, DIMENSION)).astype(precision).astype(np.float32)
    numbers[20] = 2.0**-24  # the least that half precision has
    numbers[21:24, 3] *= 2.0**-12
    numbers[40:80] = numbers[0]  # equal ones
    numbers[100] *= 1e-40  # too small for their length's inverse, and too large for their square
    numbers[101] *= 1e37
    rows = rows_of(numbers)
    changed = rows_of(numbers[::-1])[:90]
    deleted = random.Random(3).sample([row.id for row in rows], 170)
    file, memory = store(tmp_path / "v.sqlite"), MemoryVectors("m", DIMENSION)
    for vectors in (file, memory):
        await vectors.put(HERE, "chunks", rows)
        await vectors.put(HERE, "chunks", changed)
        for part in (deleted[:1], deleted[1:20], deleted[20:]):
            await vectors.delete(HERE, "chunks", part)
        await vectors.put(HERE, "chunks", rows[:5])

    async def answers(vectors: Vectors) -> object:
        ids = [row.id for row in rows]
        return (
            [
                await vectors.search(
                    HERE, "chunks", numbers[place].tolist(), top_k=top_k, min_score=min_score
                )
                for place in range(0, 300, 20)
                for top_k, min_score in ((1, -1.0), (10, 0.2), (1000, -1.0))
            ],
            await vectors.get(HERE, "chunks", ids, vectors=True),
            await vectors.likeness(HERE, "chunks", numbers[7].tolist(), ids),
            (await vectors.scan_vectors(HERE, "chunks")).vectors.tolist(),
        )

    assert await answers(file) == await answers(memory)
    await file.close()


async def test_slots_have_no_gaps_and_nothing_of_a_deleted_vector_is_left(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    vectors = store(path)
    mark = tuple(number + 0.123 for number in range(DIMENSION))
    rows = [VectorRow(f"r{n}", "text", "hash", vector=(float(n),) * DIMENSION) for n in range(30)]
    await vectors.put(HERE, "chunks", rows)
    await vectors.put(
        HERE, "chunks", [VectorRow(f"gone{n}", "text", "hash", vector=mark) for n in range(30)]
    )
    await vectors.delete(HERE, "chunks", [f"gone{n}" for n in range(30)] + ["r3", "r29"])
    await vectors.close()
    with closing(sqlite3.connect(path)) as connection:
        (table,) = (name for (name,) in connection.execute("SELECT name FROM collections"))
        slots = [slot for (slot,) in connection.execute(f"SELECT slot FROM {table}")]
        blocks = connection.execute(f"SELECT vectors FROM {table}_blocks").fetchall()
    assert sorted(slots) == list(range(28))
    assert len(blocks) == -(-28 // BLOCK_ROWS)
    assert np.array(mark, np.float32).tobytes() not in b"".join(content for (content,) in blocks)


def contents(path: Path) -> dict[int, bytes]:
    """The blocks of the one collection, by number."""
    with closing(sqlite3.connect(path)) as connection:
        (table,) = (name for (name,) in connection.execute("SELECT name FROM collections"))
        return dict(connection.execute(f"SELECT number, vectors FROM {table}_blocks"))


async def test_vectors_take_two_bytes_a_number_where_that_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    vectors = store(path)
    half = [VectorRow(f"r{n}", "text", "hash", vector=(n / 4,) * DIMENSION) for n in range(20)]
    await vectors.put(HERE, "chunks", half)
    sizes = [BLOCK_ROWS * (width * DIMENSION + 4) for width in (2, 4)]
    assert {len(content) for content in contents(path).values()} == {sizes[0]}
    single = VectorRow("r9", "text", "hash", version=2, vector=(0.1,) * DIMENSION)
    await vectors.put(HERE, "chunks", [single])
    assert [len(content) for content in contents(path).values()].count(sizes[1]) == 1
    rows = await vectors.get(HERE, "chunks", [row.id for row in half], vectors=True)
    assert rows["r9"].vector == tuple(np.full(DIMENSION, 0.1, np.float32).tolist())
    assert [rows[row.id].vector for row in half if row.id != "r9"] == [
        row.vector for row in half if row.id != "r9"
    ]
    await vectors.close()


async def test_a_file_of_the_first_format_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    numbers = np.random.default_rng(5).normal(size=(50, DIMENSION)).astype(np.float16)
    rows = rows_of(numbers.astype(np.float32))
    vectors = store(path)
    await vectors.put(HERE, "chunks", rows)
    await vectors.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        (table,) = (name for (name,) in connection.execute("SELECT name FROM collections"))
        for number in range(-(-50 // BLOCK_ROWS)):
            block_numbers = numbers[number * BLOCK_ROWS :][:BLOCK_ROWS].astype(np.float32)
            lengths = np.linalg.norm(block_numbers, axis=1, keepdims=True)
            content = np.hstack([block_numbers, 1 / lengths]).astype(np.float32).tobytes()
            content = content.ljust(BLOCK_ROWS * 4 * (DIMENSION + 1), b"\0")
            connection.execute(
                f"UPDATE {table}_blocks SET vectors = ? WHERE number = ?", (content, number)
            )
        make_older(connection, 0)
    old, memory = store(path), MemoryVectors("m", DIMENSION)
    await memory.put(HERE, "chunks", rows)
    await old.prepare(2)
    more = [replace(row, id=f"more-{row.id}") for row in rows[:20]]
    for _ in range(2):
        for row in rows[::10]:
            assert await old.search(HERE, "chunks", row.vector, top_k=20) == await memory.search(
                HERE, "chunks", row.vector, top_k=20
            )
        for vectors in (old, memory):
            await vectors.put(HERE, "chunks", more)
            await vectors.delete(HERE, "chunks", [row.id for row in rows[5:25]])
    ids = [row.id for row in rows + more]
    assert await old.get(HERE, "chunks", ids, vectors=True) == await memory.get(
        HERE, "chunks", ids, vectors=True
    )
    await old.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)


async def test_a_file_of_format_4_is_moved_by_its_first_reader_whoever_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of two workspaces and kinds, some thousandths of them moved when the first one ends."""
    path = tmp_path / "v.sqlite"
    rows = rows_of(np.random.default_rng(5).normal(size=(60, DIMENSION)).astype(np.float32))
    other = Partition("of others", 1)
    first, memory = store(path), MemoryVectors("m", DIMENSION)
    for vectors in (first, memory):
        await vectors.put(HERE, "chunks", rows)
        await vectors.put(other, "chunks", rows[:20])
        await vectors.put(HERE, "entities", rows[10:30])
        await vectors.delete(HERE, "chunks", [rows[7].id])
    await first.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        make_older(connection, 4)
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    checked = store(path)
    assert await checked.missing(1)
    assert await checked.generations() == {1}
    await checked.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (4,)
        assert {name for (name,) in connection.execute("SELECT name FROM sqlite_master")} == names
    monkeypatch.setattr(older_formats, "MOVED_TOGETHER", 7)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for step in (older_formats.begin, *[older_formats.move_some] * 5):
            transaction(connection, [step])
        with pytest.raises(sqlite3.OperationalError, match="workspace"):
            older = "SELECT id FROM ls_g1_chunks_62c66a7a5d_16_f2 WHERE workspace = 'w'"
            connection.execute(older)
    readers = [store(path) for _ in range(3)]
    for partition, kind in ((HERE, "chunks"), (other, "chunks"), (HERE, "entities")):
        expected = await memory.scan(partition, kind)
        for scanned in await asyncio.gather(*(it.scan(partition, kind) for it in readers)):
            assert scanned == expected
        for row in rows[::9]:
            hits = [await it.search(partition, kind, row.vector, top_k=5) for it in readers]
            assert hits == [await memory.search(partition, kind, row.vector, top_k=5)] * 3
    for reader in readers:
        await reader.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert not [name for (name,) in tables if name.endswith("older")]


def unpack_rows(path: Path, rows: Sequence[VectorRow]) -> None:
    """Write packed rows as a program of format 6 did."""
    with closing(sqlite3.connect(path)) as connection:
        (name,) = connection.execute(
            "SELECT name FROM collections WHERE name LIKE '%entities%'"
        ).fetchone()
        records = connection.execute(f"SELECT slot, id, text, text_hash FROM {name}").fetchall()
        assert all(isinstance(value, bytes) for _, *values in records for value in values)
        connection.executemany(
            f"UPDATE {name} SET id = ?, text = ?, text_hash = ? WHERE slot = ?",
            [(rows[slot].id, rows[slot].text, rows[slot].text_hash, slot) for slot, *_ in records],
        )
        connection.execute("PRAGMA user_version = 6")
        connection.commit()


async def test_rows_of_format_6_are_read_beside_those_that_are_packed(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    rows = [
        VectorRow(
            entity_vector_id(f"name {n}"),
            f"name {n}\n" + "What the Ferry Guild of Port Elm did in that year. " * 3,
            sha256(f"{n}"),
            vector=tuple(float(n == place) for place in range(DIMENSION)),
        )
        for n in range(DIMENSION)
    ]
    changed_rows = [replace(row, text=f"{row.text} And so on.", version=2) for row in rows[:4]]
    gone_ids = [row.id for row in rows[2:9]]
    file, memory = store(path), MemoryVectors("m", DIMENSION)
    for vectors in (file, memory):
        await vectors.put(HERE, "entities", rows)
    await file.close()
    unpack_rows(path, rows)
    file = store(path)
    ids = [row.id for row in rows]
    for step in ("older", "changed", "deleted"):
        for vectors in (file, memory):
            if step == "changed":
                await vectors.put(HERE, "entities", changed_rows)
            elif step == "deleted":
                await vectors.delete(HERE, "entities", gone_ids)
        answers = [
            (
                await vectors.get(HERE, "entities", ids, vectors=True),
                await vectors.versions(HERE, "entities", ids),
                await vectors.scan(HERE, "entities"),
                await vectors.search(HERE, "entities", rows[1].vector, top_k=3, min_score=0.5),
            )
            for vectors in (file, memory)
        ]
        assert answers[0] == answers[1], step
    await file.close()


async def test_a_file_of_a_newer_format_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    rows = [VectorRow("a", "text", "hash", vector=(1.0,) * DIMENSION)]
    vectors = store(path)
    await vectors.put(HERE, "chunks", rows)
    await vectors.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    vectors = store(path)
    with pytest.raises(ConfigurationError, match="rebuild vectors --fresh"):
        await vectors.search(HERE, "chunks", [1.0] * DIMENSION, top_k=3)
    with pytest.raises(ConfigurationError, match="the newer version that wrote it"):
        await vectors.put(HERE, "chunks", rows)
    await vectors.close()


async def test_what_a_killed_process_acknowledged_is_there_and_found(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    reader = store(path)
    turns = 0
    while turns < 40:
        turns = int(await process.stdout.readline()) + 1
        await reader.search(HERE, "chunks", [1.0] * DIMENSION, top_k=3)
    process.kill()
    turns = max([turns, *(int(line) + 1 for line in (await process.stdout.read()).split())])
    await process.wait()
    for turn in range(turns):
        # Of a fast process the last vectors are so near one another that scores are equal.
        hits = await reader.search(
            HERE, "chunks", (turn + 1.0, 2.0, *[0.5] * 14), top_k=turns, min_score=0.999999
        )
        assert f"r{turn}-2" in {hit.id for hit in hits}
    # The turn that was cut off may have been put, and not deleted.
    assert await reader.count(HERE, "chunks") - 2 * turns in (0, 2, 3)
    await reader.put(HERE, "chunks", [VectorRow("last", "text", "hash", vector=(1.0,) * 16)])
    await reader.close()


async def test_a_file_that_others_keep_busy_is_unavailable_and_read_all_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "v.sqlite"
    vectors = store(path, timeout=0.2)
    rows = [VectorRow("a", "text", "hash", vector=(1.0,) * DIMENSION)]
    await vectors.put(HERE, "chunks", rows)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for write in (
            vectors.put(HERE, "chunks", rows),
            vectors.delete(HERE, "chunks", ["a"]),
            vectors.prepare(2),
            vectors.drop(1),
        ):
            with pytest.raises(Unavailable, match=r"v\.sqlite"):
                await write
        assert await vectors.count(HERE, "chunks") == 1
    await vectors.put(HERE, "chunks", rows)
    await vectors.close()


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"no database at all" * 100)
    vectors = store(path)
    with pytest.raises(ConfigurationError, match=r"v\.sqlite is damaged"):
        await vectors.ping()
    await vectors.close()
