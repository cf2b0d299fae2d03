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
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/contrast.css">
</head>
<body>
<main id="page"></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

# The validator is off, because it sends the schema to another server; keys stay in the memory of
# the page. A summary is a button: the link that Swagger UI puts into it could not be reached by
# itself. Its colours of examples cannot be told from their background by everybody.
SWAGGER_SCRIPT = """const plainSummaries = (system) => ({
  components: {
    DeepLink: ({ text }) => system.React.createElement("span", null, text),
  },
});
SwaggerUIBundle({
  url: "openapi.json", dom_id: "#page", deepLinking: true, validatorUrl: null,
  persistAuthorization: false, syntaxHighlight: false, plugins: [plainSummaries],
});
"""

CONTRAST = """
.swagger-ui .info .title small { background: #4a515d; }
.swagger-ui .info .title small.version-stamp { background: #3d6b00; }
.swagger-ui .info a, .swagger-ui .info .url, .swagger-ui a { color: #1f5fa8; }
.swagger-ui .btn.authorize { border-color: #1a7a4c; color: #1a7a4c; }
.swagger-ui .btn.authorize svg { fill: #1a7a4c; }
.swagger-ui .btn.execute { background: #1f5fa8; border-color: #1f5fa8; }
.swagger-ui .btn.cancel { border-color: #b3261e; color: #b3261e; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1f5fa8; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1a7a4c; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a5a00; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #12625c; }
.swagger-ui .opblock.opblock-head .opblock-summary-method { background: #7a1fa8; }
.swagger-ui .parameter__in, .swagger-ui .parameter__type, .swagger-ui .prop-format,
.swagger-ui .parameter__extension, .swagger-ui .response-control-media-type__accept-message,
.swagger-ui .renderedMarkdown p, .swagger-ui .parameter__deprecated { color: #3b4151; }
.swagger-ui .parameter__name.required span, .swagger-ui .parameter__name.required::after {
  color: #b3261e;
}
.swagger-ui .microlight, .swagger-ui pre.example, .swagger-ui .highlight-code > .microlight {
  overflow: visible !important;
  white-space: pre-wrap !important;
  overflow-wrap: anywhere;
}
.swagger-ui .opblock-summary-path { max-width: 100%; overflow-wrap: anywhere; }
"""
"""Colours of Swagger UI with a contrast of 4.5 at least, and examples that need no scrolling."""

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


@router.get("/docs/contrast.css")
async def contrast() -> Response:
    """Return the colours that go before those of Swagger UI."""
    return Response(CONTRAST, media_type="text/css")


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
