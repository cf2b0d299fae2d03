"""Azure OpenAI for the identity of a machine: its metadata service, and the address that
App Service names in the environment.
"""

import time
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, Response

from tests.support import model_servers as shared
from tests.support.model_servers import azure

CLIENT = "0b5e51de-0000-4000-8000-000000000036"
TOKEN = "machine-token-0123456789"
HEADER = "identity-header-0123456789"
RESOURCE = "https://cognitiveservices.azure.com"
APP_SERVICE = "/msi/token"
METADATA = "/metadata/identity/oauth2/token"
LIFETIME = 3600


def app_service(url: str) -> dict[str, str]:
    """The environment of a program on App Service."""
    return {"IDENTITY_ENDPOINT": f"{url}{APP_SERVICE}", "IDENTITY_HEADER": HEADER}


def machine(url: str) -> dict[str, str]:
    """The environment that leads to this metadata service instead of that of the link."""
    return {"AZURE_POD_IDENTITY_AUTHORITY_HOST": url}


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request: for a token, or with one."""
    if request.path in (APP_SERVICE, METADATA):
        return token(request)
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return azure.error(401, "PermissionDenied", "Access token is missing, invalid or expired")
    return await azure.answer_anyone(request)


def token(request: shared.SeenRequest) -> Response:
    query = {name: values[0] for name, values in parse_qs(request.query).items()}
    is_app_service = request.path == APP_SERVICE
    if query.get("resource") != RESOURCE or request.headers.get("metadata") != "true":
        return refusal(400, "invalid_request", "Required metadata header not specified")
    if is_app_service and request.headers.get("x-identity-header") != HEADER:
        return JSONResponse({"statusCode": 401, "message": f"{HEADER} is missing"}, 401)
    if query.get("client_id", CLIENT) != CLIENT:
        return refusal(400, "invalid_request", "Identity not found")
    end = {"expires_on": str(int(time.time()) + LIFETIME)}
    version = "2019-08-01" if is_app_service else "2018-02-01"
    if query.get("api-version") != version:
        return refusal(400, "bad_request", "Invalid api-version")
    lifetime = {} if is_app_service else {"expires_in": str(LIFETIME)}
    fields = {"token_type": "Bearer", "resource": RESOURCE, **end, **lifetime}
    return JSONResponse({**fields, "access_token": TOKEN})


def refusal(status: int, code: str, words: str) -> Response:
    return JSONResponse({"error": code, "error_description": words}, status)
