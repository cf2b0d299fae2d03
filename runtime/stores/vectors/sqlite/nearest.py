"""How the nearest rows are found: first all that may be among them, by the vectors in the file or
by what of these is in memory, and then the nearest of those by their exact similarity.
"""

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Hit
from contracts.ids import chunk_vector_prefix, document_prefix
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.comparison import Numbers, Question
from runtime.stores.vectors.sqlite import blocks, slotted_rows
from runtime.stores.vectors.sqlite.schema import VectorTable
from runtime.stores.vectors.sqlite.vector_cache import VectorCache

# The only names in SQL text are those of `VectorTable`; every value is a parameter.


RUNS = 16
"""Runs in which an id is looked for, about."""


class Search(NamedTuple):
    """What is looked for: `documents` restricts it to chunks of these."""

    vector: Numbers
    top_k: int
    min_score: float
    documents: Collection[str] | None


def nearest(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    search: Search,
    cache: VectorCache,
) -> list[Hit]:
    """Return the nearest rows, best first, equal ones by id."""
    slots = None
    if search.documents is not None:
        slots = _slots_of(connection, table, workspace, search.documents)
    cached_rows = cache.for_search(connection, table, workspace)
    leaders = (
        cached_rows.rows.candidates(search.vector, search.top_k, search.min_score, slots)
        if cached_rows is not None
        else _leaders_in_file(connection, table, workspace, search, slots)
    )
    vectors = (
        cached_rows.exact.at(leaders)
        if cached_rows is not None and cached_rows.exact is not None
        else blocks.vectors_at(connection, table, workspace, leaders.tolist())
    )
    similarities = np.array(stored.similarities(vectors, search.vector))
    return _hits(connection, table, workspace, leaders, similarities, search)


def _leaders_in_file(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    search: Search,
    slots: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Return the slots whose vectors in the file may be among the nearest: of these, or of all."""
    if slots is None:
        count = slotted_rows.count(connection, table, workspace)
        parts = blocks.read_all(connection, table, workspace, count)
        slots = np.arange(count)
    else:
        parts = (part for _, part in blocks.read_some(connection, table, workspace, slots))
    question = Question(search.vector)
    scores = np.concatenate([np.empty(0, np.float32), *(part.scores(question) for part in parts)])
    return slots[question.leaders(scores, search.top_k, search.min_score)]


def _hits(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: NDArray[np.int64],
    scores: NDArray[np.float64],
    search: Search,
) -> list[Hit]:
    """Return the best of these rows with their ids and names."""
    is_wanted = scores > search.min_score
    if len(scores) > search.top_k:
        is_wanted &= scores >= np.partition(scores, -search.top_k)[-search.top_k]
    wanted = slots[is_wanted].tolist()
    score_of_slot = dict(zip(wanted, scores[is_wanted].tolist(), strict=True))
    hits = stored.ranked(
        Hit(id, names, score_of_slot[slot])
        for slot, id, names in slotted_rows.at_slots(connection, table, workspace, wanted)
    )
    return hits[: search.top_k]


def _slots_of(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    documents: Collection[str],
) -> NDArray[np.int64]:
    """Return the slots of the chunks of these documents, in their order."""
    prefixes = {chunk_vector_prefix(document) for document in documents}
    # Each is looked for in each run of ids, so to read all ids is cheaper than to find many.
    is_many = len(prefixes) > slotted_rows.count(connection, table, workspace) // RUNS
    slot_of_id = slotted_rows.slots_by_id(
        connection, table, workspace, [""] if is_many else prefixes
    )
    slots = (slot for id, slot in slot_of_id.items() if document_prefix(id) in prefixes)
    return np.unique(np.fromiter(slots, np.int64))
