"""Azure OpenAI: OpenAI's form at the address of a deployment, with `api-version` and `api-key`.

An address that ends with `/openai/v1` is that of the newer API, which takes no version.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from runtime.models.bindings import Connection
from runtime.models.wires.addresses import join_url, strip_path
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

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the key under Azure's own name."""
        del url, data
        return {"api-key": self.key} if self.key else {}

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        return self._request("chat/completions", openai_form(fields))

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        return self._request("embeddings", fields)

    def _request(self, route: str, fields: Mapping[str, Any]) -> Request:
        address = urlsplit(self.address)
        if address.path.rstrip("/").endswith("/v1"):
            return Request(join_url(self.address, route), fields)
        version = self.connection.api_version or API_VERSION
        query = "" if "api-version" in parse_qs(address.query) else f"api-version={version}"
        if not is_classic(self.address):
            name = quote(self.connection.deployment or str(fields["model"]), safe="")
            route = f"{DEPLOYMENTS.strip('/')}/{name}/{route}"
            base = strip_path(self.address, "/openai")
            return Request(join_url(base, route, query), fields)
        return Request(join_url(self.address, route, query), fields)
