"""Configurations of access for tests, and clients of an application that has one."""

from dataclasses import replace
from typing import Any

import httpx
import jwt
from fastapi import FastAPI

from services.gateway.auth.config import AuthConfig, auth_config
from services.gateway.auth.credentials import ISSUER
from services.gateway.auth.settings import AccessSettings

KEY = "k-everything-0123456789"
READER = "k-reader-0123456789abc"
WRITER = "k-writer-0123456789abc"
NOBODY = "k-nobody-0123456789abc"
COUNTS = "/documents/status_counts"
"""A route that everybody may read who may read anything."""

SECRET = "a secret of more than thirty-two characters"
PASSWORD = "correct horse"
HASHED = "{bcrypt}$2b$04$jBOIa9G9V0IuWmiqLuTNoOywWC2OKkQd0If1rshlpH6qmFOv8gJNy"
"""Of `stable battery`, made with as few rounds as there are."""

SEVERAL = f"reader:{READER}:w:read,writer:{WRITER}:w+v:write"


def behind(**settings: Any) -> AuthConfig:
    """The configuration of these settings; the server listens on this machine unless they say
    otherwise.
    """
    # Without our own page, which may be built here or not.
    return replace(auth_config(AccessSettings(**settings)), own_page=None)


def with_accounts(**settings: Any) -> AuthConfig:
    """A configuration with two users, ada and bob, of whom bob may only read the workspace w."""
    accounts = {
        "auth_accounts": f"ada:{PASSWORD},bob:{HASHED}",
        "lightstream_account_rights": "bob:w:read",
    }
    return behind(**{**accounts, "token_secret": SECRET, **settings})


def client(app: FastAPI, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    """A client at that address that sends these headers."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 1234))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)


def keyed(app: FastAPI, key: str, workspace: str = "") -> httpx.AsyncClient:
    """A client with a key."""
    return client(app, **{"X-API-Key": key}, **({"X-Workspace": workspace} if workspace else {}))


def bearing(app: FastAPI, token: str, **headers: str) -> httpx.AsyncClient:
    """A client with a token."""
    return client(app, Authorization=f"Bearer {token}", **headers)


def forged(
    secret: str = SECRET, algorithm: str = "HS256", headers: Any = None, **claims: Any
) -> str:
    """A token as it should not be; a claim of None is left out."""
    default_claims = {
        "sub": "ada",
        "iat": 1_700_000_000,
        "exp": 4_000_000_000,
        "iss": ISSUER,
        "role": "user",
        "metadata": {"auth_mode": "enabled", "mark": ""},
    }
    token_claims = {
        name: value for name, value in {**default_claims, **claims}.items() if value is not None
    }
    return jwt.encode(token_claims, secret, algorithm, headers=headers)


async def get(api: httpx.AsyncClient, path: str = COUNTS, **headers: str) -> tuple[int, Any]:
    """The status of an answer, and its detail where it is a refusal."""
    answer = await api.get(path, headers=headers)
    return answer.status_code, answer.json().get("detail")
