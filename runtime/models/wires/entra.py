"""Microsoft Entra ID: tokens for an application, by its secret or by the token of a workload, and
for the identity of a machine.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import aiohttp

from runtime.models.access_tokens import AccessToken, AccessTokens, NoToken
from runtime.models.bindings import EntraApplication, ManagedIdentity
from runtime.models.json_posts import JsonPosts, RedirectedAway, Sending, StatusError
from runtime.models.json_values import as_dict, parsed
from runtime.models.provider_errors import parsed_body, sentence_of, shown
from runtime.models.token_counts import count_of
from runtime.models.wires.managed_identity import SETTING, fetch_machine_token

SCOPE = "https://cognitiveservices.azure.com/.default"
"""What a token is for: models at Azure."""

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
TIMEOUT = 10.0
"""Seconds in which a token is there."""

SETTINGS = "AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"


def entra_tokens(identity: EntraApplication | ManagedIdentity) -> tuple[str, AccessTokens]:
    """Return the settings that say who asks, and the tokens of that identity."""
    if isinstance(identity, ManagedIdentity):
        return SETTING, AccessTokens(partial(fetch_machine_token, identity))
    return SETTINGS, AccessTokens(partial(fetch_token, identity))


async def fetch_token(application: EntraApplication) -> AccessToken:
    """Return a token for models at Azure. Raises `NoToken`."""
    host = urlsplit(application.authority).hostname or "the authority"
    tenant = quote(application.tenant, safe="")
    url = f"{application.authority.rstrip('/')}/{tenant}/oauth2/v2.0/token"
    body = urlencode(
        {
            "grant_type": "client_credentials",
            "client_id": application.client,
            "scope": SCOPE,
            **_proof(application),
        }
    )
    content_type = "application/x-www-form-urlencoded"
    posts = JsonPosts(_no_headers, TIMEOUT)
    try:
        sending = Sending(url, body.encode(), content_type=content_type)
        async with posts.open_answer(sending, TIMEOUT) as response:
            answer = as_dict(parsed(await response.read()))
    except StatusError as error:
        secrets = tuple(filter(None, [application.secret]))
        sentence = shown(sentence_of(parsed_body(error.content)), secrets)
        reason = f"{host} gives no token (HTTP {error.status}: {sentence}): check {SETTINGS}"
        raise NoToken(reason) from None
    except (aiohttp.ClientError, RedirectedAway, OSError, TimeoutError):
        reason = f"{host}, which gives tokens, cannot be reached; AZURE_AUTHORITY_HOST"
        raise NoToken(reason) from None
    finally:
        await posts.close()
    if not (value := str(answer.get("access_token") or "")):
        raise NoToken(f"{host} answered without a token; AZURE_AUTHORITY_HOST")
    return AccessToken(value, count_of(answer.get("expires_in")))


def _no_headers(url: str, data: bytes) -> Mapping[str, str]:
    del url, data
    return {}


def _proof(application: EntraApplication) -> dict[str, str]:
    """Return the fields that show who asks. The token of a workload is read each time, for what
    wrote the file writes another one before it ends.
    """
    if application.secret:
        return {"client_secret": application.secret}
    try:
        assertion = Path(application.token_file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise NoToken("AZURE_FEDERATED_TOKEN_FILE names a file that cannot be read") from None
    return {"client_assertion_type": ASSERTION, "client_assertion": assertion}
