"""The query service's replay handlers: what a rebuild runs to fill a new generation of the status projection."""

from functools import partial

from contracts.events import Event
from runtime.replay import ReplayHandler
from runtime.stores.documents.port import Rows
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.status.document_status import DELETED, SETTLED, STATUSES
from services.query.status.projection import on_events

UNFINISHED = tuple(status for status in STATUSES if status not in SETTLED)
"""Statuses of documents that are still under way."""

REMOVED = DELETED
"""The status of a row that is kept for late events only; it belongs to no list and no digest."""


def replay_handlers(rows: Rows) -> list[ReplayHandler]:
    """Return the handlers of the status projection, which take every event."""
    return [ReplayHandler((Event,), partial(on_events, documents=RowDocuments(rows), passages=RowPassages(rows)))]
