"""Results of the tools: small models with bounded texts, made from the answers of the query
service.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, Field

from lightstream_rag import models

MAX_CHARACTERS = 2000
"""Characters of a description or a summary; what is longer is cut, and ends with an ellipsis."""

Json = Mapping[str, Any]


class Reference(BaseModel):
    """A file. `[1]` in an answer means the one whose id is 1."""

    id: str
    file: str


class Passage(BaseModel):
    """A part of a document, word for word."""

    reference: str = Field(description="id of the file in `references`")
    file: str
    document_id: str
    order: int | None = Field(
        description="its place in the document, from 0; read_passages reads what is around it"
    )
    text: str
    headings: str = Field(description="the headings it stands under, outermost first")
    page: int | None = Field(description="page on which it begins")
    last_page: int | None = Field(description="page on which it ends")


class Entity(BaseModel):
    """A thing that documents speak of."""

    name: str
    type: str
    description: str

    @classmethod
    def of(cls, entity: Json) -> Self:
        """From what the query service says of an entity, in the names of either of its routes."""
        name = entity.get("entity_name") or entity.get("entity_id") or ""
        return cls(
            name=name,
            type=entity.get("entity_type") or "",
            description=cut(entity.get("description")),
        )


class Relation(BaseModel):
    """A relation of two entities, without a direction."""

    source: str
    target: str
    description: str
    keywords: str
    weight: float

    @classmethod
    def of(cls, source: str, target: str, relation: Json) -> Self:
        """From what the query service says of a relation."""
        return cls(
            source=source,
            target=target,
            description=cut(relation.get("description")),
            keywords=cut(relation.get("keywords")),
            weight=relation.get("weight") or 0.0,
        )


class SearchResult(BaseModel):
    """What the documents hold about a question, best first. All lists are empty when there is
    nothing.
    """

    passages: list[Passage]
    entities: list[Entity]
    relations: list[Relation]
    references: list[Reference] = Field(description="the files of the passages")
    mode: str = Field(description="the mode that was searched in; `auto` has chosen it")
    mode_reason: str = Field(default="", description="why `auto` chose it")

    @classmethod
    def of(cls, evidence: models.Evidence, passages: int, entities: int) -> Self:
        """Take at most so many passages, entities and relations."""
        data = evidence.data
        info = evidence.metadata.get("processing_info") or evidence.metadata
        chunks = data.get("chunks", [])[:passages]
        used_ids = {chunk["reference_id"] for chunk in chunks}
        return cls(
            passages=[_passage(chunk) for chunk in chunks],
            entities=[Entity.of(entity) for entity in data.get("entities", [])[:entities]],
            relations=[
                Relation.of(r["src_id"], r["tgt_id"], r)
                for r in data.get("relationships", [])[:entities]
            ],
            references=[reference for reference in _references(data) if reference.id in used_ids],
            mode=info.get("mode") or "",
            mode_reason=info.get("mode_reason") or "",
        )


class Place(BaseModel):
    """The document and the pages of a passage."""

    document_id: str
    page: int | None = Field(description="page on which it begins")
    last_page: int | None = Field(description="page on which it ends")


class Citation(Reference):
    """A file an answer rests on, and where in it."""

    also_in: list[str] = Field(
        default_factory=list,
        description="files that say the same in a passage left out as a double",
    )
    places: list[Place]


class Answer(BaseModel):
    """An answer with its sources."""

    answer: str
    citations: list[Citation]
    found: bool = Field(description="false: the documents hold nothing about it")
    written_by_model: bool = Field(
        description="false: there is no language model, the answer is quotations"
    )
    truncated: bool = Field(
        default=False, description="true: the model ended before the end of the answer"
    )
    prompt_truncated: bool = Field(
        default=False, description="true: the model read only a part of what was found"
    )
    mode_reason: str = Field(
        default="", description="which mode `auto` chose for the question, and why"
    )
    receipt: str = Field(
        default="", description="the id of the answer's receipt, where answers are recorded"
    )
    steps: list[str] = Field(
        default=[],
        description="with more effort, what was searched for and which tools were used, and last "
        "why that ended",
    )

    @classmethod
    def of(cls, answer: models.Answer) -> Self:
        """Take an answer that was asked for with the places of its passages."""
        citations = [
            Citation(
                id=reference.reference_id,
                file=reference.file_path,
                also_in=reference.also_in or [],
                places=[
                    Place(
                        document_id=place.document_id,
                        page=place.page,
                        last_page=_last_page(place.page, place.page_breaks),
                    )
                    for place in reference.chunks or ()
                ],
            )
            for reference in answer.references or ()
        ]
        text = answer.response
        is_empty = text.rstrip().endswith("[no-context]")
        return cls(
            answer=text,
            citations=citations,
            found=not is_empty,
            written_by_model=answer.llm_generated,
            truncated=answer.truncated,
            prompt_truncated=answer.prompt_truncated,
            mode_reason=f"{answer.mode}: {answer.mode_reason}" if answer.mode_reason else "",
            receipt=answer.receipt or "",
            steps=[
                step
                for search_round in answer.rounds or ()
                for step in (*search_round.searches, search_round.ended)
                if step
            ],
        )


class Document(BaseModel):
    """The state of a document."""

    id: str
    file: str
    status: str = Field(description="pending, processing, processed, partial, failed or deleting")
    error: str | None = Field(description="why it, or a part of it, failed")
    summary: str = Field(description="how the text begins")
    characters: int
    chunks: int = Field(description="how many it was cut into; 0 while it is not cut")
    steps: dict[str, int] = Field(description="how many chunks each step has done")
    track_id: str | None
    added_at: str
    updated_at: str

    @classmethod
    def of(cls, state: models.Document) -> Self:
        """Take the state that the query service tells."""
        steps = ("extracted", "merged", "embedded", "indexed")
        return cls(
            id=state.id,
            file=state.file_path,
            status=state.status,
            error=cut(state.error_msg) or None,
            summary=cut(state.content_summary),
            characters=state.content_length,
            chunks=state.chunks_count or 0,
            steps={step: state.metadata[step] for step in steps if step in state.metadata},
            track_id=state.track_id,
            added_at=state.created_at,
            updated_at=state.updated_at,
        )


class DocumentList(BaseModel):
    """Some documents."""

    documents: list[Document]
    total: int = Field(description="how many there are; more than are listed, if it is greater")


class DocumentPage(DocumentList):
    """A page of the list of documents."""

    page: int
    pages: int
    counts: dict[str, int] = Field(description="documents by status, and all of them")

    @classmethod
    def of(cls, page: models.DocumentPage) -> Self:
        """Take a page with its counts."""
        return cls(
            documents=[Document.of(state) for state in page.documents],
            total=page.pagination.total_count,
            page=page.pagination.page,
            pages=page.pagination.total_pages,
            counts={
                status: count
                for status, count in page.status_counts.items()
                if count or status == "all"
            },
        )


class Added(BaseModel):
    """The outcome of adding a text."""

    track_id: str
    document_id: str
    status: str = Field(
        description="pending: it is kept durably and will be processed; else as in get_document"
    )
    document: Document | None = Field(
        description="how far it is, if that was waited for and is known"
    )
    next: str = Field(description="what to do now")


class EntityNames(BaseModel):
    """Names of entities, the best first."""

    names: list[str]


class Neighbourhood(BaseModel):
    """A part of the graph: nearer entities first, heavier relations first."""

    entities: list[Entity]
    relations: list[Relation]
    truncated: bool = Field(description="true: there is more than the bounds let through")

    @classmethod
    def of(cls, part: models.Subgraph, relations: int) -> Self:
        """Take all entities and at most so many relations."""
        return cls(
            entities=[Entity.of(node.properties) for node in part.nodes],
            relations=[
                Relation.of(edge.source, edge.target, edge.properties)
                for edge in part.edges[:relations]
            ],
            truncated=part.is_truncated or len(part.edges) > relations,
        )


def cut(text: str | None) -> str:
    """Return the text, cut to MAX_CHARACTERS with an ellipsis."""
    text = text or ""
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def _passage(chunk: Json) -> Passage:
    headings = chunk.get("headings") or ""
    return Passage(
        reference=chunk["reference_id"],
        file=chunk["file_path"],
        document_id=chunk["document_id"],
        order=_order(chunk["chunk_id"]),
        text=chunk["content"],
        headings=headings if isinstance(headings, str) else " > ".join(headings),
        page=chunk.get("page"),
        last_page=_last_page(chunk.get("page"), chunk.get("page_breaks", ())),
    )


def _last_page(page: int | None, page_breaks: Sequence[int]) -> int | None:
    return None if page is None else page + len(page_breaks)


def _order(chunk_id: str) -> int | None:
    """Return the place of a chunk in its document, None for one that a client has named itself."""
    order = chunk_id.rpartition("-chunk-")[2]
    return int(order) if order.isascii() and order.isdigit() else None


def _references(data: Mapping[str, Sequence[Json]]) -> list[Reference]:
    return [
        Reference(id=reference["reference_id"], file=reference["file_path"])
        for reference in data.get("references", ())
    ]
