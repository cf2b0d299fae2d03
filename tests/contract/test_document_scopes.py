"""The contract of scopes: which documents they admit is looked up, and no document read for it."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.graph import Partition
from contracts.values import Scalar
from runtime.stores.documents.port import Row, Rows, Table
from services.query.adapters.document_labels import LABELS_FIELD
from services.query.adapters.documents import RowDocuments
from services.query.status.document_status import DocumentStatus
from services.query.status.port import Documents
from services.query.status.scope import Scope
from tests.contract.test_documents import filled

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def documents(rows: Rows) -> Documents:
    return RowDocuments(rows)


class CountingRows:
    """Rows that count those that they return whole."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.row_count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        rows = await self._rows.get(table, keys)
        self.row_count += len(rows)
        return rows

    async def scan(self, table: Table, after: str = "", limit: int = 1000) -> list[tuple[str, Row]]:
        rows = await self._rows.scan(table, after, limit)
        self.row_count += len(rows)
        return rows


async def test_a_scope_admits_some_of_the_documents_and_none_that_is_deleted(
    documents: Documents, partition: Partition
) -> None:
    await filled(
        documents,
        partition,
        DocumentStatus("a", file_path="x/a"),
        DocumentStatus("b", file_path="y/b"),
        DocumentStatus("c", file_path="x/c", metadata={"tags": "red,new"}),
        DocumentStatus("d", deleted=9, version=1),
    )
    assert await documents.in_scope(partition, Scope(file_path_prefix="x/")) == {"a", "c"}
    assert await documents.in_scope(partition, Scope(file_path_prefix="x/", tags=("red",))) == {"c"}
    assert await documents.in_scope(partition, Scope(document_ids=("a", "b", "d", "z"))) == {
        "a",
        "b",
    }
    assert await documents.in_scope(
        partition, Scope(document_ids=("a", "b"), file_path_prefix="y")
    ) == {"b"}
    assert await documents.in_scope(partition, Scope(file_path_prefix="none")) == set()


async def test_a_scope_on_path_and_time_is_looked_up_without_the_documents(
    rows: Rows, partition: Partition
) -> None:
    counting: Any = CountingRows(rows)
    documents = RowDocuments(counting)
    statuses = [
        DocumentStatus(
            f"d{n:03d}",
            file_path=f"{'x' if n % 50 == 0 else 'y'}/{n}",
            created_at=f"2026-03-{1 + n // 10:02d}T00:00:00+00:00",
            metadata={"tags": "red" if n % 2 else "new"},
        )
        for n in range(200)
    ]
    await filled(documents, partition, *statuses)
    counting.row_count = 0
    of_path = Scope(file_path_prefix="x/")
    assert await documents.in_scope(partition, of_path) == {"d000", "d050", "d100", "d150"}
    of_time = Scope(added_from=datetime(2026, 3, 19, tzinfo=UTC))
    assert len(await documents.in_scope(partition, of_time)) == 20
    assert counting.row_count == 0
    of_all = replace(of_path, tags=("new",), added_before=datetime(2026, 3, 7, tzinfo=UTC))
    assert await documents.in_scope(partition, of_all) == {"d000", "d050"}
    assert len(await documents.in_scope(partition, Scope(tags=("red",)))) == 100
    assert counting.row_count == 0


METADATA: list[dict[str, Scalar]] = [
    {},
    {"tags": "red, new"},
    {"tags": "new,,r\u00e9d", "year": 1921},
    {"tags": "", "year": "1921", "old": True},
    {"year": 1921.0, "old": 1, "none": None},
    {"year": 1921.5, "tags": "Red", "name": "cafe\u0301"},
]


@pytest.mark.parametrize(
    "scope",
    [
        Scope(tags=("red",)),
        Scope(tags=("re\u0301d", "new")),
        Scope(tags=("",)),
        Scope(tags=(" red",)),
        Scope(metadata=(("year", 1921),)),
        Scope(metadata=(("year", "1921"),)),
        Scope(metadata=(("year", 1921.5), ("name", "caf\u00e9"))),
        Scope(metadata=(("old", 1),)),
        Scope(metadata=(("none", None),)),
        Scope(metadata=(("tags", "red, new"),), tags=("new",)),
    ],
)
async def test_what_a_scope_looks_up_is_what_it_admits(
    documents: Documents, partition: Partition, scope: Scope
) -> None:
    statuses = [DocumentStatus(f"d{n}", metadata=metadata) for n, metadata in enumerate(METADATA)]
    statuses.append(DocumentStatus("changed", metadata={"tags": "old"}, tags=("red", "new")))
    statuses.append(DocumentStatus("left", metadata={"tags": "red,new"}, version=1, deleted=2))
    await filled(documents, partition, *statuses)
    admitted_ids = {status.id for status in statuses[:-1] if scope.admits(status)}
    assert await documents.in_scope(partition, scope) == admitted_ids


async def test_rows_of_before_labels_are_labelled_by_the_first_scope_that_asks(
    rows: Rows, partition: Partition
) -> None:
    counting: Any = CountingRows(rows)
    documents = RowDocuments(counting)
    tagged_statuses = [DocumentStatus(f"d{n}", metadata={"tags": f"t{n % 2}"}) for n in range(10)]
    await filled(documents, partition, *tagged_statuses)
    table = Table("documents", partition)
    stored_rows = dict(await rows.scan(table))
    for row in stored_rows.values():
        del row[LABELS_FIELD]
    await rows.put(table, stored_rows)
    scope = Scope(tags=("t1",))
    for _ in range(2):
        counting.row_count = 0
        assert len(await documents.in_scope(partition, scope)) == 5
    assert counting.row_count == 0
    assert [status for status, _ in (await documents.get(partition, ["d3"])).values()] == [
        tagged_statuses[3]
    ]
