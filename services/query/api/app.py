"""The FastAPI application: routes, and errors that name the cause and the way out but never internals."""

import math

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.text import encodable
from runtime.bus.publisher import MAX_TEXT_BYTES
from runtime.errors import InvalidInput, ModelChanged, Retryable
from services.query.api import data
from services.query.api.failures import told
from services.query.api.routes import VERSION, router

MAX_BODY = 2 * MAX_TEXT_BYTES + 1024 * 1024
"""Bytes of a request: what JSON escapes takes twice the bytes of UTF-8 as a rule, Chinese included."""

_TAKEN = f"at most {MAX_BODY:,} are taken"


def create_app() -> FastAPI:
    """The application; `app.state.context` is set once the service is wired."""
    app = FastAPI(title="Lightstream", version=VERSION, description="Graph-based RAG over an event log.")
    app.include_router(router)
    app.include_router(data.router)
    app.add_middleware(LimitedBody)

    @app.exception_handler(InvalidInput)
    async def refused(request: Request, error: InvalidInput) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = told(error, request.url.path)
        return JSONResponse({"detail": detail}, status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        faults = [{"loc": list(e["loc"]), "msg": encodable(e["msg"]), "type": e["type"]} for e in error.errors()]
        if request.url.path == data.PATH:
            return JSONResponse(data.refused("; ".join(str(fault["msg"]) for fault in faults)), 400)
        return JSONResponse({"detail": faults}, 422)

    @app.exception_handler(Retryable)
    async def unavailable(request: Request, error: Retryable) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = told(error, request.url.path)
        wait = (
            {} if isinstance(error, ModelChanged) else {"Retry-After": str(max(1, math.ceil(error.retry_after or 5)))}
        )
        return JSONResponse({"detail": detail}, status, wait)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = told(error, request.url.path)
        return JSONResponse({"detail": detail}, status)

    return app


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
