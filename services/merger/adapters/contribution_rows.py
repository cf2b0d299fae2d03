"""Contributions of a chunk as one row of the document store, and back."""

from collections.abc import Iterable, Sequence
from sys import intern

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
                "names": list(contribution.names),
                "description": contribution.description,
                "kind": contribution.kind,
                "type": contribution.type,
                "keywords": list(contribution.keywords),
                "weight": contribution.weight,
            }
            for contribution in contributions
        ),
    )


def contributions_in(row: Row, keys: Iterable[Key]) -> list[Contribution]:
    """Return what the chunk contributes to each of these keys; a retracted contribution where it
    says nothing.
    """
    entries = {tuple(entry[0]): entry for entry in row["said"]}
    contributions: list[Contribution] = []
    for key in keys:
        entry = entries.get(key)
        if entry is None:
            contributions.append(_retracted_contribution(row, key))
            continue
        _, description, kind, type_, keywords, weight = entry
        contributions.append(
            # Equal words are one object: an aggregate keeps those of each of its contributions.
            Contribution(
                kind,
                key,
                description,
                row["chunk_id"],
                row["document_id"],
                row["order"],
                row["version"],
                row["added_at"],
                row["file_path"],
                intern(type_),
                tuple(map(intern, keywords)),
                weight,
            )
        )
    return contributions


def _retracted_contribution(row: Row, key: Key) -> Contribution:
    return Contribution(
        "entity",
        key,
        "",
        row["chunk_id"],
        row["document_id"],
        row["order"],
        row["version"],
        row["added_at"],
        "",
        is_retracted=True,
    )
