"""A reverse proxy that shows a service below a path, and strips that path or leaves it there."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.served import served

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
OF_THE_HOP = {
    "connection",
    "keep-alive",
    "transfer-encoding",
    "content-length",
    "content-encoding",
    "host",
}


@asynccontextmanager
async def proxy(
    service: str, prefix: str, *, strips: bool = True, headers: dict[str, str] | None = None
) -> AsyncGenerator[str]:
    """The address of a proxy that passes what is below `prefix` on to the service, with these
    headers added.
    """
    async with httpx.AsyncClient(base_url=service, follow_redirects=False, timeout=120) as client:

        async def pass_on(request: Request) -> Response:
            path = request.url.path
            if path != prefix and not path.startswith(f"{prefix}/"):
                return Response("no such site", 404)
            inner = (path.removeprefix(prefix) or "/") if strips else path
            given = {
                name: value for name, value in request.headers.items() if name not in OF_THE_HOP
            }
            answer = await client.request(
                request.method,
                f"{inner}?{request.url.query}" if request.url.query else inner,
                headers={**given, **(headers or {}), "Host": request.headers["host"]},
                content=await request.body(),
            )
            kept = {name: value for name, value in answer.headers.items() if name not in OF_THE_HOP}
            return Response(answer.content, answer.status_code, kept)

        async with served(
            Starlette(routes=[Route("/{path:path}", pass_on, methods=METHODS)])
        ) as address:
            yield address
