"""Searches the passages and the names of a workspace for keywords, within bounds."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from contracts.graph import Partition
from contracts.ids import chunk_id
from runtime.batching import batched
from services.query.lookup.documents import StoredDocuments
from services.query.lookup.keywords import Counts, Keyword, count_keywords, snippets
from services.query.passage import Passage
from services.query.visibility.graph import BrowsedGraph

MAX_PASSAGES = 100_000
"""Passages that one search reads; what lies behind them is not searched, and the answer says so."""

MAX_NAMES = 200_000
"""Names that one search reads."""

READ_AT_ONCE = 200
"""Passages that are read and searched before other requests get their turn."""


@dataclass(frozen=True)
class PassageMatch:
    """A passage that has some of the keywords, and what stands around them."""

    passage: Passage
    counts: Counts
    snippets: list[str]


@dataclass(frozen=True)
class PassageMatches:
    """A page of the passages that have keywords: those with most of them first, then those that
    have them most often. `total` counts all; `passages_read`: of how many.
    """

    matches: list[PassageMatch]
    total: int
    passages_read: int
    is_truncated: bool
    """True when the workspace has more passages than one search reads."""


@dataclass(frozen=True)
class NameMatches:
    """Names and types of entities that have keywords, those with most of them first, then the
    shorter. `total` counts all that were found.
    """

    names: list[tuple[str, str]]
    total: int
    is_truncated: bool


@dataclass(frozen=True, order=True)
class _Rank:
    """The place of a match in the order of all; the passage itself is read again for its page."""

    fewest: int
    rarest: int
    file_path: str
    document_id: str
    order: int
    id: str


async def search_passages(
    stored_documents: StoredDocuments,
    keywords: Sequence[Keyword],
    document_ids: Collection[str] | None,
    *,
    offset: int,
    limit: int,
) -> PassageMatches:
    """Return the passages that have any of the keywords, of these documents or of all (None)."""
    ranks: list[_Rank] = []
    passages_read = 0
    pages = (
        _all_pages(stored_documents)
        if document_ids is None
        else _pages_of(stored_documents, document_ids)
    )
    is_truncated = False
    async with aclosing(pages):
        async for page in pages:
            if passages_read + len(page) > MAX_PASSAGES:
                is_truncated = True
                break
            passages_read += len(page)
            ranks += await asyncio.to_thread(_ranks, keywords, page)
    ranks.sort()
    ids = [rank.id for rank in ranks[offset : offset + limit]]
    passages = await stored_documents.passages.get(stored_documents.partition, ids)
    matches = [_match(keywords, passages[id]) for id in ids if id in passages]
    return PassageMatches(matches, len(ranks), passages_read, is_truncated)


async def search_names(
    graph: BrowsedGraph, partition: Partition, keywords: Sequence[Keyword], limit: int
) -> NameMatches:
    """Return the names of entities that have any of the keywords: of those that may, by what the
    store knows.
    """
    needles = {keyword.needle for keyword in keywords}
    types: dict[str, str] = {}
    names_read = 0
    for needle in sorted(needles) if all(needles) else [""]:
        after = ""
        while names_read < MAX_NAMES and (
            page := await graph.scan_names(partition, after, containing=needle)
        ):
            names_read += len(page)
            after = page[-1][0]
            types |= page
    ranks: list[tuple[int, int, str, str]] = []
    for name, type in types.items():
        counts = count_keywords(keywords, name)
        if counts.total:
            ranks.append((-counts.distinct, len(name), name, type))
    ranks.sort()
    names = [(name, type) for _, _, name, type in ranks[:limit]]
    return NameMatches(names, len(ranks), names_read >= MAX_NAMES)


async def _all_pages(stored_documents: StoredDocuments) -> AsyncGenerator[list[Passage]]:
    after = ""
    while page := await stored_documents.passages.page(
        stored_documents.partition, after, READ_AT_ONCE
    ):
        yield list(page.values())
        after = list(page)[-1]


async def _pages_of(
    stored_documents: StoredDocuments, document_ids: Collection[str]
) -> AsyncGenerator[list[Passage]]:
    statuses = await stored_documents.documents.get(stored_documents.partition, document_ids)
    for id, (status, _) in statuses.items():
        chunk_ids = [chunk_id(id, order) for order in range(status.chunk_count)]
        for batch in batched(chunk_ids, READ_AT_ONCE):
            passages = await stored_documents.passages.get(stored_documents.partition, batch)
            yield list(passages.values())


def _ranks(keywords: Sequence[Keyword], passages: Iterable[Passage]) -> list[_Rank]:
    ranks: list[_Rank] = []
    for passage in passages:
        counts = count_keywords(keywords, passage.content)
        if counts.total:
            ranks.append(
                _Rank(
                    -counts.distinct,
                    -counts.total,
                    passage.file_path,
                    passage.document_id,
                    passage.order,
                    passage.id,
                )
            )
    return ranks


def _match(keywords: Sequence[Keyword], passage: Passage) -> PassageMatch:
    text = passage.content
    return PassageMatch(passage, count_keywords(keywords, text), snippets(keywords, text))
