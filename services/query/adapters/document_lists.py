"""Pages of the list of documents, of all or of those that somebody sees, and which are in a scope,
out of the document store.

A page reads the rows that it shows. What it counts, and where it begins, it reads of indexes: of
all documents in the store, of those that somebody sees here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from contracts.subjects import token
from runtime.stores.documents.port import (
    Condition,
    Containing,
    NoneOf,
    Row,
    Rows,
    Table,
    Value,
)
from services.query.status.document_status import LEAVING, STATUSES
from services.query.status.port import Listing
from services.query.status.scope import Scope

MOST_KEYS = 5000
"""Keys by which a store looks values up. Of more documents it gives those of all, out of an index,
which takes less for each.
"""


class RowPage(NamedTuple):
    """The rows of a page, how many there are without its limits, and how many documents there are
    of each status, whatever the listing asks for.
    """

    rows: Sequence[Row]
    total: int
    counts: Mapping[str, int]


async def read_page(rows: Rows, table: Table, listing: Listing) -> RowPage:
    """Return a page of all documents. It counts all of them by their status."""
    counts = await rows.count(table, "status", {})
    statuses = frozenset(listing.statuses or STATUSES)
    name_conditions = _named(listing)
    total = sum(counts.get(status, 0) for status in statuses)
    where = {**_of_statuses(statuses, counts), **name_conditions}
    if name_conditions:
        total = sum((await rows.count(table, "status", where)).values())
    page = await _page_rows(rows, table, where, listing, total)
    return RowPage(_with_status(page, statuses), total, _shown(counts))


async def read_page_of(rows: Rows, table: Table, listing: Listing, ids: Collection[str]) -> RowPage:
    """Return a page of these documents, as if there were no others."""
    keys = frozenset(map(token, ids))
    status_of = await read_values(rows, table, "status", keys)
    statuses = frozenset(listing.statuses or STATUSES)
    listed_keys = frozenset(key for key, status in status_of.items() if status in statuses)
    if listing.ids:
        listed_keys &= frozenset(map(token, listing.ids))
    if by_path := {name: want for name, want in _named(listing).items() if name == "file_path"}:
        listed_keys = frozenset(await read_values(rows, table, "file_path", listed_keys, by_path))
    order_of = await read_values(rows, table, listing.order, listed_keys)
    ordered_keys = sorted(
        order_of, key=lambda key: _sort_key(order_of[key], key), reverse=listing.descending
    )
    end = listing.skip + listing.limit if listing.limit else None
    page_keys = ordered_keys[listing.skip : end]
    stored_rows = await rows.get(table, page_keys)
    page = [stored_rows[key] for key in page_keys if key in stored_rows]
    return RowPage(_with_status(page, statuses), len(order_of), _shown(Counter(status_of.values())))


async def read_counts(
    rows: Rows, table: Table, ids: Collection[str] | None = None
) -> dict[str, int]:
    """Return the number of documents, or of these, with each status that lists show."""
    if ids is None:
        return _shown(await rows.count(table, "status", {}))
    status_of = await read_values(rows, table, "status", frozenset(map(token, ids)))
    return _shown(Counter(status_of.values()))


async def read_keys_in_scope(rows: Rows, table: Table, scope: Scope) -> frozenset[str]:
    """Return the keys of the documents that a scope may admit: those of its ids, else those that
    meet its conditions on path and time, out of indexes, without documents that leave.
    """
    if scope.document_ids:
        return frozenset(map(token, scope.document_ids))
    statuses = await rows.values(table, "status", {})
    keys = frozenset(key for key, status in statuses.items() if status not in LEAVING)
    if scope.file_path_prefix:
        paths = await read_values(rows, table, "file_path", keys)
        keys = frozenset(key for key, path in paths.items() if scope.admits_path(str(path)))
    if scope.added_from or scope.added_before:
        times = await read_values(rows, table, "created_at", keys)
        keys = frozenset(key for key, added_at in times.items() if scope.admits_time(str(added_at)))
    return keys


async def read_ids(rows: Rows, table: Table, keys: frozenset[str]) -> set[str]:
    """Return the ids of the documents under these keys, out of an index."""
    return {str(id) for id in (await read_values(rows, table, "id", keys)).values()}


async def read_newest_change(rows: Rows, table: Table) -> tuple[str, int]:
    """Return when a document was changed or deleted last, and the version of the newest one."""
    changed = await rows.find(table, {}, order="updated_at", descending=True, limit=1)
    added = await rows.find(table, {}, order="version", descending=True, limit=1)
    return (
        str(changed[0][1]["updated_at"]) if changed else "",
        int(added[0][1]["version"]) if added else 0,
    )


def _named(listing: Listing) -> dict[str, Condition]:
    """Return the conditions of a listing but that of the status."""
    where: dict[str, Condition] = {}
    if listing.ids:
        where["id"] = list(listing.ids)
    if listing.file_paths:
        where["file_path"] = list(listing.file_paths)
    elif listing.names:
        where["file_path"] = Containing(listing.names)
    return where


def _of_statuses(statuses: Collection[str], counts: Mapping[str, int]) -> dict[str, Condition]:
    """Return the condition that leaves out the fewer: none, or those of some statuses; so that a
    store can pass over the pages before without a look at their rows.
    """
    excluded_counts = {status: count for status, count in counts.items() if status not in statuses}
    if not excluded_counts:
        return {}
    wanted_count = sum(counts.get(status, 0) for status in statuses)
    if sum(excluded_counts.values()) < wanted_count:
        return {"status": NoneOf(tuple(sorted(excluded_counts)))}
    return {"status": sorted(statuses)}


async def _page_rows(
    rows: Rows, table: Table, where: Mapping[str, Condition], listing: Listing, total: int
) -> list[Row]:
    """Return the rows of a page, read from the nearer end of the list."""
    remaining_count = total - listing.skip
    if not listing.limit or listing.skip <= remaining_count:
        paging = {"skip": listing.skip, "limit": listing.limit}
        pairs = await rows.find(
            table, where, order=listing.order, descending=listing.descending, **paging
        )
        return [row for _, row in pairs]
    limit = min(listing.limit, remaining_count)
    if limit <= 0:
        return []
    pairs = await rows.find(
        table,
        where,
        order=listing.order,
        descending=not listing.descending,
        skip=remaining_count - limit,
        limit=limit,
    )
    return [row for _, row in reversed(pairs)]


async def read_values(
    rows: Rows,
    table: Table,
    field: str,
    keys: frozenset[str],
    where: Mapping[str, Condition] | None = None,
) -> dict[str, Value]:
    """Return by key the values of a field of the rows under these keys."""
    if len(keys) <= MOST_KEYS:
        return await rows.values(table, field, where or {}, keys) if keys else {}
    values = await rows.values(table, field, where or {})
    return {key: value for key, value in values.items() if key in keys}


def _sort_key(value: Value, key: str) -> tuple[bool, str | int, str]:
    """Return what `Rows.find` sorts by: rows without the field first, then by value and key."""
    return (value is not None, "" if value is None else value, key)


def _with_status(rows: Sequence[Row], statuses: Collection[str]) -> list[Row]:
    """Return the rows that still have one of these statuses: a document may have been deleted since
    it was counted.
    """
    return [row for row in rows if row["status"] in statuses]


def _shown(counts: Mapping[Any, int]) -> dict[str, int]:
    """Return the counts of the statuses that lists show."""
    return {status: counts[status] for status in STATUSES if counts.get(status)}
