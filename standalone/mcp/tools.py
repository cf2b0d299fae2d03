"""The tools: what a model may ask of Lightstream, with the limits of each argument, and errors it can act on."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

import httpx
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field, create_model

from contracts.ids import ids_of_name
from runtime.errors import ServiceError
from standalone.mcp.service import CARRIED, WORKSPACE, Service
from standalone.mcp.shapes import Added, Answer, Document, Documents, Found, Listed, Names, Neighbourhood

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_TEXT = 1_000_000
"""Characters of a text that a tool takes; files of more are added with `lightstream add`."""

FINAL = ("processed", "partial", "failed")
LOOK = 0.5
"""Seconds between two looks at a document that is waited for."""
MANY = 50
"""Documents of one request that are told."""


@dataclass(frozen=True)
class Door:
    """How the query service is reached. `headers` hold for a client that sends none of its own, as over stdio."""

    connections: httpx.AsyncClient
    base: Callable[[], str]
    headers: Mapping[str, str]

    def service(self, sent: Mapping[str, str] | None) -> Service:
        """The query service for who sent these headers; None: for the one who started this process."""
        given = {name: value for name in CARRIED if (value := (sent or {}).get(name))}
        named = given.keys() & {WORKSPACE, "X-Workspace"}
        own = {name: value for name, value in self.headers.items() if not (named and name == WORKSPACE)}
        return Service(self.connections, self.base, {**own, **given})


Asked = Context[Door, Any]

Question = Annotated[str, Field(min_length=3, max_length=8000, description="In plain words, one question at a time.")]
Mode = Annotated[
    Literal["mix", "naive", "local", "global", "hybrid", "walk", "auto"],
    Field(
        description="What is searched: everything (mix), passages only (naive), entities (local), relations (global), "
        "both (hybrid); walk follows what is tied to the names in a question of several hops; auto chooses."
    ),
]


async def search(
    ctx: Asked,
    question: Question,
    mode: Mode = "mix",
    max_passages: Annotated[int, Field(ge=1, le=50, description="Passages at most.")] = 8,
    max_entities: Annotated[int, Field(ge=1, le=100, description="Entities, and relations, at most.")] = 10,
) -> Found:
    """Find what the documents hold about a question: passages word for word with their files, and the entities and
    relations of the knowledge graph. No answer is written: use this to read the sources and to answer yourself, and
    `ask` to get a finished answer. Cite a passage by the file it is from.
    """
    return Found.of(await _service(ctx).found(question, mode, max_passages, max_entities), max_passages, max_entities)


async def ask(
    ctx: Asked,
    question: Question,
    mode: Mode = "mix",
    instructions: Annotated[
        str, Field(max_length=4000, description="How the answer should be written, such as its language or length.")
    ] = "",
) -> Answer:
    """Get an answer from the documents with citations: `[1]` in the answer is the citation whose id is 1. With
    `found` false the documents hold nothing about it: say so, or put the question in other words.
    """
    return Answer.of(await _service(ctx).answered(question, mode, instructions))


async def add_document(
    ctx: Asked,
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="Plain text or Markdown.")],
    file_name: Annotated[
        str,
        Field(
            max_length=255, description="What answers will cite, such as notes.md. The same name is the same document."
        ),
    ] = "",
    wait_seconds: Annotated[
        int, Field(ge=0, le=300, description="How long to wait until it can be found; 0: do not wait.")
    ] = 0,
) -> Added:
    """Add a text to the documents. A text under a `file_name` that is there already REPLACES that document; the same
    text again changes nothing. The text is kept durably when this returns; processing goes on, and get_document with
    the `document_id` or the `track_id` tells how far it is.
    """
    service = _service(ctx)
    answer = await service.added(text, file_name)
    placed: dict[str, Any] = answer["documents"][0]
    state = await _waited(ctx, service, placed, wait_seconds) if wait_seconds else None
    status: str = state.status if state else placed.get("status") or "pending"
    return Added(
        track_id=answer["track_id"],
        document_id=placed["id"],
        status=status,
        document=state,
        next=_next(status),
    )


async def get_document(
    ctx: Asked,
    document: Annotated[
        str,
        Field(
            min_length=1,
            max_length=512,
            description="The id (doc-…), the file name, or the track_id that add_document returned.",
        ),
    ],
) -> Documents:
    """Tell how far a document is: status, what each step has done of its chunks, why it failed, and how it begins.
    A track_id of several texts gives several documents.
    """
    service = _service(ctx)
    for id in dict.fromkeys((document, *ids_of_name(document))):
        if state := await service.state(id):
            return Documents(documents=[Document.of(state)], total=1)
    states = await service.tracked(document)
    if not states:
        raise ToolError(
            f"there is no document {document!r}: list_documents lists the ids and file names; one that was added "
            "a moment ago is there as soon as it is read"
        )
    return Documents(documents=[Document.of(state) for state in states[:MANY]], total=len(states))


async def list_documents(
    ctx: Asked,
    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1,
    page_size: Annotated[int, Field(ge=10, le=100)] = 20,
    status: Annotated[
        Literal["pending", "processing", "processed", "partial", "failed", "deleting"] | None,
        Field(description="Only documents of this status."),
    ] = None,
) -> Listed:
    """List the documents, the newest change first, and count them by status."""
    return Listed.of(await _service(ctx).listed(page, page_size, status))


async def find_entities(
    ctx: Asked,
    text: Annotated[
        str, Field(max_length=512, description="A part of the name, in any case; empty: those with most relations.")
    ] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Names:
    """Find the exact names of entities of the knowledge graph, which walk_graph needs."""
    return Names(names=await _service(ctx).names(text, limit))


async def walk_graph(
    ctx: Asked,
    entity: Annotated[str, Field(min_length=1, max_length=512, description="Its exact name; see find_entities.")],
    depth: Annotated[int, Field(ge=1, le=5, description="Steps away from it.")] = 1,
    max_entities: Annotated[int, Field(ge=1, le=200)] = 30,
    max_relations: Annotated[int, Field(ge=1, le=500)] = 60,
) -> Neighbourhood:
    """Look at the neighbourhood of an entity in the knowledge graph: the entities within `depth` steps, nearer ones
    first, and the relations between them, heavier ones first. `*` begins with the entities that have most relations.
    """
    service = _service(ctx)
    part = await service.around(entity, depth, max_entities)
    if not part["nodes"]:
        alike = ", ".join(repr(name) for name in await service.names(entity, 5))
        raise ToolError(
            f"there is no entity {entity!r}; names are compared letter by letter. "
            + (f"Names that hold it: {alike}" if alike else "find_entities finds names by a part of them")
        )
    return Neighbourhood.of(part, max_relations)


def _service(ctx: Asked) -> Service:
    return ctx.request_context.lifespan_context.service(ctx.headers)


async def _waited(ctx: Asked, service: Service, placed: Mapping[str, Any], seconds: int) -> Document | None:
    """The state of what was added, as soon as nothing more comes of it or the time is over; progress is reported."""
    clock = asyncio.get_running_loop().time
    begin = clock()
    while True:
        state = await service.state(placed["id"])
        here = bool(state) and state["metadata"]["added_sequence"] >= placed["sequence"]
        found = Document.of(state) if state and here else None
        passed = clock() - begin
        if (found and found.status in FINAL) or passed >= seconds:
            return found
        # In seconds, for progress must grow from one report to the next.
        await ctx.report_progress(passed, seconds, found.status if found else "pending")
        await asyncio.sleep(LOOK)


def _next(status: str) -> str:
    return {
        "processed": "it can be found by search and ask",
        "partial": "some of it can be found by search and ask; `error` of get_document says what failed",
        "failed": "nothing of it can be found; `error` of get_document says why",
    }.get(status, "it is being processed; get_document tells how far it is")


def _told(tool: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """An error of ours reaches the model as its sentence. Any other is a bug: it hears only that there is one."""

    @wraps(tool)
    async def telling(*given: P.args, **named: P.kwargs) -> R:
        try:
            return await tool(*given, **named)
        except ServiceError as error:
            raise ToolError(str(error)) from None

    return telling


def _strict(tool: Tool) -> Tool:
    """The tool, refusing arguments it does not have: a misspelt limit must not be as good as none."""
    given = tool.fn_metadata.arg_model
    arguments = create_model(given.__name__, __base__=given, __cls_kwargs__={"extra": "forbid"})
    metadata = tool.fn_metadata.model_copy(update={"arg_model": arguments})
    return tool.model_copy(update={"fn_metadata": metadata, "parameters": arguments.model_json_schema(by_alias=True)})


def tools() -> list[Tool]:
    """All of them."""
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    replaces = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
    made = [
        Tool.from_function(_told(search), annotations=reads),
        Tool.from_function(_told(ask), annotations=reads),
        Tool.from_function(_told(add_document), annotations=replaces),
        Tool.from_function(_told(get_document), annotations=reads),
        Tool.from_function(_told(list_documents), annotations=reads),
        Tool.from_function(_told(find_entities), annotations=reads),
        Tool.from_function(_told(walk_graph), annotations=reads),
    ]
    return [_strict(tool) for tool in made]
