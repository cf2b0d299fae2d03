"""No command to MongoDB reads more than it is asked for: every test of this folder ends with a look
at all commands that it sent (`conftest.py`). Here are faults that are found so, and what it takes
to count.
"""

import re
from dataclasses import replace
from typing import Any

import pytest

from runtime.stores.documents.port import INDEXES, NoneOf, Rows, Table
from tests.support.mongo_plans import BY_KEY, COLLECTION, PARTITION, RANGE, VALUES, fault, reading

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = {"space": "w/1"}


@pytest.mark.parametrize(
    ("condition", "order", "expected"),
    [
        ({"_id": "w/1/a"}, "", BY_KEY),
        ({"_id": {"$in": ["w/1/a"]}, "stamp": None}, "", BY_KEY),
        ({"_id": {"$gt": "w/1/", "$lt": "w/10"}}, "_id", RANGE),
        ({"$or": [{"_id": {"$gt": "a", "$lt": "b"}}, {"_id": "c"}]}, "", RANGE),
        ({"$or": [{"_id": "c"}, {"body": "{}"}]}, "", COLLECTION),
        ({**HERE, "fields.status": "done"}, "_id", VALUES),
        ({**HERE, "fields.status": {"$in": ["done"]}}, "fields.updated_at", VALUES),
        ({**HERE, "fields.status": {"$nin": ["done"]}}, "fields.updated_at", PARTITION),
        ({**HERE, "fields.file_path": re.compile("a")}, "fields.id", PARTITION),
        (HERE, "fields.updated_at", PARTITION),
        (HERE, "_id", COLLECTION),
        ({**HERE, "fields.text": "a"}, "fields.text", COLLECTION),
        ({"fields.status": "done"}, "", COLLECTION),
        ({"_id": {"$gt": "w/1/"}}, "", COLLECTION),
    ],
)
async def test_what_a_condition_makes_the_server_read(
    condition: dict[str, Any], order: str, expected: str
) -> None:
    assert reading("documents", condition, [order] if order else []) == expected


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("find", {"find": "documents", "filter": {"fields.status": "done"}}),
        ("find", {"find": "embeddings", "filter": HERE, "sort": {"_id": 1}}),
        ("find", {"find": "costs", "filter": HERE, "sort": {"_id": 1}}),
        ("update", {"update": "documents", "updates": [{"q": {"fields.id": "a"}}]}),
        ("delete", {"delete": "documents", "deletes": [{"q": {**HERE, "fields.id": "a"}}]}),
        (
            "aggregate",
            {
                "aggregate": "documents",
                "pipeline": [
                    {"$match": {"$and": [HERE, {"fields.status": {"$exists": True}}]}},
                    {"$group": {"_id": "$fields.status"}},
                ],
            },
        ),
        ("distinct", {"distinct": "documents", "key": "space"}),
    ],
)
async def test_a_command_that_reads_more_is_found(name: str, command: dict[str, Any]) -> None:
    assert fault(name, command)


@pytest.mark.parametrize("name", sorted(INDEXES))
async def test_all_rows_of_a_table_are_a_range_of_keys(
    rows: Rows, name: str, documents: Table
) -> None:
    table = Table(name, documents.partition)
    other = Table(name, replace(documents.partition, generation=2))
    await rows.put(table, {key: {"text": key} for key in "cab"})
    await rows.put(other, {"d": {}})
    assert [key for key, _ in await rows.find(table, {}, skip=1)] == ["b", "c"]


async def test_counts_are_of_the_rows_that_have_the_field(rows: Rows, documents: Table) -> None:
    smallest = -(2**63)
    await rows.put(
        documents,
        {
            "a": {"status": "", "version": smallest},
            "b": {"status": "", "version": 0},
            "c": {"version": smallest},
            "d": {"status": "done"},
            "e": {"status": None},
        },
    )
    assert await rows.count(documents, "status", {}) == {"": 2, "done": 1}
    assert await rows.count(documents, "status", {"status": NoneOf(("",))}) == {"done": 1}
    assert await rows.count(documents, "version", {}) == {str(smallest): 2, "0": 1}
