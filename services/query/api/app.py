"""The FastAPI application: routes, and errors that name the cause and the way out but never internals."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader, OAuth2PasswordBearer
from starlette.exceptions import HTTPException as Raised
from starlette.middleware.cors import CORSMiddleware

from contracts.text import encodable
from runtime.errors import InvalidInput, ModelChanged, Poison, Retryable
from runtime.retries import format_retry_after
from services.query.api.auth import login
from services.query.api.auth.audit import Audit
from services.query.api.auth.config import Door
from services.query.api.auth.middleware import Gate, Refused
from services.query.api.auth.security_headers import HEADERS, Shield
from services.query.api.body_limits import LimitedBody
from services.query.api.compat import lightrag_pipeline, lightrag_web_page, ollama, openai
from services.query.api.context import VERSION
from services.query.api.documents import routes as documents
from services.query.api.errors import answered, told
from services.query.api.graph import routes as graph
from services.query.api.questions import data
from services.query.api.questions import routes as questions
from services.query.api.reference import pages
from services.query.api.reference.examples import with_examples
from services.query.api.reference.responses import USUAL, answering
from services.query.api.system import routes as system
from services.query.errors import Conflicts, NotOffered, NotTaken, NotThere, TooLarge

REFUSALS: dict[type[Exception], int] = {NotTaken: 400, NotThere: 404, Conflicts: 409, TooLarge: 413, NotOffered: 501}
"""What is answered to what a use case refuses; any other InvalidInput is 422."""

SCHEMES = [
    Security(APIKeyHeader(name="X-API-Key", auto_error=False)),
    Security(OAuth2PasswordBearer("login", auto_error=False)),
]
"""What /docs offers to fill in. The gate is what asks."""


def create_app(door: Door | None = None) -> FastAPI:
    """The application behind a door, without one open to everybody; `app.state.context` is set once it is wired."""
    door = door or Door()
    app = Described(
        title="Lightstream",
        version=VERSION,
        description="Graph-based RAG over an event log.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json" if door.docs else None,
        form_limits={"max_files": 100, "max_fields": 100, "max_part_size": 64 * 1024},
        dependencies=SCHEMES,
        responses=answering(*USUAL),
    )
    app.state.door = door
    for routes in (questions, data, documents, lightrag_pipeline, graph, system, login, ollama, openai):
        app.include_router(routes.router)
    if door.docs:
        app.include_router(pages.router)
    if door.page:
        lightrag_web_page.add_page(app, door.page)
    _surround(app, door)
    _explain(app)
    return app


def _surround(app: FastAPI, door: Door) -> None:
    """What a request passes before its route; the last one added is the first."""
    app.add_middleware(LimitedBody, limits=door.bodies)
    app.add_middleware(Gate, door=door, public=lightrag_web_page.OPEN if door.page else ())
    app.add_middleware(Audit)
    if door.origins:
        # No cookies are used, so no credentials are let through with `*`.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(door.origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "X-API-Key",
                "LIGHTRAG-WORKSPACE",
                "X-Workspace",
            ],
            expose_headers=["X-New-Token", "X-Log-Position", "Retry-After"],
        )
    app.add_middleware(Shield)


def _explain(app: FastAPI) -> None:
    """Errors as answers."""
    for kind, code in REFUSALS.items():
        app.add_exception_handler(kind, _refusing(code))
    app.add_exception_handler(Poison, _poisoned)

    @app.exception_handler(InvalidInput)
    async def refused(request: Request, error: InvalidInput) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = told(error, request.url.path)
        return answered(request.url.path, status, detail)

    @app.exception_handler(Raised)
    async def raised(request: Request, error: Raised) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return answered(request.url.path, error.status_code, error.detail, error.headers)

    @app.exception_handler(Refused)
    async def kept_out(request: Request, error: Refused) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return error.response(request.url.path)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        faults = [{"loc": list(e["loc"]), "msg": encodable(e["msg"]), "type": e["type"]} for e in error.errors()]
        if request.url.path == data.PATH:
            return JSONResponse(data.refused("; ".join(str(fault["msg"]) for fault in faults)), 400)
        return answered(request.url.path, 422, faults)

    @app.exception_handler(Retryable)
    async def unavailable(request: Request, error: Retryable) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = told(error, request.url.path)
        wait = {} if isinstance(error, ModelChanged) else {"Retry-After": format_retry_after(error.retry_after or 5)}
        return answered(request.url.path, status, detail, wait)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        status, detail = told(error, request.url.path)
        # This answer leaves outside of everything that surrounds a route.
        return answered(request.url.path, status, detail, HEADERS)


def _refusing(code: int) -> Callable[[Request, Exception], JSONResponse]:
    def refuse(request: Request, error: Exception) -> JSONResponse:
        return answered(request.url.path, code, str(error))

    return refuse


async def _poisoned(request: Request, error: Exception) -> JSONResponse:
    status, detail = told(error, request.url.path)
    return answered(request.url.path, status, detail)


class Described(FastAPI):
    """An application whose description has examples."""

    def openapi(self) -> dict[str, Any]:
        """See FastAPI; it is made once."""
        return self.openapi_schema or with_examples(super().openapi())
