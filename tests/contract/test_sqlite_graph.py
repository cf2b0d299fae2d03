"""What the file of the graph owes beside the contract: no statement walks a table, a hub of many
relations is read by its index, and all that was acknowledged when a process is killed.
"""

import asyncio
import re
import sqlite3
import sys
from collections.abc import AsyncGenerator, Awaitable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from contracts.graph import Entity, Partition, Relation
from contracts.ids import chunk_id
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.graph.sqlite.degrees import CLASSES, DEGREES, schema_statements
from runtime.stores.graph.sqlite.store import SqliteGraph
from runtime.stores.graph.table_records import joined
from runtime.stores.packed_texts import unpacked_list, unpacked_text
from runtime.stores.port import Checkpoint
from tests.support.graph_stores import entity, every_entity, every_relation, relation

HERE = Partition("w", 1)
ROOT = Path(__file__).parents[2]
SPOKES = 12_000
MOST_STEPS = 50
"""Of SQLite, for each relation of a hub that is read."""

WRITER = """
import asyncio, sys
from itertools import count
from pathlib import Path
from random import Random
from contracts.graph import Partition
from runtime.stores.graph.sqlite.store import SqliteGraph
from tests.support.graph_stores import entity, relation

async def work(path, name):
    graph = SqliteGraph(path)
    await graph.prepare()
    for turn in count(1):
        own = f"{name} {turn}"
        rows = [entity("shared", turn), entity(own)], [relation("shared", own)]
        await graph.put(Partition("w", 1), *rows)
        print(turn, flush=True)

asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "graph.sqlite"


@pytest.fixture
async def graph(path: Path) -> AsyncGenerator[SqliteGraph]:
    graph = SqliteGraph(path, timeout=0.2)
    await graph.prepare()
    yield graph
    await graph.close()


def calls(graph: SqliteGraph) -> list[Awaitable[Any]]:
    """One of each kind that reads or writes rows."""
    return [
        graph.put(HERE, [entity("a", 2), entity("c", 2)], [relation("a", "b", 2)]),
        graph.put(HERE, [Entity("c", 9, is_gone=True)], [Relation("a", "c", 9, is_gone=True)]),
        graph.put_checkpoint(1, Checkpoint(9, "log")),
        graph.entities(HERE, ["a", "b"]),
        graph.relations(HERE, [("a", "b")]),
        graph.excerpts(HERE, ["a"], [("a", "b")], longest=9),
        graph.degrees(HERE, ["a"]),
        graph.relation_summaries(HERE, ["a"], limit=9),
        graph.nodes(HERE, ["a"]),
        graph.neighbourhood(HERE, ["a"], limit=9),
        graph.scan_names(HERE, "a"),
        graph.scan_entities(HERE, "a"),
        graph.scan_relations(HERE, ("a", "b")),
        graph.hubs(HERE, limit=9),
        graph.partitions(),
        graph.checkpoint(1),
        graph.drop_checkpoint(1),
        graph.drop(HERE),
    ]


async def test_no_statement_walks_a_table(graph: SqliteGraph, path: Path) -> None:
    """But for the list of partitions, which is asked for whole. What is asked of all relations at
    an entity is read from an index alone.
    """
    statements: list[str] = []
    for connection in await graph._file._connections():  # pyright: ignore[reportPrivateUsage]
        await connection.run(lambda each: each.set_trace_callback(statements.append))
    await graph.put(HERE, [entity(name) for name in "abc"], [relation("a", "b")])
    for call in calls(graph):
        await call
    lines: dict[str, str] = {}
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            if re.match("SELECT|INSERT|UPDATE|DELETE", statement):
                plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                lines |= {line: statement for *_, line in plan}
    assert any(line.startswith("SEARCH stored USING INDEX graph_rel") for line in lines)
    tables = r"SCAN (graph_|entity|other|source|target|stored)"
    assert [line for line in lines if re.match(tables, line)] == []
    assert any(line.startswith("SEARCH graph_relations USING COVERING INDEX") for line in lines)
    assert [line for line in lines if line.startswith("SEARCH graph_relations USING INDEX")] == []


async def test_the_heaviest_relations_of_a_hub_take_few_steps_for_each_that_it_has(
    graph: SqliteGraph,
) -> None:
    """SQLite's own count of steps, in thousands: sorting rows with their texts would take more."""
    names = [f"spoke {number:05d}" for number in range(SPOKES)]
    await graph.put(HERE, [entity("hub"), *map(entity, names)], [])
    rows = [relation("hub", name, weight=float(n)) for n, name in enumerate(names)]
    await graph.put(HERE, [], rows)
    thousands: list[None] = []
    reader, _ = await graph._file._connections()  # pyright: ignore[reportPrivateUsage]
    await reader.run(lambda each: each.set_progress_handler(lambda: thousands.append(None), 1000))
    around = await graph.neighbourhood(HERE, ["hub"], limit=20)
    steps = 1000 * len(thousands)
    assert around.degrees == {"hub": SPOKES}
    assert [tie.target for tie in around.relation_summaries] == names[:-21:-1]
    print(f"\n{steps / SPOKES:.0f} steps a relation")
    assert steps < MOST_STEPS * SPOKES


async def test_what_killed_processes_acknowledged_is_there(path: Path) -> None:
    """Two that write at once, one of them killed in the midst of it."""
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(path), name, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        for name in ("one", "two")
    ]
    turns: dict[str, int] = {}
    for name, process in zip(("one", "two"), processes, strict=True):
        assert process.stdout
        while int(await process.stdout.readline()) < 30:
            pass
        process.kill()
        turns[name] = max(30, *map(int, (await process.stdout.read()).split()), 0)
        await process.wait()
    graph = SqliteGraph(path)
    names = [f"{name} {turn}" for name, last in turns.items() for turn in range(1, last + 1)]
    assert (await graph.entities(HERE, names)).keys() == set(names)
    around = await graph.neighbourhood(HERE, ["shared"], limit=10_000)
    assert around.nodes.keys() >= set(names)
    # Of the turn that was cut off all is there or nothing.
    assert len(await every_entity(graph, HERE)) - 1 == len(await every_relation(graph, HERE))
    shared = (await graph.entities(HERE, ["shared"]))["shared"]
    assert shared == entity("shared", shared.revision)
    assert shared.revision >= max(turns.values())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    await graph.put(HERE, [entity("last")], [])
    await graph.close()


async def test_a_file_that_others_keep_busy_is_unavailable_and_read_all_the_same(
    graph: SqliteGraph, path: Path
) -> None:
    await graph.put(HERE, [entity("a")], [])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for write in (
            graph.put(HERE, [entity("a", 2)], []),
            graph.drop(HERE),
            graph.put_checkpoint(1, Checkpoint(1, "log")),
        ):
            with pytest.raises(Unavailable, match=r"graph\.sqlite"):
                await write
        assert await graph.entities(HERE, ["a"]) == {"a": entity("a")}
    await graph.put(HERE, [entity("a", 2)], [])
    assert await graph.entities(HERE, ["a"]) == {"a": entity("a", 2)}


async def test_a_file_that_is_full_is_unavailable_and_serves_what_it_has(
    graph: SqliteGraph,
) -> None:
    await graph.put(HERE, [entity("a")], [])
    _, writer = await graph._file._connections()  # pyright: ignore[reportPrivateUsage]
    await writer.run(lambda each: each.execute("PRAGMA max_page_count = 40").fetchall())
    # Texts of chance, which no compression makes smaller than half.
    large = [entity(f"large {n}", description=Random(n).randbytes(4500).hex()) for n in range(9)]
    with pytest.raises(Unavailable, match=r"graph\.sqlite.*full"):
        await graph.put(HERE, large, [relation("a", "large 0")])
    assert await every_entity(graph, HERE) == [entity("a")]
    assert await every_relation(graph, HERE) == []
    await writer.run(lambda each: each.execute("PRAGMA max_page_count = 40000").fetchall())
    await graph.put(HERE, large, [relation("a", "large 0")])
    assert len(await every_entity(graph, HERE)) == 10


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph.sqlite"
    path.write_bytes(b"no database at all" * 100)
    graph = SqliteGraph(path)
    with pytest.raises(ConfigurationError, match=r"graph\.sqlite is damaged"):
        await graph.ping()
    await graph.close()


async def test_a_file_without_tables_is_unavailable_until_it_is_prepared(path: Path) -> None:
    graph = SqliteGraph(path)
    assert "graph_entities is not there" in await graph.missing()
    with pytest.raises(Unavailable, match="no such table"):
        await graph.entities(HERE, ["a"])
    await graph.prepare()
    assert await graph.missing() == []
    assert await graph.entities(HERE, ["a"]) == {}
    await graph.close()


async def test_rows_that_an_older_program_wrote_are_read_beside_those_that_are_packed(
    graph: SqliteGraph, path: Path
) -> None:
    chunks = tuple(chunk_id(f"doc-{number:032x}", number) for number in range(30))
    lists = {"source_ids": chunks, "file_paths": ("a.txt", *map("folder/{}.txt".format, range(9)))}
    long = "What the Ferry Guild of Port Elm did in that year. " * 9
    entities = [entity(name, description=f"{name} {long}", **lists) for name in "abcd"]
    relations = [relation("a", name, description=f"{long} {name}", **lists) for name in "bcd"]
    await graph.put(HERE, entities, relations)

    async def answers() -> tuple[Any, ...]:
        pairs = [each.key for each in relations]
        excerpts = [await graph.excerpts(HERE, "abcd", pairs, longest=n) for n in (0, 7, 10_000)]
        summaries = await graph.relation_summaries(HERE, "abcd", limit=9)
        neighbours = await graph.neighbourhood(HERE, "ab", limit=9)
        return await every_entity(graph, HERE), excerpts, summaries, neighbours

    packed_answers = await answers()
    assert packed_answers[0] == entities
    assert await every_relation(graph, HERE) == relations
    with closing(sqlite3.connect(path)) as connection:
        for table in ("graph_entities", "graph_relations"):
            columns = f"description, source_ids, file_paths FROM {table} WHERE id < 4"
            records = connection.execute(f"SELECT id, {columns}").fetchall()
            assert all(isinstance(text, bytes) for _, *texts in records for text in texts)
            plain_texts = [
                (
                    unpacked_text(text),
                    *(joined(unpacked_list(packed)) for packed in packed_lists),
                    id,
                )
                for id, text, *packed_lists in records
            ]
            sets = "description = ?, source_ids = ?, file_paths = ?"
            connection.executemany(f"UPDATE {table} SET {sets} WHERE id = ?", plain_texts)
        connection.commit()
    assert await answers() == packed_answers
    assert await every_relation(graph, HERE) == relations


async def test_what_is_dropped_leaves_no_row_and_no_other_partition_loses_any(
    graph: SqliteGraph, path: Path
) -> None:
    rows = [entity(name) for name in "abc"], [relation("a", "b"), relation("a", "a")]
    for workspace in ("w", "v"):
        for generation in (1, 2):
            await graph.put(Partition(workspace, generation), *rows)
    await graph.put(HERE, [], [relation("hub", f"spoke {n}") for n in range(5000)])
    await graph.drop(HERE)
    assert await graph.partitions() == {Partition("w", 2), Partition("v", 1), Partition("v", 2)}
    for partition in await graph.partitions():
        assert await every_entity(graph, partition) == rows[0]
        assert set(await every_relation(graph, partition)) == set(rows[1])
    with closing(sqlite3.connect(path)) as connection:
        tables = ("graph_partitions", "graph_entities", "graph_relations")
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone() for name in tables]
    assert counts == [(3,), (9,), (6,)]


async def steps_of(graph: SqliteGraph, call: Awaitable[Any]) -> int:
    """Return how many hundred instructions of SQLite a call takes."""
    steps: list[int] = []

    def note() -> int:
        steps.append(1)
        return 0

    for connection in await graph._file._connections():  # pyright: ignore[reportPrivateUsage]
        await connection.run(lambda each: each.set_progress_handler(note, 100))
    await call
    return len(steps)


async def test_hubs_take_as_many_steps_however_many_entities_there_are(graph: SqliteGraph) -> None:
    steps: list[int] = []
    await graph.put(HERE, [entity(f"hub {n:02d}") for n in range(20)], [])
    for turn in range(2):
        size = 400 * 8**turn
        entities = [entity(f"e{turn}-{n}") for n in range(size)]
        ties = [relation(f"e{turn}-{n}", f"hub {n % 20:02d}") for n in range(size)]
        await graph.put(HERE, entities, ties)
        steps.append(await steps_of(graph, graph.hubs(HERE, limit=10)))
    assert steps[1] <= steps[0] + 1


async def test_a_file_of_before_gets_the_degrees_of_its_relations(
    graph: SqliteGraph, path: Path
) -> None:
    ties = [relation(f"e{n}", f"hub {n % 3}") for n in range(50)]
    await graph.put(HERE, [entity("lone")], [*ties, relation("hub 0", "hub 0")])
    await graph.put(HERE, [entity(name) for tie in ties for name in tie.key], [])
    await graph.put(HERE, [entity(f"hub {n}", 2) for n in range(3)], [])
    with closing(sqlite3.connect(path)) as connection:
        kept_degrees = connection.execute(f"SELECT * FROM {DEGREES} ORDER BY 1").fetchall()
        for statement in reversed(schema_statements()):
            kind = {DEGREES: "TABLE", CLASSES: "INDEX"}.get(statement, "TRIGGER")
            connection.execute(f"DROP {kind} IF EXISTS {statement}")
        connection.commit()
        assert DEGREES in " ".join(await graph.missing())
        await graph.prepare()
        counted_degrees = connection.execute(f"SELECT * FROM {DEGREES} ORDER BY 1").fetchall()
    assert counted_degrees == kept_degrees
    assert await graph.hubs(HERE, limit=3) == ["hub 0", "hub 1", "hub 2"]
    assert await graph.missing() == []
