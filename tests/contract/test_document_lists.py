"""The contract of lists of documents: pages, counts and those of somebody who sees only some."""

from typing import Any
from uuid import uuid4

import pytest

from contracts.graph import Partition
from runtime.stores.documents.port import Rows
from services.query.adapters import document_lists
from services.query.adapters.documents import RowDocuments
from services.query.status import listing as status_lists
from services.query.status.document_status import DocumentStatus
from services.query.status.listing import FAILED_STATUSES, list_documents
from services.query.status.port import Documents, Listing
from services.query.visibility.documents import RestrictedDocuments
from tests.contract.test_documents import FAILED, PROCESSED, filled, ids

pytestmark = pytest.mark.asyncio(loop_scope="module")

DELETED: dict[str, Any] = {"deleted": 9, "erased": {"chunks": 1, "graph": 0, "parts": 0}}


@pytest.fixture
def documents(rows: Rows) -> Documents:
    return RowDocuments(rows)


VIEWS: list[dict[str, Any]] = [
    {},
    {"statuses": ["processed", "failed"]},
    {"statuses": ["deleting"]},
    {"names": ("PORT",)},
    {"file_paths": ["port.md", "sea 3.md"]},
    {"ids": ["Doc 1", "Doc 7", "none"]},
    {"ids": ["Doc 1"], "names": ("sea",)},
]


@pytest.mark.parametrize("most_keys", [0, 5000])
async def test_lists_of_some_documents_are_as_if_there_were_no_others(
    documents: Documents, partition: Partition, most_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_lists, "MOST_KEYS", most_keys)
    all_states = [
        DocumentStatus(
            f"Doc {n}",
            file_path="port.md" if n % 2 else f"sea {n}.md",
            updated_at=f"2026-01-{n % 4:02d}",
            **([{}, PROCESSED, FAILED, PROCESSED, DELETED][n % 5]),
        )
        for n in range(20)
    ]
    reference_partition = Partition(f"w-{uuid4().hex}", 1)
    visible_states = all_states[::3]
    await filled(documents, partition, *all_states)
    await filled(documents, reference_partition, *visible_states)
    among = frozenset(state.id for state in visible_states) | {"none"}
    restricted_documents = RestrictedDocuments(documents, among)
    assert (
        await restricted_documents.counts(partition)
        == await documents.counts(reference_partition)
        != {}
    )
    assert await restricted_documents.counts(partition, frozenset()) == {}
    for view in VIEWS:
        for order in ("updated_at", "file_path"):
            for descending in (False, True):
                for skip in (0, 2, 30):
                    listing = Listing(
                        **view, order=order, descending=descending, skip=skip, limit=3
                    )
                    page = await restricted_documents.page(partition, listing)
                    assert page == await documents.page(reference_partition, listing), listing


async def test_pages_from_either_end_make_the_whole_list(
    documents: Documents, partition: Partition
) -> None:
    await filled(
        documents,
        partition,
        *(
            DocumentStatus(f"d{n:02d}", updated_at=f"{n % 3}", **(DELETED if n % 5 == 0 else {}))
            for n in range(23)
        ),
    )
    for view in ({}, {"names": ("unknown",)}, {"statuses": ["pending"]}):
        for descending in (False, True):
            options = {**view, "order": "updated_at", "descending": descending}
            all_ids = await ids(documents, partition, **options)
            pages = [
                await ids(documents, partition, **options, skip=skip, limit=4)
                for skip in range(0, 28, 4)
            ]
            assert len(all_ids) == 18
            assert pages == [all_ids[skip : skip + 4] for skip in range(0, 28, 4)]


async def test_documents_are_listed_by_status_whatever_their_number(
    documents: Documents, partition: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_lists, "READ_AT_ONCE", 2)
    failed_states = [DocumentStatus(f"Failed {n}", **FAILED) for n in range(5)]
    await filled(documents, partition, *failed_states, DocumentStatus("pending"))
    assert await documents.ids_with_status(partition, ["failed"]) == {
        state.id for state in failed_states
    }
    states = await list_documents(documents, partition, FAILED_STATUSES)
    assert states == {state.id: state for state in failed_states}
