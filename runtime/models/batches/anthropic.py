"""Anthropic's batches of messages: one order has all requests, and one address all answers."""

from collections.abc import AsyncGenerator, Container, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from runtime.models.batches import requests
from runtime.models.batches.port import Line, Progress, Undecided
from runtime.models.endpoint import Endpoint
from runtime.models.json_values import as_dict
from runtime.models.token_counts import count_of
from runtime.models.wires.addresses import join_url
from runtime.models.wires.fields import objects

ROUTE = "v1/messages/batches"
PAGE = 100


class AnthropicBatches:
    """`Batches` at `POST /v1/messages/batches`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def submit(self, key: str, lines: Sequence[Line]) -> str:
        """See `Batches.submit`. The key stands in the ids of the lines alone: a batch has no place
        for it.
        """
        del key
        order = {"requests": [{"custom_id": line.id, "params": line.body} for line in lines]}
        batch = await requests.fetch(self._endpoint, requests.json_order(self._url(""), order))
        if not (id := batch.get("id")):
            raise self._endpoint.strange()
        return str(id)

    async def find(
        self, key: str, size: int, since: float, other_ids: Container[str]
    ) -> str | None:
        """See `Batches.find`. A batch shows its ids when it has ended: until then one of this size
        may be another.
        """
        running = False
        async for batch in self._listed(since):
            counts = as_dict(batch.get("request_counts"))
            is_other = str(batch.get("id")) in other_ids
            if is_other or sum(count_of(count) for count in counts.values()) != size:
                continue
            if batch.get("processing_status") != "ended":
                running = True
                continue
            if await self._holds(str(batch.get("id")), key):
                return str(batch.get("id"))
        if running:
            raise Undecided
        return None

    async def progress(self, id: str) -> Progress:
        """See `Batches.progress`."""
        batch = await requests.read(self._endpoint, self._url(id))
        counts = as_dict(batch.get("request_counts"))
        answer_count = sum(map(count_of, counts.values())) - count_of(counts.get("processing"))
        return Progress(batch.get("processing_status") == "ended", answer_count)

    async def answers(self, id: str) -> AsyncGenerator[tuple[str, Any]]:
        """See `Batches.answers`."""
        url = self._url(f"{id}/results")
        async with aclosing(requests.read_lines(self._endpoint, url)) as lines:
            async for line in lines:
                result = as_dict(line.get("result"))
                is_answer = result.get("type") == "succeeded"
                yield str(line.get("custom_id")), result.get("message") if is_answer else None

    async def remove_requests(self, id: str) -> None:
        """See `Batches.remove_requests`: they go with the answers, by `remove` alone."""

    async def remove(self, id: str) -> None:
        """See `Batches.remove`."""
        await requests.remove(self._endpoint, self._url(id))

    async def _holds(self, id: str, key: str) -> bool:
        async with aclosing(self.answers(id)) as answers:
            async for line, _ in answers:
                return line.startswith(f"{key}-")
        return False

    async def _listed(self, since: float) -> AsyncGenerator[dict[str, Any]]:
        """Yield the batches that were made after `since`, the newest first."""
        after = ""
        while True:
            query = f"limit={PAGE}" + (f"&after_id={after}" if after else "")
            url = join_url(self._endpoint.wire.address, ROUTE, query)
            page = await requests.read(self._endpoint, url)
            rows = objects(page.get("data"))
            for row in rows:
                if _seconds(row.get("created_at")) < since:
                    return
                yield row
            if not rows or not page.get("has_more"):
                return
            after = str(rows[-1].get("id"))

    def _url(self, id: str) -> str:
        return join_url(self._endpoint.wire.address, f"{ROUTE}/{id}" if id else ROUTE)


def _seconds(time: Any) -> float:
    """Return a time in seconds since 1970; the end of all times where it cannot be read."""
    try:
        moment = datetime.fromisoformat(str(time))
    except ValueError:
        return float("inf")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
