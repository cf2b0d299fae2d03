"""OpenAI's own wire, which other wires translate from and to: nothing is changed."""

import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from runtime.models.access_tokens import AccessTokens
from runtime.models.bindings import Connection
from runtime.models.json_values import as_dict
from runtime.models.wires.addresses import join_url
from runtime.models.wires.frames import Content, server_sent_events
from runtime.models.wires.tool_turns import openai_form

Forms = tuple[Mapping[str, Any], ...]

PLAIN: Forms = ({},)


@dataclass(frozen=True)
class Request:
    """One request: the whole address and the JSON body."""

    url: str
    body: Mapping[str, Any]


class OpenAiWire:
    """Requests, answers and streams in OpenAI's form. A wire of another provider replaces what
    differs.
    """

    form = "the OpenAI format"
    json_forms: Forms = ({"response_format": {"type": "json_object"}}, {})
    """Fields that ask for a JSON object, the best form first."""
    stream_forms: Forms = ({"stream_options": {"include_usage": True}}, {})
    """Fields that ask for the usage of a stream."""
    base64_forms: Forms = ({"encoding_format": "base64"},)
    """Fields that ask for vectors as base64."""
    number_forms: Forms = ({"encoding_format": "float"}, {})
    """Fields that ask for vectors as numbers."""
    max_texts = sys.maxsize
    """Texts that one call for vectors takes."""
    streams_json = False
    """Whether a stream says that its content is JSON."""
    key_name = ""
    """The settings that say who asks, where that is no API key."""
    tokens: AccessTokens | None = None
    """What stands in the place of a key, and is refreshed before each request."""

    def __init__(self, connection: Connection) -> None:
        self.address = connection.address.strip()
        self.key = connection.key.strip()
        self.connection = connection

    def headers(self, url: str, data: bytes) -> Mapping[str, str]:
        """Return the headers that show who asks."""
        del url, data
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def window(self, fields: Mapping[str, Any]) -> int:
        """Return the tokens of the context window that further fields of requests ask for; 0: not
        known.
        """
        del fields
        return 0

    def chat(self, fields: Mapping[str, Any]) -> Request:
        """Return the request for an answer; `stream` among the fields asks for a stream. Turns may
        have what `tool_turns` names beside OpenAI's fields.
        """
        return Request(join_url(self.address, "chat/completions"), openai_form(fields))

    def completion(self, answer: Any) -> dict[str, Any]:
        """Return a whole answer in OpenAI's form. What is none, such as an error, stays as it
        is.
        """
        return as_dict(answer)

    def chunks(self, content: Content) -> AsyncGenerator[dict[str, Any]]:
        """Yield the events of a stream in OpenAI's form."""
        return server_sent_events(content)

    def embedding(self, fields: Mapping[str, Any]) -> Request:
        """Return the request for the vectors of the texts in `input`."""
        return Request(join_url(self.address, "embeddings"), fields)

    def vectors(self, answer: Any) -> dict[str, Any]:
        """Return an answer with vectors in OpenAI's form; see `completion`."""
        return as_dict(answer)
