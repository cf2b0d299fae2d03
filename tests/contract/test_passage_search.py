"""Exact search over passages gives the same on every document store."""

import pytest

from runtime.stores.documents.port import Rows
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.lookup.documents import StoredDocuments
from services.query.lookup.keywords import Keyword
from services.query.lookup.passage_search import READ_AT_ONCE, search_passages
from services.query.passage import Passage
from tests.support.partitions import fresh_partition

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = 2 * READ_AT_ONCE + 7


def passage(number: int, content: str) -> Passage:
    document = f"doc ünï {number % 3}"
    return Passage(f"{document}-chunk-{number:03d}", document, number, content, f"{number % 3}.txt")


async def test_all_pages_are_searched_and_ranked(rows: Rows) -> None:
    partition = fresh_partition()
    passages = RowPassages(rows)
    texts = [
        f"Straße {number}. " + "needle " * (number % 5) + ("Haystack" if number % 50 == 0 else "")
        for number in range(COUNT)
    ]
    await passages.put(partition, [passage(number, text) for number, text in enumerate(texts)])
    stored = StoredDocuments(RowDocuments(rows), passages, partition)
    keywords = [Keyword.of("Needle"), Keyword.of("haystack")]
    matches = await search_passages(stored, keywords, None, offset=0, limit=1000)
    assert matches.passages_read == COUNT
    assert matches.total == sum("needle" in text or "Haystack" in text for text in texts)
    ranks = [(match.counts.distinct, match.counts.total) for match in matches.matches]
    assert ranks == sorted(ranks, reverse=True)
    page = await search_passages(stored, keywords, None, offset=10, limit=5)
    assert page.matches == matches.matches[10:15]
    nothing = StoredDocuments(RowDocuments(rows), passages, fresh_partition())
    assert (await search_passages(nothing, keywords, None, offset=0, limit=5)).total == 0
