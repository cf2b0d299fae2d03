"""Serves a web page: the files of one folder, such as LightRAG's own page, at `/webui/` and
`/workspace/`.

Every file of the folder is public, and nothing outside of it is served. LightRAG's entry files have
a placeholder, which the server replaces with the page's path and the name of this deployment.
"""

import base64
import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, HTTPException
from fastapi.responses import RedirectResponse
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.gateway.brand import brand_of
from services.gateway.path_prefix import prefix_of
from services.gateway.web_page import LIGHTRAG_PATH, set_file_headers

ENTRIES = {LIGHTRAG_PATH: "index.html", "/workspace": "workspace.html"}
"""The entry file of each page, by path: the first is for managing documents, the other for asking
only.
"""

PUBLIC_PATHS = ("/", "/ui/customization", *ENTRIES, *(f"{path}/*" for path in ENTRIES))
"""Paths that a browser loads before the user logs in."""

CONFIG_PLACEHOLDER = b"<!-- __LIGHTRAG_RUNTIME_CONFIG__ -->"
"""The comment in an entry file that is replaced with the configuration script."""

POLICY = (
    "default-src 'none'; script-src 'self' {script}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; "
    "form-action 'self'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of an entry file. It allows this server's scripts, and the inline one
by its hash. The page computes the graph layout in blob workers. Pictures from other servers are
blocked: loading them would tell those servers what was asked.
"""


def add_page(app: FastAPI, folder: Path) -> None:
    """Serve each page whose entry file is in the folder; its path without the trailing slash
    redirects there.
    """
    for path, entry in ENTRIES.items():
        if (folder / entry).is_file():
            app.add_api_route(path, _redirect_to(f"{path}/"), include_in_schema=False)
            app.mount(path, WebPage(folder, path, entry))


def _redirect_to(to: str) -> Callable[[], Awaitable[RedirectResponse]]:
    async def lead() -> RedirectResponse:
        return RedirectResponse(to, 307)

    return lead


class WebPage(StaticFiles):
    """The files of a folder below `path`; `path/` is the entry file, and entry files of other pages
    are a 404.
    """

    def __init__(self, folder: Path, path: str, entry: str) -> None:
        super().__init__(directory=folder)
        self._path = path
        self._entry = entry
        self._others = {name for name in ENTRIES.values() if name != entry}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See StaticFiles; `path` is relative, its dots are resolved. Raises HTTPException."""
        if path.lower() in self._others or any(part.startswith(".") for part in Path(path).parts):
            raise HTTPException(404)
        response = await super().get_response(self._entry if path == "." else path, scope)
        if isinstance(response, FileResponse) and path in (".", self._entry):
            return _entry(
                Path(response.path),
                f"{prefix_of(scope)}{self._path}",
                prefix_of(scope),
                brand_of(scope["app"]).title,
            )
        set_file_headers(response, path)
        return response


def _entry(file: Path, path: str, prefix: str, title: str | None) -> HTMLResponse:
    """Return the entry file with the configuration inserted, in LightRAG's shape. It is read anew
    each time.
    """
    config = {"apiPrefix": prefix, "webuiPrefix": f"{path}/", "webuiTitle": title}
    # JSON does not escape `<`, and HTML would read `</script>` as the end of the script.
    script = f"window.__LIGHTRAG_CONFIG__ = {json.dumps(config)};".replace("<", "\\u003c").encode()
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    page = file.read_bytes().replace(CONFIG_PLACEHOLDER, b"<script>" + script + b"</script>")
    headers = {
        "Content-Security-Policy": POLICY.format(script=f"'sha256-{digest}'"),
        # By it this server knows what the page asks for: see `is_sent_by_lightrag_page`.
        "Referrer-Policy": "same-origin",
    }
    return HTMLResponse(page, headers=headers)
