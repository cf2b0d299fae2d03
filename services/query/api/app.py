"""The FastAPI application: routes, and errors that name the cause and the way out but never internals."""

import math
from collections.abc import Callable
from uuid import uuid4

import structlog
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.text import encodable
from runtime.bus.publisher import MAX_TEXT_BYTES
from runtime.errors import InvalidInput, ModelChanged, Retryable
from services.query.api import data, documents, graph, system
from services.query.api.routes import VERSION, router
from services.query.refusals import Conflicts, NotOffered, NotTaken, NotThere, TooLarge

logger = structlog.get_logger(__name__)

MAX_BODY = 2 * MAX_TEXT_BYTES + 1024 * 1024
"""Bytes of a request: what JSON escapes takes twice the bytes of UTF-8 as a rule, Chinese included."""

REFUSALS: dict[type[Exception], int] = {NotTaken: 400, NotThere: 404, Conflicts: 409, TooLarge: 413, NotOffered: 501}
"""What is answered to what a use case refuses; any other InvalidInput is 422."""

_TAKEN = f"at most {MAX_BODY:,} are taken"


def create_app() -> FastAPI:
    """The application; `app.state.context` is set once the service is wired."""
    app = FastAPI(title="Lightstream", version=VERSION, description="Graph-based RAG over an event log.")
    app.include_router(router)
    for routes in (data, documents, graph, system):
        app.include_router(routes.router)
    app.add_middleware(LimitedBody)
    for kind, code in REFUSALS.items():
        app.add_exception_handler(kind, _refusing(code))

    @app.exception_handler(InvalidInput)
    async def refused(_: Request, error: InvalidInput) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        faults = [{"loc": list(e["loc"]), "msg": encodable(e["msg"]), "type": e["type"]} for e in error.errors()]
        if request.url.path == data.PATH:
            return JSONResponse(data.refused("; ".join(str(fault["msg"]) for fault in faults)), 400)
        return JSONResponse({"detail": faults}, 422)

    @app.exception_handler(Retryable)
    async def unavailable(request: Request, error: Retryable) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        id = uuid4().hex
        logger.warning("unavailable", error_id=id, path=request.url.path, error=f"{type(error).__name__}: {error}")
        if isinstance(error, ModelChanged):
            return JSONResponse({"detail": f"{error} (error_id: {id})"}, 503)
        wait = str(max(1, math.ceil(error.retry_after or 5)))
        return JSONResponse(
            {"detail": f"a part of the system does not answer now; try again (error_id: {id})"},
            503,
            {"Retry-After": wait},
        )

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        id = uuid4().hex
        logger.error("internal error", error_id=id, path=request.url.path, exc_info=error)
        return JSONResponse({"detail": f"Internal server error (error_id: {id})"}, 500)

    return app


def _refusing(code: int) -> Callable[[Request, Exception], JSONResponse]:
    def refuse(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, code)

    return refuse


class LimitedBody:
    """Refuses a request of more than MAX_BODY bytes: at once when it says so, else while it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI 3."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > MAX_BODY:
            await JSONResponse({"detail": f"the request has {int(length):,} bytes, {_TAKEN}"}, 413)(
                scope, receive, send
            )
            return
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MAX_BODY:
                raise HTTPException(413, f"the request is too long, {_TAKEN}")
            return message

        await self._app(scope, limited, send)
