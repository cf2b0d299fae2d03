"""Azure OpenAI behind Entra ID: a token of the tenant instead of a key."""

from starlette.responses import JSONResponse, Response

from runtime.models.bindings import Connection, EntraApplication
from tests.support import model_servers as shared
from tests.support.model_servers import azure

TENANT = "port-elm.example"
CLIENT = "0b5e51de-0000-4000-8000-000000000036"
TOKEN = "entra-token-0123456789"
SCOPE = "https://cognitiveservices.azure.com/.default"
LIFETIME = 3600


def connection(url: str, secret: str, token_file: str = "") -> Connection:
    """How the server is reached with this secret."""
    return Connection(url, entra=EntraApplication(url, TENANT, CLIENT, secret, token_file))


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request: for a token, or with one."""
    if request.path == f"/{TENANT}/oauth2/v2.0/token":
        return token(request)
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return azure.error(401, "PermissionDenied", "Access token is missing, invalid or expired")
    return await azure.answer_anyone(request)


def token(request: shared.SeenRequest) -> Response:
    form = request.body
    if (form["grant_type"], form["scope"]) != ("client_credentials", SCOPE):
        return JSONResponse({"error": "invalid_scope", "error_description": "AADSTS70011"}, 400)
    if shared.KEY not in (form.get("client_secret"), form.get("client_assertion")):
        words = "AADSTS7000215: Invalid client secret provided."
        return JSONResponse({"error": "invalid_client", "error_description": words}, 401)
    fields = {"token_type": "Bearer", "expires_in": LIFETIME, "ext_expires_in": LIFETIME}
    return JSONResponse({**fields, "access_token": TOKEN})
