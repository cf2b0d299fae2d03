"""OpenAI's batches: a file of requests is uploaded, a batch made of it, and a file of answers
read.
"""

from collections.abc import AsyncGenerator, Container, Sequence
from contextlib import aclosing
from typing import Any

import orjson

from runtime.models.batches import requests
from runtime.models.batches.port import Line, Progress
from runtime.models.endpoint import Endpoint
from runtime.models.json_values import as_dict
from runtime.models.token_counts import count_of
from runtime.models.wires.addresses import join_url
from runtime.models.wires.fields import objects

METADATA = "lightstream"
"""The name under which a batch has our key."""

ENDED = ("completed", "failed", "expired", "cancelled")
PAGE = 100


class OpenAiBatches:
    """`Batches` at `POST /v1/files` and `POST /v1/batches`."""

    route = "/v1/chat/completions"
    """What every line is a request to."""
    lists_newest_first = True

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def submit(self, key: str, lines: Sequence[Line]) -> str:
        """See `Batches.submit`."""
        rows = [
            {"custom_id": line.id, "method": "POST", "url": self.route, "body": line.body}
            for line in lines
        ]
        data = b"".join(orjson.dumps(row) + b"\n" for row in rows)
        file = await self._upload(key, data)
        order = {
            "input_file_id": self._id_in(file),
            "endpoint": self.route,
            "completion_window": "24h",
            "metadata": {METADATA: key},
        }
        url = self._url("batches")
        return self._id_in(await requests.fetch(self._endpoint, requests.json_order(url, order)))

    async def _upload(self, key: str, data: bytes) -> dict[str, Any]:
        upload = requests.upload(self._url("files"), _file_name(key), data, purpose="batch")
        return await requests.fetch(self._endpoint, upload)

    async def find(
        self, key: str, size: int, since: float, other_ids: Container[str]
    ) -> str | None:
        """See `Batches.find`."""
        del size, other_ids
        async for batch in self._listed("batches"):
            if as_dict(batch.get("metadata")).get(METADATA) == key:
                return self._id_in(batch)
            if self._ends_before(batch, since):
                break
        async for file in self._listed("files", "purpose=batch"):
            if file.get("filename") == _file_name(key):
                await self._remove_file(file.get("id"))
            elif self._ends_before(file, since):
                break
        return None

    def _ends_before(self, row: dict[str, Any], since: float) -> bool:
        """Return whether no row behind this one is as new as that."""
        return self.lists_newest_first and 0 < count_of(row.get("created_at")) < since

    async def progress(self, id: str) -> Progress:
        """See `Batches.progress`."""
        batch = await self._batch(id)
        counts = as_dict(batch.get("request_counts"))
        answer_count = count_of(counts.get("completed")) + count_of(counts.get("failed"))
        status = str(batch.get("status"))
        errors = objects(as_dict(batch.get("errors")).get("data"))
        reasons = "; ".join(str(error.get("message")) for error in errors[:3])
        failure = (reasons or "it failed") if status == "failed" else ""
        return Progress(status in ENDED, answer_count, failure)

    async def answers(self, id: str) -> AsyncGenerator[tuple[str, Any]]:
        """See `Batches.answers`."""
        batch = await self._batch(id)
        for name in ("output_file_id", "error_file_id"):
            if not (file := batch.get(name)):
                continue
            url = self._url(f"files/{file}/content")
            async with aclosing(requests.read_lines(self._endpoint, url)) as lines:
                async for line in lines:
                    response = as_dict(line.get("response"))
                    is_answer = response.get("status_code") == 200 and not line.get("error")
                    yield str(line.get("custom_id")), response.get("body") if is_answer else None

    async def remove_requests(self, id: str) -> None:
        """See `Batches.remove_requests`."""
        await self._remove_file((await self._batch(id)).get("input_file_id"))

    async def remove(self, id: str) -> None:
        """See `Batches.remove`. The batch itself, which has no texts, stays listed there."""
        batch = await self._batch(id)
        for name in ("input_file_id", "output_file_id", "error_file_id"):
            await self._remove_file(batch.get(name))

    async def _batch(self, id: str) -> dict[str, Any]:
        return await requests.read(self._endpoint, self._url(f"batches/{id}"))

    async def _listed(self, route: str, query: str = "") -> AsyncGenerator[dict[str, Any]]:
        """Yield what a route lists, the newest first."""
        after = ""
        while True:
            parts = [query, f"limit={PAGE}", f"after={after}" if after else ""]
            url = self._url(route, "&".join(filter(None, parts)))
            page = await requests.read(self._endpoint, url)
            rows = objects(page.get("data"))
            for row in rows:
                yield row
            if not rows or not page.get("has_more"):
                return
            after = self._id_in(rows[-1])

    async def _remove_file(self, file: Any) -> None:
        if file:
            await requests.remove(self._endpoint, self._url(f"files/{file}"))

    def _url(self, route: str, query: str = "") -> str:
        return join_url(self._endpoint.wire.address, route, query)

    def _id_in(self, answer: dict[str, Any]) -> str:
        if not (id := answer.get("id")):
            raise self._endpoint.strange()
        return str(id)


def _file_name(key: str) -> str:
    return f"lightstream-{key}.jsonl"
