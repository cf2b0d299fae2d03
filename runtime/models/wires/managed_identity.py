"""Managed identities of Azure: tokens for the machine, from an address that only it can reach.

App Service, Functions and Container Apps name that address in the environment; on other machines it
is the metadata service, at an address of the link.
"""

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp

from runtime.models.access_tokens import AccessToken, NoToken
from runtime.models.bindings import ManagedIdentity
from runtime.models.json_values import as_dict, parsed
from runtime.models.provider_errors import sentence_of, shown
from runtime.models.token_counts import count_of

RESOURCE = "https://cognitiveservices.azure.com"
"""What a token is for: models at Azure."""

METADATA = "http://169.254.169.254"
METADATA_VARIABLE = "AZURE_POD_IDENTITY_AUTHORITY_HOST"
"""The variable by which Microsoft's libraries find another metadata service."""

TIMEOUT = 10.0
"""Seconds in which a token is there."""

SETTING = "AZURE_TOKEN_CREDENTIALS"


class _Question(NamedTuple):
    """A request for a token. `secret`: what it shows of this program; empty: nothing."""

    url: str
    version: str
    secret: str = ""

    @property
    def headers(self) -> Mapping[str, str]:
        """Return what a page in a browser cannot send along."""
        proof = {"X-IDENTITY-HEADER": self.secret} if self.secret else {}
        return {"Metadata": "true", **proof}


async def fetch_machine_token(identity: ManagedIdentity) -> AccessToken:
    """Return a token for models at Azure. Raises `NoToken`."""
    question = _question()
    host = urlsplit(question.url).hostname or question.url
    client = {"client_id": identity.client} if identity.client else {}
    parameters = {"api-version": question.version, "resource": RESOURCE, **client}
    try:
        # Neither by a proxy nor to where a redirect leads: the answer is for this machine alone.
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT)) as session,
            session.get(
                question.url, params=parameters, headers=question.headers, allow_redirects=False
            ) as response,
        ):
            answer = as_dict(parsed(await response.read()))
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        raise NoToken(
            f"{host}, which gives tokens to this machine, cannot be reached: {SETTING} is for "
            "machines in Azure"
        ) from None
    value = str(answer.get("access_token") or "")
    if response.status != 200 or not value:
        sentence = shown(sentence_of(answer), tuple(filter(None, [question.secret])))
        raise NoToken(
            f"{host} gives this machine no token (HTTP {response.status}: {sentence}): give it a "
            "managed identity, and name one of several in AZURE_CLIENT_ID"
        )
    return AccessToken(value, _lifetime(answer))


def _question() -> _Question:
    """Return what to ask, by what the platform says in the environment."""
    endpoint, secret = (os.environ.get(f"IDENTITY_{name}", "") for name in ("ENDPOINT", "HEADER"))
    if endpoint and secret:
        return _Question(endpoint, "2019-08-01", secret)
    metadata = os.environ.get(METADATA_VARIABLE) or METADATA
    return _Question(f"{metadata.rstrip('/')}/metadata/identity/oauth2/token", "2018-02-01")


def _lifetime(answer: Mapping[str, Any]) -> float:
    """Return the seconds for which a token lasts: Azure writes numbers as texts."""
    seconds = str(answer.get("expires_in") or "")
    if seconds.isdecimal():
        return count_of(int(seconds))
    end = str(answer.get("expires_on") or "")
    return max(0.0, float(end) - time.time()) if end.isdecimal() else 0.0
