"""Events of one workspace in the log of a harness, for tests of feeds."""

from typing import Any

from contracts.events import Event
from tests.support.events import added, sealed
from tests.support.querying import QueryHarness

CANARY = "canary-9f31c7e2a4"
"""Stands in the texts of documents, and nowhere where no text belongs."""


async def logged(
    harness: QueryHarness, *events: Event, workspace: str = "w", **attributes: Any
) -> list[int]:
    """Append events, and return their sequences."""
    first = len(harness.log.messages)
    return [
        await harness.log.publish(
            sealed(event, id=f"e{first + n}", workspace=workspace, **attributes)
        )
        for n, event in enumerate(events)
    ]


async def of_several_documents(harness: QueryHarness) -> None:
    """Twenty events of document a at odd sequences, of b at even ones."""
    await logged(harness, *(added("ab"[n % 2], f"{CANARY} {n}") for n in range(20)))
