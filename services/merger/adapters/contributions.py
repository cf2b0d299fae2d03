"""Stores contributions, edits, document bounds and summaries in the document store."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from contracts.graph import DocumentBounds, Partition
from contracts.graph_edits import EditedValues
from knowledge.contribution_rows import (
    CONTRIBUTIONS_TABLE,
    EDITS_COUNTER,
    EDITS_TABLE,
    FOLDED_TABLE,
    MENTIONS_TABLE,
    chunk_hash,
    folded_row,
    key_hash,
    mention_prefix,
    mentioning_chunk,
    names_in,
    newer_row,
    retracted_row,
)
from knowledge.contributions import Contribution, Key
from knowledge.edit import Edit
from knowledge.homonyms import Source
from runtime.batching import batched
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Row, Rows, Table
from services.merger.adapters.contribution_rows import contributions_in, row_of
from services.merger.domain.history import History
from services.merger.port import ContributionId

BOUNDS_TABLE = "graph_extents"
"""Table of the bounds of documents, as the graph has them."""

_PAGE = 1000
_CHUNKS = 500
"""Chunks whose contributions are read at once: a hub has many, and most of what they say is of
other keys.
"""


class RowContributions:
    """`Contributions` over `Rows`: one row per chunk, one counter per key, one empty row for each
    of its chunks.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._bounds = RowDocumentBounds(rows, BOUNDS_TABLE)

    async def replace(
        self, partition: Partition, contributions: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """See `Contributions.replace`."""
        new_rows: dict[str, Row] = {}
        for chunk, (version, of_chunk) in contributions.items():
            new_rows[chunk_hash(chunk)] = row_of(chunk, version, of_chunk)

        def newer_rows(stored_rows: Mapping[str, Row]) -> dict[str, Row]:
            return {key: newer_row(stored_rows.get(key), row) for key, row in new_rows.items()}

        rows = await self._rows.update(_chunks(partition), new_rows, newer_rows)
        rows |= await self._retract_obsolete(partition, rows)
        return {row["chunk_id"]: _keys_in(row) for row in rows.values()}

    async def apply_bounds(
        self, partition: Partition, bounds: Mapping[str, DocumentBounds]
    ) -> dict[str, set[ContributionId]]:
        """See `Contributions.apply_bounds`."""
        earlier_bounds = await self._bounds.put(partition, bounds)
        # The first bounds of a document retract nothing: its contributions are of the same version
        # (decision 17).
        documents = [
            document
            for document, of_document in bounds.items()
            if document in earlier_bounds or not of_document.count
        ]
        ids: dict[str, set[ContributionId]] = {document: set() for document in bounds}
        if not documents:
            return ids
        stored_bounds = await self._bounds.get(partition, documents)
        rows = dict(await self._rows.find(_chunks(partition), {"document_id": documents}))
        rows |= await self._retract_obsolete(partition, rows)
        for row in rows.values():
            document = row["document_id"]
            if row["order"] >= stored_bounds[document].end:
                ids[document] |= {(key, row["chunk_id"]) for key in _keys_in(row)}
        return ids

    async def _retract_obsolete(
        self, partition: Partition, rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Retract the rows that the bounds of their document have made obsolete, and return these.

        Bounds are read after rows, and rows after bounds: whoever comes last sees both, and
        retracts (decision 17).
        """
        documents = {row["document_id"] for row in rows.values() if row["said"]}
        bounds = await self._bounds.get(partition, documents)

        def is_obsolete(row: Row) -> bool:
            of_document = bounds.get(row["document_id"])
            if not row["said"] or of_document is None:
                return False
            return of_document.is_obsolete_chunk(row["order"], row["version"])

        def without_obsolete(stored_rows: Mapping[str, Row]) -> dict[str, Row]:
            updated_rows = dict(stored_rows)
            for key, row in stored_rows.items():
                if is_obsolete(row):
                    updated_rows[key] = retracted_row(row, bounds[row["document_id"]].version)
            return updated_rows

        obsolete_keys = [key for key, row in rows.items() if is_obsolete(row)]
        if not obsolete_keys:
            return {}
        return await self._rows.update(_chunks(partition), obsolete_keys, without_obsolete)

    async def count_changes(
        self,
        partition: Partition,
        chunks: Mapping[Key, Collection[str]],
        mentions: Mapping[Key, Collection[str]],
        summary_hashes: Mapping[Key, Collection[str]],
    ) -> dict[Key, History]:
        """See `Contributions.count_changes`."""
        rows: dict[str, Row] = {}
        for key, mentioning_chunks in mentions.items():
            prefix = mention_prefix(key)
            for chunk in mentioning_chunks:
                rows[prefix + chunk_hash(chunk)] = {}
        notes: dict[str, str] = {}
        for key, changed_chunks in chunks.items():
            hashes = sorted(map(chunk_hash, changed_chunks))
            notes[key_hash(key)] = History.note(hashes, summary_hashes.get(key, ()))
        if not notes and not rows:
            return {}
        # In one change: whoever reads a number must find the notes of all that it counts, or a fold
        # would stand without a chunk (decision 11).
        counters = await self._rows.append(_mentions(partition), notes, rows)
        return {key: _history(counters[key_hash(key)]) for key in chunks}

    async def histories(self, partition: Partition, keys: Collection[Key]) -> dict[Key, History]:
        """See `Contributions.histories`."""
        if not keys:
            return {}
        keys_by_hash = {key_hash(key): key for key in keys}
        counters = await self._rows.get(_mentions(partition), list(keys_by_hash))
        return {keys_by_hash[hash]: _history(row) for hash, row in counters.items()}

    async def mentioning_chunks(
        self, partition: Partition, keys: Collection[Key]
    ) -> dict[Key, set[str]]:
        """See `Contributions.mentioning_chunks`."""
        chunks: dict[Key, set[str]] = {key: set() for key in keys}
        if not chunks:
            return chunks
        keys_by_prefix = {mention_prefix(key): key for key in keys}
        for row_key, _ in await self._rows.under(_mentions(partition), list(keys_by_prefix)):
            prefix = row_key[: row_key.index(":") + 1]
            chunks[keys_by_prefix[prefix]].add(mentioning_chunk(row_key))
        return chunks

    async def of_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Contribution]]:
        """See `Contributions.of_chunks`."""
        keys_by_chunk: dict[str, list[Key]] = defaultdict(list)
        for key, hashes in chunks.items():
            for hash in hashes:
                keys_by_chunk[hash].append(key)
        contributions: dict[Key, list[Contribution]] = {key: [] for key in chunks}
        for batch in batched(sorted(keys_by_chunk), _CHUNKS):
            rows = await self._rows.get(_chunks(partition), batch)
            for hash, row in rows.items():
                for contribution in contributions_in(row, keys_by_chunk[hash]):
                    contributions[contribution.names].append(contribution)
        return contributions

    async def keys_with_names(self, partition: Partition, names: Collection[str]) -> set[Key]:
        """See `Contributions.keys_with_names`."""
        entity_names = set(names)
        chunks = await self.mentioning_chunks(partition, [(name,) for name in entity_names])
        keys: set[Key] = set()
        # A chunk that names a relation contributes to both of its entities, too.
        for batch in batched(sorted(set[str]().union(*chunks.values())), _CHUNKS):
            for row in (await self._rows.get(_chunks(partition), batch)).values():
                for key in _keys_in(row):
                    if len(key) > 1 and not entity_names.isdisjoint(key):
                        keys.add(key)
        return keys

    async def put_sources(
        self, partition: Partition, sources: Mapping[Key, tuple[int, Sequence[Source]]]
    ) -> None:
        """See `Contributions.put_sources`."""
        rows = {
            key_hash(key): folded_row(key, of_key, revision)
            for key, (revision, of_key) in sources.items()
        }
        await self._rows.put_newer(Table(FOLDED_TABLE, partition), rows, "guard")

    async def put_edits(self, partition: Partition, edits: Sequence[Edit]) -> None:
        """See `Contributions.put_edits`."""
        rows = {_edit_key(edit.sequence): _edit_row(edit) for edit in edits}
        await self._rows.put(Table(EDITS_TABLE, partition), rows)
        # Counted after they are stored, and again when they come again: whoever reads the count
        # reads the edits (decision 11).
        note = History.note(str(edit.sequence) for edit in edits)
        await self._rows.append(_mentions(partition), {EDITS_COUNTER: note}, {})

    async def edit_history(self, partition: Partition) -> History:
        """See `Contributions.edit_history`."""
        rows = await self._rows.get(_mentions(partition), [EDITS_COUNTER])
        return _history(rows[EDITS_COUNTER]) if EDITS_COUNTER in rows else History(0)

    async def edits(
        self, partition: Partition, sequences: Collection[int] | None = None
    ) -> list[Edit]:
        """See `Contributions.edits`."""
        table = Table(EDITS_TABLE, partition)
        if sequences is not None:
            rows = await self._rows.get(table, [_edit_key(sequence) for sequence in sequences])
            return [_edit(row) for row in rows.values()]
        edits: list[Edit] = []
        last_key = ""
        while page := await self._rows.scan(table, last_key, _PAGE):
            edits += [_edit(row) for _, row in page]
            last_key = page[-1][0]
            if len(page) < _PAGE:
                break
        return edits


class RowSummaries:
    """`Summaries` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def put(self, partition: Partition, summaries: Mapping[str, tuple[int, str]]) -> None:
        """See `Summaries.put`."""
        # Rows with a greater guard replace others, so the guard is the negative sequence: the
        # earliest summary stays, and a rebuild has the same (decision 19).
        rows = {
            hash: {"text": text, "guard": -sequence} for hash, (sequence, text) in summaries.items()
        }
        await self._rows.put_newer(Table("summaries", partition), rows, "guard")

    async def get(self, partition: Partition, hashes: Collection[str]) -> dict[str, str]:
        """See `Summaries.get`."""
        rows = await self._rows.get(Table("summaries", partition), hashes)
        return {hash: row["text"] for hash, row in rows.items()}


def _chunks(partition: Partition) -> Table:
    return Table(CONTRIBUTIONS_TABLE, partition)


def _mentions(partition: Partition) -> Table:
    return Table(MENTIONS_TABLE, partition)


def _keys_in(row: Row) -> set[Key]:
    return {tuple(names) for names in names_in(row)}


def _history(row: Row) -> History:
    return History(row["n"], tuple(row.get("notes", ())))


def _edit_key(sequence: int) -> str:
    return f"{sequence:020d}"


def _edit_row(edit: Edit) -> Row:
    row = {**asdict(edit), "values": edit.values.model_dump()}
    # What only some edits have, releases without those cannot read: they may run beside this one
    # for a while.
    return {
        name: value for name, value in row.items() if value or name not in ("undoes", "documents")
    }


def _edit(row: Row) -> Edit:
    values: dict[str, Any] = {
        **row,
        "names": tuple(row["names"]),
        "values": EditedValues(**row["values"]),
    }
    values["documents"] = tuple(row.get("documents", ()))
    return Edit(**values)
