"""The pages `/docs` (Swagger UI) and `/redoc`, served from installed files, without access to a
network.
"""

from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

router = APIRouter(include_in_schema=False)

SWAGGER_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "
    "data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of Swagger UI, which uses inline styles; only this server's scripts
are allowed.
"""

SWAGGER_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Lightstream: HTTP API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

# The validator is off, because it sends the schema to another server; keys stay in the memory of
# the page.
SWAGGER_SCRIPT = """SwaggerUIBundle({
  url: "openapi.json", dom_id: "#page", deepLinking: true, validatorUrl: null, persistAuthorization: false
});
"""  # noqa: E501

REDOC_POLICY = f"{SWAGGER_POLICY}; worker-src blob:"
"""The policy of ReDoc, which searches in a web worker that it creates from a blob."""

REDOC_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Lightstream: HTTP API</title>
</head>
<body style="margin: 0">
<redoc spec-url="openapi.json"></redoc>
<script src="docs/redoc.standalone.js"></script>
</body>
</html>
"""

FILES = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
    "redoc.standalone.js": "text/javascript",
}


@router.get("/docs")
async def docs() -> HTMLResponse:
    """Return the page with a form for every route."""
    return HTMLResponse(SWAGGER_PAGE, headers={"Content-Security-Policy": SWAGGER_POLICY})


@router.get("/redoc")
async def redoc() -> HTMLResponse:
    """Return the page for reading."""
    return HTMLResponse(REDOC_PAGE, headers={"Content-Security-Policy": REDOC_POLICY})


@router.get("/docs/start.js")
async def start() -> Response:
    """Return the script that fills `/docs`: a file of its own, so that the policy allows no inline
    script.
    """
    return Response(SWAGGER_SCRIPT, media_type="text/javascript")


@router.get("/docs/{name}")
async def file(name: str) -> Response:
    """Return a file of Swagger UI or ReDoc."""
    if name not in FILES or (folder := _folder()) is None:
        return Response(status_code=404)
    return FileResponse(
        folder / name, media_type=FILES[name], headers={"Cache-Control": "max-age=3600"}
    )


def _folder() -> Path | None:
    # The package is located without importing it: only its files are used.
    spec = find_spec("fastapi_offline")
    return Path(spec.origin).parent / "static" if spec and spec.origin else None
