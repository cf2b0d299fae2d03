"""Rows of the document store that the merger writes and the query service reads: the contributions of chunks.

A contribution is what one chunk says of one entity or relation. Its row has the fields of `Provenance`, those that the
merger folds, and the keys below.
"""

from collections.abc import Sequence
from typing import Any

from contracts.graph import Provenance
from contracts.ids import sha256

Row = dict[str, Any]

CONTRIBUTIONS_TABLE = "contributions"
FOLDED_TABLE = "folded"
"""The original keys that are folded under a key that an edit has touched."""

Names = Sequence[str]
"""An entity's name alone, or the two sorted names of a relation."""


def key_hash(names: Names) -> str:
    """Return the field `key` of every row about this entity or relation."""
    return ("e-" if len(names) == 1 else "r-") + sha256("\x1f".join(names))[:40]


def row_key(names: Names, chunk: str) -> str:
    """Return the key of the row of this chunk and these names: rows of one entity or relation follow each other."""
    return f"{key_hash(names)}:{sha256(chunk)[:24]}"


def contribution_row(fields: Row) -> Row:
    """Return the row of a contribution: `fields` has those of `Provenance`, and any more, `version` among them."""
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
    """Return key and row that record that a version of the chunk was merged, even one without contributions."""
    nothing: Row = {"key": "-", "document_id": "-", "left": "-", "right": "-", "names": [], "order": -1}
    return f"-:{sha256(chunk)[:24]}", {**nothing, "chunk_id": chunk, "version": version, "guard": 2 * version + 1}


def retracted_row(row: Row, version: int) -> Row:
    """Return the row of a retracted contribution: names and keys stay, to find what has to be folded again."""
    # One less than the guard of a contribution of that version: in whatever order the two come, the latter stands.
    nothing: Row = {"description": "", "keywords": [], "file_path": "", "retracted": True}
    return {**row, **nothing, "version": version, "guard": 2 * version}


def folded_row(raws: Sequence[tuple[Names, int]], revision: int) -> Row:
    """Return the row of the original keys folded under a key, each with the version up to which it does not count."""
    return {"raws": [[list(names), until] for names, until in raws], "guard": revision}


def is_active(row: Row, until: int) -> bool:
    """Return whether a contribution counts: it is not retracted, and newer than version `until`."""
    return not row["retracted"] and row["version"] > until


def provenance_of(place: str, row: Row) -> Provenance:
    """Return the contribution in the row with the key `place`."""
    return Provenance(
        cursor=place,
        names=tuple(row["names"]),
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        order=row["order"],
        version=row["version"],
        added_at=row["added_at"],
        file_path=row["file_path"],
        description=row["description"],
    )
