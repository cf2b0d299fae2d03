"""A web page beside the API: the files of one folder, such as LightRAG's own page, at `/webui/` and `/workspace/`.

Nothing of the folder is secret, and nothing outside of it is served. It is built for LightRAG's server: its entry files
have a place where the server writes what this deployment is called.
"""

import base64
import hashlib
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, HTTPException
from fastapi.responses import RedirectResponse
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.query.api.context import brand

ENTRIES = {"/webui": "index.html", "/workspace": "workspace.html"}
"""The two pages of one folder: for those who keep the documents, and for those who only ask."""

PUBLIC_PATHS = ("/", "/ui/customization", *ENTRIES, *(f"{path}/*" for path in ENTRIES))
"""Paths that a browser loads before a login."""

CONFIG_PLACEHOLDER = b"<!-- __LIGHTRAG_RUNTIME_CONFIG__ -->"
"""Where an entry file waits for what the server tells it."""

POLICY = (
    "default-src 'none'; script-src 'self' {script}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
"""Scripts come from here only, besides the one that this server writes, named by its hash. The graph is laid out in
workers made of blobs; pictures in answers are not fetched from elsewhere, for that would tell others what was asked."""

IMMUTABLE = "public, max-age=31536000, immutable"
"""The names in `assets/` hold a hash of what is in them."""

MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
"""What a browser must be told exactly, whatever this machine's table of media types says."""


def add_page(app: FastAPI, folder: Path) -> None:
    """Serve each entry that the folder has; an entry without its last slash leads to the one with it."""
    for path, entry in ENTRIES.items():
        if (folder / entry).is_file():
            app.add_api_route(path, _redirect_to(f"{path}/"), include_in_schema=False)
            app.mount(path, WebPage(folder, path, entry))


def _redirect_to(to: str) -> Callable[[], Awaitable[RedirectResponse]]:
    async def lead() -> RedirectResponse:
        return RedirectResponse(to, 307)

    return lead


class WebPage(StaticFiles):
    """The files of a folder below `path`; `path` itself is the entry file, and the other entries are not there."""

    def __init__(self, folder: Path, path: str, entry: str) -> None:
        super().__init__(directory=folder)
        self._path, self._entry = path, entry
        self._others = {name for name in ENTRIES.values() if name != entry}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See StaticFiles; `path` is relative, its dots are resolved. Raises HTTPException."""
        if path.lower() in self._others or any(part.startswith(".") for part in Path(path).parts):
            raise HTTPException(404)
        response = await super().get_response(self._entry if path == "." else path, scope)
        if isinstance(response, FileResponse) and path in (".", self._entry):
            return _entry(Path(response.path), self._path, brand(scope["app"])[0])
        response.headers["Cache-Control"] = IMMUTABLE if path.startswith(f"assets{os.sep}") else "no-cache"
        if kind := MEDIA_TYPES.get(Path(path).suffix):
            response.headers["Content-Type"] = f"{kind}; charset=utf-8"
        return response


def _entry(file: Path, path: str, title: str | None) -> HTMLResponse:
    """The entry file with what the server tells it, in LightRAG's shape. It is kept nowhere."""
    told = {"apiPrefix": "", "webuiPrefix": f"{path}/", "webuiTitle": title}
    # What JSON leaves as it is and HTML would read: the end of a script.
    script = f"window.__LIGHTRAG_CONFIG__ = {json.dumps(told)};".replace("<", "\\u003c").encode()
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    page = file.read_bytes().replace(CONFIG_PLACEHOLDER, b"<script>" + script + b"</script>")
    return HTMLResponse(page, headers={"Content-Security-Policy": POLICY.format(script=f"'sha256-{digest}'")})
