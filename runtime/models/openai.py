"""Chat and embeddings of any OpenAI-compatible endpoint, through the `openai` client."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from contracts.values import TokenUsage
from runtime.errors import Poison, Unavailable
from runtime.models.openai_endpoint import RETRIES, Endpoint
from runtime.models.ports import Completion, Message, Vector


class OpenAiChat:
    """A language model behind `POST <base_url>/chat/completions`.

    At most `concurrency` calls at once; each has `timeout` seconds in all (a streamed answer: between two pieces).
    An empty answer is `Unavailable`; a refusal and an answer stopped by a content filter are `Poison`.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str,
        *,
        concurrency: int = 4,
        timeout: float = 240.0,
        retries: int = RETRIES,
    ) -> None:
        self.model = model
        self._endpoint = Endpoint(base_url, api_key, concurrency, timeout, retries, "LLM")

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """The whole answer. `json`: ask for a JSON object."""
        options: dict[str, Any] = {"response_format": {"type": "json_object"}} if json else {}
        async with self._endpoint.call() as client:
            answer = cast(Any, await client.chat.completions.create(**self._request(messages), **options))
            choice = _first_choice(answer)
            if choice is None:
                raise Unavailable(f"{self.model} did not answer in the OpenAI format; check LLM_BASE_URL")
        _check_refusal(self.model, choice.message, choice.finish_reason)
        cut = choice.finish_reason == "length"
        text = choice.message.content or ""
        if not text.strip():
            raise Unavailable(f"{self.model} gave an empty answer{' that reached its length limit' if cut else ''}")
        return Completion(text, _usage(getattr(answer, "usage", None)), cut)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """The answer in pieces. Closing the iterator closes the connection, so the provider stops writing."""
        empty = True
        async with self._endpoint.call(streaming=True) as client:
            answer = cast(Any, await client.chat.completions.create(**self._request(messages), stream=True))
            if not hasattr(answer, "response"):
                raise Unavailable(f"{self.model} did not stream in the OpenAI format; check LLM_BASE_URL")
            async with aclosing(answer):
                async for chunk in answer:
                    choice = _first_choice(chunk)
                    if choice is None:
                        continue
                    _check_refusal(self.model, choice.delta, choice.finish_reason)
                    if text := getattr(choice.delta, "content", None):
                        empty = False
                        yield text
        if empty:
            raise Unavailable(f"{self.model} gave an empty answer")

    async def close(self) -> None:
        """Let go of connections."""
        await self._endpoint.client.close()

    def _request(self, messages: Sequence[Message]) -> dict[str, Any]:
        turns = [{"role": message.role, "content": _encodable(message.content)} for message in messages]
        return {"model": self.model, "messages": turns}


class OpenAiEmbedder:
    """Embeddings behind `POST <base_url>/embeddings`, `batch` texts a call, at most `concurrency` calls at once.

    Vectors are brought to length 1. A blank text is sent as one blank, which every provider accepts.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str,
        *,
        concurrency: int = 8,
        timeout: float = 30.0,
        batch: int = 10,
    ) -> None:
        self.model = model
        self.dimension = dimension
        self._batch = batch
        self._endpoint = Endpoint(base_url, api_key, concurrency, timeout, RETRIES, "EMBEDDING")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order. When one call fails, the others are cancelled."""
        sent = [_encodable(text) if text.strip() else " " for text in texts]
        batches = [sent[start : start + self._batch] for start in range(0, len(sent), self._batch)]
        tasks = [asyncio.create_task(self._embed(batch)) for batch in batches]
        try:
            return [vector for vectors in await asyncio.gather(*tasks) for vector in vectors]
        finally:
            for task in tasks:
                task.cancel()

    async def close(self) -> None:
        """Let go of connections."""
        await self._endpoint.client.close()

    async def _embed(self, texts: list[str]) -> list[Vector]:
        # Only these models can shorten their vectors, and others refuse the parameter.
        options: dict[str, Any] = {"dimensions": self.dimension} if "text-embedding-3" in self.model else {}
        async with self._endpoint.call() as client:
            answer = await client.embeddings.create(
                model=self.model, input=texts, encoding_format="float", **options
            )  # fmt: skip
            items = cast(Any, getattr(answer, "data", None))
            if not isinstance(items, list):
                raise Unavailable(f"{self.model} did not answer in the OpenAI format; check EMBEDDING_BASE_URL")
            return self._checked(cast(list[Any], items), len(texts))

    def _checked(self, items: list[Any], count: int) -> list[Vector]:
        """The vectors in the order of the texts. Raises `Poison` for what no store should ever see."""
        if len(items) != count:
            raise Poison(f"{self.model} gave {len(items)} vectors for {count} texts")
        if sorted(item.index if isinstance(item.index, int) else -1 for item in items) == list(range(count)):
            items = sorted(items, key=lambda item: item.index)
        return [self._unit(item.embedding) for item in items]

    def _unit(self, values: Any) -> Vector:
        if not isinstance(values, list) or len(cast(list[Any], values)) != self.dimension:
            found = len(cast(list[Any], values)) if isinstance(values, list) else "no"
            raise Poison(
                f"{self.model} gave {found} numbers, not {self.dimension}: EMBEDDING_DIM names another model's"
            )
        try:
            vector = [float(value) for value in cast(list[Any], values)]
        except (TypeError, ValueError):
            vector = [math.nan]
        length = math.hypot(*vector)
        if not math.isfinite(length) or length == 0.0:
            raise Poison(f"{self.model} gave a vector that is not finite or has no direction")
        return tuple(value / length for value in vector)


def _first_choice(answer: Any) -> Any | None:
    choices = getattr(answer, "choices", None)
    return choices[0] if choices else None


def _check_refusal(model: str, said: Any, finish_reason: str | None) -> None:
    if finish_reason == "content_filter" or getattr(said, "refusal", None):
        raise Poison(f"{model} refuses this content")


def _usage(usage: Any) -> TokenUsage:
    """What the provider counted; providers leave any part of it out."""
    details = getattr(usage, "prompt_tokens_details", None)
    return TokenUsage(
        prompt=getattr(usage, "prompt_tokens", None) or 0,
        completion=getattr(usage, "completion_tokens", None) or 0,
        cached=getattr(details, "cached_tokens", None) or 0,
    )


def _encodable(text: str) -> str:
    """The text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
