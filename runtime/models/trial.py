"""Tries models before documents depend on them: which ones a service offers, and whether they
answer.
"""

import asyncio
import struct
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from zlib import crc32

from runtime.errors import InvalidInput, Unavailable
from runtime.models.connections import embedding_connection
from runtime.models.json_values import parsed
from runtime.models.open import open_chat, open_embedder
from runtime.models.port import Message, Picture
from runtime.models.roles import VISION, Role
from runtime.models.wires.open import open_wire
from runtime.models.wires.openai import OpenAiWire, Request
from runtime.settings import Settings

# Imported where they are needed: aiohttp and httpx take half a second to load.

PATIENCE = 60.0
"""Seconds a call may take or wait: a model on this machine is loaded by its first request."""

CONNECT = 10.0
"""Seconds to reach a service."""

REFUSALS = (401, 403)
"""Statuses of a key that is refused."""

QUESTION = "Answer with the single word: yes"
PICTURE_QUESTION = "Which colour is this picture? Answer with the single word."
COLOUR = "red"
TEXT = "The tide gauge of Port Elm was replaced in March."


@dataclass(frozen=True)
class Trial:
    """What a model did: the beginning of its answer, or the numbers of its vectors, and the
    seconds it took.
    """

    model: str
    result: str
    seconds: float


async def offered_models(base_url: str, key: str) -> list[str]:
    """Return the names of a service's models in their order, none where it lists none.

    Raises Unavailable where nobody answers at that address, InvalidInput for a refused key.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = await _listed(f"{base_url.rstrip('/')}/models", headers)
    try:
        return [str(row["id"]) for row in answer["data"]]
    except (LookupError, TypeError):
        return []


async def embedding_dimension(settings: Settings) -> int:
    """Return how many numbers a vector of the embedding model has.

    Raises Unavailable where it gives none, InvalidInput for a refused key.
    """
    model = settings.embedding_model
    wire = open_wire(settings.embedding_binding, embedding_connection(settings))
    request = wire.embedding({"model": model, "input": ["tide"]})
    answer = await _posted(wire, request)
    try:
        return len(wire.vectors(answer)["data"][0]["embedding"])
    except (LookupError, TypeError):
        raise Unavailable(f"{model} gives no vectors: {_sentence(answer)}") from None


async def try_language_model(settings: Settings, role: Role | None = None) -> Trial | None:
    """Ask the language model of a role, of no role the general one, one word, and that of figures
    the colour of a picture; None if none is configured.

    Raises what `Chat.complete` does.
    """
    chat = open_chat(settings, role=role, max_wait=PATIENCE)
    if chat is None:
        return None
    message = (
        Message("user", PICTURE_QUESTION, pictures=(red_picture(),))
        if role == VISION
        else Message("user", QUESTION)
    )
    start = time.monotonic()
    try:
        completion = await chat.complete([message])
    finally:
        await chat.close()
    return Trial(chat.model, completion.text.strip()[:40], time.monotonic() - start)


def red_picture() -> Picture:
    """Return a picture of one colour, as small as models take."""
    side = 64
    line = b"\0" + b"\xff\0\0" * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(line * side)), (b"IEND", b""))
    data = b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc32(kind + content))
        for kind, content in chunks
    )
    return Picture(b"\x89PNG\r\n\x1a\n" + data, "image/png")


async def try_embedder(settings: Settings) -> Trial:
    """Embed one text. Raises what `Embedder.embed` does."""
    embedder = open_embedder(settings, max_wait=PATIENCE)
    start = time.monotonic()
    try:
        await embedder.embed([TEXT])
    finally:
        await embedder.close()
    return Trial(embedder.model, f"{embedder.dimension} numbers a text", time.monotonic() - start)


async def _listed(address: str, headers: Mapping[str, str]) -> Any:
    """Return the JSON that a service answers; an empty object where it knows no such path."""
    import httpx  # noqa: PLC0415

    base_url = address.rpartition("/")[0]
    try:
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            response = await client.get(address, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _silent(base_url, error) from None
    if response.status_code in REFUSALS:
        raise _refused(base_url, response.status_code)
    try:
        return response.json()
    except ValueError:
        return {}


async def _posted(wire: OpenAiWire, request: Request) -> Any:
    """Return the JSON that a service answers, also that of an error."""
    import aiohttp  # noqa: PLC0415

    from runtime.models.access_tokens import NoToken  # noqa: PLC0415
    from runtime.models.json_posts import (  # noqa: PLC0415
        JsonPosts,
        RedirectedAway,
        StatusError,
    )

    base_url = request.url.rpartition("/")[0]
    posts = JsonPosts(wire.headers, CONNECT, wire.tokens)
    try:
        async with asyncio.timeout(PATIENCE):
            return parsed(await posts.post(request.url, request.body)) or {}
    except NoToken as error:
        raise InvalidInput(str(error)) from None
    except StatusError as error:
        if error.status in REFUSALS:
            raise _refused(base_url, error.status) from None
        return parsed(error.content) or {}
    except (aiohttp.ClientError, OSError, TimeoutError, RedirectedAway) as error:
        raise _silent(base_url, error) from None
    finally:
        await posts.close()


def _silent(base_url: str, error: Exception) -> Unavailable:
    return Unavailable(f"nobody answers at {base_url}: {error or type(error).__name__}")


def _refused(base_url: str, status: int) -> InvalidInput:
    return InvalidInput(f"{base_url} refuses the key ({status}): enter it again")


def _sentence(answer: Any) -> str:
    """Return what a service says is wrong."""
    error = cast(dict[str, Any], answer).get("error") if isinstance(answer, dict) else None
    text = cast(dict[str, Any], error).get("message") if isinstance(error, dict) else error
    return str(text)[:300] if text else "its answer has none"
