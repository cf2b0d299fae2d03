"""Contributions in the document store."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from contracts.graph import Space
from contracts.ids import sha256
from runtime.stores.documents.rows import Row, Rows, Table
from services.merger.domain import Contribution
from services.merger.ports import Key

_FIELDS = {field.name for field in fields(Contribution)}


def _hash(key: Key) -> str:
    return ("e-" if len(key) == 1 else "r-") + sha256("\x1f".join(key))[:40]


class RowContributions:
    """`Contributions` over `Rows`: one row per chunk and key, one per chunk for its version, one counter per key."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def replace(
        self, space: Space, said: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """See `Contributions.replace`."""
        table = Table("contributions", space)
        new = {_mark_key(chunk): _mark(chunk, version) for chunk, (version, _) in said.items()}
        for _, contributions in said.values():
            new |= {_row_key(contribution): _row(contribution) for contribution in contributions}
        await self._rows.put_newer(table, new, "rank")
        # Read after writing: of two writers the one that reads last sees both, so an older version never stands. And
        # after a crash the retractions of the first attempt are found again.
        rows = dict(await self._rows.find(table, {"chunk_id": list(said)}))
        newest = {chunk: rows[_mark_key(chunk)]["version"] for chunk in said}
        stale = {
            key: _retracted(row, newest[row["chunk_id"]])
            for key, row in rows.items()
            if row["version"] < newest[row["chunk_id"]] and not row["retracted"]
        }
        await self._rows.put_newer(table, stale, "rank")
        touched: dict[str, set[Key]] = {chunk: set() for chunk in said}
        for row in rows.values():
            if row["names"]:
                touched[row["chunk_id"]].add(tuple(row["names"]))
        return touched

    async def revisions(self, space: Space, keys: Sequence[Key]) -> dict[Key, int]:
        """See `Contributions.revisions`."""
        hashes = {_hash(key): key for key in keys}
        counted = await self._rows.increment(Table("revisions", space), list(hashes))
        return {hashes[hashed]: number for hashed, number in counted.items()}

    async def of(self, space: Space, keys: Sequence[Key]) -> dict[Key, list[Contribution]]:
        """See `Contributions.of`."""
        found: dict[Key, list[Contribution]] = defaultdict(list)
        if keys:
            for _, row in await self._rows.find(Table("contributions", space), {"key": [_hash(key) for key in keys]}):
                contribution = _contribution(row)
                found[contribution.names].append(contribution)
        return {key: found[key] for key in keys}


def _row_key(contribution: Contribution) -> str:
    return f"{_hash(contribution.names)}:{sha256(contribution.chunk_id)[:24]}"


def _mark_key(chunk: str) -> str:
    return f"v:{sha256(chunk)[:40]}"


def _mark(chunk: str, version: int) -> Row:
    """Remembers a chunk's newest version, which may say nothing at all. No key finds it."""
    return {"chunk_id": chunk, "version": version, "rank": 2 * version + 1, "names": [], "retracted": False}


def _row(contribution: Contribution) -> Row:
    return {**asdict(contribution), "key": _hash(contribution.names), "rank": 2 * contribution.version + 1}


def _retracted(row: Row, version: int) -> Row:
    """Ranks above every older version, and below what this version itself says: that may be written only now."""
    return {**row, "version": version, "rank": 2 * version, "retracted": True}


def _contribution(row: Row) -> Contribution:
    values: dict[str, Any] = {name: value for name, value in row.items() if name in _FIELDS}
    values["names"], values["keywords"] = tuple(row["names"]), tuple(row["keywords"])
    return Contribution(**values)
