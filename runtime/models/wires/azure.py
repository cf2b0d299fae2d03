"""Azure OpenAI: OpenAI's form at the address of a deployment, with `api-version` and `api-key`,
or with a token of Entra ID where there is no key.

An address that ends with `/openai/v1` is that of the newer API, which takes no version.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from runtime.models.bindings import Connection
from runtime.models.wires.addresses import join_url, strip_path
from runtime.models.wires.entra import entra_tokens
from runtime.models.wires.openai import OpenAiWire, Request
from runtime.models.wires.tool_turns import openai_form

API_VERSION = "2024-10-21"
"""The newest version that is no preview."""

DEPLOYMENTS = "/openai/deployments/"


def is_classic(address: str) -> bool:
    """Return whether an address names a deployment, as Azure's classic ones do."""
    return DEPLOYMENTS in urlsplit(address).path


class AzureWire(OpenAiWire):
    """`POST https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT/…?api-version=…`."""

    form = "Azure OpenAI's format"

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.address = strip_path(self.address, "/chat/completions", "/embeddings")
        if not self.key and (identity := connection.entra):
            self.key_name, self.tokens = entra_tokens(identity)

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the key under Azure's own name, or the token of Entra ID."""
        if self.tokens:
            return {"Authorization": f"Bearer {self.tokens.value}"}
        del url, data
        return {"api-key": self.key} if self.key else {}

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        return self._request("chat/completions", openai_form(fields))

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        return self._request("embeddings", fields)

    def batch_deployment(self, fields: Mapping[str, Any]) -> str:
        """Return the deployment that answers batches, of a request with these fields."""
        return self.connection.batch_deployment or self._deployment(fields)

    def resource(self, route: str, query: str = "") -> str:
        """Return the address of a route that is of no deployment, as that of files."""
        if self._has_no_version:
            return join_url(self.address, route, query)
        address = urlsplit(self.address)
        path, _, _ = address.path.partition(DEPLOYMENTS)
        base = strip_path(address._replace(path=path).geturl(), "/openai")
        queries = "&".join(filter(None, (query, self._version)))
        return join_url(base, f"openai/{route}", queries)

    @property
    def _has_no_version(self) -> bool:
        return urlsplit(self.address).path.rstrip("/").endswith("/v1")

    @property
    def _version(self) -> str:
        """Return the query that the address lacks."""
        version = self.connection.api_version or API_VERSION
        has_version = "api-version" in parse_qs(urlsplit(self.address).query)
        return "" if has_version else f"api-version={version}"

    def _deployment(self, fields: Mapping[str, Any]) -> str:
        _, _, name = urlsplit(self.address).path.partition(DEPLOYMENTS)
        return name.strip("/") or self.connection.deployment or str(fields["model"])

    def _request(self, route: str, fields: Mapping[str, Any]) -> Request:
        if self._has_no_version:
            return Request(join_url(self.address, route), fields)
        if is_classic(self.address):
            return Request(join_url(self.address, route, self._version), fields)
        name = quote(self._deployment(fields), safe="")
        base = strip_path(self.address, "/openai")
        return Request(
            join_url(base, f"{DEPLOYMENTS.strip('/')}/{name}/{route}", self._version), fields
        )
