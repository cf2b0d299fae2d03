"""The official client of Gemini on Google Cloud."""

import asyncio
from typing import Any

from google import genai
from google.genai import types as gemini_types
from google.oauth2 import service_account

from runtime.models.wires.vertex import SCOPE
from tests.support.model_servers import gemini as gemini_server
from tests.support.model_servers import vertex as vertex_server
from tests.support.model_servers.judges.gemini import GeminiJudge


class VertexJudge(GeminiJudge):
    """`google.genai.Client` with the file of a service account."""

    def open_client(self, url: str, options: gemini_types.HttpOptions) -> genai.Client:
        library: Any = service_account.Credentials
        credentials = library.from_service_account_file(
            vertex_server.credentials_file(url), scopes=[SCOPE]
        )
        return genai.Client(
            vertexai=True,
            project=vertex_server.PROJECT,
            location=vertex_server.LOCATION,
            credentials=credentials,
            http_options=options,
        )

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = []
        for text in texts:
            answer = await asyncio.to_thread(
                self._client.models.embed_content, model=gemini_server.MODEL, contents=text
            )
            rows += [list(row.values or []) for row in answer.embeddings or []]
        return rows
