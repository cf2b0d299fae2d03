"""Results of the tools of exact search, of reading on, and of paths."""

from typing import Self

from pydantic import BaseModel, Field

from lightstream_rag import search
from mcp_server.results import cut


class MatchingPassage(BaseModel):
    """A passage that has some of the keywords."""

    document_id: str
    file: str
    order: int = Field(description="its place in the document, from 0; read_passages reads it")
    count: int = Field(description="how often it has any of the keywords")
    snippets: list[str] = Field(description="the first places, with what stands around them")
    headings: str = Field(description="the headings it stands under, outermost first")
    page: int | None


class Matches(BaseModel):
    """Passages that have keywords as they are written, those with most of them first, then those
    that have them most often; and names of entities that have them.
    """

    passages: list[MatchingPassage]
    total: int = Field(description="passages that have any of them")
    names: list[str] = Field(description="names of entities that have any of them")
    next_offset: int | None = Field(description="give it as `offset` to read on; null: no more")
    truncated: bool = Field(description="true: there is more than one search reads")

    @classmethod
    def of(cls, matches: search.PassageMatches) -> Self:
        """Take a page of matches."""
        return cls(
            passages=[
                MatchingPassage(
                    document_id=passage.document_id,
                    file=passage.file_path,
                    order=passage.order,
                    count=passage.count,
                    snippets=passage.snippets,
                    headings=" > ".join(passage.headings),
                    page=passage.page,
                )
                for passage in matches.passages
            ],
            total=matches.total,
            names=[name.name for name in matches.names],
            next_offset=matches.next_offset,
            truncated=matches.is_truncated,
        )


class NeighbouringPassage(BaseModel):
    """A passage of a document, word for word."""

    order: int
    text: str
    headings: str = Field(description="the headings it stands under, outermost first")
    page: int | None


class Neighbours(BaseModel):
    """Consecutive passages of a document."""

    document_id: str
    file: str
    passages: list[NeighbouringPassage]
    total: int = Field(description="how many passages the document has")

    @classmethod
    def of(cls, part: search.Neighbours) -> Self:
        """Take a part of a document."""
        return cls(
            document_id=part.document_id,
            file=part.file_path,
            passages=[
                NeighbouringPassage(
                    order=chunk.order,
                    text=chunk.content,
                    headings=" > ".join(chunk.headings),
                    page=chunk.page,
                )
                for chunk in part.passages
            ],
            total=part.chunk_count,
        )


class Step(BaseModel):
    """A relation on a path, without a direction, and the files that state it."""

    source: str
    target: str
    description: str
    files: list[str]


class Connection(BaseModel):
    """The names of the entities on a path, and the relation between each and the next."""

    entities: list[str]
    relations: list[Step]


class Connections(BaseModel):
    """The shortest paths between two entities; none where they are not connected."""

    paths: list[Connection]
    truncated: bool = Field(description="true: there are more, or not all relations were followed")

    @classmethod
    def of(cls, connections: search.EntityPaths) -> Self:
        """Take the paths that the query service tells."""
        return cls(
            paths=[
                Connection(
                    entities=[entity.name for entity in path.entities],
                    relations=[
                        Step(
                            source=relation.source,
                            target=relation.target,
                            description=cut(relation.description),
                            files=relation.file_paths,
                        )
                        for relation in path.relations
                    ],
                )
                for path in connections.paths
            ],
            truncated=connections.is_truncated,
        )
