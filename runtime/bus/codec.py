"""Translate messages to events and back: CloudEvents, checked against the subject, lifted to the
newest version.

We write structured JSON. What others write is read in both modes of the CloudEvents binding for
NATS: structured, and binary, where the attributes are headers `ce-<name>` and the bytes are the
data.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import unquote_to_bytes

import orjson
from pydantic import ValidationError

from contracts import subjects
from contracts.envelope import Envelope, Header, parse_type
from contracts.events import EVENTS, DocumentAdded, Event
from contracts.upcast import STEPS, Steps, upcast
from runtime.errors import NewerVersion, Poison, Undecodable

NO_HEADERS: Mapping[str, str] = MappingProxyType({})

ATTRIBUTE = "ce-"
ATTRIBUTE_HEADER = re.compile(r"(ce-[a-z0-9]+|content-type)", re.IGNORECASE)
STRUCTURED = "application/cloudevents"
JSON = re.compile(r"(application|text)/([\w.+-]+\+)?json\s*(;.*)?", re.IGNORECASE)
"""Media types whose data are JSON."""


def encode(envelope: Envelope[Event]) -> bytes:
    """Structured JSON; absent attributes are left out, as CloudEvents asks."""
    return envelope.model_dump_json(exclude_none=True).encode()


OWN_RULE = "Value error, "
"""What pydantic puts before the sentence of a rule of ours."""


def explain(error: ValidationError) -> str:
    """Return the validation errors of a model in one line, without the values: those may be secret
    or huge.
    """
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg'].removeprefix(OWN_RULE)}"
        for fault in error.errors()[:5]
    )


def header_of(
    data: bytes, headers: Mapping[str, str] = NO_HEADERS
) -> tuple[Header, dict[str, Any]]:
    """Return the attributes and the raw body. Raises `Undecodable`."""
    fields, body = _attributes_and_data(
        data, {name.lower(): value.strip() for name, value in headers.items()}
    )
    content = fields.pop("datacontenttype", None)
    if content is not None and not JSON.fullmatch(str(content)):
        raise Undecodable("datacontenttype: must be JSON, as application/json is")
    try:
        # An attribute that is null is one that is not there.
        header = Header.model_validate(
            {name: value for name, value in fields.items() if value is not None}
        )
    except ValidationError as error:
        raise Undecodable(f"not a CloudEvents 1.0 envelope of ours: {explain(error)}") from None
    if not isinstance(body, dict):
        raise Undecodable("data: must be a JSON object")
    return header, cast("dict[str, Any]", body)


def _attributes_and_data(data: bytes, headers: Mapping[str, str]) -> tuple[dict[str, Any], Any]:
    """Return attributes and data, in whichever mode they came. Names of headers are in lower
    case.
    """
    is_structured = headers.get("content-type", "").lower().startswith(STRUCTURED)
    if not is_structured and f"{ATTRIBUTE}specversion" in headers:
        attributes = {
            name.removeprefix(ATTRIBUTE): _unescaped(name, value)
            for name, value in headers.items()
            if name.startswith(ATTRIBUTE)
        }
        # The HTTP binding, whose writer libraries have, says it under the usual name.
        attributes.setdefault("datacontenttype", headers.get("content-type", "application/json"))
        return attributes, _json(data)
    raw = _json(data)
    if not isinstance(raw, dict):
        raise Undecodable("not a JSON object")
    fields = cast("dict[str, Any]", raw)
    body = fields.pop("data", None)
    base64_data = fields.pop("data_base64", None)
    return fields, _json(_bytes(base64_data)) if body is None and base64_data is not None else body


def _unescaped(name: str, value: str) -> str:
    """Return the attribute in a header: quotes are removed, then it is percent-decoded once."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = re.sub(r"\\(.)", r"\1", value[1:-1])
    try:
        return unquote_to_bytes(value.encode("ascii")).decode()
    except UnicodeError:
        raise Undecodable(f"header {name!r:.80}: must be ASCII that stands for UTF-8") from None


def _bytes(base64_data: object) -> bytes:
    try:
        return base64.b64decode(str(base64_data).encode("ascii"), validate=True)
    except (UnicodeError, binascii.Error):
        raise Undecodable("data_base64: not base64") from None


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Undecodable(f"not JSON: {error}") from None


def knows(event_type: str, version: int, events: Mapping[str, type[Event]] = EVENTS) -> bool:
    """Return whether this code can read that version of an event."""
    model = events.get(event_type)
    return model is not None and version <= model.version


def attributes_in(headers: Mapping[str, str], room: int) -> dict[str, str]:
    """Return the headers that hold attributes, as ASCII; none of them when they take more than
    `room` characters.
    """
    attributes = {
        name: value.encode("ascii", "backslashreplace").decode()
        for name, value in headers.items()
        if ATTRIBUTE_HEADER.fullmatch(name)
    }
    return (
        attributes
        if sum(len(name) + len(value) for name, value in attributes.items()) <= room
        else {}
    )


def decode(
    data: bytes,
    subject: str,
    headers: Mapping[str, str] = NO_HEADERS,
    *,
    events: Mapping[str, type[Event]] = EVENTS,
    steps: Steps = STEPS,
) -> Envelope[Event]:
    """Return the event of one message, from its bytes, its subject and its headers.

    Raises `Undecodable` or `Poison` for what can never be read, `NewerVersion` for what newer code
    wrote.
    """
    header, body = header_of(data, headers)
    try:
        workspace, about, name = subjects.addressed(subject)
        event_type, version = parse_type(header.type)
    except ValueError as error:
        raise Undecodable(str(error)) from None
    model = events.get(event_type)
    if model is None:
        raise Undecodable(f"unknown event type {event_type}")
    if event_type != name:
        raise Undecodable(f"type {event_type} on a subject of {name}")
    if subjects.token(header.workspace) != workspace:
        raise Undecodable(f"workspace {header.workspace} differs from the subject's {workspace}")
    if version > model.version:
        raise NewerVersion(
            f"{event_type} v{version} is newer than this code, which knows v{model.version}",
            event_type=event_type,
            version=version,
        )
    try:
        event = model.model_validate(upcast(event_type, version, model.version, body, steps))
    except ValidationError as error:
        raise Poison(f"{event_type} v{version}: {explain(error)}") from None
    except ValueError as error:
        raise Poison(f"{event_type} v{version}: {error}") from None
    except LookupError:
        raise Undecodable(
            f"{event_type} v{version}: no step lifts it to v{model.version}"
        ) from None
    if about is not None and subjects.token(event.aggregate_id) != about:
        raise Poison(f"document {event.aggregate_id!r:.80} differs from the subject's {about}")
    _refuse_foreign_text(event, workspace)
    return _envelope(header, event)


def _refuse_foreign_text(event: Event, workspace: str) -> None:
    """Raises Poison for a reference to a long text or an original that is not among those of the
    event's workspace.
    """
    for ref in event.blobs if isinstance(event, DocumentAdded) else ():
        if ref.place is not None and ref.place.partition(".")[0] != workspace:
            raise Poison("blob.place: the text is not among those of the event's workspace")


def _envelope(header: Header, event: Event) -> Envelope[Event]:
    """Join both parts as a pickle is read: they are validated already, and `model_construct` looks
    at every field.
    """
    # Not Envelope[Event]: that would be written back with the fields all events share, which are
    # none.
    envelope = cast("Envelope[Event]", Envelope.__new__(Envelope))
    envelope.__setstate__(
        {
            "__dict__": {**vars(header), "data": event},
            "__pydantic_fields_set__": header.model_fields_set | {"data"},
            "__pydantic_extra__": None,
            "__pydantic_private__": None,
        }
    )
    return envelope
