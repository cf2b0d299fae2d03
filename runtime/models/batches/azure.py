"""Azure's batches: OpenAI's form beside the deployments, for one that is made for batches."""

import asyncio
from collections.abc import Sequence
from typing import Any

from runtime.models.batches import requests
from runtime.models.batches.openai import OpenAiBatches
from runtime.models.batches.port import Line
from runtime.models.endpoint import Endpoint
from runtime.models.wires.azure import AzureWire

FILE_WAITS = (0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 5.0, 5.0, 5.0)
"""Seconds between looks at an uploaded file: no batch is made of one that Azure has not read yet.
They stay below the time that submitting may take.
"""

UNREAD = ("uploaded", "pending", "running")
"""Statuses of such a file."""


class AzureBatches(OpenAiBatches):
    """`Batches` at `POST …/openai/files` and `POST …/openai/batches`.

    Azure lists in an order of its own, so that all of it is read for a batch whose submission
    nobody saw.
    """

    route = "/chat/completions"
    lists_newest_first = False

    def __init__(self, endpoint: Endpoint, wire: AzureWire) -> None:
        super().__init__(endpoint)
        self._wire = wire

    async def submit(self, key: str, lines: Sequence[Line]) -> str:
        """See `Batches.submit`. Lines name the deployment as their model."""
        return await super().submit(
            key,
            [
                Line(line.id, {**line.body, "model": self._wire.batch_deployment(line.body)})
                for line in lines
            ],
        )

    async def _upload(self, key: str, data: bytes) -> dict[str, Any]:
        file = await super()._upload(key, data)
        for wait in FILE_WAITS:
            if file.get("status") not in UNREAD:
                break
            await asyncio.sleep(wait)
            file = await requests.read(self._endpoint, self._url(f"files/{self._id_in(file)}"))
        return file

    def _url(self, route: str, query: str = "") -> str:
        return self._wire.resource(route, query)
