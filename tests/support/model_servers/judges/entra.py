"""The official clients of Entra ID and Azure OpenAI."""

import asyncio
import json
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import msal
import openai
import requests

from tests.support.model_servers import KEY
from tests.support.model_servers import entra as entra_server
from tests.support.model_servers.judges.azure import AzureJudge

AUTHORITY = "https://login.microsoftonline.com"


class LocalTransport:
    """What MSAL sends its requests by: to the server instead of the authority, of which it takes
    only an address with TLS.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def post(self, url: str, **options: object) -> requests.Response:
        return requests.post(f"{self._url}{urlsplit(url).path}", timeout=10, **options)  # type: ignore[arg-type]

    def get(self, url: str, **options: object) -> requests.Response:
        """Answer where tokens are, which MSAL asks first, as Entra ID does."""
        del options
        tenant = urlsplit(url).path.split("/")[1]
        beginning = f"{AUTHORITY}/{tenant}/oauth2/v2.0"
        addresses = {
            "issuer": f"{AUTHORITY}/{tenant}/v2.0",
            "authorization_endpoint": f"{beginning}/authorize",
            "token_endpoint": f"{beginning}/token",
        }
        response = requests.Response()
        response.status_code = 200
        response.raw = BytesIO(json.dumps(addresses).encode())
        return response

    def close(self) -> None:
        """Keep no connection."""


class EntraJudge(AzureJudge):
    """`msal.ConfidentialClientApplication`, and `openai.AsyncAzureOpenAI` with its token."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        application: Any = msal.ConfidentialClientApplication(
            entra_server.CLIENT,
            client_credential=KEY,
            authority=f"{AUTHORITY}/{entra_server.TENANT}",
            instance_discovery=False,
            http_client=LocalTransport(url),
        )

        async def token() -> str:
            answer = await asyncio.to_thread(
                application.acquire_token_for_client, [entra_server.SCOPE]
            )
            return str((answer or {})["access_token"])

        self._client = openai.AsyncAzureOpenAI(
            azure_endpoint=url,
            azure_ad_token_provider=token,
            api_version="2024-10-21",
            max_retries=0,
        )
