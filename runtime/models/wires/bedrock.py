"""Amazon Bedrock: Converse and its event stream; vectors of Titan and Cohere.

A key is Bedrock's own API key, sent as a bearer token. Without one, requests are signed by botocore
with what AWS's chain of credentials finds (environment, profile, role); that package is an extra.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from runtime.errors import ConfigurationError
from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.token_counts import count_of
from runtime.models.wires.addresses import join_url
from runtime.models.wires.fields import (
    answer_limit,
    as_list,
    chunk,
    objects,
    renamed_fields,
    tokens,
    vectors,
    whole_answer,
    with_group,
)
from runtime.models.wires.frames import Content, aws_events
from runtime.models.wires.openai import PLAIN, OpenAiWire, Request
from runtime.models.wires.pictures import InlinePicture, parts_of
from runtime.models.wires.tool_turns import (
    NATIVE,
    Turn,
    call_of,
    functions_of,
    translated_turns,
)

REGION = "us-east-1"
SERVICE = "bedrock"

STATUSES = {
    "throttlingException": 429,
    "serviceUnavailableException": 503,
    "modelStreamErrorException": 500,
    "internalServerException": 500,
    "validationException": 400,
}
"""What an exception amid a stream would have been as a status."""


class BedrockWire(OpenAiWire):
    """`POST https://bedrock-runtime.REGION.amazonaws.com/model/MODEL/converse`."""

    form = "Bedrock's format"
    json_forms = PLAIN
    stream_forms = PLAIN
    base64_forms = ()
    number_forms = PLAIN
    max_texts = 1

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._region = connection.region or REGION
        self.address = self.address or f"https://bedrock-runtime.{self._region}.amazonaws.com"
        self._signer = None if self.key else _signer(self._region)

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the bearer token, or the signature of this request."""
        if self._signer is None:
            return {"Authorization": f"Bearer {self.key}"}
        return self._signer(url, data)

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`."""
        body = dict(fields)
        messages = body.pop("messages")
        method = "converse-stream" if body.pop("stream", False) else "converse"
        url = self._url(body.pop("model"), method)
        system = [{"text": turn["content"]} for turn in messages if turn["role"] == "system"]
        if system:
            body["system"] = system
        turns = [turn for turn in messages if turn["role"] != "system"]
        body["messages"] = translated_turns(turns, _turn, "content")
        if tools := functions_of(body.pop("tools", None)):
            body["toolConfig"] = {"tools": list(map(_tool, tools))}
        config = renamed_fields(body, {"temperature": "temperature", "top_p": "topP"})
        if (limit := answer_limit(body)) is not None:
            config["maxTokens"] = limit
        if (stop := body.pop("stop", None)) is not None:
            config["stopSequences"] = as_list(stop)
        extra_fields = renamed_fields(body, {"reasoning_effort": "reasoning_effort"})
        body = with_group(body, "additionalModelRequestFields", extra_fields)
        return Request(url, with_group(body, "inferenceConfig", config))

    def completion(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        if "output" not in body:
            return body
        parts = objects(as_dict(as_dict(body["output"]).get("message")).get("content"))
        calls = [
            call_of(call.get("toolUseId"), call.get("name"), call.get("input"))
            for part in parts
            if (call := as_dict(part.get("toolUse")))
        ]
        message = {"content": list(map(_part, parts)), "tool_calls": calls, NATIVE: parts}
        return whole_answer(message, body.get("stopReason"), _tokens(body.get("usage")))

    async def chunks(self, content: Content) -> AsyncGenerator[dict[str, Any]]:
        """See `OpenAiWire`."""
        async with aclosing(aws_events(content)) as events:
            async for headers, event in events:
                kind = headers.get(":event-type", "")
                if headers.get(":message-type") != "event":
                    name = headers.get(":exception-type") or headers.get(":error-code") or "error"
                    message = event.get("message") or headers.get(":error-message") or name
                    code = STATUSES.get(name, 500)
                    yield {"error": {"message": message, "type": name, "code": code}}
                elif kind == "contentBlockDelta":
                    yield chunk({"content": [_part(as_dict(event.get("delta")))]})
                elif kind == "messageStop":
                    yield chunk({}, event.get("stopReason"))
                elif kind == "metadata":
                    yield {"choices": [], "usage": _tokens(event.get("usage"))}

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """See `OpenAiWire`. Titan takes one text a call, and so does Cohere here."""
        body = dict(fields)
        model = str(body.pop("model"))
        texts = body.pop("input")
        if "cohere." in model:
            kind = body.pop("input_type", "search_document")
            return Request(self._url(model, "invoke"), {"texts": texts, "input_type": kind, **body})
        return Request(self._url(model, "invoke"), {"inputText": texts[0], **body})

    def vectors(self, answer: Any) -> dict[str, Any]:
        """See `OpenAiWire`."""
        body = as_dict(answer)
        rows: Any = body.get("embeddings")
        rows = as_dict(rows).get("float", rows)
        if not isinstance(rows, list):
            if not isinstance(body.get("embedding"), list):
                return body
            rows = [body["embedding"]]
        return vectors(rows, body.get("inputTextTokenCount"))

    def _url(self, model: str, method: str) -> str:
        return join_url(self.address, f"model/{quote(model, safe='')}/{method}")


def _turn(turn: Turn) -> dict[str, Any]:
    parts = parts_of(turn, _text_part, _picture_part)
    if turn["role"] == "tool":
        result = {"toolUseId": turn["tool_call_id"], "content": parts}
        return {"role": "user", "content": [{"toolResult": result}]}
    return {"role": turn["role"], "content": turn.get(NATIVE) or parts}


def _text_part(text: str) -> dict[str, Any]:
    return {"text": text}


def _picture_part(picture: InlinePicture) -> dict[str, Any]:
    return {"image": {"format": picture.format, "source": {"bytes": picture.base64}}}


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"json": function["parameters"]}
    names = {name: function[name] for name in ("name", "description")}
    return {"toolSpec": {**names, "inputSchema": schema}}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a message, or of a piece of it, in OpenAI's form."""
    reasoning = as_dict(part.get("reasoningContent"))
    if not reasoning:
        return {"type": "text", "text": part.get("text") or ""}
    text = as_dict(reasoning.get("reasoningText")) or reasoning
    return {"type": "reasoning", "text": text.get("text") or ""}


def _tokens(usage: Any) -> dict[str, Any]:
    """Return the counts, where tokens that a cache has or takes are not among those of the
    input.
    """
    counts = as_dict(usage)
    cached_tokens = count_of(counts.get("cacheReadInputTokens"))
    written_tokens = count_of(counts.get("cacheWriteInputTokens"))
    prompt = count_of(counts.get("inputTokens")) + cached_tokens + written_tokens
    return tokens(prompt, counts.get("outputTokens"), cached_tokens)


def _signer(region: str) -> Any:
    """Return what signs requests with AWS's credentials. Raises `ConfigurationError` without
    botocore, and where no credentials are found.
    """
    way_out = "set LLM_API_KEY or EMBEDDING_API_KEY to an API key of Bedrock, or "
    try:
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - an extra
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415
        from botocore.session import Session  # noqa: PLC0415
    except ImportError:
        raise ConfigurationError(
            f"Bedrock without an API key needs botocore: {way_out}"
            "pip install 'lightstream-rag[bedrock]'"
        ) from None
    session: Any = Session()
    credentials = session.get_credentials()
    if credentials is None:
        raise ConfigurationError(
            f"no credentials of AWS are found: {way_out}set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, a profile or a role"
        )

    def sign_request(url: str, data: bytes) -> Mapping[str, str]:
        request = AWSRequest("POST", url, data=data, headers={"Content-Type": "application/json"})
        SigV4Auth(credentials, SERVICE, region).add_auth(request)
        return dict(request.headers.items())

    return sign_request
