"""Serves Lightstream's own web page at `/ui/`: the files that `make web` builds from `web/` into
this package.

Every file is public, as those of any page with a login must be. They hold no data: the page asks
the API for those, with the credentials of whoever looks at it. The page's own addresses are behind
`#`, so the server never sees which document or question somebody looks at, and serves one entry
file only.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.gateway.path_prefix import prefix_of

FOLDER = Path(__file__).with_name("web_page_files")
"""The built page. It is no part of the source: where nobody has built it, the service runs
without.
"""

PATH = "/ui"

LIGHTRAG_PATH = "/webui"
"""Where LightRAG's own page is served for managing documents."""

PUBLIC_PATHS = ("/", PATH, f"{PATH}/", f"{PATH}/assets/*", f"{PATH}/icon.svg")
"""Paths that a browser loads before the user signs in."""

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src "
    "'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page: files of this server only, and no script or style in the
page itself.
"""

IMMUTABLE = "public, max-age=31536000, immutable"
"""The Cache-Control of files in `assets/`, whose names contain a hash of their content."""

MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
"""Media types by suffix that do not depend on this machine's table of media types."""


def built_page() -> Path | None:
    """Return the folder of the built page, None where it was not built."""
    return FOLDER if (FOLDER / "index.html").is_file() else None


def add_web_page(app: FastAPI, folder: Path) -> None:
    """Serve the page in the folder; its path without the trailing slash redirects there."""

    async def with_slash() -> RedirectResponse:
        return RedirectResponse(f"{PATH}/", 307)

    app.add_api_route(PATH, with_slash, include_in_schema=False)
    app.mount(PATH, PageFiles(directory=folder))


def is_sent_by_lightrag_page(request: Request) -> bool:
    """Return True for a request that LightRAG's page sends, served by this server in a browser."""
    page = urlsplit(request.headers.get("referer", "")).path
    return (
        request.headers.get("sec-fetch-site") == "same-origin"
        and page == f"{prefix_of(request.scope)}{LIGHTRAG_PATH}/"
    )


class PageFiles(StaticFiles):
    """The files of the page."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See StaticFiles. Raises HTTPException."""
        if any(part.startswith(".") for part in Path(path).parts):
            raise HTTPException(404)
        response = await super().get_response("index.html" if path == "." else path, scope)
        set_file_headers(response, path)
        if path in (".", "index.html"):
            response.headers["Content-Security-Policy"] = POLICY
        return response


def set_file_headers(response: Response, path: str) -> None:
    """Set how long browsers keep a file, and its media type; `path` is relative to the page's
    folder.
    """
    response.headers["Cache-Control"] = (
        IMMUTABLE if path.startswith(f"assets{os.sep}") else "no-cache"
    )
    if kind := MEDIA_TYPES.get(Path(path).suffix):
        response.headers["Content-Type"] = f"{kind}; charset=utf-8"
