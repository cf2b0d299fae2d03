"""Compares the past that is read from the present with what the log gives from its beginning."""

from typing import Any

from contracts.graph import Partition
from knowledge.descriptions import SummaryLimits
from runtime.bus.port import Log
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows, Table
from services.query.past.documents import read_documents
from services.query.past.reading import Past
from services.query.past.state import state_at
from services.query.past.stored_present import StoredPresent

LIMITS = SummaryLimits()


async def assert_same_past(present: StoredPresent, log: Log, workspace: str, sequence: int) -> None:
    """Compare graph, contributions, edits, documents and chunks of both readings at this
    sequence.
    """
    past = await present.at(workspace, sequence)
    state = state_at(past.events, sequence, LIMITS)
    (expected,) = await Past(log, LIMITS).states(workspace, sequence)
    assert state.entities == expected.entities, sequence
    assert state.relations == expected.relations, sequence
    assert state.contributions == expected.contributions, sequence
    assert state.edits == expected.edits, sequence
    rows = MemoryRows()
    await read_documents(log, workspace, sequence, rows)
    assert await _rows_of(past.rows, workspace) == await _rows_of(rows, workspace), sequence


async def _rows_of(rows: Rows, workspace: str) -> list[Any]:
    """Documents and chunks, without the number of times that a document was written."""
    partition = Partition(workspace, 1)
    documents = await rows.scan(Table("documents", partition))
    chunks = await rows.scan(Table("chunks", partition))
    return [(key, {**row, "rev": 0}) for key, row in [*documents, *chunks]]
