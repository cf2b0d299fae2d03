"""A language model behind an endpoint, whatever its wire."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import aiohttp
import structlog

from contracts.values import TokenUsage
from runtime.errors import ModelRefused, Unavailable
from runtime.metrics.model_calls import CallKind
from runtime.models.chat_answers import (
    StreamReader,
    answer_parts,
    field,
    first_choice,
    has_content,
    is_cut,
    is_refused,
    native_turn,
    tool_calls,
)
from runtime.models.endpoint import Endpoint, estimated
from runtime.models.failures import Failure
from runtime.models.json_posts import pieces
from runtime.models.limits import Call
from runtime.models.port import AnswerPiece, Completion, Message, Tool
from runtime.models.provider_errors import error_of
from runtime.models.request_forms import RequestForms
from runtime.models.token_counts import usage_of_chat
from runtime.models.tool_texts import calls_in_text, with_tools_in_text
from runtime.models.wires.pictures import content_of
from runtime.models.wires.tool_turns import NATIVE, TOOL_NAME

logger = structlog.get_logger(__name__)

_WITHOUT_OPENING = set[tuple[str, str]]()
"""Address and name of models that were seen to end reasoning without its opening tag."""

CONTROL = "Reply with this one word and nothing else: ready"
"""A prompt that every model answers: its result shows whether the provider works."""

LEAST_PROMPT = 4000
"""Bytes of a prompt below which it fits into every context window."""

MOST_BYTES_PER_TOKEN = 8
"""Bytes of a token: no tokenizer has more on average, so a provider that counts fewer tokens did
not read them all.
"""

PICTURE_TOKENS = 1500
"""Tokens that a picture is taken to have before the provider says it: about those of a page."""

FIRST_ANSWER = 500
"""Tokens an answer is taken to have before the first one came; then their running mean is."""


class EndpointChat:
    """A language model behind an endpoint.

    `endpoint` admits calls and bounds each in time (a streamed answer: between two pieces).

    Of a failure the provider is the cause unless it answers the control: then the text is, and it
    is refused once it has failed often enough. A refusal, an answer stopped by a content filter and
    one that reached its length limit before the first word are `Poison`; one that ended later
    before its end says so by `cut`.
    """

    def __init__(
        self, endpoint: Endpoint, model: str, fields: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """`fields`: further fields of each request."""
        self._fields = fields
        self.model = model
        self._answer = float(FIRST_ANSWER)
        self._wire = endpoint.wire
        self._json = RequestForms(*self._wire.json_forms)
        self._counted = RequestForms(*self._wire.stream_forms)
        self._tools = RequestForms({"tools": True}, {})
        self._address = self._wire.address, model
        self._narrow_told = False
        self._kind = CallKind("chat", model, endpoint.settings)
        endpoint.control = self._control
        self.endpoint = endpoint
        """The provider's, for requests that are no calls of the model."""

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """Return the whole answer. `json`: ask for a JSON object, of a provider that does not
        refuse to.
        """
        return await self.endpoint.tried(lambda: self._complete(messages, json))

    async def _complete(self, messages: Sequence[Message], json: bool) -> Completion:
        request = self._request(messages)

        async def ask(form: Mapping[str, Any]) -> dict[str, Any]:
            return await self._ask({**request, **form})

        tokens = self._estimate(messages)
        text = _text(messages)
        async with self.endpoint.call(self._kind, tokens, text) as call:
            return self._read(
                await (self._json.ask(ask) if json else ask({})), call, _bytes(messages)
            )

    async def call_tools(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """Return the answer or calls of tools. A provider that refuses tools is told of them in the
        text.
        """
        return await self.endpoint.tried(lambda: self._call_tools(messages, tools))

    async def _call_tools(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        texts = with_tools_in_text(messages, tools)

        async def ask(form: Mapping[str, Any]) -> dict[str, Any]:
            fields = {"tools": list(map(_tool, tools))} if form else {}
            return await self._ask({**self._request(messages if form else texts), **fields})

        async with self.endpoint.call(self._kind, self._estimate(texts), _text(texts)) as call:
            completion = self._read(await self._tools.ask(ask), call, _bytes(texts))
        return replace(completion, calls=completion.calls or calls_in_text(completion.text))

    def _read(self, answer: dict[str, Any], call: Call, size: int) -> Completion:
        """Return the completion in an answer. Raises `Failure` where there is none, `ModelRefused`
        for a refusal.
        """
        choice = first_choice(answer)
        message = field(choice, "message")
        usage = usage_of_chat(answer.get("usage"))
        self._learn(call, usage)
        self._check_error(answer, choice)
        if not has_content(message):
            raise self.endpoint.strange()
        self._check_refusal(message, choice)
        cut = is_cut(choice, answer)
        parts = answer_parts(message, cut=cut)
        self._note_opening(parts.lacks_opening)
        calls = tool_calls(message)
        if not calls:
            self._check_text(parts.text, cut=cut)
        return Completion(
            parts.text,
            usage,
            cut,
            parts.reasoning,
            self._is_narrow(usage, size),
            calls,
            native_turn(message) if calls else None,
        )

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        """Yield the answer in pieces. Closing the iterator closes the connection, so the provider
        stops writing.
        """
        has_text = False
        usage = None
        endpoint = self.endpoint
        tokens = self._estimate(messages)
        async with endpoint.call(self._kind, tokens, _text(messages), streaming=True) as call:
            reader = StreamReader(holds_text=self._address in _WITHOUT_OPENING)
            async with aclosing(self._streamed(messages)) as answer:
                async for chunk in answer:
                    usage = (
                        field(chunk, "usage") or usage
                    )  # that of the last one is of the whole call
                    choice = first_choice(chunk)
                    self._check_error(chunk, choice)
                    if choice is None:
                        continue
                    self._check_refusal(field(choice, "delta"), choice)
                    piece = reader.read(chunk, choice)
                    has_text = has_text or bool(piece.text.strip())
                    self._note_opening(piece.resets)
                    if piece or piece.resets:
                        yield piece
            usage_count = usage_of_chat(usage)
            self._learn(call, usage_count)
            last_piece = replace(
                reader.end(), narrow=self._is_narrow(usage_count, _bytes(messages))
            )
            self._note_opening(last_piece.resets)
            if not (has_text or last_piece.text.strip()):
                self._check_text("", cut=last_piece.cut and reader.has_ended)
        if last_piece or last_piece.cut or last_piece.resets or last_piece.narrow:
            yield last_piece

    def body(self, messages: Sequence[Message], *, json: bool = False) -> dict[str, Any]:
        """Return the request for a whole answer as its provider reads it, to be sent in a batch."""
        form: Mapping[str, Any] = self._json.best if json else {}
        return dict(self._wire.chat({**self._request(messages), **form}).body)

    def tokens(self, messages: Sequence[Message]) -> tuple[int, int]:
        """Estimate the tokens that a call reads, and those that it writes."""
        answer = round(self._answer)
        return self._estimate(messages) - answer, answer

    def read(self, answer: Any, messages: Sequence[Message]) -> Completion:
        """Return the completion in an answer that came in a batch.

        Raises `ModelRefused` for a refusal, and `Unavailable` where there is no completion in it.
        """
        try:
            with self.endpoint.translated():
                completion = self._wire.completion(answer)
                return self._read(completion, Call(0, 0), _bytes(messages))
        except Failure as failure:
            raise Unavailable(str(failure)) from None

    async def close(self) -> None:
        """Close the connections."""
        await self.endpoint.close()

    async def _control(self, call: Call) -> None:
        """Ask for one word. What it takes is added to the call's usage."""
        answer = await self._ask(self._request([Message("user", CONTROL)]))
        usage = usage_of_chat(answer.get("usage"))
        call.usage = usage + call.usage if call.usage else usage
        message = field(first_choice(answer), "message")
        if not has_content(message):
            raise self.endpoint.strange()
        self._check_text(answer_parts(message, cut=False).text, cut=False)

    async def _ask(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return await self.endpoint.ask(self._wire.chat(fields), self._wire.completion)

    async def _streamed(self, messages: Sequence[Message]) -> AsyncGenerator[dict[str, Any]]:
        """Yield the events of a stream that says at its end what it took, of a provider that does
        not refuse to.
        """
        request = {**self._request(messages), "stream": True}
        async with AsyncExitStack() as stack:

            async def begin(form: Mapping[str, Any]) -> aiohttp.ClientResponse:
                with self.endpoint.translated():
                    stream_context = self.endpoint.open_stream(self._wire.chat({**request, **form}))
                    return await stack.enter_async_context(stream_context)

            response = await self._counted.ask(begin)
            async with (
                aclosing(pieces(response)) as content,
                aclosing(self._wire.chunks(content)) as chunks,
            ):
                async for chunk in chunks:
                    yield chunk

    def _check_error(self, answer: Any, choice: Any) -> None:
        """Raise the error that stands beside an answer, or in place of a choice or of a piece of a
        stream.
        """
        error = field(choice, "error") or field(answer, "error")
        if not error and choice is None and field(answer, "object") == "error":
            error = field(answer, "message")
        if error:
            raise self.endpoint.sender.refused(error_of(200, error), None)

    def _check_refusal(self, message: Any, choice: Any) -> None:
        if is_refused(message, choice):
            reason = field(choice, "finish_reason") or "refusal"
            raise ModelRefused(f"{self.model} refuses this content ({reason})", "content")

    def _check_text(self, text: str, *, cut: bool) -> None:
        """Raise unless an answer has text. `cut`: it reached its length limit, which it does
        another time, too.
        """
        if text.strip():
            return
        if cut:
            raise ModelRefused(
                f"{self.model} gave an empty answer that reached its length limit: "
                f"choose another {self.endpoint.settings}_MODEL",
                "length",
            )
        raise self.endpoint.sender.useless(f"{self.model} gave an empty answer")

    def _note_opening(self, is_missing: bool) -> None:
        """If the opening tag is missing, hold streams of this model back from now on until their
        reasoning ends.
        """
        if is_missing and self._address not in _WITHOUT_OPENING:
            _WITHOUT_OPENING.add(self._address)
            logger.warning(
                "a model ends its reasoning with a tag that it did not open", model=self.model
            )

    def _is_narrow(self, usage: TokenUsage, size: int) -> bool:
        """Return whether the provider read far less than the prompt's bytes, or filled its whole
        window with it, as with a small context window.
        """
        # Some providers leave cached tokens out of those of the prompt, others count them in.
        tokens = usage.prompt + usage.cached
        window = self._wire.window(self._fields)
        is_small = size >= LEAST_PROMPT and 0 < tokens * MOST_BYTES_PER_TOKEN < size
        is_narrow = is_small or 0 < window <= usage.prompt
        if is_narrow and not self._narrow_told:
            self._narrow_told = True
            logger.warning(
                "the model reads only a part of its prompts: its context window is too small",
                model=self.model,
                prompt_tokens=tokens,
                prompt_bytes=size,
                remedy="raise the window: OLLAMA_LLM_NUM_CTX with LLM_BINDING=ollama, else "
                "where the model is served (Ollama: OLLAMA_CONTEXT_LENGTH)",
            )
        return is_narrow

    def _request(self, messages: Sequence[Message]) -> dict[str, Any]:
        return {**self._fields, "model": self.model, "messages": list(map(_turn, messages))}

    def _estimate(self, messages: Sequence[Message]) -> int:
        pictures = sum(len(message.pictures) for message in messages) * PICTURE_TOKENS
        texts = [message.content for message in messages]
        return estimated(texts) + pictures + round(self._answer)

    def _learn(self, call: Call, usage: TokenUsage) -> None:
        call.usage = usage + call.usage if call.usage else usage
        if usage.prompt or usage.completion:
            call.cost = call.usage.prompt + call.usage.completion
            self._answer += (usage.completion - self._answer) / 8


def _turn(message: Message) -> dict[str, Any]:
    """Return a turn in OpenAI's form, with what other wires need beside."""
    content = content_of(encodable(message.content), message.pictures)
    turn: dict[str, Any] = {"role": message.role, "content": content}
    if message.calls:
        turn[NATIVE] = message.native
    if message.result_of:
        turn |= {"tool_call_id": message.result_of.id, TOOL_NAME: message.result_of.name}
    return turn


def _tool(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": {**vars(tool), "parameters": dict(tool.parameters)}}


def _bytes(messages: Sequence[Message]) -> int:
    return sum(len(message.content.encode("utf-8", "replace")) for message in messages)


def _text(messages: Sequence[Message]) -> str:
    """Return what failures are counted by: texts, and the hashes of pictures."""
    pictures = [picture.sha256 for message in messages for picture in message.pictures]
    return "\x1f".join([*(message.content for message in messages), *pictures])


def encodable(text: str) -> str:
    """Return the text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
