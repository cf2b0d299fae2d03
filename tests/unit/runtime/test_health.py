"""The health pages while a service starts: what is added while they are read, and probes that
fail.
"""

from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from runtime.health import Health


def ready(health: Health, query: str = "") -> tuple[int, dict[str, Any]]:
    """Return status and body of the page."""
    with TestClient(Starlette(routes=list(health.routes()))) as client:
        answer = client.get(f"/health/ready{query}")
        return answer.status_code, answer.json()


def test_parts_that_are_added_while_the_page_is_read_do_no_harm() -> None:
    health = Health("merger", stage=None)

    async def adds_another() -> str | None:
        health.probes[f"part {len(health.probes)}"] = adds_another
        health.notes[f"note {len(health.notes)}"] = adds_another
        return None

    health.probes["first"] = adds_another
    health.notes["first"] = adds_another
    for _ in range(3):
        assert ready(health) == (200, {"service": "merger", "problems": {}})


def test_a_part_that_cannot_be_examined_is_a_problem_and_hides_no_other() -> None:
    health = Health("merger", stage=None)

    async def fails() -> str | None:
        raise KeyError("a secret")

    async def tells() -> str | None:
        return "the log is damaged"

    health.probes |= {"stores": fails, "log": tells}
    status, body = ready(health)
    assert status == 503
    assert body["problems"] == {
        "stores": "it could not be examined (KeyError)",
        "log": "the log is damaged",
    }


def test_whoever_asks_for_a_part_has_no_other_examined() -> None:
    health = Health("merger", stage="starting")
    examined_parts = list[str]()

    async def log() -> str | None:
        examined_parts.append("log")
        return "the log is damaged"

    async def publishes() -> str | None:
        examined_parts.append("publishes")
        return "nothing is confirmed"

    health.probes |= {"log": log, "publishes": publishes}
    health.notes["log"] = log
    assert ready(health, "?part=publishes") == (
        503,
        {"service": "merger", "problems": {"publishes": "nothing is confirmed"}},
    )
    assert ready(health, "?part=nothing") == (200, {"service": "merger", "problems": {}})
    assert examined_parts == ["publishes"]
