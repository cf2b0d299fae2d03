"""A language model behind any OpenAI-compatible endpoint."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

from contracts.values import TokenUsage
from runtime.errors import EmptyAnswer, ModelRefused, Unavailable
from runtime.models.limits import Limits
from runtime.models.openai_endpoint import Endpoint, as_dict, estimated, parsed
from runtime.models.port import Completion, Message
from runtime.models.rate_limiter import Call, RateLimiter

CHAT = "/chat/completions"

FIRST_ANSWER = 500
"""Tokens an answer is taken to have before the first one came; then their running mean is."""


class OpenAiChat:
    """A language model behind `POST <base_url>/chat/completions`.

    `limiter` admits calls (without one: four at once); each has `timeout` seconds in all (a streamed
    answer: between two pieces) and is repeated `retries` times.

    An empty answer is `Unavailable`; a refusal, an answer stopped by a content filter and one that reached its length
    limit before the first word are `Poison`; one that reached it later says so in `Completion.cut`.
    """

    def __init__(
        self, base_url: str, model: str, api_key: str, limiter: RateLimiter | None = None, *, timeout: float = 240.0,
        retries: int = 0,
    ) -> None:  # fmt: skip
        self.model = model
        self._answer = float(FIRST_ANSWER)
        self._endpoint = Endpoint(
            base_url, api_key, limiter or RateLimiter(model, Limits(calls=4)), timeout, "LLM", retries
        )

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """Return the whole answer. `json`: ask for a JSON object."""
        options: dict[str, Any] = {"response_format": {"type": "json_object"}} if json else {}
        return await self._endpoint.tried(lambda: self._complete(messages, options))

    async def _complete(self, messages: Sequence[Message], options: dict[str, Any]) -> Completion:
        async with self._endpoint.call(self._estimate(messages)) as call:
            answer = parsed(await self._endpoint.post(CHAT, {**self._request(messages), **options}))
            choice = _first_choice(answer)
            if choice is None:
                raise Unavailable(f"{self.model} did not answer in the OpenAI format; check LLM_BASE_URL")
            usage = _usage(answer)
            self._learn(call, usage)
        reason, message = choice.get("finish_reason"), as_dict(choice.get("message"))
        _check_refusal(self.model, message, reason)
        is_truncated = reason == "length"
        text = _text(message)
        if text.strip():
            return Completion(text, usage, is_truncated)
        if is_truncated:
            raise ModelRefused(
                f"{self.model} gave an empty answer that reached its length limit: choose another LLM_MODEL", "length"
            )
        raise EmptyAnswer(f"{self.model} gave an empty answer")

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[str]:
        """Yield the answer in pieces. Closing the iterator closes the connection, so the provider stops writing."""
        empty = True
        async with (
            self._endpoint.call(self._estimate(messages), streaming=True),
            aclosing(self._endpoint.events(CHAT, {**self._request(messages), "stream": True})) as events,
        ):
            async for event in events:
                choice = _first_choice(event)
                if choice is None:
                    if error := event.get("error"):
                        raise Unavailable(f"{self.model} broke off: {as_dict(error).get('message') or error!s:.300}")
                    continue
                piece = as_dict(choice.get("delta"))
                _check_refusal(self.model, piece, choice.get("finish_reason"))
                if text := _text(piece):
                    empty = False
                    yield text
        if empty:
            raise Unavailable(f"{self.model} gave an empty answer, or did not stream in the OpenAI format")

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    def _request(self, messages: Sequence[Message]) -> dict[str, Any]:
        turns = [{"role": message.role, "content": encodable(message.content)} for message in messages]
        return {"model": self.model, "messages": turns}

    def _estimate(self, messages: Sequence[Message]) -> int:
        return estimated([message.content for message in messages]) + round(self._answer)

    def _learn(self, call: Call, usage: TokenUsage) -> None:
        if usage.prompt or usage.completion:
            call.cost = usage.prompt + usage.completion
            self._answer += (usage.completion - self._answer) / 8


def _first_choice(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = answer.get("choices")
    return as_dict(cast(list[Any], choices)[0]) or None if isinstance(choices, list) and choices else None


def _text(message: Mapping[str, Any]) -> str:
    text = message.get("content")
    return text if isinstance(text, str) else ""


def _check_refusal(model: str, message: Mapping[str, Any], finish_reason: str | None) -> None:
    if finish_reason == "content_filter" or message.get("refusal"):
        raise ModelRefused(f"{model} refuses this content ({finish_reason or 'refusal'})", "content")


def _usage(answer: Mapping[str, Any]) -> TokenUsage:
    """Return the token counts of the provider; providers leave any part of them out."""
    usage = as_dict(answer.get("usage"))
    details = as_dict(usage.get("prompt_tokens_details"))
    return TokenUsage(
        prompt=usage.get("prompt_tokens") or 0,
        completion=usage.get("completion_tokens") or 0,
        cached=details.get("cached_tokens") or 0,
    )


def encodable(text: str) -> str:
    """Return the text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
