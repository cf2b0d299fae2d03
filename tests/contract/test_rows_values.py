"""The contract of `Rows` on what may be stored: keys, odd values, sizes, and many rows at once."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from runtime.errors import InvalidInput
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.row_json import LARGEST_BODY
from runtime.stores.documents.sqlite.store import SqliteRows
from tests.support.rows import ODD, counted, everything, keys, new_table

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("name", ODD)
async def test_odd_values_come_back_unchanged(rows: Rows, documents: Table, name: str) -> None:
    row = {name: ODD[name], f"$.{name}": ODD[name], "k": {f"{name}.x": ODD[name]}}
    await rows.put(documents, {"a": row})
    assert (await rows.get(documents, ["a"]))["a"] == row
    assert await rows.update(documents, ["b"], lambda _: {"b": row}) == {"b": row}
    await rows.put_newer(documents, {"c": {**row, "rev": 1}}, "rev")
    assert dict(await rows.scan(documents)) == {"a": row, "b": row, "c": {**row, "rev": 1}}


@pytest.mark.parametrize("name", ["chinese", "quotes", "backslashes", "emoji", "long"])
async def test_odd_values_of_indexed_fields_are_found(
    rows: Rows, documents: Table, name: str
) -> None:
    await rows.put(documents, {"a": {"file_path": ODD[name]}, "b": {"file_path": f"{ODD[name]}!"}})
    assert keys(await rows.find(documents, {"file_path": ODD[name]})) == ["a"]
    assert keys(await rows.find(documents, {"file_path": ["x", ODD[name]]})) == ["a"]
    assert await rows.count(documents, "file_path", {}) == {ODD[name]: 1, f"{ODD[name]}!": 1}


async def test_every_printable_ascii_character_may_stand_in_a_key(
    rows: Rows, bare_table: Table
) -> None:
    names = [chr(code) for code in range(33, 127)] + [
        "/",
        "//",
        "a/b",
        "';--",
        "%s",
        "x" * 400,
        "$a.b",
    ]
    await rows.put(bare_table, {name: {"name": name} for name in names})
    assert await rows.get(bare_table, names) == {name: {"name": name} for name in names}
    assert keys(await rows.scan(bare_table)) == sorted(set(names))
    assert await counted(rows, Table("mentions", bare_table.partition), *names) == dict.fromkeys(
        names, 1
    )
    await rows.delete(bare_table, names)
    assert await rows.scan(bare_table) == []


@pytest.mark.parametrize("key", ["", "a b", "a\n", "\t", "é", "键", "x" * 401, "\x7f"])
async def test_any_other_key_is_refused(rows: Rows, bare_table: Table, key: str) -> None:
    for write in (
        rows.put(bare_table, {key: {}}),
        rows.put_newer(bare_table, {key: {"rev": 1}}, "rev"),
        rows.update(bare_table, [key], lambda _: {key: {}}),
        rows.append(bare_table, {key: ""}, {}),
    ):
        with pytest.raises(InvalidInput):
            await write
    assert await rows.scan(bare_table) == []


@pytest.mark.parametrize(
    "row", [{}, {"rev": "1"}, {"rev": 1.0}, {"rev": True}, {"rev": 2**63}, {"rev": None}]
)
async def test_a_row_without_the_integer_to_compare_is_refused(
    rows: Rows, bare_table: Table, row: Row
) -> None:
    with pytest.raises(InvalidInput):
        await rows.put_newer(bare_table, {"a": row}, "rev")
    assert await rows.get(bare_table, ["a"]) == {}


async def test_the_number_compared_may_be_any_of_64_bits(rows: Rows, bare_table: Table) -> None:
    for rev in (-(2**63), -1, 0, 2**53, 2**53 + 1, 2**63 - 1):
        await rows.put_newer(bare_table, {"a": {"seq": rev}}, "seq")
        await rows.put_newer(bare_table, {"a": {"seq": max(rev - 1, -(2**63))}}, "seq")
        assert await rows.get(bare_table, ["a"]) == {"a": {"seq": rev}}


async def test_ten_thousand_rows_go_in_one_call(rows: Rows, documents: Table) -> None:
    many_rows = {f"{n:05d}": {"rev": n, "status": f"s{n % 4}"} for n in range(10_000)}
    for _ in range(2):
        await rows.put(documents, many_rows)
    assert await rows.get(documents, many_rows.keys()) == many_rows
    assert dict(await rows.find(documents, {"status": ["s0", "s1", "s2", "s3"]})) == many_rows
    assert await counted(rows, new_table("mentions"), *many_rows) == dict.fromkeys(many_rows, 1)
    await rows.delete(documents, list(many_rows)[:9_999])
    assert keys(await rows.scan(documents)) == ["09999"]


async def test_thousands_of_rows_are_compared_one_by_one(rows: Rows) -> None:
    # Fewer than ten thousand: the server of CI looks through the whole collection for every
    # conditional write.
    table = new_table("chunks")
    many_rows = {f"{n:05d}": {"rev": n, "document_id": f"文-{n}"} for n in range(2500)}
    await rows.put_newer(table, many_rows, "rev")
    newer_rows = {
        key: {**row, "rev": row["rev"] + (1 if row["rev"] % 2 else -1)}
        for key, row in many_rows.items()
    }
    await rows.put_newer(table, newer_rows, "rev")
    assert await everything(rows, table) == {
        key: newer_rows[key] if row["rev"] % 2 else row for key, row in many_rows.items()
    }
    result = await rows.find(table, {"document_id": [f"文-{n}" for n in range(2100)]})
    assert keys(result) == list(many_rows)[:2100]


async def test_thousands_of_vectors_come_back_exactly(rows: Rows, bare_table: Table) -> None:
    random = Random(3)
    many_rows = {
        f"v{n}": {"vector": [random.uniform(-1, 1) for _ in range(384)]} for n in range(2500)
    }
    await rows.put(bare_table, many_rows)
    assert await rows.get(bare_table, list(many_rows)) == many_rows


async def test_the_largest_row_is_kept_and_a_larger_one_refused(
    rows: Rows, bare_table: Table
) -> None:
    overhead = len('{"text":""}')
    row = {"text": "x" * (LARGEST_BODY - overhead)}
    await rows.put(bare_table, {"a": row})
    assert (await rows.get(bare_table, ["a"]))["a"] == row
    with pytest.raises(InvalidInput):
        await rows.put(bare_table, {"a": {"text": row["text"] + "x"}})
    await rows.delete(bare_table, ["a"])


@pytest.mark.parametrize("value", [{1, 2}, {1: "a"}, "\ud800", [b"bytes"], 2**70, object()])
async def test_what_is_not_json_is_refused(rows: Rows, bare_table: Table, value: Any) -> None:
    with pytest.raises(InvalidInput):
        await rows.put(bare_table, {"a": {"value": value}})
    assert await rows.get(bare_table, ["a"]) == {}


@pytest.mark.parametrize("value", [1.5, True, ["a"], {"a": 1}, 2**63])
async def test_an_indexed_field_is_text_or_an_integer(
    rows: Rows, documents: Table, value: Any
) -> None:
    with pytest.raises(InvalidInput):
        await rows.put(documents, {"a": {"status": value}})
    assert await everything(rows, documents) == {}


async def test_fields_of_bytes_come_back_beside_others(rows: Rows, documents: Table) -> None:
    odd: dict[str, Row] = {
        "both": {"status": "s", "vector": bytes(range(256)) * 6, "empty": b"", "text": "ß" * 2000},
        "only": {"vector": b"\x00z\xff"},
    }
    await rows.put(documents, odd)
    assert await everything(rows, documents) == odd
    assert await rows.count(documents, "status", {}) == {"s": 1}
    with pytest.raises(InvalidInput):
        await rows.put(documents, {"deep": {"list": [b"bytes"]}})


async def test_a_long_row_is_stored_in_less_than_its_text(tmp_path: Path) -> None:
    rows = SqliteRows(tmp_path / "rows.sqlite")
    await rows.prepare()
    table = new_table("chunks")
    texts = {
        f"{n}": {"text": f"A text {n} of some words that come again. " * 200} for n in range(100)
    }
    await rows.put(table, texts)
    assert await everything(rows, table) == texts
    await rows.close()
    file_bytes = sum(path.stat().st_size for path in tmp_path.iterdir())  # noqa: ASYNC240
    assert file_bytes < sum(len(row["text"]) for row in texts.values()) / 2
