"""A language model behind any OpenAI-compatible endpoint, through the `openai` client."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import openai
import structlog

from contracts.values import TokenUsage
from runtime.errors import EmptyAnswer, ModelRefused, Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.chat_answers import (
    StreamReader,
    answer_parts,
    field,
    first_choice,
    has_content,
    is_cut,
    is_refused,
)
from runtime.models.limits import Call
from runtime.models.openai_endpoint import Endpoint, estimated, parsed
from runtime.models.port import AnswerPiece, Completion, Message

logger = structlog.get_logger(__name__)

_WITHOUT_OPENING = set[tuple[str, str]]()
"""Address and name of models that were seen to end reasoning without its opening tag."""

FIRST_ANSWER = 500
"""Tokens an answer is taken to have before the first one came; then their running mean is."""


class OpenAiChat:
    """A language model behind `POST <base_url>/chat/completions`.

    `endpoint` admits calls and bounds each in time (a streamed answer: between two pieces).

    An empty answer is `Unavailable`; a refusal, an answer stopped by a content filter and one that reached its length
    limit before the first word are `Poison`; one that ended later before its end says so by `cut`.
    """

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self.model = model
        self._answer = float(FIRST_ANSWER)
        self._counts_streams = True
        self._address = str(endpoint.client.base_url), model
        self._endpoint, self._kind = endpoint, CallKind("chat", model, endpoint.settings)

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """Return the whole answer. `json`: ask for a JSON object."""
        options: dict[str, Any] = {"response_format": {"type": "json_object"}} if json else {}
        return await self._endpoint.tried(lambda: self._complete(messages, options))

    async def _complete(self, messages: Sequence[Message], options: dict[str, Any]) -> Completion:
        async with self._endpoint.call(self._kind, self._estimate(messages)) as call:
            body = {**self._request(messages), **options}
            answer = parsed(await self._endpoint.post("/chat/completions", body))
            choice = first_choice(answer)
            message = field(choice, "message")
            if not has_content(message):
                raise self._strange("did not answer")
            usage = _usage(field(answer, "usage"))
            self._learn(call, usage)
        self._check_refusal(message, choice)
        cut = is_cut(choice, answer)
        parts = answer_parts(message, cut=cut)
        self._note_opening(parts.lacks_opening)
        self._check_text(parts.text, cut=cut)
        return Completion(parts.text, usage, cut, parts.reasoning)

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        """Yield the answer in pieces. Closing the iterator closes the connection, so the provider stops writing."""
        has_text, usage = False, None
        async with self._endpoint.call(self._kind, self._estimate(messages), streaming=True) as call:
            reader = StreamReader(holds_text=self._address in _WITHOUT_OPENING)
            answer = await self._streamed(messages)
            if not hasattr(answer, "response"):
                raise self._strange("did not stream")
            async with aclosing(answer):
                async for chunk in answer:
                    usage = field(chunk, "usage") or usage  # that of the last one is of the whole call
                    choice = first_choice(chunk)
                    if choice is None:
                        continue
                    self._check_refusal(choice.delta, choice)
                    piece = reader.read(chunk, choice)
                    has_text = has_text or bool(piece.text.strip())
                    self._note_opening(piece.resets)
                    if piece or piece.resets:
                        yield piece
            self._learn(call, _usage(usage))
        last = reader.end()
        self._note_opening(last.resets)
        if not (has_text or last.text.strip()):
            self._check_text("", cut=last.cut and reader.has_ended)
        if last or last.cut or last.resets:
            yield last

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

    def _check_refusal(self, message: Any, choice: Any) -> None:
        if is_refused(message, choice):
            reason = field(choice, "finish_reason") or "refusal"
            raise ModelRefused(f"{self.model} refuses this content ({reason})", "content")

    def _check_text(self, text: str, *, cut: bool) -> None:
        """Raise unless an answer has text. `cut`: it reached its length limit, which it does another time, too."""
        if text.strip():
            return
        if cut:
            raise ModelRefused(
                f"{self.model} gave an empty answer that reached its length limit: "
                f"choose another {self._endpoint.settings}_MODEL",
                "length",
            )
        raise EmptyAnswer(f"{self.model} gave an empty answer")

    def _note_opening(self, is_missing: bool) -> None:
        """If the opening tag is missing, hold streams of this model back from now on until their reasoning ends."""
        if is_missing and self._address not in _WITHOUT_OPENING:
            _WITHOUT_OPENING.add(self._address)
            logger.warning("a model ends its reasoning with a tag that it did not open", model=self.model)

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


def _usage(usage: Any) -> TokenUsage:
    """Return the token counts of the provider; providers leave any part of them out."""
    details = field(usage, "prompt_tokens_details")
    return TokenUsage(
        prompt=field(usage, "prompt_tokens") or 0,
        completion=field(usage, "completion_tokens") or 0,
        cached=field(details, "cached_tokens") or 0,
        calls=1,
    )


def encodable(text: str) -> str:
    """Return the text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
