"""Stores contributions, edits, document bounds and summaries in the document store."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from contracts.graph import DocumentBounds, Partition
from contracts.values import EditedValues
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
        self._rows, self._extents = rows, RowDocumentBounds(rows, "graph_extents")

    async def replace(
        self, partition: Partition, contributions: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """See `Contributions.replace`."""
        new = {
            chunk_hash(chunk): row_of(chunk, *content) for chunk, content in contributions.items()
        }
        rows = await self._rows.update(
            _chunks(partition),
            new,
            lambda stored: {key: newer_row(stored.get(key), row) for key, row in new.items()},
        )
        rows |= await self._retract_obsolete(partition, rows)
        return {row["chunk_id"]: _keys_in(row) for row in rows.values()}

    async def apply_bounds(
        self, partition: Partition, extents: Mapping[str, DocumentBounds]
    ) -> dict[str, set[ContributionId]]:
        """See `Contributions.apply_bounds`."""
        before = await self._extents.put(partition, extents)
        changed: dict[str, set[ContributionId]] = {document: set() for document in extents}
        # The first bounds of a document retract nothing: its contributions are of the same version.
        documents = [
            document
            for document, extent in extents.items()
            if document in before or not extent.count
        ]
        if documents:
            bounds = await self._extents.get(partition, documents)
            rows = dict(await self._rows.find(_chunks(partition), {"document_id": documents}))
            rows |= await self._retract_obsolete(partition, rows)
            for row in rows.values():
                if row["order"] >= bounds[row["document_id"]].count:
                    changed[row["document_id"]] |= {(key, row["chunk_id"]) for key in _keys_in(row)}
        return changed

    async def _retract_obsolete(
        self, partition: Partition, rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        """Retract the rows that the bounds of their document have made obsolete, and return these.

        Bounds are read after rows, and rows after bounds: whoever comes last sees both, and
        retracts.
        """
        extents = await self._extents.get(
            partition, {row["document_id"] for row in rows.values() if row["said"]}
        )

        def obsolete(row: Row) -> bool:
            extent = extents.get(row["document_id"])
            return bool(
                row["said"] and extent and extent.is_obsolete_chunk(row["order"], row["version"])
            )

        def retracted(stored: Mapping[str, Row]) -> dict[str, Row]:
            return {
                key: retracted_row(row, extents[row["document_id"]].version)
                if obsolete(row)
                else row
                for key, row in stored.items()
            }

        gone = [key for key, row in rows.items() if obsolete(row)]
        return await self._rows.update(_chunks(partition), gone, retracted) if gone else {}

    async def count_changes(
        self,
        partition: Partition,
        changed: Mapping[Key, Collection[str]],
        mentions: Mapping[Key, Collection[str]],
        summarized: Mapping[Key, Collection[str]],
    ) -> dict[Key, History]:
        """See `Contributions.count_changes`."""
        rows: dict[str, Row] = {
            mention_prefix(key) + chunk_hash(chunk): {}
            for key, chunks in mentions.items()
            for chunk in chunks
        }
        notes = {
            key_hash(key): History.note(sorted(map(chunk_hash, chunks)), summarized.get(key, ()))
            for key, chunks in changed.items()
        }
        counters = (
            await self._rows.append(_mentions(partition), notes, rows) if notes or rows else {}
        )
        return {key: _history(counters[key_hash(key)]) for key in changed}

    async def histories(self, partition: Partition, keys: Collection[Key]) -> dict[Key, History]:
        """See `Contributions.histories`."""
        hashes = {key_hash(key): key for key in keys}
        counters = await self._rows.get(_mentions(partition), list(hashes)) if hashes else {}
        return {hashes[hash]: _history(row) for hash, row in counters.items()}

    async def mentioning_chunks(
        self, partition: Partition, keys: Collection[Key]
    ) -> dict[Key, set[str]]:
        """See `Contributions.mentioning_chunks`."""
        prefixes = {mention_prefix(key): key for key in keys}
        chunks: dict[Key, set[str]] = {key: set() for key in keys}
        for place, _ in (
            await self._rows.under(_mentions(partition), list(prefixes)) if prefixes else ()
        ):
            chunks[prefixes[place[: place.index(":") + 1]]].add(mentioning_chunk(place))
        return chunks

    async def of_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Contribution]]:
        """See `Contributions.of_chunks`."""
        keys: dict[str, list[Key]] = defaultdict(list)
        for key, hashes in chunks.items():
            for hash in hashes:
                keys[hash].append(key)
        contributions: dict[Key, list[Contribution]] = {key: [] for key in chunks}
        for batch in batched(sorted(keys), _CHUNKS):
            for hash, row in (await self._rows.get(_chunks(partition), batch)).items():
                for contribution in contributions_in(row, keys[hash]):
                    contributions[contribution.names].append(contribution)
        return contributions

    async def keys_with_names(self, partition: Partition, names: Collection[str]) -> set[Key]:
        """See `Contributions.keys_with_names`."""
        searched = set(names)
        chunks = await self.mentioning_chunks(partition, [(name,) for name in searched])
        keys: set[Key] = set()
        # A chunk that names a relation contributes to both of its entities, too.
        for batch in batched(sorted(set[str]().union(*chunks.values())), _CHUNKS):
            for row in (await self._rows.get(_chunks(partition), batch)).values():
                keys |= {
                    key for key in _keys_in(row) if len(key) > 1 and searched.intersection(key)
                }
        return keys

    async def put_sources(
        self, partition: Partition, folded: Mapping[Key, tuple[int, Sequence[Source]]]
    ) -> None:
        """See `Contributions.put_sources`."""
        rows = {
            key_hash(key): folded_row(key, sources, revision)
            for key, (revision, sources) in folded.items()
        }
        await self._rows.put_newer(Table(FOLDED_TABLE, partition), rows, "guard")

    async def put_edits(self, partition: Partition, edits: Sequence[Edit]) -> None:
        """See `Contributions.put_edits`."""
        rows = {_edit_key(edit.sequence): _edit_row(edit) for edit in edits}
        await self._rows.put(Table(EDITS_TABLE, partition), rows)
        # Counted after they are stored, and again when they come again: whoever reads the count
        # reads the edits.
        note = History.note(str(edit.sequence) for edit in edits)
        await self._rows.append(_mentions(partition), {EDITS_COUNTER: note}, {})

    async def edit_history(self, partition: Partition) -> History:
        """See `Contributions.edit_history`."""
        row = (await self._rows.get(_mentions(partition), [EDITS_COUNTER])).get(EDITS_COUNTER)
        return _history(row) if row else History(0)

    async def edits(
        self, partition: Partition, sequences: Collection[int] | None = None
    ) -> list[Edit]:
        """See `Contributions.edits`."""
        table = Table(EDITS_TABLE, partition)
        if sequences is not None:
            return [
                _edit(row)
                for row in (await self._rows.get(table, list(map(_edit_key, sequences)))).values()
            ]
        edits: list[Edit] = []
        after = ""
        while page := await self._rows.scan(table, after, _PAGE):
            edits += [_edit(row) for _, row in page]
            after = page[-1][0]
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
        # earliest summary stays.
        rows = {hash: {"text": text, "guard": -place} for hash, (place, text) in summaries.items()}
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
