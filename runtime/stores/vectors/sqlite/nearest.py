"""How the nearest rows are found: every vector of the workspace is compared, block by block, or,
among many, those that sketches choose (`sketches.py`); the best are ordered by their exact
similarity.
"""

import sqlite3
from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contracts.graph import Hit
from contracts.ids import chunk_vector_prefix
from runtime.stores.sqlite.lists import json_list
from runtime.stores.vectors import fields as stored
from runtime.stores.vectors.sqlite import blocks, sketch_blocks, sketches, slotted_rows
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
    slots = _slots_of(connection, table, workspace, question.documents)
    count = slotted_rows.count(connection, table, workspace)

    def score(slots: NDArray[np.int64]) -> list[float]:
        vectors = blocks.vectors_at(connection, table, workspace, slots.tolist())
        return stored.similarities(vectors, question.direction)

    rows = None
    if slots is None or len(slots) >= sketch_blocks.LEAST_ROWS:
        rows = _by_sketches(
            sketch_blocks.read(connection, table, workspace, count), slots, question, score
        )
    if rows is None:
        all_entries = (
            blocks.read_all(connection, table, workspace, count)
            if slots is None
            else blocks.read_some(connection, table, workspace, slots)
        )
        leaders = _leaders(all_entries, question)
        rows = sketches.Nearest(leaders, np.array(score(leaders)))
    return _hits(connection, table, workspace, rows, question)


def _by_sketches(
    codes: sketches.Codes | None,
    slots: NDArray[np.int64] | None,
    question: Question,
    score: sketches.Score,
) -> sketches.Nearest | None:
    """Return rows among which the nearest of these slots are, or of all; None where sketches do not
    help.
    """
    if codes is None:
        return None
    if slots is None:
        return sketches.nearest(
            codes, question.direction, question.top_k, question.min_score, score
        )
    rows = sketches.nearest(
        codes[slots],
        question.direction,
        question.top_k,
        question.min_score,
        lambda places: score(slots[places]),
    )
    return rows and sketches.Nearest(slots[rows.slots], rows.scores)


def _leaders(
    all_entries: Iterable[tuple[NDArray[np.int64], Entries]], question: Question
) -> NDArray[np.int64]:
    """Return the slots of the rows that may be among the best of all these."""
    leaders = _Leaders(question)
    direction = _unit(question.direction)
    for slots, entries in all_entries:
        scores = entries.scores(direction)
        if len(overflown := np.flatnonzero(~np.isfinite(scores))):
            scores[overflown] = stored.similarities(
                entries.at(overflown).vectors(), question.direction
            )
        leaders.add(slots, scores)
    leaders.narrow()
    return leaders.slots


def _hits(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    rows: sketches.Nearest,
    question: Question,
) -> list[Hit]:
    """Return the best of these rows with their ids and names."""
    is_wanted = rows.scores > question.min_score
    if len(rows.scores) > question.top_k:
        is_wanted &= rows.scores >= np.partition(rows.scores, -question.top_k)[-question.top_k]
    slots = rows.slots[is_wanted].tolist()
    score_of_slot = dict(zip(slots, rows.scores[is_wanted].tolist(), strict=True))
    hits = stored.ranked(
        Hit(id, names, score_of_slot[slot])
        for slot, id, names in slotted_rows.at_slots(connection, table, workspace, slots)
    )
    return hits[: question.top_k]


def _slots_of(
    connection: sqlite3.Connection,
    table: VectorTable,
    workspace: str,
    documents: Collection[str] | None,
) -> NDArray[np.int64] | None:
    """Return the slots of the chunks of these documents, in their order; None for all rows."""
    if documents is None:
        return None
    prefixes = sorted({chunk_vector_prefix(document) for document in documents})
    sql = (
        "SELECT slot FROM (SELECT value AS prefix FROM json_each(?)) "
        f"CROSS JOIN {table.name} ON workspace = ? AND id > prefix "
        # Between `…-` and `….`, the next character.
        "AND id < substr(prefix, 1, length(prefix) - 1) || '.'"
    )
    records = connection.execute(sql, (json_list(prefixes), workspace)).fetchall()
    return np.unique(np.fromiter((slot for (slot,) in records), np.int64))


def _unit(direction: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the direction with length 1, or noughts as they are."""
    numbers = direction.astype(np.float64)
    return (numbers / (np.linalg.norm(numbers) or 1.0)).astype(np.float32)
