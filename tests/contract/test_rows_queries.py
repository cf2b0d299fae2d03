"""The contract of `Rows` on asking: find, count, scan, and which partition a row is in."""

from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from contracts.graph import Partition
from runtime.errors import InvalidInput
from runtime.stores.documents.port import INDEXES, Containing, NoneOf, Rows, Table
from tests.support.rows import everything, keys, new_table

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_empty_table_has_nothing_to_give(rows: Rows, documents: Table) -> None:
    assert await rows.find(documents, {}, order="id") == []
    assert await rows.count(documents, "status", {}) == {}
    assert await rows.scan(documents) == []
    await rows.drop(documents)
    assert documents.partition not in await rows.partitions("documents")


@pytest_asyncio.fixture(loop_scope="module")
async def five(rows: Rows, documents: Table) -> Table:
    """Five documents whose times do not follow their keys; b and d have the same."""
    times = {"a": 30, "b": 20, "c": 10, "d": 20, "e": 5}
    statuses = {"a": "done", "b": "done", "c": "failed", "d": "done", "e": "new"}
    await rows.put(
        documents,
        {
            key: {"status": statuses[key], "version": times[key], "id": f"id-{key}", "text": "x"}
            for key in "cebda"
        },
    )
    return documents


@pytest.mark.parametrize(
    ("where", "expected_keys"),
    [
        ({}, "abcde"),
        ({"status": "done"}, "abd"),
        ({"status": ["done"]}, "abd"),
        ({"status": ["failed", "new", "unknown", "new"]}, "ce"),
        ({"status": []}, ""),
        ({"status": "unknown"}, ""),
        ({"status": "Done"}, ""),
        ({"version": 20}, "bd"),
        ({"version": 21}, ""),
        ({"status": "done", "version": 20, "id": ["id-d", "id-c"]}, "d"),
        ({"track_id": "none has it"}, ""),
        ({"status": "' OR 1=1 --"}, ""),
        ({"status": Containing(("O",))}, "abd"),
        ({"status": Containing(("E",)), "version": 20}, "bd"),
        ({"status": Containing(("d.n", "O"))}, "abd"),
        ({"status": Containing(("d.n",))}, ""),
        ({"status": Containing(("%",))}, ""),
        ({"track_id": Containing(("",))}, ""),
        ({"status": NoneOf(("failed", "new"))}, "abd"),
        ({"status": NoneOf(("failed", "unknown")), "version": 20}, "bd"),
        ({"status": NoneOf(())}, "abcde"),
        ({"track_id": NoneOf(("t",))}, "abcde"),
    ],
)
async def test_rows_are_found_by_their_indexed_fields(
    rows: Rows, five: Table, where: Any, expected_keys: str
) -> None:
    assert "".join(keys(await rows.find(five, where))) == expected_keys
    assert sum((await rows.count(five, "id", where)).values()) == len(expected_keys)


@pytest.mark.parametrize(
    ("order", "descending", "expected_keys"),
    [
        ("", False, "abcde"),
        ("", True, "edcba"),
        ("version", False, "ecbda"),
        ("version", True, "adbce"),
        ("status", False, "abdce"),
        ("status", True, "ecdba"),
        ("track_id", False, "abcde"),
    ],
)
async def test_rows_come_by_the_field_and_then_by_key(
    rows: Rows, five: Table, order: str, descending: bool, expected_keys: str
) -> None:
    assert (
        "".join(keys(await rows.find(five, {}, order=order, descending=descending)))
        == expected_keys
    )
    for skip in range(7):
        for limit in range(7):
            page = await rows.find(
                five, {}, order=order, descending=descending, skip=skip, limit=limit
            )
            assert "".join(keys(page)) == (
                expected_keys[skip : skip + limit] if limit else expected_keys[skip:]
            )


async def test_pages_of_one_status_come_newest_first(rows: Rows, documents: Table) -> None:
    await rows.put(
        documents,
        {f"{n:03d}": {"status": f"s{n % 3}", "version": n * 7919 % 1000} for n in range(300)},
    )
    pages = [
        page
        for skip in range(0, 120, 25)
        for page in await rows.find(
            documents, {"status": "s1"}, order="version", descending=True, skip=skip, limit=25
        )
    ]
    expected_order = sorted((-(n * 7919 % 1000), n) for n in range(300) if n % 3 == 1)
    assert keys(pages) == [f"{n:03d}" for _, n in expected_order]
    assert await rows.count(documents, "status", {}) == {"s0": 100, "s1": 100, "s2": 100}


async def test_rows_without_the_field_come_first_and_are_not_counted(
    rows: Rows, five: Table
) -> None:
    await rows.put(five, {"f": {}, "g": {"version": None, "status": None}})
    assert "".join(keys(await rows.find(five, {}, order="version"))) == "fgecbda"
    assert "".join(keys(await rows.find(five, {}, order="version", descending=True))) == "adbcegf"
    assert await rows.count(five, "status", {}) == {"done": 3, "failed": 1, "new": 1}


async def test_rows_are_counted_by_value(rows: Rows, five: Table) -> None:
    assert await rows.count(five, "status", {}) == {"done": 3, "failed": 1, "new": 1}
    assert await rows.count(five, "version", {"status": ["done", "new"]}) == {
        "20": 2,
        "30": 1,
        "5": 1,
    }
    assert await rows.count(five, "status", {"status": "done"}) == {"done": 3}


async def test_values_of_a_field_are_read_without_the_rows(rows: Rows, five: Table) -> None:
    await rows.put(five, {"f": {"status": "new"}})
    times = {"a": 30, "b": 20, "c": 10, "d": 20, "e": 5, "f": None}
    assert await rows.values(five, "version", {}) == times
    assert await rows.values(five, "version", {"status": ["done"]}) == {"a": 30, "b": 20, "d": 20}
    few_keys = ["d", "none", "f", "d"]
    assert await rows.values(five, "version", {}, few_keys) == {"d": 20, "f": None}
    assert await rows.values(five, "id", {"status": "done"}, few_keys) == {"d": "id-d"}
    assert await rows.values(five, "id", {}, []) == {}
    assert await rows.values(new_table("documents"), "id", {}) == {}


async def test_values_of_thousands_of_keys_are_read_at_once(rows: Rows, documents: Table) -> None:
    await rows.put(
        documents, {f"k{n}": {"version": n, "file_path": "a\x00文"} for n in range(2500)}
    )
    odd_keys = [f"k{n}" for n in range(1, 2600, 2)]
    values = await rows.values(documents, "version", {}, odd_keys)
    assert values == {f"k{n}": n for n in range(1, 2500, 2)}
    assert set((await rows.values(documents, "file_path", {})).values()) == {"a\x00文"}


async def test_negative_numbers_sort_as_numbers(rows: Rows, documents: Table) -> None:
    times = [-(2**63), -10, -9, 0, 9, 10, 2**53, 2**53 + 1, 2**63 - 1]
    await rows.put(
        documents, {f"k{9 - place}": {"version": time} for place, time in enumerate(times)}
    )
    result = await rows.find(documents, {}, order="version")
    assert [row["version"] for _, row in result] == times
    assert keys(await rows.find(documents, {"version": 2**53 + 1})) == ["k2"]


@pytest.mark.parametrize(
    "field", ["text", "key", "body", "_id", "status; DROP TABLE documents", "chunk_id"]
)
async def test_other_fields_and_other_tables_are_refused(
    rows: Rows, five: Table, field: str
) -> None:
    for ask in (
        rows.find(five, {field: "x"}),
        rows.find(five, {}, order=field),
        rows.count(five, field, {}),
        rows.values(five, field, {}),
        rows.count(five, "status", {field: "x"}),
        rows.scan(replace(five, name=field)),
        rows.put(replace(five, name=field), {"a": {}}),
        rows.partitions(field),
    ):
        with pytest.raises(InvalidInput):
            await ask
    assert len(await everything(rows, five)) == 5


async def test_rows_are_found_by_any_of_several_values_of_several_fields(rows: Rows) -> None:
    table = new_table("documents")
    await rows.put(
        table,
        {
            f"{k}/{c}": {"file_path": f"键{k}", "status": f"c{c}"}
            for k in range(4)
            for c in range(3)
        },
    )
    assert keys(await rows.find(table, {"file_path": "键2"})) == ["2/0", "2/1", "2/2"]
    assert keys(await rows.find(table, {"file_path": ["键3", "键0"], "status": "c1"})) == [
        "0/1",
        "3/1",
    ]


async def test_letters_of_any_alphabet_are_found_in_either_case(rows: Rows) -> None:
    table = new_table("documents")
    names = ["Über die Fähre", "ГАВАНЬ.md", "灯塔.md", "a\nb", "(1+1) [x] $.md"]
    await rows.put(
        table,
        {str(number): {"file_path": name, "status": "done"} for number, name in enumerate(names)},
    )
    for text, key in {
        "ÜBER": "0",
        "гавань": "1",
        "塔.": "2",
        "A\nB": "3",
        "(1+1) [X] $": "4",
    }.items():
        assert keys(await rows.find(table, {"file_path": Containing((text,))})) == [key]
        assert await rows.count(table, "status", {"file_path": Containing((text,))}) == {"done": 1}


async def test_rows_under_a_prefix_are_those_whose_longer_keys_begin_with_it(rows: Rows) -> None:
    table = new_table("mentions")
    other_table = new_table("mentions")
    names = ["a", "a:", "a:1", "a:~~", "a;", "aa:1", "b:1", "b:2", "~", "~:x"]
    for mentions in (table, other_table):
        await rows.put(mentions, {name: {"name": name} for name in names})
    result = await rows.under(table, ["a:", "b:", "~:", "none:"])
    assert sorted(result) == [
        (name, {"name": name}) for name in ("a:1", "a:~~", "b:1", "b:2", "~:x")
    ]
    assert await rows.under(table, []) == []
    prefixes = [f"k{number}:" for number in range(300)]
    await rows.put(other_table, {f"{prefix}{number}": {} for prefix in prefixes for number in "xy"})
    assert len({key for key, _ in await rows.under(other_table, prefixes)}) == 600


async def test_a_scan_pages_through_all_keys_in_ascii_order(rows: Rows, bare_table: Table) -> None:
    names = sorted({f"{character}{number}" for character in "!/09:AZ_az~" for number in range(40)})
    await rows.put(bare_table, {name: {"name": name} for name in reversed(names)})
    assert await rows.scan(bare_table) == [(name, {"name": name}) for name in names]
    names_seen: list[str] = []
    while page := await rows.scan(bare_table, names_seen[-1] if names_seen else "", 7):
        assert len(page) <= 7
        names_seen += keys(page)
    assert names_seen == names
    assert keys(await rows.scan(bare_table, "A", 2)) == ["A0", "A1"]
    assert await rows.scan(bare_table, "~~") == await rows.scan(bare_table, "", 0) == []


async def test_a_scan_gives_a_thousand_rows_unless_told(rows: Rows, bare_table: Table) -> None:
    await rows.put(bare_table, {f"{n:04d}": {} for n in range(1200)})
    assert keys(await rows.scan(bare_table)) == [f"{n:04d}" for n in range(1000)]
    assert keys(await rows.scan(bare_table, limit=5000)) == [f"{n:04d}" for n in range(1200)]


def neighbours(partition: Partition) -> list[Partition]:
    """Partitions whose names begin alike."""
    workspaces = [partition.workspace + end for end in ("", "-", ".", "0", "_")]
    return [
        Partition(workspace, generation)
        for workspace in workspaces
        for generation in (0, 1, 2, 10, 11)
    ]


@pytest.mark.parametrize("name", INDEXES)
async def test_every_partition_is_a_store_of_its_own(rows: Rows, name: str) -> None:
    table = new_table(name)
    tables = [Table(name, partition) for partition in neighbours(table.partition)]
    for number, partition_table in enumerate(tables):
        await rows.put(partition_table, {"a": {"rev": number}, "1/a": {"rev": number}})
    for number, partition_table in enumerate(tables):
        assert await rows.get(partition_table, ["a"]) == {"a": {"rev": number}}
        assert await rows.scan(partition_table) == [
            ("1/a", {"rev": number}),
            ("a", {"rev": number}),
        ]
        assert await rows.find(partition_table, {}) == await rows.scan(partition_table)


async def test_dropping_a_partition_leaves_its_neighbours(rows: Rows, five: Table) -> None:
    tables = [
        Table(name, partition)
        for partition in neighbours(five.partition)
        for name in ("documents", "chunks")
    ]
    for partition_table in tables:
        await rows.put(partition_table, {f"{n}": {} for n in range(5)})
    for _ in range(2):
        await rows.drop(five)
    assert await rows.scan(five) == await rows.find(five, {}) == []
    assert await rows.count(five, "status", {}) == {}
    assert [
        len(await rows.scan(partition_table))
        for partition_table in tables
        if partition_table != five
    ] == [5] * (len(tables) - 1)


async def test_a_large_partition_is_dropped_whole(rows: Rows, bare_table: Table) -> None:
    await rows.put(bare_table, {f"{n}": {} for n in range(5001)})
    await rows.drop(bare_table)
    assert await rows.scan(bare_table) == []
    assert bare_table.partition not in await rows.partitions("embeddings")


async def test_the_partitions_of_a_table_are_those_with_a_row(
    rows: Rows, bare_table: Table
) -> None:
    partitions = set(neighbours(bare_table.partition))
    for partition in partitions:
        await rows.put(Table("embeddings", partition), {f"{n}": {} for n in range(3)})
    dropped_partition = Partition(bare_table.partition.workspace, 10)
    await rows.drop(Table("embeddings", dropped_partition))
    await rows.delete(Table("embeddings", bare_table.partition), ["0", "1", "2"])

    def mine(result: set[Partition]) -> set[Partition]:
        return {
            partition
            for partition in result
            if partition.workspace.startswith(bare_table.partition.workspace)
        }

    assert mine(await rows.partitions("embeddings")) == partitions - {
        dropped_partition,
        bare_table.partition,
    }
    assert mine(await rows.partitions("documents")) == set()
