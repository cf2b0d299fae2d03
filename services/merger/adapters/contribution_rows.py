"""Contributions of a chunk as one row of the document store, and back."""

from collections.abc import Iterable, Sequence

from knowledge.contribution_rows import Row, chunk_row
from knowledge.contributions import Contribution, Key


def row_of(chunk: str, version: int, contributions: Sequence[Contribution]) -> Row:
    """Return the row of all that this version of the chunk contributes, which may be nothing."""
    first = contributions[0] if contributions else None
    fields: Row = {
        "chunk_id": chunk,
        "document_id": first.document_id if first else "-",
        "order": first.order if first else -1,
        "version": version,
        "added_at": first.added_at if first else 0,
        "file_path": first.file_path if first else "",
    }
    return chunk_row(
        fields,
        (
            {
                "names": list(c.names),
                "description": c.description,
                "kind": c.kind,
                "type": c.type,
                "keywords": list(c.keywords),
                "weight": c.weight,
            }
            for c in contributions
        ),
    )


def contributions_in(row: Row, keys: Iterable[Key]) -> list[Contribution]:
    """Return what the chunk contributes to each of these keys; a retracted contribution where it
    says nothing.
    """
    said = {tuple(one[0]): one for one in row["said"]}
    chunk, document, order, version = (
        row["chunk_id"],
        row["document_id"],
        row["order"],
        row["version"],
    )
    added_at, file_path = row["added_at"], row["file_path"]
    contributions: list[Contribution] = []
    for key in keys:
        if one := said.get(key):
            _, description, kind, type_, keywords, weight = one
            contributions.append(
                Contribution(
                    kind,
                    key,
                    description,
                    chunk,
                    document,
                    order,
                    version,
                    added_at,
                    file_path,
                    type_,
                    tuple(keywords),
                    weight,
                )
            )
        else:
            nothing = Contribution(
                "entity", key, "", chunk, document, order, version, added_at, "", retracted=True
            )
            contributions.append(nothing)
    return contributions
