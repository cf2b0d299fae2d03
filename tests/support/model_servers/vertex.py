"""Gemini on Google Cloud: methods of a project's models, and tokens for a service account."""

import json
import os
import tempfile
from functools import cache
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.responses import JSONResponse, Response

from runtime.models.bindings import Connection, VertexProject
from tests.support import model_servers as shared
from tests.support.model_servers import gemini

PROJECT = "port-elm"
LOCATION = "europe-west4"
ACCOUNT = "reader@port-elm.iam.gserviceaccount.com"
TOKEN = "ya29.vertex-token-0123456789"
PLACE = f"/projects/{PROJECT}/locations/{LOCATION}/publishers/google"
_FOLDER = tempfile.TemporaryDirectory()


@cache
def signing_key(key: str) -> rsa.RSAPrivateKey:
    """The account's private key, another one for each `key`; only that of `KEY` is accepted."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def credentials_file(url: str, key: str = shared.KEY) -> str:
    """The file of the service account, which asks this server for tokens."""
    pem = signing_key(key).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": ACCOUNT,
        "token_uri": f"{url}/token",
    }
    file = Path(_FOLDER.name) / f"{url.rpartition(':')[2]}-{key}.json"
    file.write_text(json.dumps(account))
    return str(file)


def connection(url: str, key: str) -> Connection:
    """How the server is reached, from now on with this key in the file of the account."""
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = credentials_file(url, key)
    return Connection(url, vertex=VertexProject(PROJECT, LOCATION))


async def answer(request: shared.SeenRequest) -> Response:
    """Answer a request: for a token, or with one."""
    if request.path == "/token":
        return token(request)
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return gemini.error(401, "UNAUTHENTICATED", "Request had invalid credentials")
    if PLACE not in request.path:
        return gemini.error(404, "NOT_FOUND", "Publisher Model was not found")
    path = request.path.replace(PLACE, "").replace("v1beta1", "v1")
    vector = shared.VECTORS["Ben" in str(request.body)]
    if path.endswith(":predict"):
        embedding = {"values": vector, "statistics": {"token_count": shared.PROMPT}}
        return JSONResponse({"predictions": [{"embeddings": embedding}]})
    if path.endswith(":embedContent"):
        usage = {"promptTokenCount": shared.PROMPT}
        return JSONResponse({"embedding": {"values": vector}, "usageMetadata": usage})
    bare_request = shared.SeenRequest(path, request.query, request.headers, request.body)
    return await gemini.answer_anyone(bare_request)


def token(request: shared.SeenRequest) -> Response:
    try:
        jwt.decode(
            request.body["assertion"],
            signing_key(shared.KEY).public_key(),
            ["RS256"],
            options={"verify_aud": False},
        )
    except jwt.InvalidSignatureError:
        words = "Invalid JWT Signature."
        return JSONResponse({"error": "invalid_grant", "error_description": words}, 400)
    return JSONResponse({"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"})
