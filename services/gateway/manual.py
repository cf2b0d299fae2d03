"""Serves the documentation at `/manual/`: the site that `make site` builds into this package.

It holds no data, so it needs no credentials. It asks no other server: fonts, scripts and the index
of its search are files of its own.
"""

import json
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).with_name("manual_files")
"""The built site. It is no part of the source: where nobody has built it, its address says so."""

PATH = "/manual"

PUBLIC_PATHS = (PATH, f"{PATH}/", f"{PATH}/*")
"""Paths that a browser loads before the user signs in."""

DIGESTS = "scripts.json"
"""The file of the site that lists the digests of the scripts in its pages."""

POLICY = (
    "default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src "
    "'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action "
    "'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of its pages, whose own scripts are allowed by their digests."""

NOT_BUILT = """The manual is not in this installation.
From a checkout `make site` builds it; a wheel of `make dist` has it. It is the folder docs of the repository.
"""  # noqa: E501


def built_manual() -> Path | None:
    """Return the folder of the built site, None where it was not built."""
    return FOLDER if (FOLDER / DIGESTS).is_file() else None


def add_manual(app: FastAPI, folder: Path | None) -> None:
    """Serve the site of the folder; without one its address answers that there is none."""

    async def with_slash() -> Response:
        if folder is None:
            return PlainTextResponse(NOT_BUILT, 404)
        return RedirectResponse(f"{PATH}/", 307)

    app.add_api_route(PATH, with_slash, include_in_schema=False)
    if folder is None:
        app.add_api_route(f"{PATH}/", with_slash, include_in_schema=False)
    else:
        app.mount(PATH, ManualFiles(folder))


class ManualFiles(StaticFiles):
    """The files of the site."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True)
        digests: list[str] = json.loads((folder / DIGESTS).read_text("utf-8"))
        self._policy = POLICY.format(scripts=" ".join(f"'sha256-{digest}'" for digest in digests))

    async def get_response(self, path: str, scope: Scope) -> Response:
        """See StaticFiles. Raises HTTPException."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        if response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers["Content-Security-Policy"] = self._policy
        return response
