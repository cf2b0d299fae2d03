"""Methods that search passages and names exactly, read on around a passage, and tell how two
entities are connected.
"""

from collections.abc import Sequence

from lightstream_rag.flows import Flow, get, parse_as
from lightstream_rag.models import ResponseModel


class PassagePlace(ResponseModel):
    """A passage and where it stands: its `order` in the document, from 0, characters of the
    document's text, and the page on which it begins, if known.
    """

    chunk_id: str
    document_id: str
    file_path: str
    order: int
    headings: list[str]
    start: int | None = None
    end: int | None = None
    page: int | None = None
    page_breaks: tuple[int, ...] = ()
    """Characters of the passage at which its next pages begin."""


class MatchingPassage(PassagePlace):
    """A passage that has some of the keywords: how often any and each, and what stands around the
    first of them.
    """

    count: int
    counts: dict[str, int]
    snippets: list[str]


class MatchingName(ResponseModel):
    """An entity whose name has some of the keywords."""

    name: str
    type: str = ""


class PassageMatches(ResponseModel):
    """A page of the passages that have keywords, and of entities whose names have them.

    Passages with most of the keywords come first, then those that have them most often.
    `is_truncated`: there are more passages or names than one search reads.
    """

    passages: list[MatchingPassage]
    total: int
    next_offset: int | None = None
    passages_read: int = 0
    names: list[MatchingName]
    total_names: int = 0
    is_truncated: bool = False


class NeighbouringPassage(PassagePlace):
    """A passage, word for word."""

    content: str


class Neighbours(ResponseModel):
    """Consecutive passages of a document, which has `chunk_count` of them."""

    document_id: str
    file_path: str
    chunk_count: int
    passages: list[NeighbouringPassage]


class PathEntity(ResponseModel):
    """An entity on a path."""

    name: str
    type: str = ""
    description: str = ""


class PathRelation(ResponseModel):
    """A relation on a path, with chunks and files that state it. It has no direction."""

    source: str
    target: str
    description: str = ""
    keywords: list[str]
    weight: float = 0.0
    chunk_ids: list[str]
    file_paths: list[str]


class EntityPath(ResponseModel):
    """Entities one after the other, and the relation between each and the next."""

    entities: list[PathEntity]
    relations: list[PathRelation]


class EntityPaths(ResponseModel):
    """The shortest paths between two entities. `length`: relations of each; None where the entities
    are not connected. `is_truncated`: there are more.
    """

    length: int | None = None
    paths: list[EntityPath]
    is_truncated: bool = False


def search_passages(
    keywords: Sequence[str],
    *,
    documents: Sequence[str] = (),
    limit: int = 20,
    offset: int = 0,
    as_of: str | None = None,
) -> Flow[PassageMatches]:
    """Return the passages that have any of these words or phrases as they are written, in any case.

    `documents`: only in these, by id or file name. `as_of`: a sequence of the log or a time, for
    the passages as they were then. No model is asked.
    """
    optional = {"document": list(documents), "as_of": as_of}
    return get(
        "/passages/search",
        parse_as(PassageMatches),
        keyword=list(keywords),
        limit=limit,
        offset=offset,
        **{name: value for name, value in optional.items() if value},
    )


def passages_around(
    chunk_id: str, *, before: int = 1, after: int = 1, as_of: str | None = None
) -> Flow[Neighbours]:
    """Return a passage with those before and behind it in its document, word for word. Raises
    `NotFound`.
    """
    then = {"as_of": as_of} if as_of else {}
    return get(
        "/passages/around",
        parse_as(Neighbours),
        chunk_id=chunk_id,
        before=before,
        after=after,
        **then,
    )


def entity_paths(
    source: str, target: str, *, max_length: int = 4, limit: int = 5, as_of: str | None = None
) -> Flow[EntityPaths]:
    """Return the shortest paths between two entities, of at most `max_length` relations, with what
    states each. Raises `NotFound` for a name that no entity has.
    """
    then = {"as_of": as_of} if as_of else {}
    return get(
        "/graph/paths",
        parse_as(EntityPaths),
        source=source,
        target=target,
        max_length=max_length,
        limit=limit,
        **then,
    )
