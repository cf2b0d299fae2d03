"""The AsyncAPI 3.0 description of the bus: a channel per event, an operation per service that
publishes or consumes it.

It is made from the events, the subjects, the registry and the topology; nothing is declared twice.
What AsyncAPI has no word for (streams and durables of JetStream) is under `x-jetstream`.
"""

from dataclasses import asdict
from typing import Any

from contracts import subjects
from contracts.envelope import type_attribute
from contracts.events import EVENTS, Event
from contracts.ids import WORKSPACE_PATTERN
from contracts.partitions import LOG
from contracts.registry import PRODUCERS, consumers_of, service_of
from contracts.topology import BUCKETS, CONSUMERS, STREAMS, Consumer, Stream

Json = dict[str, Any]

CONTENT_TYPE = "application/cloudevents+json"

INFO = """\
Lightstream turns documents into chunks, a knowledge graph and vector indexes, one fact at a time. Every message is a \
CloudEvents 1.0 envelope in structured JSON mode; its schema is named by the attribute `dataschema`. Binary mode, with \
attributes as headers `ce-<name>`, is read too. Publish with a header `Nats-Msg-Id` made of the envelope's `id`, the \
subject and something that no other publisher has: a repeated message is then taken once. Unknown attributes and \
fields are ignored, absent ones are left out. Only the command `lightstream topology apply` creates streams and \
durables."""  # noqa: E501

MESSAGE_ID = "HMAC of subject and `id`, keyed with the publisher's password; the log compares it"

WORKSPACE = f"""\
The tenant, as the envelope's `workspace` names it (pattern `{WORKSPACE_PATTERN}`) where that is made of `a-z`, `0-9`, \
`_` and `-` alone and is at most 64 long; any other name as `x-` and the first 32 hexadecimal digits of its SHA-256."""  # noqa: E501

DOCUMENT = """\
What the event is about, in the same form: the id of a document; `_graph` for a change of the graph that no document \
made; `_sum-` and a hash for the description of one entity or relation. Where the log's metadata have \
`lightstream.shared-subjects`, events of the types EntitiesExtracted, GraphMerged and VectorsIndexed stand in the log \
with `x-` and three digits of the token's SHA-256 in its place, and with the token in the header `Kb-Document`; filters \
of a type or of a workspace let them through as ever."""  # noqa: E501


def document() -> Json:
    """Return the whole AsyncAPI document."""
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Lightstream", "version": subjects.PREFIX, "description": INFO},
        "defaultContentType": CONTENT_TYPE,
        "servers": {
            "nats": {
                "host": "{host}:{port}",
                "protocol": "nats",
                "description": "NATS with JetStream; the setting NATS_URL names it.",
                "variables": {"host": {"default": "127.0.0.1"}, "port": {"default": "4222"}},
            }
        },
        "channels": {name: _channel(name, event) for name, event in EVENTS.items()},
        "operations": {
            key: operation for name in EVENTS for key, operation in _operations(name).items()
        },
        "components": {
            "messages": {name: _message(name, event) for name, event in EVENTS.items()},
            "parameters": {
                "workspace": {"description": WORKSPACE},
                "document": {"description": DOCUMENT},
            },
        },
        "x-jetstream": {
            "streams": [_stream(stream) for stream in STREAMS],
            "durables": [_durable(durable) for durable in CONSUMERS],
            "buckets": [{"name": bucket.name, "description": bucket.why} for bucket in BUCKETS],
        },
    }


def summary(event: type[Event]) -> str:
    """Return the first line of an event's docstring."""
    return (event.__doc__ or "").strip().partition("\n")[0]


def _channel(name: str, event: type[Event]) -> Json:
    parameters = ("workspace",) if name in subjects.APART else ("workspace", "document")
    tokens = [subjects.QUESTIONS] if name in subjects.APART else []
    tokens += [f"{{{parameter}}}" for parameter in parameters]
    return {
        "address": ".".join((subjects.PREFIX, *tokens, name)),
        "summary": summary(event),
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        "parameters": {
            parameter: {"$ref": f"#/components/parameters/{parameter}"} for parameter in parameters
        },
        "x-stream": LOG,
    }


def _operations(name: str) -> Json:
    send_operations = {
        f"{producer}.says.{name}": _operation("send", name) for producer in PRODUCERS[name]
    }
    receive_operations = {
        f"{durable.name}.hears.{name}": {
            **_operation("receive", name),
            "summary": f"{service_of(durable)}: {durable.why}",
            "x-durable": durable.name,
        }
        for durable in consumers_of(name)
    }
    return send_operations | receive_operations


def _operation(action: str, name: str) -> Json:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{name}"},
        "messages": [{"$ref": f"#/channels/{name}/messages/{name}"}],
    }


def _message(name: str, event: type[Event]) -> Json:
    return {
        "name": type_attribute(name, event.version),
        "title": name,
        "summary": summary(event),
        "contentType": CONTENT_TYPE,
        "headers": {
            "type": "object",
            "properties": {"Nats-Msg-Id": {"type": "string", "description": MESSAGE_ID}},
        },
        "payload": {
            "schemaFormat": "application/schema+json;version=draft-2020-12",
            "schema": {"$ref": f"./schemas/{name}.v{event.version}.json"},
        },
        "correlationId": {
            "description": "the event that began it all; an event without one begins it itself",
            "location": "$message.payload#/correlationid",
        },
    }


def _stream(stream: Stream) -> Json:
    settings = asdict(stream)
    return {"name": settings.pop("name"), "description": settings.pop("why"), **settings}


def _durable(durable: Consumer) -> Json:
    settings = asdict(durable)
    del settings["batches_per_second"]  # of our own services, and nothing that the bus knows
    heading = {
        "name": settings.pop("name"),
        "service": service_of(durable),
        "description": settings.pop("why"),
    }
    return heading | settings
