"""What other programs see of the bus has the form it had when it was released; only its
descriptions may be reworded.

A deliberate change (a new event, a new optional field, another consumer) writes the hashes anew:
`python -m tests.unit.contracts.test_wire_format`.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, cast

import pytest

from contracts import topology
from contracts.generate import FOLDER, documents, released
from operations.bus_accounts import configuration
from runtime.bus.topology import durable_config, stream_config

HASHES = Path(__file__).with_name("wire_format.json")
"""Part of the wire format → SHA-256 of its JSON without descriptions."""

TEXTS = {"description", "summary", "title"}
"""Keys whose values are for readers, where they are strings."""


def without_texts(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {
            key: without_texts(inner)
            for key, inner in items
            if not (key in TEXTS and isinstance(inner, str))
        }
    return (
        [without_texts(inner) for inner in cast("list[Any]", value)]
        if isinstance(value, list)
        else value
    )


def parts() -> dict[str, Any]:
    """Every part of the wire format by its name."""
    return {
        **{path: json.loads((FOLDER / path).read_text("utf-8")) for path in sorted(released())},
        **{path: json.loads(text) for path, text in documents().items()},
        **{f"stream {stream.name}": stream_config(stream).as_dict() for stream in topology.STREAMS},
        **{
            f"consumer {consumer.stream}/{consumer.name}": durable_config(consumer).as_dict()
            for consumer in topology.CONSUMERS
        },
        **{f"bucket {bucket.name}": [bucket.history, bucket.ttl] for bucket in topology.BUCKETS},
        "users.conf": [
            line for line in configuration().splitlines() if not line.strip().startswith("#")
        ],
    }


def hashes() -> dict[str, str]:
    return {
        name: hashlib.sha256(
            json.dumps(without_texts(part), sort_keys=True, default=str).encode()
        ).hexdigest()
        for name, part in parts().items()
    }


def test_the_parts_of_the_wire_format_are_those_that_were_released() -> None:
    assert sorted(parts()) == sorted(json.loads(HASHES.read_text()))


@pytest.mark.parametrize("name", sorted(parts()))
def test_a_part_of_the_wire_format_is_as_it_was_released(name: str) -> None:
    assert hashes()[name] == json.loads(HASHES.read_text()).get(name)


def test_a_changed_description_is_no_change_and_a_changed_name_is_one() -> None:
    assert without_texts(
        {"title": "a", "properties": {"title": {"type": "string", "description": "b"}}}
    ) == {"properties": {"title": {"type": "string"}}}


if __name__ == "__main__":
    HASHES.write_text(json.dumps(hashes(), indent=2) + "\n")
