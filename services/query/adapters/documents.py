"""Documents, passages and caches in the document store."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from contracts.access import Access
from contracts.graph import DocumentBounds, Partition
from contracts.moments import microseconds
from contracts.subjects import token
from contracts.text import one_line
from contracts.values import FigureRef, Validity
from runtime.batching import batched
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.row_parser import RowParser
from services.query.adapters import document_lists, supersessions
from services.query.adapters.document_labels import LABELS_FIELD, label_text, read_label_texts
from services.query.passage import Passage
from services.query.retrieval.passage_index.joined_words import MAX_REMEMBERED, PASSAGE_OVERHEAD
from services.query.retrieval.passage_index.passage_words import (
    PassageWords,
    words_of,
)
from services.query.status.document_status import (
    ALONE,
    LEAVING,
    SETTLED,
    STATUSES,
    STEPS,
    DocumentStatus,
    Failure,
)
from services.query.status.port import Change, Listing, Page
from services.query.status.scope import Scope
from services.query.visibility.workspace_access import DocumentAccess

_PAGE = 1000
"""Rows per read of a scan."""
DOCUMENTS_AT_ONCE = 50
"""Documents whose passages are read at once to see which are obsolete."""
_OLDEST = 100
"""Unsettled documents, first in the log, that are compared by time, because the clocks of
publishers differ.
"""

WORDS_FIELD = "words"
"""Of a chunk's row: its words, as a walk reads them. They follow from the other fields, so no
digest has them.
"""
PASSAGE_FIELDS = tuple(field.name for field in fields(Passage))
STATUS_FIELDS = tuple(field.name for field in fields(DocumentStatus))
STATEMENT_FIELDS = (
    "access",
    "access_set",
    "version_validity",
    "stated_validity",
    "statement",
    "tags",
    "tags_set",
    "original_size",
    "text_count",
)
"""Fields that a row has only where something was said: others are as older versions of this code
write them.
"""
FAILURE_FIELDS = tuple(field.name for field in fields(Failure))


class RowDocuments:
    """`Documents` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def get(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, tuple[DocumentStatus, int]]:
        """See `Documents.get`."""
        rows = await self._rows.get(_documents(partition), [token(id) for id in ids])
        return {row["id"]: (_status(row), row["rev"]) for row in rows.values()}

    async def update(
        self, partition: Partition, ids: Collection[str], change: Change
    ) -> list[DocumentStatus]:
        """See `Documents.update`."""

        def changed(stored_rows: Mapping[str, Row]) -> dict[str, Row]:
            revisions = {row["id"]: row["rev"] for row in stored_rows.values()}
            states = change({row["id"]: _status(row) for row in stored_rows.values()})
            return {
                token(state.id): _row(state, revisions.get(state.id, 0) + 1) for state in states
            }

        written_rows = await self._rows.update(
            _documents(partition), [token(id) for id in ids], changed
        )
        return [_status(row) for row in written_rows.values()]

    async def put(self, partition: Partition, statuses: Sequence[DocumentStatus]) -> None:
        """Write these states, whatever is stored: for a rebuild, into a generation that nobody else
        writes.
        """
        rows = {token(status.id): _row(status, revision=1) for status in statuses}
        await self._rows.put(_documents(partition), rows)

    async def page(
        self, partition: Partition, listing: Listing, among: frozenset[str] | None = None
    ) -> Page:
        """See `Documents.page`."""
        table = _documents(partition)
        page = (
            await document_lists.read_page(self._rows, table, listing)
            if among is None
            else await document_lists.read_page_of(self._rows, table, listing, among)
        )
        return Page([_status(row) for row in page.rows], page.total, page.counts)

    async def by_track_id(self, partition: Partition, track_id: str) -> list[DocumentStatus]:
        """See `Documents.by_track_id`."""
        rows = await self._rows.find(
            _documents(partition), {"track_id": track_id, "status": list(STATUSES)}, order="id"
        )
        return [_status(row) for _, row in rows]

    async def in_scope(self, partition: Partition, scope: Scope) -> set[str]:
        """See `Documents.in_scope`."""
        table = _documents(partition)
        keys = await document_lists.read_keys_in_scope(self._rows, table, scope)
        labels = scope.labels
        if not scope.document_ids and labels is not None:
            if labels:
                label_texts = await read_label_texts(self._rows, table, keys, _status)
                keys = frozenset(
                    key for key, text in label_texts.items() if labels <= {*text.split()}
                )
            return await document_lists.read_ids(self._rows, table, keys)
        admitted_ids: set[str] = set()
        for batch in batched(sorted(keys), _PAGE):
            rows = (await self._rows.get(table, batch)).values()
            states = [_status(row) for row in rows if row["status"] not in LEAVING]
            admitted_ids |= {status.id for status in states if scope.admits(status)}
        return admitted_ids

    async def newest_change(self, partition: Partition) -> tuple[str, int]:
        """See `Documents.newest_change`."""
        return await document_lists.read_newest_change(self._rows, _documents(partition))

    async def access_of_all(self, partition: Partition) -> dict[str, DocumentAccess]:
        """See `StoredAccess.access_of_all`. It reads all documents."""
        documents: dict[str, DocumentAccess] = {}
        after = ""
        while page := await self._rows.scan(_documents(partition), after, _PAGE):
            documents |= {row["id"]: _document_access(row) for _, row in page}
            after = page[-1][0]
        return documents

    async def record_supersessions(
        self, partition: Partition, statuses: Sequence[DocumentStatus]
    ) -> None:
        """See `Documents.record_supersessions`."""
        await supersessions.record_supersessions(self._rows, partition, statuses)

    async def related_by_validity(
        self, partition: Partition, ids: Collection[str]
    ) -> dict[str, set[str]]:
        """See `Documents.related_by_validity`."""
        return await supersessions.related_by_validity(self._rows, partition, ids)

    async def oldest_unsettled(self, partition: Partition) -> int | None:
        """See `Documents.oldest_unsettled`."""
        working = [status for status in STATUSES if status not in SETTLED]
        rows = await self._rows.find(
            _documents(partition), {"status": working}, order="version", limit=_OLDEST
        )
        return min((_status(row).added for _, row in rows), default=None)

    async def ids_with_status(self, partition: Partition, statuses: Collection[str]) -> set[str]:
        """See `Documents.ids_with_status`."""
        where = {"status": sorted(statuses)}
        values = await self._rows.values(_documents(partition), "id", where)
        return {str(id) for id in values.values()}

    async def counts(
        self, partition: Partition, among: frozenset[str] | None = None
    ) -> dict[str, int]:
        """See `Documents.counts`."""
        return await document_lists.read_counts(self._rows, _documents(partition), among)


def _document_access(row: Row) -> DocumentAccess:
    access = row.get("access")
    access_set = row.get("access_set", 0)
    deleted_at = row.get("deleted", 0)
    is_settled = row["status"] in ALONE
    # What was said after the first text was cut, or deleted, is not about all texts there were.
    has_others = bool(deleted_at) or access_set > row.get("first_cut", 0)
    return DocumentAccess(
        Access.model_validate(access) if access else None,
        is_there=row["status"] not in LEAVING,
        since=row["sequence"] if is_settled and has_others else max(access_set, deleted_at),
        applied_to=row["sequence"],
        may_have_others=not is_settled and bool(access_set or deleted_at),
    )


class RowPassages:
    """`Passages` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._words = RowParser(
            _passage_words, lambda words: PASSAGE_OVERHEAD + words.word_count, MAX_REMEMBERED
        )

    async def put(self, partition: Partition, passages: Sequence[Passage]) -> None:
        """See `Passages.put`."""
        # Of two versions in one batch the newer is written, whatever their order.
        rows = {
            token(passage.id): _passage_row(passage)
            for passage in sorted(passages, key=lambda passage: passage.version)
        }
        await self._rows.put_newer(Table("chunks", partition), rows, "version")

    async def get(self, partition: Partition, ids: Collection[str]) -> dict[str, Passage]:
        """See `Passages.get`."""
        rows = await self._rows.get(Table("chunks", partition), [token(id) for id in ids])
        return {row["id"]: _passage(row) for row in rows.values()}

    async def words(self, partition: Partition, ids: Collection[str]) -> list[PassageWords]:
        """See `PassageReader.words`. Rows of older programs have no words: these are read out of
        the text.
        """
        table = Table("chunks", partition)
        keys = [token(id) for id in ids]
        return list((await self._rows.get_parsed(table, keys, self._words)).values())

    async def page(self, partition: Partition, after: str, limit: int) -> dict[str, Passage]:
        """See `Passages.page`."""
        rows = await self._rows.scan(Table("chunks", partition), after, limit)
        return {key: _passage(row) for key, row in rows}

    async def remove_obsolete(
        self, partition: Partition, bounds: Mapping[str, DocumentBounds], *, alone: bool = False
    ) -> None:
        """See `Passages.remove_obsolete`. Rows that are older than all of these bounds are removed
        in one call: of a backlog of deletions all are.
        """
        table = Table("chunks", partition)
        for documents in batched(sorted(bounds), DOCUMENTS_AT_ONCE):
            oldest = min(bounds[id].version for id in documents)
            obsolete_keys: dict[int, list[str]] = defaultdict(list)
            for key, row in await self._rows.find(table, {"document_id": documents}):
                extent = bounds[row["document_id"]]
                if extent.is_obsolete_chunk(row["order"], row["version"]):
                    is_older = alone or row["version"] < oldest
                    obsolete_keys[oldest if is_older else extent.version].append(key)
            for version, keys in obsolete_keys.items():
                if alone:
                    await self._rows.delete(table, keys)
                else:
                    # A newer version may have been written under the same key meanwhile; whoever
                    # wrote it removes what is obsolete of it.
                    await self._rows.delete_older(table, keys, "version", version)


def _passage(row: Row) -> Passage:
    # Other versions of this code write more fields, or fewer.
    values: dict[str, Any] = {name: row[name] for name in PASSAGE_FIELDS if name in row}
    values["headings"] = tuple(row["headings"])
    values["page_breaks"] = tuple(row.get("page_breaks", ()))
    values["figures"] = tuple(map(FigureRef.model_validate, row.get("figures", ())))
    # A publisher may set any file path, even one with line breaks.
    values["file_path"] = one_line(values["file_path"])
    return Passage(**values)


def _passage_row(passage: Passage) -> Row:
    words = words_of(passage)
    fields_by_name: Row = {**vars(passage), "headings": list(passage.headings)}
    # Only where there are any: other rows are as older versions write them.
    del fields_by_name["figures"], fields_by_name["page_breaks"]
    if passage.page_breaks:
        fields_by_name["page_breaks"] = list(passage.page_breaks)
    if passage.figures:
        fields_by_name["figures"] = [figure.model_dump(mode="json") for figure in passage.figures]
    return {
        **fields_by_name,
        WORDS_FIELD: {
            "forms": words.lines,
            "traits": words.traits,
            "titles": list(words.titles),
        },
    }


def _passage_words(row: Row) -> PassageWords:
    stored_words = row.get(WORDS_FIELD)
    if not stored_words:
        return words_of(_passage(row))
    return PassageWords(
        id=row["id"],
        document_id=row["document_id"],
        lines=stored_words["forms"],
        traits=stored_words["traits"],
        titles=stored_words["titles"],
    )


def _documents(partition: Partition) -> Table:
    return Table("documents", partition)


def _row(status: DocumentStatus, revision: int) -> Row:
    own_fields = {
        name: value for name, value in vars(status).items() if name not in STATEMENT_FIELDS
    }
    return {
        **own_fields,
        **_statement_fields(status),
        "failures": [vars(failure) for failure in status.failures],
        "status": status.status,
        "bits": {step: f"{bits:x}" for step, bits in status.bits.items()},
        "text_warnings": list(status.text_warnings),
        # Pairs, because no field of a document store may have any name.
        "chunk_warnings": [
            [text, f"{bits:x}"] for text, bits in sorted(status.chunk_warnings.items())
        ],
        "rev": revision,
        LABELS_FIELD: label_text(status),
    }


def _statement_fields(status: DocumentStatus) -> Row:
    """Return what was said of the document (who may see it, when it holds, its tags), and what few
    documents have.
    """
    fields_by_name: Row = {
        "access": status.access.model_dump(mode="json") if status.access else None,
        "access_set": status.access_set,
        "version_validity": _validity_row(status.version_validity),
        "stated_validity": _validity_row(status.stated_validity),
        "statement": status.statement,
        "tags": None if status.tags is None else list(status.tags),
        "tags_set": status.tags_set,
        "original_size": status.original_size,
        "text_count": status.text_count,
    }
    return {name: value for name, value in fields_by_name.items() if value not in (None, 0)}


def _status(row: Row) -> DocumentStatus:
    # Other versions of this code write more fields, or fewer.
    values: dict[str, Any] = {name: row[name] for name in STATUS_FIELDS if name in row}
    values["bits"] = {step: int(row["bits"][step], 16) for step in STEPS}
    values["failures"] = tuple(_failure(failure) for failure in row["failures"])
    values["text_warnings"] = tuple(row.get("text_warnings", ()))
    values["chunk_warnings"] = {text: int(bits, 16) for text, bits in row.get("chunk_warnings", ())}
    if access := row.get("access"):
        values["access"] = Access.model_validate(access)
    values["tags"] = tuple(row["tags"]) if row.get("tags") is not None else None
    for name in ("version_validity", "stated_validity"):
        is_said = row.get(name) is not None
        values[name] = Validity.model_validate(row[name]) if is_said else None
    if "added" not in row and row["updated_at"]:
        # Rows of older versions of this code have no `added`; the document was added no later than
        # this.
        values["added"] = microseconds(datetime.fromisoformat(row["updated_at"]))
    return DocumentStatus(**values)


def validity_of(row: Row) -> Row | None:
    """Return the validity that a document's row has, as JSON; None or empty where it holds
    always and supersedes nothing.
    """
    if not (row.get("version_validity") or row.get("stated_validity")):
        return None
    validity = _status(row).validity
    return _validity_row(validity) if validity else None


def _validity_row(validity: Validity | None) -> Row | None:
    if validity is None:
        return None
    return validity.model_dump(mode="json", exclude_defaults=True)


def _failure(values: Mapping[str, Any]) -> Failure:
    return Failure(**{name: values[name] for name in FAILURE_FIELDS if name in values})
