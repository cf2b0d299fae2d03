"""How the nearest rows are found: every vector of the workspace is compared, block by block, and
the best are ordered by their exact similarity.
"""

import sqlite3
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Hit
from contracts.ids import chunk_vector_prefix
from runtime.stores.sqlite.lists import json_list
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.sqlite import blocks, slotted_rows
from runtime.stores.vectors.sqlite.entries import Entries
from runtime.stores.vectors.sqlite.tables import VectorTable

NEWS = 256
"""Rows that are taken in before what is not among the best any more is left out."""

# The only names in SQL text are those of `VectorTable`; every value is a parameter.
# ruff: noqa: S608


class Question(NamedTuple):
    """What is looked for: `documents` restricts it to chunks of these."""

    direction: NDArray[np.float32]
    top_k: int
    min_score: float
    documents: Collection[str] | None


class _Leaders:
    """The best rows of a scan so far, and those so near to the last of them that single precision
    cannot tell.
    """

    def __init__(self, question: Question) -> None:
        self._top_k = question.top_k
        # A sum of so many products in single precision, of the row and of the last one, and what
        # rounding to six digits makes equal.
        dimension = len(question.direction)
        self._margin = dimension * 2.0**-22 + 2 * 10.0**-stored.SCORE_DIGITS
        self._floor = question.min_score - self._margin
        self.slots = np.empty(0, np.int64)
        self._scores = np.empty(0, np.float32)
        self._news: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
        self._room = NEWS

    def add(self, slots: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Take in those of these rows that may be among the best."""
        chosen = np.flatnonzero(scores >= self._floor)
        if not len(chosen):
            return
        self._news.append((slots[chosen], scores[chosen]))
        self._room -= len(chosen)
        if self._room < 0:
            self.narrow()

    def narrow(self) -> None:
        """Leave out what is not among the best any more."""
        slots, scores = zip((self.slots, self._scores), *self._news, strict=True)
        self._news = []
        self.slots, self._scores = np.concatenate(slots), np.concatenate(scores)
        if len(self._scores) > self._top_k:
            worst_score = np.partition(self._scores, -self._top_k)[-self._top_k]
            self._floor = max(self._floor, float(worst_score) - self._margin)
            chosen = self._scores >= self._floor
            self.slots, self._scores = self.slots[chosen], self._scores[chosen]
        self._room = NEWS + len(self._scores)


def search(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, question: Question
) -> list[Hit]:
    """Return the nearest rows, best first, equal ones by id."""
    leaders = _Leaders(question)
    direction = _unit(question.direction)
    for slots, entries in _entries(connection, table, workspace, question):
        scores = entries.scores(direction)
        if len(overflown := np.flatnonzero(~np.isfinite(scores))):
            scores[overflown] = stored.similarities(
                entries.at(overflown).vectors(), question.direction
            )
        leaders.add(slots, scores)
    leaders.narrow()
    slots = leaders.slots.tolist()
    vectors = blocks.vectors_at(connection, table, workspace, slots)
    exact_scores = stored.similarities(vectors, question.direction)
    score_of_slot = dict(zip(slots, exact_scores, strict=True))
    hits = stored.ranked(
        Hit(id, names, score_of_slot[slot])
        for slot, id, names in slotted_rows.at_slots(connection, table, workspace, slots)
        if score_of_slot[slot] > question.min_score
    )
    return hits[: question.top_k]


def _entries(
    connection: sqlite3.Connection, table: VectorTable, workspace: str, question: Question
) -> Iterator[tuple[NDArray[np.int64], Entries]]:
    """Yield what is to be compared."""
    if question.documents is None:
        count = slotted_rows.count(connection, table, workspace)
        return blocks.read_all(connection, table, workspace, count)
    prefixes = sorted({chunk_vector_prefix(document) for document in question.documents})
    sql = (
        "SELECT slot FROM (SELECT value AS prefix FROM json_each(?)) "
        f"CROSS JOIN {table.name} ON workspace = ? AND id > prefix "
        # Between `…-` and `….`, the next character.
        "AND id < substr(prefix, 1, length(prefix) - 1) || '.'"
    )
    records = connection.execute(sql, (json_list(prefixes), workspace)).fetchall()
    return blocks.read_some(connection, table, workspace, (slot for (slot,) in records))


def _unit(direction: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the direction with length 1, or noughts as they are."""
    numbers = direction.astype(np.float64)
    return (numbers / (np.linalg.norm(numbers) or 1.0)).astype(np.float32)
