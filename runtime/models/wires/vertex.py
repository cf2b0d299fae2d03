"""Gemini on Google Cloud (Vertex AI): Gemini's form at the address of a project, with tokens.

The tokens are google-auth's, an extra: those of the file that GOOGLE_APPLICATION_CREDENTIALS names,
of a service account or a federated workload, or of the machine in Google Cloud.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

from runtime.errors import ConfigurationError
from runtime.models.access_tokens import AccessToken, AccessTokens, NoToken
from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.token_counts import count_of
from runtime.models.wires.addresses import join_url, strip_path
from runtime.models.wires.fields import objects, renamed_fields, vectors
from runtime.models.wires.gemini import MODELS, GeminiWire
from runtime.models.wires.openai import Request

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
EXTRA = "'lightstream-rag[vertex]'"
SIZE = {"dimensions": "outputDimensionality"}


class VertexWire(GeminiWire):
    """`POST https://LOCATION-aiplatform.googleapis.com/v1/projects/…/models/MODEL:…`."""

    form = "Vertex AI's format"
    key_name = "GOOGLE_APPLICATION_CREDENTIALS"
    max_texts = 1

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        assert connection.vertex
        self._project = connection.vertex
        if not self._project.id:
            raise ConfigurationError(
                "Gemini on Vertex AI needs a project: set GOOGLE_CLOUD_PROJECT"
            )
        self.address = strip_path(self.address, "/v1", "/v1beta1")
        self._tokens = self.tokens = AccessTokens(_Credentials().fetch)

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the token that `tokens` has at present."""
        del url, data
        return {"Authorization": f"Bearer {self._tokens.value}"}

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`. Gemini's models and older ones have a method each; both take one text
        here, for which all of them are made.
        """
        body = dict(fields)
        model = str(body.pop("model"))
        (text,) = body.pop("input")
        size = renamed_fields(body, SIZE)
        if "gemini" in model:
            content = {"role": "user", "parts": [{"text": text}]}
            config = {"embedContentConfig": {**size, **body}} if size or body else {}
            return Request(self._url(model, "embedContent"), {"content": content, **config})
        kind = renamed_fields(body, {"taskType": "task_type"})
        request = {"instances": [{"content": text, **kind}], "parameters": size, **body}
        return Request(self._url(model, "predict"), request)

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if embedding := as_dict(body.get("embedding")):
            counts = as_dict(body.get("usageMetadata"))
            return vectors([embedding.get("values")], counts.get("promptTokenCount"))
        if not isinstance(body.get("predictions"), list):
            return body
        rows = [as_dict(row.get("embeddings")) for row in objects(body["predictions"])]
        token_count = sum(
            count_of(as_dict(row.get("statistics")).get("token_count")) for row in rows
        )
        return vectors([row.get("values") for row in rows], token_count)

    def _url(self, model: str, method: str, query: str = "") -> str:
        project = quote(self._project.id, safe="")
        location = quote(self._project.location, safe="")
        name = quote(model.removeprefix(MODELS), safe="")
        place = f"v1/projects/{project}/locations/{location}/publishers/google"
        return join_url(self.address, f"{place}/{MODELS}{name}:{method}", query)


class _Credentials:
    """Google's own chain of credentials, followed when the first token is asked for: it may ask the
    machine's metadata server.
    """

    def __init__(self) -> None:
        if find_spec("google") is None or find_spec("google.auth") is None:
            raise ConfigurationError(f"Vertex AI needs google-auth: pip install {EXTRA}")
        self._credentials: Any = None

    async def fetch(self) -> AccessToken:
        """Return a new token. Raises `NoToken`."""
        from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415

        try:
            return await asyncio.to_thread(self._refreshed)
        except (GoogleAuthError, ValueError, OSError) as error:
            kind = type(error).__name__
            raise NoToken(
                f"Google gives no token for Vertex AI ({kind}): check the file that "
                "GOOGLE_APPLICATION_CREDENTIALS names, and its account"
            ) from None

    def _refreshed(self) -> AccessToken:
        import google.auth  # noqa: PLC0415
        from google.auth.transport.requests import Request as Transport  # noqa: PLC0415

        library: Any = google.auth
        if self._credentials is None:
            self._credentials, _ = library.default(scopes=[SCOPE])
        self._credentials.refresh(Transport())
        end: datetime = self._credentials.expiry.replace(tzinfo=UTC)
        return AccessToken(self._credentials.token, (end - datetime.now(UTC)).total_seconds())
