"""Sends webhooks over HTTP, to the address that was checked and to no other."""

import ssl
from functools import cached_property
from typing import Any

from services.gateway.egress import Target

TIMEOUT = 15.0
"""Seconds for each operation of an attempt; its caller ends the attempt as a whole."""


class HttpPoster:
    """`Poster`. No connection is used twice: one to an address must not serve another host of that
    address.
    """

    @cached_property
    def _client(self) -> Any:
        # Imported only here: most deployments have no webhooks.
        import httpx2  # noqa: PLC0415

        return httpx2.AsyncClient(
            # No proxy of the environment: it would resolve the name anew.
            trust_env=False,
            follow_redirects=False,
            timeout=TIMEOUT,
            # No pool: who waits for the connections of others is not sent to. Callers bound the
            # attempts.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            verify=ssl.create_default_context(),
        )

    async def post(self, target: Target, headers: dict[str, str], body: bytes) -> int:
        """See `Poster.post`. The certificate must be that of the host, not of the address."""
        import httpx2  # noqa: PLC0415

        request = self._client.build_request(
            "POST",
            target.pinned_url,
            headers={**headers, "host": target.authority},
            content=body,
            extensions={"sni_hostname": target.host},
        )
        try:
            answer = await self._client.send(request, stream=True)
            await answer.aclose()
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise ConnectionRefusedError(type(error).__name__) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ConnectionError(type(error).__name__) from error
        return answer.status_code

    async def close(self) -> None:
        """Close the client, if there is one."""
        if "_client" in vars(self):
            await self._client.aclose()
