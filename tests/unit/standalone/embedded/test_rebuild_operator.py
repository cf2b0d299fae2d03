"""What an order for a rebuild becomes: one command, whose words no order chooses, and what that command said."""

import json
from dataclasses import replace
from typing import Any

import pytest

from runtime.projections.rebuild_requests import RebuildOrder
from standalone.embedded.rebuild_operator import command, read_result

ORDER = RebuildOrder("start", "vectors", "key:ops")


def test_an_order_is_one_command() -> None:
    assert command(ORDER) == ["rebuild", "start", "vectors", "--json"]
    assert command(replace(ORDER, step="run", projection="all")) == ["rebuild", "all", "--json"]
    given = replace(ORDER, embedding_model="--data=/etc", reason="--yes", events_per_second=5, embedding_dim=3)
    assert command(given)[3:] == [
        "--json", "--events-per-second=5", "--embedding-model=--data=/etc", "--embedding-dim=3", "--reason=--yes",
    ]  # fmt: skip


@pytest.mark.parametrize("fields", [{"step": "await"}, {"projection": "--fresh"}, {"step": "--data"}])
def test_an_order_of_anything_else_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no such step"):
        command(replace(ORDER, **fields))


def test_what_a_command_said_is_its_result_or_its_error() -> None:
    assert read_result(b'{"events": 7}', 0) == {"events": 7}
    many = json.dumps({"newer": list(range(30))}).encode()
    assert read_result(many, 0) == {"newer": list(range(20))}
    said = b'{"error": {"type": "Busy", "message": "there is a rebuild"}}'
    assert read_result(said, 1) == {"error": "there is a rebuild"}
    assert "code -9" in read_result(b"", -9)["error"]
