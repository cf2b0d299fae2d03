"""What is shown of parked events, over HTTP and by the client."""

from dataclasses import replace

from runtime.bus.memory import MemoryLog, MemoryParkedEvents
from runtime.bus.parking.port import ParkedEvent
from tests.support.access import client
from tests.support.querying import QueryHarness


def parked(sequence: int, workspace: str) -> ParkedEvent:
    return ParkedEvent(
        durable="chunker",
        sequence=sequence,
        subject=f"kb.v1.{workspace}.port.DocumentAdded",
        reason="newer-version",
        event_type="DocumentAdded",
        version=9,
        workspace=workspace,
        document="port.md",
        parked_at=1.0,
        not_before=2.0,
    )


async def harness_with_parked_events() -> QueryHarness:
    harness = QueryHarness()
    events = MemoryParkedEvents(MemoryLog())
    for event in (parked(8, "w"), parked(7, "w"), parked(9, "harbour")):
        await events.put(event)
    harness.operations = replace(harness.operations, parked_events=events)
    return harness


async def test_parked_events_are_counted_by_reason_with_the_first_of_them() -> None:
    harness = await harness_with_parked_events()
    async with client(harness.app()) as api:
        (ours,) = (await api.get("/operations/parked")).json()["parked"]
        everyones = (await api.get("/operations/parked", params={"all_workspaces": True})).json()[
            "parked"
        ]
    assert ours == {
        "workspace": "w",
        "reason": "newer-version",
        "events": 2,
        "durables": ["chunker"],
        "first": 7,
        "type": "DocumentAdded",
        "version": 9,
        "document": "port.md",
        "error": "",
        "is_least": False,
        "summary": (
            "2 events of a version newer than the code, the first DocumentAdded v9 of port.md at 7"
        ),
    }
    assert [group["workspace"] for group in everyones] == ["harbour", "w"]
