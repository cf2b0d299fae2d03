"""Which documents supersede which, in the document store: a row for each pair."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence

from contracts.graph import Partition
from contracts.subjects import token
from runtime.stores.documents.port import Row, Rows, Table
from services.query.status.document_status import LEAVING, DocumentStatus


async def record_supersessions(
    rows: Rows, partition: Partition, statuses: Sequence[DocumentStatus]
) -> None:
    """See `Documents.record_supersessions`. Pairs are few: most calls are one read of nothing."""
    if not statuses:
        return
    table = _table(partition)
    pairs = {key: row for status in statuses for key, row in _pairs(status).items()}
    sequences = {status.id: status.sequence for status in statuses}
    stored_rows = await rows.find(table, {"document_id": sorted(sequences)})
    await rows.put_newer(table, pairs, "sequence")
    for key, row in stored_rows:
        if key not in pairs:
            sequence = sequences[row["document_id"]]
            await rows.delete_older(table, [key], "sequence", sequence)


async def related_by_validity(
    rows: Rows, partition: Partition, ids: Collection[str]
) -> dict[str, set[str]]:
    """See `Documents.related_by_validity`."""
    links: defaultdict[str, set[str]] = defaultdict(set)
    table = _table(partition)
    of_successors, of_themselves = await asyncio.gather(
        rows.find(table, {"superseded": sorted(ids)}),
        rows.find(table, {"document_id": sorted(ids)}),
    )
    for _, row in of_successors:
        links[row["superseded"]].add(row["document_id"])
    for _, row in of_themselves:
        links[row["document_id"]].add(row["document_id"])
    return dict(links)


def _pairs(status: DocumentStatus) -> dict[str, Row]:
    """Return a row for the document itself, and one for each document that it supersedes."""
    if status.status in LEAVING or status.validity is None:
        return {}
    own_key = token(status.id)
    row: Row = {"document_id": status.id, "superseded": "", "sequence": status.sequence}
    pairs = {
        f"{own_key}.{token(id)}": {**row, "superseded": id} for id in status.validity.supersedes
    }
    return {own_key: row, **pairs}


def _table(partition: Partition) -> Table:
    return Table("supersessions", partition)
