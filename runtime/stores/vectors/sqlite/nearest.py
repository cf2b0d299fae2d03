"""How the nearest rows are found: every vector of the workspace is compared in single precision,
and the best of them are ordered by their exact similarity.
"""

import sqlite3
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Hit
from contracts.ids import chunk_vector_prefix
from runtime.stores.sqlite.lists import json_list
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.sqlite import blocks, slotted_rows
from runtime.stores.vectors.sqlite.entries import (
    ROUNDING,
    ROUNDING_NUMBERS,
    Direction,
    Entries,
    Matrix,
    direction_of,
)
from runtime.stores.vectors.sqlite.entry_cache import EntryCache
from runtime.stores.vectors.sqlite.tables import VectorTable

# The only names in SQL text are those of `VectorTable`; every value is a parameter.
# ruff: noqa: S608


class Question(NamedTuple):
    """What is looked for: `documents` restricts it to chunks of these."""

    vector: NDArray[np.float32]
    top_k: int
    min_score: float
    documents: Collection[str] | None


def search(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    question: Question,
    cache: EntryCache,
) -> list[Hit]:
    """Return the nearest rows, best first, equal ones by id."""
    if question.documents is None:
        count = slotted_rows.count(connection, table, workspace)
        entries = cache.for_search(connection, table, workspace, count)
        parts = [entries] if entries else blocks.read_all(connection, table, workspace, count)
        slots = np.arange(count)
    else:
        slots = _slots_of(connection, table, workspace, question.documents)
        entries = cache.current(connection, table, workspace)
        parts = (
            [entries.at(slots)]
            if entries
            else (part for _, part in blocks.read_some(connection, table, workspace, slots))
        )
    direction = direction_of(question.vector)
    scores = [_scores(part, direction, question.vector) for part in parts]
    leaders = slots[_leaders(np.concatenate([np.empty(0, np.float32), *scores]), question)]
    vectors = vectors_at(connection, table, workspace, leaders, cache)
    similarities = np.array(stored.similarities(vectors, question.vector))
    return _hits(connection, table, workspace, leaders, similarities, question)


def vectors_at(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: NDArray[np.int64],
    cache: EntryCache,
) -> Matrix:
    """Return the vectors of these slots, each given once, in their order."""
    entries = cache.current(connection, table, workspace)
    if entries is None:
        return blocks.vectors_at(connection, table, workspace, slots.tolist())
    return entries.at(slots).vectors()


def _scores(
    entries: Entries, direction: Direction, vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the cosine of each row with a vector and its direction, wrong by single precision's
    rounding at most.
    """
    scores = entries.scores(direction)
    if len(overflown := np.flatnonzero(~np.isfinite(scores))):
        scores[overflown] = stored.similarities(entries.at(overflown).vectors(), vector)
    return scores


def _leaders(scores: NDArray[np.float32], question: Question) -> NDArray[np.int64]:
    """Return the places of the scores that may be among the best: so near to the last of them that
    rounding may be why they are behind.
    """
    # Both scores may be wrong; and six digits make equal what is as near as that.
    margin = 2 * ROUNDING * (len(question.vector) + ROUNDING_NUMBERS)
    margin += 2 * 10.0**-stored.SCORE_DIGITS
    places = np.flatnonzero(scores >= question.min_score - margin)
    if len(places) > question.top_k:
        near_scores = scores[places]
        worst_score = np.partition(near_scores, -question.top_k)[-question.top_k]
        places = places[near_scores >= worst_score - margin]
    return places


def _hits(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    slots: NDArray[np.int64],
    scores: NDArray[np.float64],
    question: Question,
) -> list[Hit]:
    """Return the best of these rows with their ids and names."""
    is_wanted = scores > question.min_score
    if len(scores) > question.top_k:
        is_wanted &= scores >= np.partition(scores, -question.top_k)[-question.top_k]
    wanted = slots[is_wanted].tolist()
    score_of_slot = dict(zip(wanted, scores[is_wanted].tolist(), strict=True))
    hits = stored.ranked(
        Hit(id, names, score_of_slot[slot])
        for slot, id, names in slotted_rows.at_slots(connection, table, workspace, wanted)
    )
    return hits[: question.top_k]


def _slots_of(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    documents: Collection[str],
) -> NDArray[np.int64]:
    """Return the slots of the chunks of these documents, in their order."""
    prefixes = sorted({chunk_vector_prefix(document) for document in documents})
    sql = (
        "SELECT slot FROM (SELECT value AS prefix FROM json_each(?)) "
        f"CROSS JOIN {table.name} ON workspace = ? AND id > prefix "
        # Between `…-` and `….`, the next character.
        "AND id < substr(prefix, 1, length(prefix) - 1) || '.'"
    )
    records = connection.execute(sql, (json_list(prefixes), workspace)).fetchall()
    return np.unique(np.fromiter((slot for (slot,) in records), np.int64))
