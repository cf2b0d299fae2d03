"""Stores contributions, edits, document bounds and summaries in the document store."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from contracts.contribution_rows import (
    CONTRIBUTIONS_TABLE,
    FOLDED_TABLE,
    contribution_row,
    folded_row,
    key_hash,
    marker_row,
    retracted_row,
    row_key,
)
from contracts.graph import DocumentBounds, Partition
from contracts.values import EditedValues
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.port import Row, Rows, Table
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.edits import Edit
from services.merger.port import ContributionKey

_FIELDS = {field.name for field in fields(Contribution)}
_PAGE = 1000


class RowContributions:
    """`Contributions` over `Rows`: one row per chunk and key, one per chunk for its version, one counter per key."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._extents = rows, RowDocumentBounds(rows, "graph_extents")

    async def replace(
        self, partition: Partition, contributions: Mapping[str, tuple[int, Sequence[Contribution]]]
    ) -> dict[str, set[Key]]:
        """See `Contributions.replace`."""
        new = {
            row_key(c.names, c.chunk_id): contribution_row(asdict(c))
            for _, chunk_contributions in contributions.values()
            for c in chunk_contributions
        }
        new |= dict(marker_row(chunk, version) for chunk, (version, _) in contributions.items())
        await self._rows.put_newer(_contributions(partition), new, "guard")
        rows = await self._retract_stale(partition, {"chunk_id": list(contributions)})
        # Read back rather than computed: after a crash the retractions of the first attempt must be found again.
        changed_keys: dict[str, set[Key]] = {chunk: set() for chunk in contributions}
        for row in rows:
            if row["names"]:
                changed_keys[row["chunk_id"]].add(tuple(row["names"]))
        return changed_keys

    async def apply_bounds(
        self, partition: Partition, extents: Mapping[str, DocumentBounds]
    ) -> dict[str, set[ContributionKey]]:
        """See `Contributions.apply_bounds`."""
        before = await self._extents.put(partition, extents)
        changed_contributions: dict[str, set[ContributionKey]] = {document: set() for document in extents}
        # The first bounds of a document retract nothing: its contributions are of the same version.
        documents = [document for document, extent in extents.items() if document in before or not extent.count]
        if documents:
            await self._retract_stale(partition, {"document_id": documents})
            bounds = await self._extents.get(partition, documents)
            for _, row in await self._rows.find(_contributions(partition), {"document_id": documents}):
                if row["names"] and row["order"] >= bounds[row["document_id"]].count:
                    changed_contributions[row["document_id"]].add((tuple(row["names"]), row["chunk_id"]))
        return changed_contributions

    async def _retract_stale(self, partition: Partition, where: Mapping[str, list[str]]) -> list[Row]:
        """Retract the rows that a newer version of their chunk or document has replaced, and return all of them.

        Another replica may write another version at this moment: whoever reads last sees both, and retracts.
        """
        while True:
            rows = await self._rows.find(_contributions(partition), dict(where))
            extents = await self._extents.get(partition, {row["document_id"] for _, row in rows if row["names"]})
            newest: dict[str, int] = {}
            for _, row in rows:
                newest[row["chunk_id"]] = max(newest.get(row["chunk_id"], 0), row["version"])
            stale: dict[str, Row] = {}
            for key, row in rows:
                extent = extents.get(row["document_id"])
                end_version = extent.version if extent and extent.is_obsolete_chunk(row["order"], row["version"]) else 0
                if (version := max(newest[row["chunk_id"]], end_version)) > row["version"]:
                    stale[key] = retracted_row(row, version)
            if not stale:
                return [row for _, row in rows]
            await self._rows.put_newer(_contributions(partition), stale, "guard")

    async def increment_revisions(self, partition: Partition, keys: Sequence[Key]) -> dict[Key, int]:
        """See `Contributions.increment_revisions`."""
        hashes = {key_hash(key): key for key in keys}
        revisions = await self._rows.increment(Table("revisions", partition), list(hashes))
        return {hashes[hash]: number for hash, number in revisions.items()}

    async def revisions(self, partition: Partition, keys: Collection[Key]) -> dict[Key, int]:
        """See `Contributions.revisions`."""
        hashes = {key_hash(key): key for key in keys}
        rows = await self._rows.get(Table("revisions", partition), list(hashes))
        return {hashes[hash]: row["n"] for hash, row in rows.items()}

    async def by_key(self, partition: Partition, keys: Collection[Key]) -> dict[Key, list[Contribution]]:
        """See `Contributions.by_key`."""
        contributions: dict[Key, list[Contribution]] = defaultdict(list)
        if keys:
            for _, row in await self._rows.find(_contributions(partition), {"key": [key_hash(key) for key in keys]}):
                contribution = _contribution(row)
                contributions[contribution.names].append(contribution)
        return {key: contributions[key] for key in keys}

    async def of_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Contribution]]:
        """See `Contributions.of_chunks`."""
        keys_by_row = {row_key(key, chunk): key for key, chunk_ids in chunks.items() for chunk in chunk_ids}
        rows = await self._rows.get(_contributions(partition), list(keys_by_row)) if keys_by_row else {}
        contributions: dict[Key, list[Contribution]] = {key: [] for key in chunks}
        for row_id, row in rows.items():
            contributions[keys_by_row[row_id]].append(_contribution(row))
        return contributions

    async def keys_with_names(self, partition: Partition, names: Collection[str]) -> set[Key]:
        """See `Contributions.keys_with_names`."""
        hashes = [key_hash((name,)) for name in names]
        sides = [await self._rows.find(_contributions(partition), {side: hashes}) for side in ("left", "right")]
        return {tuple(row["names"]) for side in sides for _, row in side}

    async def put_original_keys(
        self, partition: Partition, folded: Mapping[Key, tuple[int, Sequence[tuple[Key, int]]]]
    ) -> None:
        """See `Contributions.put_original_keys`."""
        rows = {key_hash(key): folded_row(raws, revision) for key, (revision, raws) in folded.items()}
        await self._rows.put_newer(Table(FOLDED_TABLE, partition), rows, "guard")

    async def put_edits(self, partition: Partition, edits: Sequence[Edit]) -> None:
        """See `Contributions.put_edits`."""
        rows = {f"{edit.sequence:020d}": {**asdict(edit), "values": edit.values.model_dump()} for edit in edits}
        await self._rows.put(Table("edits", partition), rows)

    async def edits(self, partition: Partition) -> list[Edit]:
        """See `Contributions.edits`."""
        edits: list[Edit] = []
        after = ""
        while page := await self._rows.scan(Table("edits", partition), after, _PAGE):
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
        # Rows with a greater guard replace others, so the guard is the negative sequence: the earliest summary stays.
        rows = {hash: {"text": text, "guard": -place} for hash, (place, text) in summaries.items()}
        await self._rows.put_newer(Table("summaries", partition), rows, "guard")

    async def get(self, partition: Partition, hashes: Collection[str]) -> dict[str, str]:
        """See `Summaries.get`."""
        rows = await self._rows.get(Table("summaries", partition), hashes)
        return {hash: row["text"] for hash, row in rows.items()}


def _contributions(partition: Partition) -> Table:
    return Table(CONTRIBUTIONS_TABLE, partition)


def _contribution(row: Row) -> Contribution:
    values: dict[str, Any] = {name: value for name, value in row.items() if name in _FIELDS}
    values["names"], values["keywords"] = tuple(row["names"]), tuple(row["keywords"])
    return Contribution(**values)


def _edit(row: Row) -> Edit:
    values: dict[str, Any] = {**row, "names": tuple(row["names"]), "values": EditedValues(**row["values"])}
    return Edit(**values)
