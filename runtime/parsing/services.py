"""Has Docling Serve or MinerU read a file, over HTTP."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, cast

import aiohttp
import orjson

from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.content import MAX_TEXT, Content, joined, paged
from runtime.parsing.engines import Engine, ServiceAddress

MAX_ANSWER = 4 * MAX_TEXT + 2**20
"""Bytes that are read of a service's answer."""

POLL_SECONDS = 5
"""How long Docling Serve may hold back the answer whether it is done."""

PAGE_BREAK = "\f"
"""What Docling Serve is to put between pages."""

REFUSALS = frozenset({400, 409, 413, 415, 422})
"""Statuses that are about the file, and stay the same when it is sent again."""


async def read_by_service(
    engine: Engine, address: ServiceAddress, data: bytes, name: str, seconds: float
) -> Content:
    """Return what the service gives of the file, as Markdown. See `ParsingServices.content`."""
    read = _docling if engine == "docling" else _mineru
    timeout = aiohttp.ClientTimeout(total=seconds, connect=min(10, seconds))
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
        ):
            return await read(session, address, data, PurePosixPath(name).name)
    except TimeoutError:
        raise Unavailable(
            f"{engine} takes more than {seconds:.0f} s to read a file: raise PARSER_TIMEOUT, or "
            "split the file"
        ) from None
    except aiohttp.ClientError as error:
        raise Unavailable(
            f"{engine}, which LIGHTRAG_PARSER has read files, does not answer: "
            f"{type(error).__name__}"
        ) from None


async def _docling(
    session: aiohttp.ClientSession, address: ServiceAddress, data: bytes, name: str
) -> Content:
    """Have Docling Serve read the file: a task is sent, waited for, and its result fetched."""
    headers = {"X-Api-Key": address.key} if address.key else {}
    form = _form(data, name, to_formats="md", image_export_mode="placeholder")
    form.add_field("md_page_break_placeholder", PAGE_BREAK)
    base = address.url.rstrip("/")
    post = session.post(f"{base}/v1/convert/file/async", data=form, headers=headers)
    task = await _answer("docling", post)
    id = str(task.get("task_id") or "")
    while task.get("task_status") not in ("success", "partial_success", "failure"):
        asked_at = time.monotonic()
        poll = session.get(
            f"{base}/v1/status/poll/{id}", params={"wait": POLL_SECONDS}, headers=headers
        )
        task = await _answer("docling", poll)
        # A proxy may answer at once; the end of the session's time ends the loop.
        if task.get("task_status") in ("pending", "started"):
            await asyncio.sleep(max(0.0, 1 - (time.monotonic() - asked_at)))
    if task["task_status"] == "failure":
        raise InvalidInput(f"docling cannot read it: {_reason(task)}")
    result = await _answer("docling", session.get(f"{base}/v1/result/{id}", headers=headers))
    text = _markdown(result.get("document"))
    if not text.strip():
        raise InvalidInput(f"docling finds no text in it: {_reason(result)}")
    content = paged(text.split(PAGE_BREAK)) if PAGE_BREAK in text else joined([text])
    if result.get("status") == "partial_success":
        return content._replace(warnings=(f"docling read only a part: {_reason(result)}",))
    return content


async def _mineru(
    session: aiohttp.ClientSession, address: ServiceAddress, data: bytes, name: str
) -> Content:
    """Have MinerU read the file, in one request."""
    form = _form(data, name, return_md="true")
    url = f"{address.url.rstrip('/')}/file_parse"
    answer = await _answer("mineru", session.post(url, data=form))
    results = answer.get("results")
    documents = cast("dict[str, Any]", results).values() if isinstance(results, dict) else ()
    texts = [_markdown(document) for document in documents]
    if not any(text.strip() for text in texts):
        raise InvalidInput(f"mineru finds no text in it: {_reason(answer)}")
    return joined(texts)


def _markdown(document: object) -> str:
    """Return the text of a document in an answer; empty where it has none."""
    fields = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    text = fields.get("md_content")
    return text if isinstance(text, str) else ""


def _form(data: bytes, name: str, **fields: str) -> aiohttp.FormData:
    form = aiohttp.FormData(fields)
    form.add_field("files", data, filename=name, content_type="application/octet-stream")
    return form


async def _answer(engine: Engine, request: Any) -> dict[str, Any]:
    """Return the JSON of an answer. Raises InvalidInput for a refusal of the file, Unavailable for
    every other error.
    """
    async with request as response:
        body = await response.content.read(MAX_ANSWER + 1)
        while not response.content.at_eof() and len(body) <= MAX_ANSWER:
            body += await response.content.read(MAX_ANSWER + 1 - len(body))
    if len(body) > MAX_ANSWER:
        raise InvalidInput(f"{engine} gives more than {MAX_ANSWER:,} bytes for it: split it")
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = {}
    fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    if response.status in REFUSALS:
        raise InvalidInput(f"{engine} refuses it (HTTP {response.status}): {_reason(fields)}")
    if response.status >= 400:
        raise Unavailable(f"{engine} answers HTTP {response.status}: {_reason(fields)}")
    return fields


def _reason(answer: Mapping[str, Any]) -> str:
    """Return what a service says of a failure, in a line."""
    for name in ("errors", "error_message", "error", "detail", "message"):
        if value := answer.get(name):
            text = (
                value if isinstance(value, str) else orjson.dumps(value).decode("utf-8", "replace")
            )
            return " ".join(text.split())[:300]
    return "it gives no reason"
