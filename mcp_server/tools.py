"""The tools: what a model may ask of Lightstream, with the limits of each argument, and errors it
can act on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Annotated, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field, create_model

from contracts.ids import ids_of_name
from contracts.spelling import spellings
from lightstream_rag.client import AsyncLightstream
from lightstream_rag.models import AddedDocument
from mcp_server.arguments import AsOf, Effort, EntityName, Mode, Question
from mcp_server.context import ToolContext, caller_client
from mcp_server.exact_tools import find_paths, find_text, read_passages
from mcp_server.query_service import (
    document_by_id,
    documents_of_track,
)
from mcp_server.results import (
    Added,
    Answer,
    Document,
    DocumentList,
    DocumentPage,
    EntityNames,
    Neighbourhood,
    SearchResult,
)
from runtime.errors import ServiceError

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_TEXT = 1_000_000
"""Characters of a text that a tool takes; files of more are added with `lightstream add`."""

FINAL = ("processed", "partial", "failed")
"""Statuses of a document after which its processing is over."""

POLL_INTERVAL = 0.5
"""Seconds between two requests for the state of a document that is waited for."""

MAX_DOCUMENTS = 50
"""Documents of one track id that get_document returns."""


async def search(
    ctx: ToolContext,
    question: Question,
    mode: Mode = None,
    max_passages: Annotated[int, Field(ge=1, le=50, description="Passages at most.")] = 8,
    max_entities: Annotated[
        int, Field(ge=1, le=100, description="Entities, and relations, at most.")
    ] = 10,
    effort: Effort = "low",
    as_of: AsOf = "",
) -> SearchResult:
    """Find what the documents hold about a question: passages word for word with their files, and
    the entities and relations of the knowledge graph. No answer is written: use this to read the
    sources and to answer yourself, and `ask` to get a finished answer. Cite a passage by the file
    it is from.
    """
    async with caller_client(ctx).open() as client:
        response = await client.query_data(
            question,
            mode=mode,
            as_of=as_of or None,
            effort=effort,
            chunk_top_k=max_passages,
            top_k=max_entities,
        )
    return SearchResult.of(response, max_passages, max_entities)


async def ask(
    ctx: ToolContext,
    question: Question,
    mode: Mode = None,
    instructions: Annotated[
        str,
        Field(
            max_length=4000,
            description="How the answer should be written, such as its language or length.",
        ),
    ] = "",
    effort: Effort = "low",
    as_of: AsOf = "",
) -> Answer:
    """Get an answer from the documents with citations: `[1]` in the answer is the citation whose id
    is 1. With `found` false the documents hold nothing about it: say so, or put the question in
    other words.
    """
    async with caller_client(ctx).open() as client:
        answer = await client.query(
            question,
            mode=mode,
            as_of=as_of or None,
            effort=effort,
            include_chunk_locations=True,
            user_prompt=instructions,
        )
    return Answer.of(answer)


async def add_document(
    ctx: ToolContext,
    text: Annotated[
        str, Field(min_length=1, max_length=LONGEST_TEXT, description="Plain text or Markdown.")
    ],
    file_name: Annotated[
        str,
        Field(
            max_length=255,
            description=(
                "What answers will cite, such as notes.md. The same name is the same document."
            ),
        ),
    ] = "",
    wait_seconds: Annotated[
        int,
        Field(ge=0, le=300, description="How long to wait until it can be found; 0: do not wait."),
    ] = 0,
) -> Added:
    """Add a text to the documents. A text under a `file_name` that is there already REPLACES that
    document; the same text again changes nothing. The text is kept durably when this returns;
    processing goes on, and get_document with the `document_id` or the `track_id` tells how far it
    is.
    """
    async with caller_client(ctx).open() as client:
        result = await client.add_text(text, file_name)
        (document,) = result.documents
        state = await _wait(ctx, client, document, wait_seconds) if wait_seconds else None
    status = state.status if state else document.status or "pending"
    return Added(
        track_id=result.track_id,
        document_id=document.id,
        status=status,
        document=state,
        next=_next_step(status),
    )


async def get_document(
    ctx: ToolContext,
    document: Annotated[
        str,
        Field(
            min_length=1,
            max_length=512,
            description=(
                "The id (doc-…), the file name, or the track_id that add_document returned."
            ),
        ),
    ],
) -> DocumentList:
    """Tell how far a document is: status, what each step has done of its chunks, why it failed, and
    how it begins. A track_id of several texts gives several documents.
    """
    async with caller_client(ctx).open() as client:
        for id in dict.fromkeys((*spellings(document), *ids_of_name(document))):
            if state := await document_by_id(client, id):
                return DocumentList(documents=[Document.of(state)], total=1)
        states = await documents_of_track(client, document)
    if not states:
        raise ToolError(
            f"there is no document {document!r}: list_documents lists the ids and file names; "
            "one that was added a moment ago is there as soon as it is read"
        )
    return DocumentList(
        documents=[Document.of(state) for state in states[:MAX_DOCUMENTS]], total=len(states)
    )


async def list_documents(
    ctx: ToolContext,
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Field(ge=10, le=100)] = 20,
    status: Annotated[
        Literal["pending", "processing", "processed", "partial", "failed", "deleting"] | None,
        Field(description="Only documents of this status."),
    ] = None,
) -> DocumentPage:
    """List the documents, the newest change first, and count them by status."""
    async with caller_client(ctx).open() as client:
        page_of = await client.list_documents(
            page, page_size, status_filters=[status] if status else []
        )
    return DocumentPage.of(page_of)


async def find_entities(
    ctx: ToolContext,
    text: Annotated[
        str,
        Field(
            max_length=512,
            description="A part of the name, in any case; empty: those with most relations.",
        ),
    ] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    as_of: AsOf = "",
) -> EntityNames:
    """Find the exact names of entities of the knowledge graph, which walk_graph and find_paths
    need. `as_of` needs a text.
    """
    if as_of and not text.strip():
        raise ToolError("as_of needs a text: name a part of the names")
    async with caller_client(ctx).open() as client:
        return EntityNames(names=await _entity_names(client, text, limit, as_of))


async def walk_graph(
    ctx: ToolContext,
    entity: EntityName,
    depth: Annotated[int, Field(ge=1, le=5, description="Steps away from it.")] = 1,
    max_entities: Annotated[int, Field(ge=1, le=200)] = 30,
    max_relations: Annotated[int, Field(ge=1, le=500)] = 60,
    as_of: AsOf = "",
) -> Neighbourhood:
    """Look at the neighbourhood of an entity in the knowledge graph: the entities within `depth`
    steps, nearer ones first, and the relations between them, heavier ones first. `*` begins with
    the entities that have most relations.
    """
    async with caller_client(ctx).open() as client:
        part = await client.subgraph(entity, depth, max_entities, as_of=as_of or None)
        similar = [] if part.nodes else await _entity_names(client, entity, 5, as_of)
    if not part.nodes:
        names = ", ".join(map(repr, similar))
        raise ToolError(
            f"there is no entity {entity!r}; names are compared letter by letter. "
            + (
                f"Names that hold it: {names}"
                if names
                else "find_entities finds names by a part of them"
            )
        )
    return Neighbourhood.of(part, max_relations)


async def _entity_names(client: AsyncLightstream, text: str, limit: int, as_of: str) -> list[str]:
    """Return names of entities: those that hold a text, or without one those with the most
    relations.
    """
    return await (
        client.search_entities(text, limit, as_of=as_of or None)
        if text.strip()
        else client.popular_entities(limit)
    )


async def _wait(
    ctx: ToolContext, client: AsyncLightstream, added_document: AddedDocument, seconds: int
) -> Document | None:
    """Return the state of a document once it is final or the seconds are over; progress is reported
    meanwhile.

    None while the query service does not know this version of it.
    """
    clock = asyncio.get_running_loop().time
    begin = clock()
    while True:
        state = await document_by_id(client, added_document.id)
        document = (
            Document.of(state) if state and state.sequence >= added_document.sequence else None
        )
        seconds_passed = clock() - begin
        if (document and document.status in FINAL) or seconds_passed >= seconds:
            return document
        # In seconds, for progress must grow from one report to the next.
        await ctx.report_progress(
            seconds_passed, seconds, document.status if document else "pending"
        )
        await asyncio.sleep(POLL_INTERVAL)


def _next_step(status: str) -> str:
    return {
        "processed": "it can be found by search and ask",
        "partial": (
            "some of it can be found by search and ask; `error` of get_document says what failed"
        ),
        "failed": "nothing of it can be found; `error` of get_document says why",
    }.get(status, "it is being processed; get_document tells how far it is")


def _with_tool_errors(tool: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """Wrap a tool: the model reads our own errors as they are, and of any other, a bug, only that
    there was one.
    """

    @wraps(tool)
    async def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await tool(*args, **kwargs)
        except ServiceError as error:
            raise ToolError(str(error)) from None

    return wrapped


def _strict(tool: Tool) -> Tool:
    """Return the tool so that it refuses unknown arguments: a misspelt limit must not be as good as
    none.
    """
    model = tool.fn_metadata.arg_model
    arguments = create_model(model.__name__, __base__=model, __cls_kwargs__={"extra": "forbid"})
    metadata = tool.fn_metadata.model_copy(update={"arg_model": arguments})
    return tool.model_copy(
        update={"fn_metadata": metadata, "parameters": arguments.model_json_schema(by_alias=True)}
    )


def tools() -> list[Tool]:
    """Return every tool of the server."""
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    replaces = ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    )
    registered_tools = [
        Tool.from_function(_with_tool_errors(search), annotations=reads),
        Tool.from_function(_with_tool_errors(ask), annotations=reads),
        Tool.from_function(_with_tool_errors(add_document), annotations=replaces),
        Tool.from_function(_with_tool_errors(get_document), annotations=reads),
        Tool.from_function(_with_tool_errors(find_text), annotations=reads),
        Tool.from_function(_with_tool_errors(read_passages), annotations=reads),
        Tool.from_function(_with_tool_errors(list_documents), annotations=reads),
        Tool.from_function(_with_tool_errors(find_entities), annotations=reads),
        Tool.from_function(_with_tool_errors(walk_graph), annotations=reads),
        Tool.from_function(_with_tool_errors(find_paths), annotations=reads),
    ]
    return [_strict(tool) for tool in registered_tools]
