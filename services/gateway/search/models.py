"""Answers of exact search."""

from pydantic import BaseModel, Field

from contracts.values import FigureRef
from services.query.lookup.keywords import Keyword
from services.query.lookup.passage_search import NameMatches, PassageMatch, PassageMatches
from services.query.passage import Passage
from services.query.status.document_status import DocumentStatus


class PassagePlace(BaseModel):
    """A passage and where it stands."""

    chunk_id: str
    document_id: str
    file_path: str
    order: int = Field(description="its place in the document, from 0")
    headings: list[str] = Field(description="the headings it stands under, outermost first")
    start: int | None = Field(
        description="its first character in the document's text; null where unknown"
    )
    end: int | None = Field(description="the character behind its last one")
    page: int | None = Field(description="page on which it begins, the first being 1")
    page_breaks: list[int] = Field(
        default=[],
        description="characters of the passage at which its next pages begin",
        exclude_if=lambda breaks: not breaks,
    )
    figures: list[FigureRef] = Field(
        default=[],
        description="that stand in it: GET /documents/{document_id}/figures/{sha256}",
        exclude_if=lambda figures: not figures,
    )


class MatchingPassage(PassagePlace):
    """A passage that has some of the keywords."""

    count: int = Field(description="how often it has any of them")
    counts: dict[str, int] = Field(description="how often it has each")
    snippets: list[str] = Field(
        description="the first places, with what stands around them; what is left out is an "
        "ellipsis"
    )

    @classmethod
    def of(cls, match: PassageMatch, keywords: list[Keyword]) -> "MatchingPassage":
        """Return a match as answers have it."""
        counts = {
            keyword.text: count
            for keyword, count in zip(keywords, match.counts.of_keywords, strict=True)
        }
        return cls(
            **_place(match.passage).model_dump(),
            count=match.counts.total,
            counts=counts,
            snippets=match.snippets,
        )


class MatchingName(BaseModel):
    """An entity whose name has some of the keywords."""

    name: str
    type: str


class PassageSearchResponse(BaseModel):
    """The passages and the names of entities that have the keywords, as they are written."""

    passages: list[MatchingPassage] = Field(
        description="those with most of the keywords first, then those that have them most often"
    )
    total: int = Field(description="passages that have any of the keywords")
    next_offset: int | None = Field(
        description="give it as `offset` to read on; null when there is no more"
    )
    passages_read: int = Field(description="passages that were searched")
    names: list[MatchingName] = Field(
        description="entities whose names have any of the keywords, shorter names first; on the "
        "first page only"
    )
    total_names: int
    is_truncated: bool = Field(
        description="true: there are more passages or names than one search reads"
    )

    @classmethod
    def of(
        cls,
        passages: PassageMatches,
        names: NameMatches,
        keywords: list[Keyword],
        offset: int,
    ) -> "PassageSearchResponse":
        """Return a page of matches as answers have it."""
        end = offset + len(passages.matches)
        return cls(
            passages=[MatchingPassage.of(match, keywords) for match in passages.matches],
            total=passages.total,
            next_offset=end if passages.matches and end < passages.total else None,
            passages_read=passages.passages_read,
            names=[MatchingName(name=name, type=type) for name, type in names.names],
            total_names=names.total,
            is_truncated=passages.is_truncated or names.is_truncated,
        )


class NeighbouringPassage(PassagePlace):
    """A passage, word for word."""

    content: str


class NeighboursResponse(BaseModel):
    """A passage and those before and behind it in its document, in order."""

    document_id: str
    file_path: str
    chunk_count: int = Field(description="how many passages the document has")
    passages: list[NeighbouringPassage]

    @classmethod
    def of(cls, document: DocumentStatus, passages: list[Passage]) -> "NeighboursResponse":
        """Return passages of a document as answers have them."""
        return cls(
            document_id=document.id,
            file_path=document.file_path,
            chunk_count=document.chunk_count,
            passages=[
                NeighbouringPassage(**_place(passage).model_dump(), content=passage.content)
                for passage in passages
            ],
        )


def _place(passage: Passage) -> PassagePlace:
    return PassagePlace(
        chunk_id=passage.id,
        document_id=passage.document_id,
        file_path=passage.file_path,
        order=passage.order,
        headings=list(passage.headings),
        start=passage.start,
        end=passage.end,
        page=passage.page,
        page_breaks=list(passage.page_breaks),
        figures=list(passage.figures),
    )
