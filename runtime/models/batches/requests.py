"""Requests for batches and files: JSON one way or the other, forms, and lines of JSON."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import orjson

from runtime.models.endpoint import Endpoint
from runtime.models.failures import Failure
from runtime.models.json_posts import Sending
from runtime.models.json_values import as_dict, parsed
from runtime.models.wires.frames import json_lines

LARGEST_REPLY = 4 * 1024 * 1024
"""Bytes of an answer that is no file."""

GONE = 404


async def fetch(endpoint: Endpoint, sending: Sending) -> dict[str, Any]:
    """Return the JSON object that answers a request. Raises `Failure`."""
    async with endpoint.open_answer(sending) as response:
        content = await response.content.read(LARGEST_REPLY)
        while part := await response.content.read(LARGEST_REPLY):
            content += part
            if len(content) > LARGEST_REPLY:
                raise endpoint.strange()
        return as_dict(parsed(content)) if content.strip() else {}


async def read(endpoint: Endpoint, url: str) -> dict[str, Any]:
    """Return the JSON object at this address. Raises `Failure`."""
    return await fetch(endpoint, Sending(url, method="GET"))


async def remove(endpoint: Endpoint, url: str) -> None:
    """Remove what is at this address; nothing where it is gone. Raises `Failure`."""
    try:
        await fetch(endpoint, Sending(url, method="DELETE"))
    except Failure as failure:
        if failure.status != GONE:
            raise


async def read_lines(endpoint: Endpoint, url: str) -> AsyncGenerator[dict[str, Any]]:
    """Yield the JSON objects of a file that has one in each line. Raises `Failure`."""
    async with (
        endpoint.open_answer(Sending(url, method="GET")) as response,
        aclosing(json_lines(response.content.iter_any())) as lines,
    ):
        async for line in lines:
            yield line


def json_order(url: str, body: Any) -> Sending:
    """Return a request for something to be done, which goes out once only."""
    return Sending(url, orjson.dumps(body), once=True)


def upload(url: str, name: str, data: bytes, **fields: str) -> Sending:
    """Return the request that uploads a file with these fields, as a form."""
    border = f"lightstream-{name}"
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    ]
    head = (
        f'--{border}\r\nContent-Disposition: form-data; name="file"; filename={json.dumps(name)}'
        "\r\nContent-Type: application/jsonl\r\n\r\n"
    )
    body = "".join([*parts, head]).encode() + data + f"\r\n--{border}--\r\n".encode()
    return Sending(url, body, content_type=f"multipart/form-data; boundary={border}")
