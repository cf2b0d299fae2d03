"""The FastAPI application: routes, middleware, and error handlers whose answers never show
internals.
"""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.security import APIKeyHeader, OAuth2PasswordBearer
from starlette.exceptions import HTTPException as Raised
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match

from contracts.text import encodable
from runtime.errors import InvalidInput, ModelChanged, NotFound, Poison, Retryable
from runtime.retries import format_retry_after
from runtime.version import VERSION
from services.gateway.access import routes as access
from services.gateway.auth import login
from services.gateway.auth.audit import AuditMiddleware
from services.gateway.auth.config import AuthConfig
from services.gateway.auth.middleware import AuthError, AuthMiddleware
from services.gateway.auth.security_headers import SECURITY_HEADERS, SecurityHeadersMiddleware
from services.gateway.auth.viewers import REFUSE_VIEWERS
from services.gateway.body_limits import BodyLimitMiddleware
from services.gateway.branches import order_routes as branch_orders
from services.gateway.branches import routes as branches
from services.gateway.compat import lightrag_pipeline, lightrag_web_page, ollama, openai
from services.gateway.conversations import routes as conversations
from services.gateway.documents import (
    original_routes,
    page_routes,
    tag_routes,
    upload_routes,
    validity_routes,
)
from services.gateway.documents import routes as documents
from services.gateway.errors import describe_error, error_response
from services.gateway.feeds import routes as feeds
from services.gateway.feeds import routes_of_all as feeds_of_all
from services.gateway.golden import branch_answers
from services.gateway.golden import routes as golden
from services.gateway.graph import alias_routes as aliases
from services.gateway.graph import contradiction_routes as contradictions
from services.gateway.graph import past_routes as graph_past
from services.gateway.graph import path_routes as graph_paths
from services.gateway.graph import provenance_routes as provenance
from services.gateway.graph import routes as graph
from services.gateway.manual import PUBLIC_PATHS as MANUAL_PATHS
from services.gateway.manual import add_manual
from services.gateway.operations import (
    consumer_routes,
    cost_routes,
    dead_letter_routes,
    digest_routes,
    embedding_routes,
    erasure_routes,
    figure_routes,
    health_routes,
    log_task_routes,
    metrics_routes,
    model_routes,
    parked_routes,
    projection_routes,
    provider_routes,
    rebuild_routes,
    retry_routes,
    source_routes,
)
from services.gateway.past import routes as past
from services.gateway.past import undo_routes
from services.gateway.path_prefix import PathPrefixMiddleware
from services.gateway.question_charges import QuestionCharges
from services.gateway.questions import data
from services.gateway.questions import routes as questions
from services.gateway.receipts import routes as receipts
from services.gateway.reference import pages
from services.gateway.reference.examples import with_examples
from services.gateway.reference.responses import COMMON_CODES, error_responses
from services.gateway.reference.summaries import with_summaries
from services.gateway.request_metrics import RequestMetrics
from services.gateway.search import routes as search
from services.gateway.system import language_routes
from services.gateway.system import routes as system
from services.gateway.unknown_routes import NO_ROUTE, describe_unknown_route
from services.gateway.web_page import PUBLIC_PATHS as OWN_PAGE_PATHS
from services.gateway.web_page import add_web_page
from services.gateway.webhooks import routes as webhooks
from services.query.errors import BadRequest, Conflict, NotSupported, TooLarge

CLIENT_CLOSED_REQUEST = 499
"""The status that nginx logs for a client that has gone before its answer; no standard has one."""

STATUS_CODES: dict[type[Exception], int] = {
    BadRequest: 400,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    NotSupported: 501,
}
"""The status code of each error of a use case; any other InvalidInput is 422."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods that routes take; HEAD of a page goes with its GET."""

COMPARISON_SECONDS = 0.05
"""Seconds between two routes, of which each takes some 10 ms of CPU, that are compared in
advance.
"""

SECURITY_SCHEMES = [
    Security(APIKeyHeader(name="X-API-Key", auto_error=False)),
    Security(OAuth2PasswordBearer("login", auto_error=False)),
]
"""The credentials that /docs has fields for. AuthMiddleware is what checks them."""

OPERATIONS = (
    consumer_routes,
    cost_routes,
    dead_letter_routes,
    digest_routes,
    embedding_routes,
    erasure_routes,
    figure_routes,
    health_routes,
    log_task_routes,
    model_routes,
    parked_routes,
    projection_routes,
    provider_routes,
    rebuild_routes,
    retry_routes,
    source_routes,
    past,
    undo_routes,
    webhooks,
)
"""The modules of routes under `/operations`."""


def create_app(config: AuthConfig | None = None) -> FastAPI:
    """Return the application, open to everyone without a configuration of access.

    `provide` gives it what its routes work with, once the service is wired.
    """
    config = config or AuthConfig()
    app = ApiWithExamples(
        title="Lightstream",
        version=VERSION,
        description="Graph-based RAG over an event log.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if config.docs else None,
        form_limits={"max_files": 100, "max_fields": 100, "max_part_size": 64 * 1024},
        # Of pages: they show no documents, so who sees a part of these may open them.
        dependencies=SECURITY_SCHEMES,
        responses=error_responses(*COMMON_CODES),
    )
    app.state.auth = config
    app.routes.extend(_routes())
    if config.docs:
        app.include_router(pages.router)
    if config.web_page:
        lightrag_web_page.add_page(app, config.web_page)
    if config.own_page:
        add_web_page(app, config.own_page)
    add_manual(app, config.manual)
    _add_middleware(app, config)
    _add_error_handlers(app)
    return app


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """Return the routes that every application has; nothing in them is of one of them.

    FastAPI takes their parameters and models apart when they are first compared with a request,
    once for each object returned here: see `compare_routes`.
    """
    root_router = APIRouter(
        dependencies=[*SECURITY_SCHEMES, REFUSE_VIEWERS], responses=error_responses(*COMMON_CODES)
    )
    of_graph = (graph, aliases, graph_past, graph_paths, provenance, contradictions)
    for routes in (
        questions,
        data,
        golden,
        conversations,
        branches,
        branch_answers,
        branch_orders,
        receipts,
        documents,
        access,
        validity_routes,
        tag_routes,
        upload_routes,
        original_routes,
        page_routes,
        lightrag_pipeline,
        feeds,
        feeds_of_all,
        *of_graph,
        search,
        language_routes,
        system,
        login,
        ollama,
        openai,
    ):
        root_router.include_router(routes.router)
    for routes in OPERATIONS:
        root_router.include_router(routes.router, prefix="/operations", tags=["operations"])
    root_router.include_router(metrics_routes.router)
    return tuple(root_router.routes)


async def compare_routes(app: FastAPI) -> None:
    """Compare each route with a request that none takes, so that the first who asks something does
    not wait for what FastAPI does then (some 0.3 s of CPU, 0.165). They take their time: while a
    stack starts, others need the CPU.
    """
    request: dict[str, Any] = {"type": "http", "method": "GET", "path": "/-", "root_path": ""}
    for route in app.routes:
        route.matches({**request, "headers": []})
        await asyncio.sleep(COMPARISON_SECONDS)


def _add_middleware(app: FastAPI, config: AuthConfig) -> None:
    """Add the middleware; the one added last runs first."""
    app.add_middleware(QuestionCharges)  # inside of the others: who asks is known there
    app.add_middleware(BodyLimitMiddleware, limits=config.body_limits)
    public = (
        *(lightrag_web_page.PUBLIC_PATHS if config.web_page else ()),
        *(OWN_PAGE_PATHS if config.own_page else ()),
        *MANUAL_PATHS,
    )
    app.add_middleware(AuthMiddleware, config=config, public=public)
    app.add_middleware(AuditMiddleware)
    app.add_middleware(RequestMetrics)
    if config.cors_origins:
        # No cookies are used, so no credentials are let through with `*`.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.cors_origins),
            allow_methods=METHODS,
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "Last-Event-ID",
                "X-API-Key",
                "LIGHTRAG-WORKSPACE",
                "X-On-Behalf-Of",
                "X-Workspace",
            ],
            expose_headers=["X-New-Token", "X-Log-Position", "X-Receipt", "Retry-After"],
        )
    app.add_middleware(SecurityHeadersMiddleware)
    if config.path_prefix or config.believes_proxies:
        app.add_middleware(
            PathPrefixMiddleware,
            prefix=config.path_prefix,
            believes_proxies=config.believes_proxies,
        )


def _add_error_handlers(app: FastAPI) -> None:
    """Turn every error into an answer."""
    for kind, code in STATUS_CODES.items():
        app.add_exception_handler(kind, _refusing(code))
    app.add_exception_handler(Poison, _poisoned)

    @app.exception_handler(InvalidInput)
    async def refused(request: Request, error: InvalidInput) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = describe_error(error, request.url.path)
        return error_response(request.url.path, status, detail)

    @app.exception_handler(Raised)
    async def raised(request: Request, error: Raised) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        lists_methods = "Allow" in (error.headers or {})
        headers = {"Allow": _allowed_methods(request)} if lists_methods else error.headers
        path = request.url.path
        is_unknown = error.status_code == 404 and error.detail == NO_ROUTE
        detail = describe_unknown_route(path) if is_unknown else error.detail
        return error_response(path, error.status_code, detail, headers)

    @app.exception_handler(AuthError)
    async def kept_out(request: Request, error: AuthError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return error.response(request.url.path)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return _invalid_request(request.url.path, error)

    @app.exception_handler(Retryable)
    async def unavailable(request: Request, error: Retryable) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = describe_error(error, request.url.path)
        return error_response(request.url.path, status, detail, _when_to_retry(error))

    @app.exception_handler(ClientDisconnect)
    async def abandoned(request: Request, error: ClientDisconnect) -> Response:  # pyright: ignore[reportUnusedFunction]
        return Response(status_code=CLIENT_CLOSED_REQUEST)  # nobody reads it

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = describe_error(error, request.url.path)
        # This answer passes none of the middleware.
        return error_response(request.url.path, status, detail, SECURITY_HEADERS)


def _invalid_request(path: str, error: RequestValidationError) -> JSONResponse:
    """Return the answer to a request whose body or parameters are not what the route takes."""
    faults = [
        {"loc": list(fault["loc"]), "msg": encodable(fault["msg"]), "type": fault["type"]}
        for fault in error.errors()
    ]
    if path == data.PATH:
        return JSONResponse(
            data.failure_body("; ".join(str(fault["msg"]) for fault in faults)), 400
        )
    return error_response(path, 422, faults)


def _when_to_retry(error: Retryable) -> dict[str, str]:
    """Return the header that says when to ask again; none where asking again does not help."""
    if isinstance(error, ModelChanged):
        return {}
    return {"Retry-After": format_retry_after(error.retry_after or 5)}


def _allowed_methods(request: Request) -> str:
    """Return the methods of a path, as `Allow` lists them. Starlette lists those of the first route
    of the path.
    """
    scopes = {method: {**request.scope, "method": method} for method in METHODS}
    routes = request.app.routes
    return ", ".join(
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in routes)
    )


def _refusing(code: int) -> Callable[[Request, Exception], JSONResponse]:
    def refuse(request: Request, error: Exception) -> JSONResponse:
        return error_response(request.url.path, code, str(error))

    return refuse


async def _poisoned(request: Request, error: Exception) -> JSONResponse:
    status, detail = describe_error(error, request.url.path)
    return error_response(request.url.path, status, detail)


class ApiWithExamples(FastAPI):
    """An application whose OpenAPI document has examples, and summaries in words."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, built once."""
        return self.openapi_schema or with_summaries(with_examples(super().openapi()))
