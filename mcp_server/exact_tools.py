"""The tools that need no model: exact search, reading on around a passage, and paths between two
entities.
"""

from typing import Annotated

from pydantic import Field

from contracts.ids import chunk_id
from mcp_server.arguments import AsOf, EntityName, Keywords
from mcp_server.context import ToolContext, caller_client
from mcp_server.exact_results import Connections, Matches, Neighbours


async def find_text(
    ctx: ToolContext,
    keywords: Keywords,
    documents: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=512)], ...],
        Field(max_length=20, description="Only in these: ids or file names. Empty: in all."),
    ] = (),
    max_passages: Annotated[int, Field(ge=1, le=100, description="Passages at most.")] = 10,
    offset: Annotated[
        int, Field(ge=0, le=10_000, description="Passages to pass over, to read on.")
    ] = 0,
    as_of: AsOf = "",
) -> Matches:
    """Find the passages that have words or phrases exactly as they are written, whole words in any
    case, and names of entities that have them. Use it for what must be there to the letter, such as
    names, numbers, codes and quotations, and read_passages to read what it finds; use `search`
    where other words may say the same.
    """
    async with caller_client(ctx).open() as client:
        matches = await client.search_passages(
            keywords, documents=documents, limit=max_passages, offset=offset, as_of=as_of or None
        )
    return Matches.of(matches)


async def read_passages(
    ctx: ToolContext,
    document_id: Annotated[
        str, Field(min_length=1, max_length=512, description="The id that a passage names.")
    ],
    order: Annotated[
        int, Field(ge=0, le=10_000_000, description="The place of the passage; 0: the first.")
    ],
    before: Annotated[int, Field(ge=0, le=20, description="Passages before it.")] = 1,
    after: Annotated[int, Field(ge=0, le=20, description="Passages after it.")] = 1,
    as_of: AsOf = "",
) -> Neighbours:
    """Read on around a passage: the one at `order` in its document with those before and after it,
    word for word and in order. Use it where a passage that search found begins or ends in the
    middle of what you need.
    """
    async with caller_client(ctx).open() as client:
        neighbours = await client.passages_around(
            chunk_id(document_id, order), before=before, after=after, as_of=as_of or None
        )
    return Neighbours.of(neighbours)


async def find_paths(
    ctx: ToolContext,
    source: EntityName,
    target: EntityName,
    max_length: Annotated[int, Field(ge=1, le=6, description="Relations of a path at most.")] = 4,
    max_paths: Annotated[int, Field(ge=1, le=50)] = 5,
    as_of: AsOf = "",
) -> Connections:
    """Find how two entities are connected in the knowledge graph: the shortest paths between them,
    each relation with what the documents say of it and the files that do. Use it for questions such
    as what one has to do with the other.
    """
    async with caller_client(ctx).open() as client:
        connections = await client.entity_paths(
            source, target, max_length=max_length, limit=max_paths, as_of=as_of or None
        )
    return Connections.of(connections)
