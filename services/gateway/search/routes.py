"""The routes of exact search. No logic: a request becomes a call, its result becomes an answer."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AfterValidator, Field

from contracts.ids import chunk_place
from contracts.text import encodable
from services.gateway.reference.responses import error_responses
from services.gateway.search.dependencies import Reader
from services.gateway.search.models import NeighboursResponse, PassageSearchResponse
from services.query.errors import BadRequest
from services.query.lookup.documents import document_ids, passages_around
from services.query.lookup.keywords import Keyword
from services.query.lookup.passage_search import NameMatches, search_names, search_passages

router = APIRouter(tags=["search"])

MAX_OFFSET = 10_000
"""The furthest page of a search: who needs more asks for rarer words."""


def _not_blank(text: str) -> str:
    if not text.split():
        raise ValueError("a keyword has at least one character that is not blank")
    return encodable(text)


KeywordText = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_not_blank)]
DocumentName = Annotated[str, Field(min_length=1, max_length=1024)]


@router.get("/passages/search", operation_id="search_passages", responses=error_responses(404))
async def search(
    reader: Reader,
    keyword: Annotated[
        list[KeywordText],
        Query(
            min_length=1,
            max_length=10,
            description="a word or a phrase to find as it is written, in any case; may be repeated",
            examples=[["Harbour Office"]],
        ),
    ],
    document: Annotated[
        list[DocumentName] | None,
        Query(max_length=100, description="only in this document: its id or file name"),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100, description="passages, and names, at most")] = 20,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET, description="passages to pass over")] = 0,
) -> PassageSearchResponse:
    """Return the passages that have keywords as they are written, and the entities whose names
    have them. Whole words in any case; no model is asked.
    """
    keywords = [Keyword.of(text) for text in dict.fromkeys(keyword)]
    stored_documents = await reader.documents()
    visible_ids = await reader.visible_ids()
    ids = visible_ids if document is None else await document_ids(stored_documents, document)
    async with reader.turn():
        passages = await reader.while_connected(
            search_passages(stored_documents, keywords, ids, offset=offset, limit=limit)
        )
        names = NameMatches([], 0, is_truncated=False)
        if offset == 0 and document is None:
            graph, partition = await reader.graph()
            names = await reader.while_connected(search_names(graph, partition, keywords, limit))
    return PassageSearchResponse.of(passages, names, keywords, offset)


@router.get("/passages/around", operation_id="passages_around", responses=error_responses(404))
async def around(
    reader: Reader,
    chunk_id: Annotated[
        str,
        Query(
            min_length=1,
            max_length=1100,
            description="of the passage, as answers name it",
            examples=["doc-f8e5fc3935ce926dc54e926fdc8cf0ec-chunk-000"],
        ),
    ],
    before: Annotated[int, Query(ge=0, le=50, description="passages before it")] = 1,
    after: Annotated[int, Query(ge=0, le=50, description="passages behind it")] = 1,
) -> NeighboursResponse:
    """Return a passage with those before and behind it in its document, word for word."""
    place = chunk_place(chunk_id)
    if place is None:
        raise BadRequest(
            f"{chunk_id!r} is not the id of a passage: it is a document's id, `-chunk-` and a "
            "number, as answers and searches have it in `chunk_id`"
        )
    document_id, order = place
    status, passages = await passages_around(
        await reader.documents(), document_id, order, before=before, after=after
    )
    return NeighboursResponse.of(status, passages)
