"""A language model behind any OpenAI-compatible endpoint, through the `openai` client."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast

import openai

from contracts.values import TokenUsage
from runtime.errors import EmptyAnswer, ModelRefused, Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.limits import Call
from runtime.models.openai_endpoint import Endpoint, as_dict, estimated, parsed
from runtime.models.port import Completion, Message

FIRST_ANSWER = 500
"""Tokens an answer is taken to have before the first one came; then their running mean is."""


class OpenAiChat:
    """A language model behind `POST <base_url>/chat/completions`.

    `endpoint` admits calls and bounds each in time (a streamed answer: between two pieces).

    An empty answer is `Unavailable`; a refusal, an answer stopped by a content filter and one that reached its length
    limit before the first word are `Poison`; one that reached it later says so in `Completion.cut`.
    """

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.model = model
        self._answer = float(FIRST_ANSWER)
        self._counts_streams = True
        self._endpoint, self._kind = endpoint, CallKind("chat", model, endpoint.settings)

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """Return the whole answer. `json`: ask for a JSON object."""
        options: dict[str, Any] = {"response_format": {"type": "json_object"}} if json else {}
        return await self._endpoint.tried(lambda: self._complete(messages, options))

    async def _complete(self, messages: Sequence[Message], options: dict[str, Any]) -> Completion:
        async with self._endpoint.call(self._kind, self._estimate(messages)) as call:
            body = {**self._request(messages), **options}
            answer = parsed(await self._endpoint.post("/chat/completions", body))
            choice = _first_choice(answer)
            message, reason = _value(choice, "message"), _value(choice, "finish_reason")
            text = _value(message, "content") or ""
            if message is None or not isinstance(text, str):
                raise self._strange("did not answer")
            usage = _usage(_value(answer, "usage"))
            self._learn(call, usage)
        _check_refusal(self.model, message, reason)
        is_truncated = reason == "length"
        if text.strip():
            return Completion(text, usage, is_truncated)
        if is_truncated:
            raise ModelRefused(
                f"{self.model} gave an empty answer that reached its length limit: "
                f"choose another {self._endpoint.settings}_MODEL",
                "length",
            )
        raise EmptyAnswer(f"{self.model} gave an empty answer")

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[str]:
        """Yield the answer in pieces. Closing the iterator closes the connection, so the provider stops writing."""
        empty, usage = True, None
        async with self._endpoint.call(self._kind, self._estimate(messages), streaming=True) as call:
            answer = await self._streamed(messages)
            if not hasattr(answer, "response"):
                raise self._strange("did not stream")
            async with aclosing(answer):
                async for chunk in answer:
                    usage = _value(chunk, "usage") or usage  # that of the last one is of the whole call
                    choice = _first_choice(chunk)
                    if choice is None:
                        continue
                    _check_refusal(self.model, choice.delta, choice.finish_reason)
                    if text := _value(choice.delta, "content"):
                        empty = False
                        yield text
            self._learn(call, _usage(usage))
        if empty:
            raise Unavailable(f"{self.model} gave an empty answer")

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _streamed(self, messages: Sequence[Message]) -> Any:
        """Begin a stream that says at its end what it took, of a provider that does not refuse to."""
        create = self._endpoint.client.chat.completions.create
        if self._counts_streams:
            try:
                return await create(**self._request(messages), stream=True, stream_options={"include_usage": True})
            except openai.APIStatusError as error:
                if error.status_code not in (400, 422) or "stream_options" not in str(error):
                    raise
                self._counts_streams = False
        return await create(**self._request(messages), stream=True)

    def _strange(self, what: str) -> Unavailable:
        return Unavailable(f"{self.model} {what} in the OpenAI format; check {self._endpoint.settings}_BASE_URL")

    def _request(self, messages: Sequence[Message]) -> dict[str, Any]:
        turns = [{"role": message.role, "content": encodable(message.content)} for message in messages]
        return {"model": self.model, "messages": turns}

    def _estimate(self, messages: Sequence[Message]) -> int:
        return estimated([message.content for message in messages]) + round(self._answer)

    def _learn(self, call: Call, usage: TokenUsage) -> None:
        call.usage = usage
        if usage.prompt or usage.completion:
            call.cost = usage.prompt + usage.completion
            self._answer += (usage.completion - self._answer) / 8


def _first_choice(answer: Any) -> Any | None:
    choices = _value(answer, "choices")
    return cast(Any, choices[0]) if isinstance(choices, list) and choices else None


def _check_refusal(model: str, said: Any, finish_reason: str | None) -> None:
    if finish_reason == "content_filter" or _value(said, "refusal"):
        raise ModelRefused(f"{model} refuses this content ({finish_reason or 'refusal'})", "content")


def _usage(usage: Any) -> TokenUsage:
    """Return the token counts of the provider; providers leave any part of them out."""
    details = _value(usage, "prompt_tokens_details")
    return TokenUsage(
        prompt=_value(usage, "prompt_tokens") or 0,
        completion=_value(usage, "completion_tokens") or 0,
        cached=_value(details, "cached_tokens") or 0,
        calls=1,
    )


def _value(answered: Any, name: str) -> Any:
    """Return a field of an answer as JSON, or of a streamed one as the client makes it; None where there is none."""
    fields = as_dict(answered)
    return fields.get(name) if fields else getattr(answered, name, None)


def encodable(text: str) -> str:
    """Return the text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
