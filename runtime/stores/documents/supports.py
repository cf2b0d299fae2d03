"""What chunks say of each entity and relation: the rows in which the merger keeps it, and reading them in pages.

The shape of a row stands here, once: the merger writes such rows and folds them, readers ask what supports a thing. An
entity's node lists at most 200 of its chunks; here are all of them.
"""

from collections.abc import Collection, Sequence

from contracts.graph import Partition, Support
from contracts.ids import sha256
from runtime.stores.documents.port import Row, Rows, Table

TABLE = "contributions"
FOLDED = "folded"
"""For keys that people's edits have touched: which raw keys are folded under them."""

LEAST_READ = 100
"""Rows of one reading: most of them may have been taken back."""

Names = Sequence[str]
"""An entity's name alone, or the two sorted names of a relation."""


def key_hash(names: Names) -> str:
    """The field `key` of every row about this entity or relation."""
    return ("e-" if len(names) == 1 else "r-") + sha256("\x1f".join(names))[:40]


def row_key(names: Names, chunk: str) -> str:
    """The key of the row that keeps what this chunk says of these names: rows about one thing follow each other."""
    return f"{key_hash(names)}:{sha256(chunk)[:24]}"


def said_row(fields: Row) -> Row:
    """What a chunk says in some version: `fields` has the fields of Support, and any more, beside `version`."""
    left, *right = (key_hash((name,)) for name in fields["names"])
    return {
        **fields,
        "key": key_hash(fields["names"]),
        "left": left,
        "right": right[0] if right else "-",
        "retracted": False,
        "guard": 2 * fields["version"] + 1,
    }


def marker_row(chunk: str, version: int) -> tuple[str, Row]:
    """Key and row that say that a version of the chunk was merged, even where it says nothing."""
    nothing: Row = {"key": "-", "document_id": "-", "left": "-", "right": "-", "names": [], "order": -1}
    return f"-:{sha256(chunk)[:24]}", {**nothing, "chunk_id": chunk, "version": version, "guard": 2 * version + 1}


def retracted_row(row: Row, version: int) -> Row:
    """Names and place stay, to find what has to be folded again; what was said does not."""
    # One less than what the version itself says of the same key: in whatever order the two come, the latter stands.
    nothing: Row = {"description": "", "keywords": [], "file_path": "", "retracted": True}
    return {**row, **nothing, "version": version, "guard": 2 * version}


def folded_row(raws: Sequence[tuple[Names, int]], revision: int) -> Row:
    """The raw keys that are folded under a key at a revision, each with the version until which nothing counts."""
    return {"raws": [[list(names), until] for names, until in raws], "guard": revision}


class Supports:
    """What stands of all that chunks say. What newer versions and deletions took back never shows.

    For a thing that people have renamed or merged these are the supports of everything folded under its present name,
    without those that somebody's deletion has hidden; a chunk may then be among them under several names.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def of(
        self, space: Partition, names: Names, *, after: str = "", limit: int = 100, among: Collection[str] | None = None
    ) -> list[Support]:
        """Up to `limit` supports behind the place `after`, by place: an order of hashes that never varies.

        `among`: only those in these documents. Fewer than `limit` are the last ones. Without `among` a page costs its
        own length, and that of what was taken back between, however many there are; with it, all that these documents
        say of the names is read for each page. Raises what `Rows` raises.
        """
        raws = await self._raws(space, names)
        found: list[Support] = []
        for start in sorted(raws):
            if after < f"{start};" and len(found) < limit:  # ";" is the character after ":"
                place, room = max(after, f"{start}:"), limit - len(found)
                if among is None:
                    found += await self._page(space, start, raws[start], place, room)
                else:
                    found += await self._of_documents(space, start, raws[start], place, room, among)
        return found

    async def _raws(self, space: Partition, names: Names) -> dict[str, int]:
        """By hash, the keys that are folded under the names, each with the version until which nothing counts."""
        key = key_hash(names)
        row = (await self._rows.get(Table(FOLDED, space), [key])).get(key)
        return {key_hash(raw): until for raw, until in row["raws"]} if row else {key: 0}

    async def _page(self, space: Partition, start: str, until: int, after: str, limit: int) -> list[Support]:
        found: list[Support] = []
        size = max(limit, LEAST_READ)
        while len(found) < limit:
            page = await self._rows.scan(Table(TABLE, space), after, size)
            ours = [(place, row) for place, row in page if row["key"] == start]
            found += [_support(place, row) for place, row in ours if _stands(row, until)]
            if len(ours) < size:
                break
            after = page[-1][0]
        return found[:limit]

    async def _of_documents(
        self, space: Partition, start: str, until: int, after: str, limit: int, among: Collection[str]
    ) -> list[Support]:
        rows = await self._rows.find(Table(TABLE, space), {"key": start, "document_id": sorted(among)})
        return [_support(place, row) for place, row in rows if place > after and _stands(row, until)][:limit]


def _stands(row: Row, until: int) -> bool:
    return not row["retracted"] and row["version"] > until


def _support(place: str, row: Row) -> Support:
    return Support(
        place=place,
        names=tuple(row["names"]),
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        order=row["order"],
        version=row["version"],
        added_at=row["added_at"],
        file_path=row["file_path"],
        description=row["description"],
    )
