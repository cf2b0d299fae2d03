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
        new = {_row_key(c): _row(c) for _, contributions in said.values() for c in contributions}
        new |= {f"-:{sha256(chunk)[:24]}": _marker(chunk, version) for chunk, (version, _) in said.items()}
        await self._rows.put_newer(table, new, "guard")
        while True:
            found = await self._rows.find(table, {"chunk_id": list(said)})
            newest: dict[str, int] = {}
            for _, row in found:
                newest[row["chunk_id"]] = max(newest.get(row["chunk_id"], 0), row["version"])
            # Another replica may write another version at this moment: whoever looks last sees both, and retracts.
            stale = {key: _retracted(row, newest[row["chunk_id"]]) for key, row in found
                     if row["version"] < newest[row["chunk_id"]]}  # fmt: skip
            if not stale:
                break
            await self._rows.put_newer(table, stale, "guard")
        # Read back rather than computed: after a crash the retractions of the first attempt must be found again.
        touched: dict[str, set[Key]] = {chunk: set() for chunk in said}
        for _, row in found:
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


def _row(contribution: Contribution) -> Row:
    return {**asdict(contribution), "key": _hash(contribution.names), "guard": 2 * contribution.version + 1}


def _marker(chunk: str, version: int) -> Row:
    """Says that a version of the chunk was merged, even where it says nothing."""
    return {"key": "-", "chunk_id": chunk, "names": [], "version": version, "guard": 2 * version + 1}


def _retracted(row: Row, version: int) -> Row:
    # One less than what the version itself says of the same key: in whatever order the two come, the latter stands.
    return {**row, "version": version, "retracted": True, "guard": 2 * version}


def _contribution(row: Row) -> Contribution:
    values: dict[str, Any] = {name: value for name, value in row.items() if name in _FIELDS}
    values["names"], values["keywords"] = tuple(row["names"]), tuple(row["keywords"])
    return Contribution(**values)
