"""Bytes to events and back: CloudEvents JSON, checked against the subject, lifted to the newest version."""

from collections.abc import Mapping
from typing import Any, cast

import orjson
from pydantic import ValidationError

from contracts import subjects
from contracts.envelope import Envelope, Header, parse_type
from contracts.events import EVENTS, Event
from contracts.upcast import STEPS, Steps, upcast
from runtime.errors import NewerVersion, Poison, Undecodable


def encode(envelope: Envelope[Event]) -> bytes:
    """Structured JSON; absent attributes are left out, as CloudEvents asks."""
    return envelope.model_dump_json(exclude_none=True).encode()


def explain(error: ValidationError) -> str:
    """The faults of a model in one line, without the values: those may be secret or huge."""
    return "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}" for fault in error.errors()[:5])


def header_of(data: bytes) -> tuple[Header, dict[str, Any]]:
    """The attributes and the raw body. Raises `Undecodable`."""
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Undecodable(f"not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise Undecodable("not a JSON object")
    fields = cast("dict[str, Any]", raw)
    body: Any = fields.pop("data", None)
    try:
        header = Header.model_validate(fields)
    except ValidationError as error:
        raise Undecodable(f"not a CloudEvents 1.0 envelope of ours: {explain(error)}") from None
    if not isinstance(body, dict):
        raise Undecodable("data: must be a JSON object")
    return header, cast("dict[str, Any]", body)


def decode(
    data: bytes, subject: str, *, events: Mapping[str, type[Event]] = EVENTS, steps: Steps = STEPS
) -> Envelope[Event]:
    """The event of one message.

    Raises `Undecodable` or `Poison` for what can never be read, `NewerVersion` for what newer code wrote.
    """
    header, body = header_of(data)
    try:
        workspace, about, name = subjects.split(subject)
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
        raise NewerVersion(f"{event_type} v{version} is newer than this code, which knows v{model.version}")
    try:
        event = model.model_validate(upcast(event_type, version, model.version, body, steps))
    except ValidationError as error:
        raise Poison(f"{event_type} v{version}: {explain(error)}") from None
    except ValueError as error:
        raise Poison(f"{event_type} v{version}: {error}") from None
    except LookupError:
        raise Undecodable(f"{event_type} v{version}: no step lifts it to v{model.version}") from None
    if subjects.token(event.about) != about:
        raise Poison(f"document {event.about!r:.80} differs from the subject's {about}")
    # Not Envelope[Event]: that would be written back with the fields all events share, which are none.
    return Envelope(**header.model_dump(), data=event)
