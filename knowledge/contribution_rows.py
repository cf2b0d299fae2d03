"""Rows of the document store that the merger writes and the query service reads: the contributions
of chunks.

A contribution is what one chunk says of one entity or relation. All contributions of a chunk stand
in one row. Which chunks contributed to a key stands in the table of mentions: a counter of the
key's changes, and behind it in the order of keys an empty row for each chunk.
"""

from binascii import b2a_base64
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from contracts.graph import ChunkContribution, Provenance
from knowledge.contributions import Contribution
from knowledge.homonyms import EVERY, Documents, Source

Row = dict[str, Any]

CONTRIBUTIONS_TABLE = "chunk_contributions"
MENTIONS_TABLE = "mentions"
FOLDED_TABLE = "folded"
"""The original keys that are folded under a key that an edit has touched."""
EDITS_TABLE = "edits"
"""The edits of the graph, under their sequences in the log in 20 digits."""
EDITS_COUNTER = "edits"
"""The row key, in the table of mentions, of the counter of edits; those of keys are longer."""

Names = Sequence[str]
"""An entity's name alone, or the two sorted names of a relation."""

DIGEST_BYTES = 12
"""Bytes of a hash in a row key: of ten million names or chunks two are the same once in 10^15
times.
"""


def key_hash(names: Names) -> str:
    """Return the row key of the counter of this entity or relation, and the beginning of those of
    its mentions.
    """
    return ("e" if len(names) == 1 else "r") + _digest("\x1f".join(names))


def chunk_hash(chunk: str) -> str:
    """Return the row key of a chunk's contributions."""
    return _digest(chunk)


def mention_prefix(names: Names) -> str:
    """Return the beginning of the row keys of the chunks that contributed to these names."""
    return f"{key_hash(names)}:"


def mentioning_chunk(place: str) -> str:
    """Return the row key of the contributions of the chunk that a mention is about."""
    return place.partition(":")[2]


def chunk_row(fields: Row, contributions: Iterable[Row]) -> Row:
    """Return the row of a chunk: `fields` has those of its document, and any more, `version` among
    them.
    """
    statements = [
        [c["names"], c["description"], c["kind"], c["type"], c["keywords"], c["weight"]]
        for c in contributions
    ]
    return {**fields, "said": sorted(statements, key=lambda statement: statement[0]), "former": []}


def chunk_contributions_in(row: Row) -> list[ChunkContribution]:
    """Return what the chunk says of entities and relations, but for names it gives as the end of a
    relation only.
    """
    return [
        ChunkContribution(tuple(names), description, type_, tuple(keywords), weight)
        for names, description, kind, type_, keywords, weight in row["said"]
        if kind != "end"
    ]


def contributions_of(row: Row) -> list[Contribution]:
    """Return what the chunk in this row contributes, all of it; nothing where it was retracted."""
    place = (
        row["chunk_id"],
        row["document_id"],
        row["order"],
        row["version"],
        row["added_at"],
        row["file_path"],
    )
    return [
        Contribution(kind, tuple(names), description, *place, type_, tuple(keywords), weight)
        for names, description, kind, type_, keywords, weight in row["said"]
    ]


def newer_row(stored_row: Row | None, new_row: Row) -> Row:
    """Return the row that stands of two: of the newer version, with all names that either ever
    said.
    """
    if stored_row is None or (
        stored_row["said"] == new_row["said"] and stored_row["version"] == new_row["version"]
    ):
        return stored_row or new_row
    if new_row["document_id"] == "-":
        new_row = {
            **stored_row,
            **new_row,
            "document_id": stored_row["document_id"],
            "order": stored_row["order"],
        }
    # Of two of the same version it must not matter which came first.
    winner = max(
        stored_row, new_row, key=lambda row: (row["version"], len(row["said"]), str(row["said"]))
    )
    return {**winner, "former": _former([*names_in(stored_row), *names_in(new_row)], winner)}


def retracted_row(row: Row, version: int) -> Row:
    """Return the row of a chunk that is gone since `version`: names stay, to find what has to be
    folded again.
    """
    empty_row: Row = {**row, "said": [], "version": version}
    return {**empty_row, "former": _former(names_in(row), empty_row)}


def names_in(row: Row) -> list[Names]:
    """Return the names of all that a chunk says, or has said in older versions."""
    return [statement[0] for statement in row["said"]] + row["former"]


def folded_row(names: Names, sources: Sequence[Source], revision: int) -> Row:
    """Return the row of the sources folded under a key: by position the keys with their cutoffs,
    and the documents.

    The latter are left out where they are always all, as releases before homonyms have it.
    """
    raws = [[list(source.key), source.cutoff] for source in sources]
    row: Row = {"names": list(names), "raws": raws, "guard": revision}
    if any(source.documents != EVERY for source in sources):
        row["documents"] = [
            [source.documents.is_excluding, sorted(source.documents.ids)] for source in sources
        ]
    return row


def sources_in(row: Row) -> list[Source]:
    """Return the sources of a folded row."""
    documents = [
        Documents(frozenset(document_ids), is_excluding)
        for is_excluding, document_ids in row.get("documents", ())
    ]
    return [
        Source(tuple(raw), cutoff, documents)
        for (raw, cutoff), documents in zip(
            row["raws"], documents or [EVERY] * len(row["raws"]), strict=True
        )
    ]


def aliases_in(row: Row) -> list[tuple[str, str]]:
    """Return the other names of the entity of a folded row, each with the entity's; none of rows of
    older releases.
    """
    (name, *further_names) = row.get("names", ()) or (None,)
    if name is None or further_names:
        return []
    # A name that was split stands there for several groups of documents.
    return [(raw, name) for raw in dict.fromkeys(raw for (raw,), _ in row["raws"]) if raw != name]


def provenance_of(place: str, row: Row, names: Names) -> Provenance | None:
    """Return what the chunk in this row says of these names, at the row key `place`; None if
    nothing.
    """
    for statement in row["said"]:
        if statement[0] == list(names):
            return Provenance(
                cursor=place,
                names=tuple(names),
                chunk_id=row["chunk_id"],
                document_id=row["document_id"],
                order=row["order"],
                version=row["version"],
                added_at=row["added_at"],
                file_path=row["file_path"],
                description=statement[1],
                type=statement[3],
            )
    return None


def _former(names: Iterable[Names], row: Row) -> list[Names]:
    """Return those names that the row does not say now, each once."""
    current_names = {tuple(statement[0]) for statement in row["said"]}
    return [list(former_names) for former_names in sorted(set(map(tuple, names)) - current_names)]


@lru_cache(maxsize=16_384)  # a batch asks for each of its keys and chunks several times
def _digest(text: str) -> str:
    return b2a_base64(
        sha256(text.encode("utf-8", "replace")).digest()[:DIGEST_BYTES], newline=False
    ).decode()
