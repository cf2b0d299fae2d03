"""The routes. No logic: a request becomes a call, its result becomes an answer."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response

from contracts.envelope import Header as Attributes
from contracts.graph import Space
from contracts.ids import UNKNOWN_SOURCE, canonical_name
from runtime.bus.port import Blobs, GenerationPointers, Log
from runtime.bus.publisher import add_document
from services.query.api.document_models import (
    Document,
    InsertResponse,
    InsertText,
    InsertTexts,
    PaginatedRequest,
    PaginatedResponse,
    Pagination,
    StatusCounts,
    TrackStatus,
    all_counts,
)
from services.query.api.models import QueryRequest, QueryResponse, references_of
from services.query.api.streaming import Ndjson, answer_lines
from services.query.ask import Answer, ask
from services.query.domain.question import RESPONSE_TYPE, Keywords, Question, Turn, Wanted
from services.query.library import Library, Spaces, Tell
from services.query.ports import Documents, Positions
from services.query.settings import QuerySettings

VERSION = "0.1.0"
router = APIRouter()


@dataclass(frozen=True)
class Context:
    """What every route works with."""

    log: Log
    blobs: Blobs
    pointers: GenerationPointers
    documents: Documents
    positions: Positions
    library: Library
    settings: QuerySettings


def context(request: Request) -> Context:
    """What the service was wired with; 503 until it is."""
    found: Context | None = getattr(request.app.state, "context", None)
    if found is None:
        raise HTTPException(503, "the service is starting; see /health/ready", {"Retry-After": "2"})
    return found


def workspace(
    request: Request,
    _lightrag_workspace: Annotated[str | None, Header(alias="lightrag-workspace", description="the workspace")] = None,
    _x_workspace: Annotated[str | None, Header(alias="x-workspace", description="the workspace")] = None,
) -> str:
    """The tenant a request means; the gate has read its headers and knows that its credentials are for it."""
    name: str = request.state.workspace
    try:
        Attributes(id="-", source="-", type="-", workspace=name)
    except ValueError:
        raise HTTPException(
            422, "workspace: 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit, not with 'x-'"
        ) from None
    return name


Ctx = Annotated[Context, Depends(context)]
Workspace = Annotated[str, Depends(workspace)]


POSITION = "X-Log-Position"
"""Every answer names the place in the log up to which all documents are in it."""


async def standing(body: QueryRequest, ctx: Context, workspace: str, response: Response) -> Spaces:
    """Where to look, once the position that was asked for is reached; the answer's header says which one is."""
    spaces = Spaces.of(workspace, await ctx.pointers.live())
    if body.min_position is None:
        position = await ctx.positions.of(spaces.status)
    else:
        position = await ctx.positions.reach(spaces.status, body.min_position, ctx.settings.min_position_timeout)
        if position < body.min_position:
            reached = f"position {position} is reached, {body.min_position} was asked for; try again"
            raise HTTPException(503, reached, {"Retry-After": "1", POSITION: str(position)})
    response.headers[POSITION] = str(position)
    return spaces


@router.post("/query", tags=["query"])
async def query(body: QueryRequest, ctx: Ctx, workspace: Workspace, response: Response) -> QueryResponse:
    """Answer a question from the documents."""
    started = time.monotonic()
    spaces = await standing(body, ctx, workspace, response)
    answer = await ask(asked(body, ctx.settings), spaces, ctx.library, wanted=_wanted(body))
    return QueryResponse(
        response=answer.text,
        references=references_of(body, answer),
        response_time=round(time.monotonic() - started, 3),
        llm_generated=answer.by_model,
    )


@router.post(
    "/query/stream",
    tags=["query"],
    status_code=200,
    response_class=Ndjson,
    responses={200: {"content": {"application/x-ndjson": {}}}},
)
async def query_stream(
    body: QueryRequest, ctx: Ctx, workspace: Workspace, request: Request, response: Response
) -> Ndjson:
    """Answer a question from the documents, in lines of JSON while the answer is being written."""
    spaces = await standing(body, ctx, workspace, response)
    question, wanted = asked(body, ctx.settings), _wanted(body)

    async def asking(tell: Tell) -> Answer:
        library = replace(ctx.library, tell=tell)
        return await ask(question, spaces, library, wanted=wanted, streamed=body.stream is not False)

    lines = Ndjson(await answer_lines(body, asking, request.url.path))
    lines.headers[POSITION] = response.headers[POSITION]
    return lines


def _wanted(body: QueryRequest) -> Wanted:
    if body.only_need_prompt:
        return "prompt"
    return "context" if body.only_need_context else "answer"


def asked(body: QueryRequest, settings: QuerySettings) -> Question:
    """The request with the server's own values where it names none."""
    limits = {
        name: getattr(body, name) or getattr(settings, name)
        for name in ("top_k", "chunk_top_k", "max_entity_tokens", "max_relation_tokens", "max_total_tokens")
    }
    prefix = "" if body.disable_user_prompt_prefix else settings.prompt_prefix
    return Question(
        body.query,
        body.mode,
        **limits,
        keywords=Keywords(tuple(body.hl_keywords), tuple(body.ll_keywords)),
        scope=body.filter.scope(),
        rerank=settings.rerank_by_default if body.enable_rerank is None else body.enable_rerank,
        response_type=body.response_type or RESPONSE_TYPE,
        user_prompt=prefix + (body.user_prompt or ""),
        history=tuple(Turn(message.role, message.content) for message in body.conversation_history or ()),
    )


@router.post("/documents/text", tags=["documents"])
async def add_text(body: InsertText, ctx: Ctx, workspace: Workspace) -> InsertResponse:
    """Add one text. The answer comes once the log has it durably."""
    texts = InsertTexts(texts=[body.text], file_sources=[body.file_source] if body.file_source else [])
    return await add_texts(texts, ctx, workspace)


@router.post("/documents/texts", tags=["documents"])
async def add_texts(body: InsertTexts, ctx: Ctx, workspace: Workspace) -> InsertResponse:
    """Add several texts. The answer comes once the log has them all durably."""
    track_id = f"insert_{datetime.now(UTC):%Y%m%d_%H%M%S}_{uuid4().hex[:8]}"
    sources = body.file_sources or [UNKNOWN_SOURCE] * len(body.texts)
    for text, source in zip(body.texts, sources, strict=True):
        await add_document(
            ctx.log,
            ctx.blobs,
            workspace=workspace,
            text=text,
            file_path=canonical_name(source) or UNKNOWN_SOURCE,
            track_id=track_id,
            source="lightstream/api",
        )
    return InsertResponse(message=f"{len(body.texts)} accepted; they are being processed.", track_id=track_id)


@router.get("/documents/track_status/{track_id}", tags=["documents"])
async def track_status(track_id: str, ctx: Ctx, workspace: Workspace) -> TrackStatus:
    """The documents of one request. An unknown id has none."""
    found = await ctx.documents.tracked(await _space(ctx, workspace), track_id)
    summary: dict[str, int] = {}
    for status in found:
        summary[status.status] = summary.get(status.status, 0) + 1
    return TrackStatus(
        track_id=track_id, documents=[Document.of(s) for s in found], total_count=len(found), status_summary=summary
    )


@router.post("/documents/paginated", tags=["documents"])
async def paginated(body: PaginatedRequest, ctx: Ctx, workspace: Workspace) -> PaginatedResponse:
    """A page of the list of documents."""
    space = await _space(ctx, workspace)
    wanted = body.status_filters or ([body.status_filter] if body.status_filter else [])
    page = await ctx.documents.page(
        space,
        statuses=[status.lower() for status in wanted],
        order=body.sort_field,
        descending=body.sort_direction == "desc",
        skip=(body.page - 1) * body.page_size,
        limit=body.page_size,
    )
    pages = -(-page.total // body.page_size)
    return PaginatedResponse(
        documents=[Document.of(status) for status in page.documents],
        pagination=Pagination(
            page=body.page,
            page_size=body.page_size,
            total_count=page.total,
            total_pages=pages,
            has_next=body.page < pages,
            has_prev=body.page > 1,
        ),
        status_counts=all_counts(await ctx.documents.counts(space)),
    )


@router.get("/documents/status_counts", tags=["documents"])
async def status_counts(ctx: Ctx, workspace: Workspace) -> StatusCounts:
    """How many documents are in which state."""
    return StatusCounts(status_counts=all_counts(await ctx.documents.counts(await _space(ctx, workspace))))


@router.get("/health", tags=["system"])
async def health(request: Request, ctx: Ctx, workspace: Workspace) -> dict[str, Any]:
    """Whether the service answers, and what it works with; a stranger hears the first only."""
    counts = await ctx.documents.counts(await _space(ctx, workspace))
    busy = any(counts.get(status, 0) for status in ("pending", "processing", "deleting"))
    shown = {
        "status": "healthy",
        "auth_mode": "enabled" if request.app.state.door.accounts else "disabled",
        "core_version": VERSION,
        "api_version": VERSION,
        "pipeline_busy": busy,
    }
    if not request.state.caller.signed_in:
        return shown
    return {
        **shown,
        "workspace": workspace,
        "configuration": {
            "llm_model": ctx.settings.llm_model if ctx.settings.has_llm else None,
            "embedding_model": ctx.library.vectors.model,
        },
    }


async def _space(ctx: Context, workspace: str) -> Space:
    return Space(workspace, (await ctx.pointers.live()).status)
