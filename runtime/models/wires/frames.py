"""Reads the frames of a streamed answer: server-sent events, lines of JSON, AWS's event stream."""

import json
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import orjson

from runtime.models.json_values import as_dict

Content = AsyncIterator[bytes]

_PRELUDE = struct.Struct(">II")
_PRELUDE_END = 12
"""Bytes of both lengths and of their checksum."""

_STRING = 7
"""The type of a header that is a text."""


async def lines(content: Content) -> AsyncGenerator[bytes]:
    """Yield the lines of a stream without their ends."""
    remainder = b""
    async for part in content:
        whole_lines = (remainder + part).split(b"\n")
        remainder = whole_lines.pop()
        for line in whole_lines:
            yield line.removesuffix(b"\r")
    if remainder:
        yield remainder


async def server_sent_events(content: Content) -> AsyncGenerator[dict[str, Any]]:
    """Yield the JSON objects in the data of server-sent events, until `[DONE]`. Raises ValueError
    for other data.
    """
    data: list[bytes] = []
    async with aclosing(lines(content)) as stream:
        async for line in stream:
            name, _, value = line.partition(b":")
            if name == b"data":
                data.append(value.removeprefix(b" "))
            if line or not data:
                continue
            text = b"\n".join(data)
            data = []
            if text.strip() == b"[DONE]":
                return
            if text.strip():
                yield _parsed(text)
    text = b"\n".join(data)
    if text.strip() and text.strip() != b"[DONE]":
        yield _parsed(text)


async def json_lines(content: Content) -> AsyncGenerator[dict[str, Any]]:
    """Yield the JSON objects of a stream that has each in a line. Raises ValueError for others."""
    async with aclosing(lines(content)) as stream:
        async for line in stream:
            if line.strip():
                yield _parsed(line)


async def aws_events(content: Content) -> AsyncGenerator[tuple[dict[str, str], dict[str, Any]]]:
    """Yield headers and JSON payload of each message of AWS's event stream. Raises ValueError for
    other bytes.
    """
    buffer = b""
    async for part in content:
        buffer += part
        while len(buffer) >= _PRELUDE_END:
            total, header_length = _PRELUDE.unpack_from(buffer)
            if total < _PRELUDE_END + 4 + header_length:
                raise ValueError("a message of the event stream is shorter than its own head")
            if len(buffer) < total:
                break
            payload_start = _PRELUDE_END + header_length
            headers = _aws_headers(buffer[_PRELUDE_END:payload_start])
            payload = buffer[payload_start : total - 4]
            buffer = buffer[total:]
            yield headers, _parsed(payload) if payload else {}


def _aws_headers(data: bytes) -> dict[str, str]:
    """Return the headers of a message, all of which are texts in what models stream."""
    headers: dict[str, str] = {}
    place = 0
    while place < len(data):
        name_end = place + 1 + data[place]
        name = data[place + 1 : name_end].decode()
        if data[name_end] != _STRING:
            raise ValueError(f"the header {name} of the event stream is no text")
        value_start = name_end + 3
        place = value_start + int.from_bytes(data[name_end + 1 : value_start], "big")
        headers[name] = data[value_start:place].decode()
    return headers


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        return as_dict(orjson.loads(text))
    except ValueError:
        return as_dict(json.loads(text))  # which also reads the NaN that some servers send
