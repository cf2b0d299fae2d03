"""Embeddings of any OpenAI-compatible endpoint: cut to what the model reads, in full batches, checked one by one.

An answer without usable vectors is the fault of the provider or of a text. Which of the two is found by asking for the
vector of a sentence of ours: a provider that has none for that either is paused, and no document fails for it.
"""

import asyncio
import base64
import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import openai
import structlog

from contracts.values import TokenUsage
from runtime.batching import batched_by_bytes
from runtime.errors import ModelRefused, Poison, Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.limits import Call
from runtime.models.openai import encodable
from runtime.models.openai_endpoint import Endpoint, as_dict, estimated, parsed
from runtime.models.port import Vector

logger = structlog.get_logger(__name__)

BATCH, SMALL_BATCH = 32, 10
"""Texts a call unless a setting says otherwise, and for a provider that refuses so many."""

BATCH_BYTES = 48 * 1024
"""Bytes of the texts of a call: ten passages of 1,200 tokens, for a slow model has to answer within the time limit."""

CONTROL = "The quick brown fox jumps over the lazy dog."
"""A text that every model can embed: its result shows whether the provider works."""


BASE64: Literal["base64"] = "base64"
BASE64_NAMED = re.compile("base64|encoding_format", re.IGNORECASE)
"""The form in which vectors are asked for, a quarter of the bytes of numbers as text, and how a provider refuses it."""

NOT_JSON = "json: unsupported value"
"""What servers written in Go, such as Ollama, say when a vector holds NaN or infinity."""


class UnusableVectors(Unavailable):
    """The provider answered, but its vectors for these texts cannot be used."""


class _SeveralRefused(Poison):
    """The provider works, but returned nothing usable for several texts together."""


class OpenAiEmbedder:
    """Embeddings of an endpoint's `POST /embeddings`, each text once however often given.

    A call has `batch` texts, or fewer long ones; a provider that refuses them is asked for `SMALL_BATCH` from then on.
    `cut` shortens a text to what the model reads.
    Vectors are brought to length 1. A blank text is sent as one blank, which every provider accepts.

    Vectors of another dimension, too few or too many, ones that cannot be told apart and ones without a direction are
    `Unavailable`: once the provider or a setting is mended all texts can be embedded. `Poison` is only a text that
    fails alone, and again after another text was embedded.
    """

    def __init__(
        self, endpoint: Endpoint, model: str, dimension: int, *, batch: int = BATCH, cut: Callable[[str], str] = str
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._endpoint, self._batch, self._cut = endpoint, batch, cut
        self._kind = CallKind("embeddings", model, endpoint.settings)
        self._format: Literal["base64", "float"] = BASE64

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order. When one call fails, the others are cancelled."""
        sent = [self._cut(encodable(text)) if text.strip() else " " for text in texts]
        distinct = list(dict.fromkeys(sent))
        tasks = [asyncio.create_task(self._batched(batch)) for batch in self._batches(distinct)]
        try:
            embeddings = [vector for vectors in await asyncio.gather(*tasks) for vector in vectors]
        finally:
            for task in tasks:
                task.cancel()
            # Their turns are given back before anybody tries again.
            await asyncio.gather(*tasks, return_exceptions=True)
        vectors = dict(zip(distinct, embeddings, strict=True))
        return [vectors[text] for text in sent]

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        return batched_by_bytes(texts, lambda text: len(text.encode()), max_bytes=BATCH_BYTES, max_items=self._batch)

    async def _batched(self, texts: list[str]) -> list[Vector]:
        """Return one vector per text, asked for in one call; text by text where the texts do not go together."""
        try:
            return await self._endpoint.tried(lambda: self._embed(texts))
        except ModelRefused as error:
            if len(texts) <= SMALL_BATCH or error.reason == "content":
                raise
            logger.warning("fewer texts a call", model=self.model, texts=SMALL_BATCH, reason=str(error))
            self._batch = SMALL_BATCH
            return [vector for batch in self._batches(texts) for vector in await self._batched(batch)]
        except _SeveralRefused as error:
            logger.warning("texts are embedded one by one", model=self.model, texts=len(texts), reason=str(error))
        return [(await self._endpoint.tried(lambda t=text: self._embed([t])))[0] for text in texts]

    async def _embed(self, texts: list[str]) -> list[Vector]:
        async with self._endpoint.call(self._kind, estimated(texts)) as call:
            try:
                return await self._request(texts, call)
            except UnusableVectors as error:
                first = error
            # All in one turn, so that one success or failure is recorded, by the result for our own text.
            await self._request([CONTROL], call)
            if len(texts) > 1:
                raise _SeveralRefused(str(first)) from None
            try:
                return await self._request(texts, call)
            except UnusableVectors as error:
                raise Poison(f"{error}; other texts it embeds, and not {texts[0]!r:.80}") from None

    async def _request(self, texts: list[str], call: Call) -> list[Vector]:
        """Return the vectors of one request. Raises `UnusableVectors` for vectors that no store should hold."""
        # Only these models can shorten their vectors, and others refuse the parameter.
        options: dict[str, Any] = {"dimensions": self.dimension} if "text-embedding-3" in self.model else {}
        body = {"model": self.model, "input": texts, "encoding_format": self._format, **options}
        try:
            answer = await self._endpoint.post("/embeddings", body)
        except openai.APIStatusError as error:
            if error.status_code >= 500 and NOT_JSON in str(error):
                raise UnusableVectors(f"{self.model} computed a vector that is not finite (HTTP 500)") from None
            if self._format == BASE64 and error.status_code in (400, 422) and BASE64_NAMED.search(str(error)):
                self._format = "float"  # a provider that knows no other form, which OpenAI's clients ask for
                return await self._request(texts, call)
            raise
        answered = parsed(answer)
        items = answered.get("data")
        if not isinstance(items, list):
            raise Unavailable(f"{self.model} did not answer in the OpenAI format; check EMBEDDING_BASE_URL")
        if (cost := _tokens(answered)) is not None:
            call.cost = (call.cost or 0) + cost
        usage = TokenUsage(prompt=cost or 0, calls=1)
        call.usage = call.usage + usage if call.usage else usage
        return self._check_vectors(cast(list[Any], items), len(texts))

    def _check_vectors(self, items: list[Any], count: int) -> list[Vector]:
        """Return the vectors in the order of the texts. Raises for vectors that no store should hold."""
        if len(items) != count:
            raise UnusableVectors(
                f"{self.model} gave {len(items)} vectors for {count} texts: "
                "lower EMBEDDING_BATCH_NUM or choose another EMBEDDING_MODEL"
            )
        entries = [cast(dict[str, Any], item) if isinstance(item, dict) else {} for item in items]
        places = [item.get("index") for item in entries]
        if any(place is not None for place in places):
            if sorted(place if isinstance(place, int) else -1 for place in places) != list(range(count)):
                raise UnusableVectors(
                    f"{self.model} numbered its {count} vectors {places!s:.60}: nobody can tell which text each "
                    "is of; set EMBEDDING_BATCH_NUM to 1 or choose another EMBEDDING_MODEL"
                )
            entries.sort(key=lambda item: item["index"])
        return [self._unit(item.get("embedding")) for item in entries]

    def _unit(self, values: Any) -> Vector:
        try:
            numbers = _numbers(values)
        except (TypeError, ValueError, OverflowError):
            numbers = np.full(self.dimension, math.nan)
        if len(numbers) != self.dimension:
            wrong = Unavailable if len(numbers) else UnusableVectors
            raise wrong(
                f"{self.model} gave {len(numbers) or 'no'} numbers, not {self.dimension}: "
                "set EMBEDDING_DIM to the dimension of this EMBEDDING_MODEL"
            )
        length = _length(numbers)
        if not math.isfinite(length) or length == 0.0:
            raise UnusableVectors(
                f"{self.model} gave a vector that is {'zero' if length == 0.0 else 'not finite'}, which no search "
                "can use: see what ails it, or choose another EMBEDDING_MODEL"
            )
        return array("d", (numbers / length).tobytes())


def _length(numbers: npt.NDArray[np.float64]) -> float:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        length = math.sqrt(numbers @ numbers)
    # Squares of the largest and of the smallest numbers are none any more.
    return length if 1e-100 < length < math.inf else math.hypot(*numbers.tolist())


def _numbers(values: Any) -> npt.NDArray[np.float64]:
    """Return the numbers of one vector: base64 of little-endian 32-bit floats, or a list. Raises ValueError."""
    if isinstance(values, str):
        return np.frombuffer(base64.b64decode(values, validate=True), "<f4").astype(np.float64)
    return np.array([float(value) for value in cast(list[Any], values)] if isinstance(values, list) else [], np.float64)


def _tokens(body: Mapping[str, Any]) -> int | None:
    """Return the tokens of the call, where the provider reports them."""
    usage = body.get("usage")
    total = as_dict(usage).get("total_tokens")
    return total if isinstance(total, int) else None
