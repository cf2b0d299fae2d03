"""The contract of `Rows` on writing, the same for every document store: in memory, SQLite, and
MongoDB's protocol.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from random import Random

import pytest
import pytest_asyncio

from runtime.stores.documents.port import MOST_NOTES, Row, Rows, Table
from runtime.stores.documents.row_parser import RowParser
from tests.support.rows import Opener, counted, everything, new_table

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def other_rows(opener: Opener) -> AsyncIterator[Rows]:
    """A second adapter over the same data."""
    rows = opener()
    yield rows
    await rows.close()


async def test_preparing_again_changes_nothing(
    rows: Rows, other_rows: Rows, documents: Table
) -> None:
    await rows.put(documents, {"a": {"status": "new"}})
    await asyncio.gather(rows.prepare(), other_rows.prepare(), rows.prepare())
    assert await everything(other_rows, documents) == {"a": {"status": "new"}}


async def test_a_store_that_is_up_answers_a_ping(rows: Rows) -> None:
    assert await rows.ping() is None  # type: ignore[func-returns-value]


async def test_a_row_comes_back_as_it_was_and_missing_ones_are_left_out(
    rows: Rows, bare_table: Table
) -> None:
    await rows.put(bare_table, {"a": {"n": 1}, "b": {}})
    assert await rows.get(bare_table, ["a", "b", "c", "a"]) == {"a": {"n": 1}, "b": {}}
    assert await rows.get(bare_table, {"c"}) == {}


async def test_what_is_made_of_a_row_changes_with_it(rows: Rows, bare_table: Table) -> None:
    parser: RowParser[str] = RowParser(lambda row: row["text"], len, 10_000)
    for text in ("gull " * 500, "tern", "tern " * 500, "gull " * 500):
        await rows.put(bare_table, {"a": {"text": text}, "b": {"text": "wren"}})
        parsed = await rows.get_parsed(bare_table, ["a", "none", "b"], parser)
        assert parsed == {"a": text, "b": "wren"}
    await rows.delete(bare_table, ["a"])
    assert await rows.get_parsed(bare_table, ["a"], parser) == {}


async def test_which_keys_have_a_row_is_told_without_the_rows(
    rows: Rows, bare_table: Table, documents: Table
) -> None:
    many_rows = {f"key-{number}": Row(n=number) for number in range(2500)}
    await rows.put(bare_table, many_rows)
    assert await rows.existing(bare_table, [*many_rows, "other", "key-1"]) == many_rows.keys()
    assert await rows.existing(bare_table, ["other"]) == set()
    assert await rows.existing(bare_table, []) == set()
    assert await rows.existing(documents, many_rows) == set()


async def test_no_caller_shares_a_value_with_the_store(rows: Rows, bare_table: Table) -> None:
    row: Row = {"list": [1]}
    await rows.put(bare_table, {"a": row})
    row["list"].append(2)
    (await rows.get(bare_table, ["a"]))["a"]["list"].append(3)
    (await rows.scan(bare_table))[0][1]["list"].append(4)
    assert await rows.get(bare_table, ["a"]) == {"a": {"list": [1]}}


async def test_empty_input_does_nothing(rows: Rows, documents: Table) -> None:
    await rows.put(documents, {"a": {"rev": 1}})
    await rows.put(documents, {})
    await rows.put_newer(documents, {}, "rev")
    await rows.delete(documents, [])
    assert await rows.get(documents, []) == {}
    assert await rows.append(documents, {}, {}) == {}
    assert await rows.update(documents, [], lambda rows_there: rows_there) == {}
    assert await everything(rows, documents) == {"a": {"rev": 1}}


async def test_putting_twice_is_once_and_replaces_the_whole_row(
    rows: Rows, documents: Table
) -> None:
    await rows.put(documents, {"a": {"status": "old", "gone": 1, "id": "a"}})
    for _ in range(2):
        await rows.put(documents, {"a": {"status": "new"}})
    assert await everything(rows, documents) == {"a": {"status": "new"}}
    assert (
        await rows.find(documents, {"status": "old"})
        == await rows.find(documents, {"id": "a"})
        == []
    )
    assert await rows.count(documents, "status", {}) == {"new": 1}


@pytest.mark.parametrize(
    ("row_there", "wins"),
    [
        ({"rev": 4}, True),
        ({"rev": 5}, True),
        ({"rev": 6}, False),
        ({}, True),
        ({"rev": None}, True),
        (None, True),
    ],
)
async def test_a_row_is_written_unless_a_greater_one_stands_there(
    rows: Rows, bare_table: Table, row_there: Row | None, wins: bool
) -> None:
    if row_there is not None:
        await rows.put(bare_table, {"a": row_there})
    new_row = {"rev": 5, "text": "new"}
    for _ in range(2):
        await rows.put_newer(bare_table, {"a": new_row, "b": new_row}, "rev")
    assert await everything(rows, bare_table) == {"a": new_row if wins else row_there, "b": new_row}


async def test_of_twelve_concurrent_writers_the_greatest_revision_always_stands(
    rows: Rows, other_rows: Rows, documents: Table
) -> None:
    common_keys = [f"key-{number}" for number in range(20)]
    random = Random(7)
    for round_ in range(25):
        writers = [
            (rows if revision % 2 else other_rows).put_newer(
                documents,
                {
                    f"{round_}-{key}": {"rev": revision, "status": f"s{revision}"}
                    for key in random.sample(common_keys, 20)
                },
                "rev",
            )
            for revision in random.sample(range(1, 13), 12)
        ]
        await asyncio.gather(*writers)
        rows_there = await rows.get(documents, [f"{round_}-{key}" for key in common_keys])
        assert list(rows_there.values()) == [{"rev": 12, "status": "s12"}] * 20
    assert await rows.count(documents, "status", {}) == {"s12": 500}


async def test_fifty_concurrent_counts_make_fifty_and_lose_no_note(
    rows: Rows, other_rows: Rows
) -> None:
    table = new_table("mentions")
    read = await asyncio.gather(
        *(
            (other_rows if n % 2 else rows).append(table, {f"k{n % 3}": f"{n}", "all": f"{n}"}, {})
            for n in range(50)
        )
    )
    assert await counted(rows, table, "all") == {"all": 51}
    assert max(counters["all"]["n"] for counters in read) == 50
    # Never lower than one's own: of n callers at least n - i have read more than i.
    counts = sorted(counters["all"]["n"] for counters in read)
    assert all(value >= place for place, value in enumerate(counts, start=1))
    rows_there = await other_rows.get(table, ["k0", "k1", "k2", "all"])
    assert [rows_there[key]["n"] for key in ("k0", "k1", "k2")] == [17, 17, 16]
    for number in range(3):
        assert {int(note) for note in rows_there[f"k{number}"]["notes"]} == set(
            range(number, 50, 3)
        )
    # Every caller finds its own note, unless many came after it, and all callers the same order.
    for number, counters in enumerate(read):
        assert f"{number}" in counters["all"]["notes"] or counters["all"]["n"] > MOST_NOTES
    assert len(rows_there["all"]["notes"]) == MOST_NOTES
    last_notes = max(read, key=lambda counters: counters["all"]["n"])["all"]["notes"]
    assert rows_there["all"]["notes"] == [*last_notes[1:], "note"]


async def test_a_counter_is_a_row_that_begins_at_nought(rows: Rows) -> None:
    table = new_table("mentions")
    await rows.put(table, {"set": {"n": 41, "by": "kept"}, "bare": {"by": "kept"}})
    assert await counted(rows, table, "set", "bare", "new", "new") == {
        "set": 42,
        "bare": 1,
        "new": 1,
    }
    expected_rows = {
        "bare": {"n": 1, "by": "kept"},
        "new": {"n": 1},
        "set": {"n": 42, "by": "kept"},
    }
    assert dict(await rows.scan(table)) == {
        key: {**row, "notes": ["note"]} for key, row in expected_rows.items()
    }


async def test_of_many_notes_the_last_are_kept_in_their_order(rows: Rows) -> None:
    table = new_table("mentions")
    for number in range(MOST_NOTES + 5):
        counters = await rows.append(table, {"a": f"{number}"}, {})
        notes = [f"{note}" for note in range(max(0, number + 1 - MOST_NOTES), number + 1)]
        assert counters == {"a": {"n": number + 1, "notes": notes}}


async def test_rows_are_stored_with_the_counts_they_belong_to(rows: Rows, other_rows: Rows) -> None:
    table = new_table("mentions")
    assert await rows.append(table, {}, {"a:1": {}}) == {}
    assert await rows.append(table, {"a": "2", "b": "2"}, {"a:2": {"x": 1}, "a:1": {"x": 2}}) == {
        "a": {"n": 1, "notes": ["2"]},
        "b": {"n": 1, "notes": ["2"]},
    }
    rows_there = await other_rows.get(table, ["a:1", "a:2", "a"])
    assert rows_there == {"a:1": {"x": 2}, "a:2": {"x": 1}, "a": {"n": 1, "notes": ["2"]}}


async def test_changes_of_one_row_by_many_at_once_are_all_made(
    rows: Rows, other_rows: Rows, documents: Table
) -> None:
    def change(number: int, rows_there: dict[str, Row]) -> dict[str, Row]:
        return {
            key: {
                "all": sorted([*rows_there.get(key, {"all": []})["all"], number]),
                "status": f"{number}",
            }
            for key in ("a", f"b{number % 2}")
        }

    answers = await asyncio.gather(
        *(
            (other_rows if n % 2 else rows).update(
                documents, ["a", f"b{n % 2}"], partial(change, n)
            )
            for n in range(8)
        )
    )
    assert (await rows.get(documents, ["a"]))["a"]["all"] == list(range(8))
    assert {
        key: row["all"] for key, row in (await other_rows.get(documents, ["b0", "b1"])).items()
    } == {
        "b0": [0, 2, 4, 6],
        "b1": [1, 3, 5, 7],
    }
    assert all(n in rows_["a"]["all"] for n, rows_ in enumerate(answers))
    assert sum((await rows.count(documents, "status", {})).values()) == 3


async def test_a_change_may_leave_rows_as_they_are(rows: Rows, documents: Table) -> None:
    await rows.put(documents, {"a": {"id": "a"}, "b": {"id": "b"}})
    assert await rows.update(documents, ["a", "c"], lambda rows_there: {}) == {}
    changed_rows = await rows.update(
        documents, ["a", "c"], lambda rows_there: {"c": {"id": f"{sorted(rows_there)}"}}
    )
    assert changed_rows == {"c": {"id": "['a']"}}
    assert await everything(rows, documents) == {
        "a": {"id": "a"},
        "b": {"id": "b"},
        "c": {"id": "['a']"},
    }


async def test_deleting_twice_is_once(rows: Rows, documents: Table) -> None:
    await rows.put(documents, {key: {"status": "s"} for key in "abc"})
    for _ in range(2):
        await rows.delete(documents, {"a", "b", "never there"})
    assert await everything(rows, documents) == {"c": {"status": "s"}}
    assert await rows.count(documents, "status", {}) == {"s": 1}


async def test_two_adapters_see_each_others_writes_at_once(
    rows: Rows, other_rows: Rows, documents: Table
) -> None:
    for number in range(20):
        await rows.put(documents, {f"a{number}": {"status": "s"}})
        await other_rows.put_newer(documents, {f"b{number}": {"status": "s", "rev": 1}}, "rev")
        assert set(await other_rows.get(documents, [f"a{number}"])) == {f"a{number}"}
        assert set(await rows.get(documents, [f"b{number}"])) == {f"b{number}"}
    assert (
        await rows.count(documents, "status", {})
        == await other_rows.count(documents, "status", {})
        == {"s": 40}
    )


async def test_concurrent_puts_of_the_same_new_rows_all_succeed(
    rows: Rows, other_rows: Rows, documents: Table
) -> None:
    await asyncio.gather(
        *(
            (other_rows if n % 2 else rows).put(
                documents, {f"k{m}": {"status": f"s{n}"} for m in range(50)}
            )
            for n in range(12)
        )
    )
    assert len(await everything(rows, documents)) == 50


async def test_only_older_rows_are_deleted_where_a_newer_one_may_have_come(
    rows: Rows, documents: Table
) -> None:
    await rows.put(documents, {"a": {"rev": 1}, "b": {"rev": 2}, "c": {"rev": 3}})
    await rows.delete_older(documents, ["a", "b", "nobody"], "rev", 2)
    assert await everything(rows, documents) == {"b": {"rev": 2}, "c": {"rev": 3}}
    await rows.delete_older(documents, [], "rev", 9)
    await rows.delete_older(documents, ["b", "c"], "rev", 9)
    assert await everything(rows, documents) == {}
